//! A user's own macro may write a graph.

use interlocking::graph::Graph as _;
use interlocking::prelude::*;

macro_rules! graph {
    ($graph:ident, $module:ident, $input:ty, $($node:ident),+) => {
        #[derive(Graph)]
        #[graph(output = $input, module = $module)]
        struct $graph {
            #[node(entry, input = $input, goto($($node),+, exit))]
            first: LogicNode<Pass>,
            $(
                #[node(input = $input, goto(exit))]
                $node: LogicNode<Pass>,
            )+
        }
        impl LogicHandler<$module::first> for Pass {
            async fn run(&self, value: $input, cx: &mut Cx<'_, $module::first>) -> Route<$module::first> {
                goto!(cx, $module::exit, value)
            }
        }
        $(
            impl LogicHandler<$module::$node> for Pass {
                async fn run(&self, value: $input, cx: &mut Cx<'_, $module::$node>) -> Route<$module::$node> {
                    goto!(cx, $module::exit, value)
                }
            }
        )+
    };
}

#[derive(Clone, Copy)]
struct Pass;

graph!(Passing, nodes, Vec<u8>, second, third);

held!(Passing);

#[test]
fn a_graph_may_be_written_by_a_macro() {
    let graph = Passing { first: LogicNode(Pass), second: LogicNode(Pass), third: LogicNode(Pass) };
    let _ = (graph.first.0, graph.second.0, graph.third.0);
    assert_eq!((Passing::NODES, Passing::EDGES), (3, 5));
}
