//! Nodes may have the names of primitives, crates, keywords and identifiers of the derive itself, even with the
//! markers in scope.

#![deny(warnings)]

use interlocking::graph::Graph as _;
use interlocking::prelude::*;
use r#match::{exit, it, str, r#type, u64, usize, value};

#[derive(Graph)]
#[graph(output = std::string::String)]
struct Match {
    #[node(entry, input = ::core::primitive::u64, fork(str, std | core))]
    u64: ForkNode<Handler>,
    #[node(input = std::string::String, goto(r#type))]
    str: LogicNode<Handler>,
    #[node(input = ::core::primitive::u64, goto(core))]
    std: LogicNode<Handler>,
    #[node(input = ::core::primitive::u64, goto(r#type))]
    core: LogicNode<Handler>,
    #[node(join(str: std::string::String, r#fn: ::core::primitive::u64 from(core)), goto(usize))]
    r#type: JoinNode<Handler>,
    #[node(input = (std::string::String, ::core::primitive::u64), goto(it, exit))]
    usize: LogicNode<Handler>,
    #[node(input = std::string::String, goto(value))]
    it: LogicNode<Handler>,
    #[node(input = std::string::String, goto(exit))]
    value: LogicNode<Handler>,
}

held!(Match);

struct Handler;

impl ForkHandler<u64> for Handler {
    async fn fork(&self, n: ::core::primitive::u64, cx: &mut Cx<'_, u64>) -> Route<u64> {
        fork!(cx, (n.to_string(), cx.branch::<r#match::std>(n)))
    }
}
impl LogicHandler<str> for Handler {
    async fn run(&self, text: String, cx: &mut Cx<'_, str>) -> Route<str> {
        goto!(cx, r#type, text)
    }
}
impl LogicHandler<r#match::std> for Handler {
    async fn run(&self, n: ::core::primitive::u64, cx: &mut Cx<'_, r#match::std>) -> Route<r#match::std> {
        goto!(cx, r#match::core, n)
    }
}
impl LogicHandler<r#match::core> for Handler {
    async fn run(&self, n: ::core::primitive::u64, cx: &mut Cx<'_, r#match::core>) -> Route<r#match::core> {
        goto!(cx, r#type, n)
    }
}
impl JoinHandler<r#type> for Handler {
    async fn join(&self, slots: (String, ::core::primitive::u64), cx: &mut Cx<'_, r#type>) -> Route<r#type> {
        goto!(cx, usize, slots)
    }
}
impl LogicHandler<usize> for Handler {
    async fn run(&self, (text, n): (String, ::core::primitive::u64), cx: &mut Cx<'_, usize>) -> Route<usize> {
        if n == 0 { goto!(cx, exit, text) } else { goto!(cx, it, text) }
    }
}
impl LogicHandler<it> for Handler {
    async fn run(&self, text: String, cx: &mut Cx<'_, it>) -> Route<it> {
        goto!(cx, value, text)
    }
}
impl LogicHandler<value> for Handler {
    async fn run(&self, text: String, cx: &mut Cx<'_, value>) -> Route<value> {
        goto!(cx, exit, text)
    }
}

#[test]
fn nodes_may_be_called_like_anything() {
    let names: Vec<&::core::primitive::str> = Match::net().places().iter().map(|place| place.name.as_str()).collect();
    assert_eq!(names, ["u64", "str", "std", "core", "type.str", "type.fn", "usize", "it", "value", "exit"]);
}
