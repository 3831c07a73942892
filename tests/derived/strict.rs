//! The derived code is left alone by lints that its user forbids, by what is deprecated, and by methods of the user's own.

#![forbid(missing_docs)]
#![deny(warnings)]

use interlocking::graph::Graph as _;
use interlocking::prelude::*;

/// Methods that any type has, with the names of a graph's own.
trait Everything: Sized {
    fn chain(&self, _: u32) {}
    fn net() {}
}
impl<T> Everything for T {}

/// A graph whose module is named like a keyword that syn does not know, and that runs a graph of its own name.
#[derive(Graph)]
#[graph(output = u32)]
#[deprecated]
pub struct Gen {
    /// Passes its input on.
    #[node(entry, input = u32, goto(inner))]
    #[deprecated]
    pub first: LogicNode<First>,
    /// Another graph, though the last name is this graph's.
    #[node(input = u32, graph = below::Gen, goto(exit))]
    pub inner: GraphNode<below::Gen>,
}

#[expect(deprecated, reason = "a graph that is deprecated has code of its own")]
impl Gen {
    /// Has other parameters than the method of the trait.
    pub fn chain(&self) {}
    /// The same.
    pub fn net(_: u32) {}
}

/// A handler.
pub struct First;
impl LogicHandler<r#gen::first> for First {
    async fn run(&self, number: u32, cx: &mut Cx<'_, r#gen::first>) -> Route<r#gen::first> {
        goto!(cx, r#gen::inner, number)
    }
}

/// The graph below.
pub mod below {
    use super::*;

    /// A graph of one node.
    #[derive(Graph)]
    #[graph(output = u32)]
    pub struct Gen {
        /// Ends the run.
        #[node(entry, input = u32, goto(exit))]
        pub last: LogicNode<Last>,
    }

    /// A handler.
    pub struct Last;
    impl LogicHandler<r#gen::last> for Last {
        async fn run(&self, number: u32, cx: &mut Cx<'_, r#gen::last>) -> Route<r#gen::last> {
            goto!(cx, r#gen::exit, number + 1)
        }
    }

    held!(Gen);
}

#[test]
#[expect(deprecated, reason = "it is what the test is about")]
fn a_strict_users_graph_is_derived() {
    crate::held::is_held::<Gen>(module_path!());
    let graph = Gen { first: LogicNode(First), inner: GraphNode(below::Gen { last: LogicNode(below::Last) }) };
    graph.chain();
    <u32 as Everything>::net();
    1_u32.chain(1);
    let tables: Vec<_> = interlocking::net::Nets::of::<Gen>().iter().map(|net| net.table().nodes.len()).collect();
    assert_eq!(tables, [2, 1]);
    assert_eq!(below::Gen::NODES, 1);
}
