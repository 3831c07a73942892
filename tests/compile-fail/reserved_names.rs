//! `entry` and `exit` are no nodes, and the module of markers has a name of its own.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(exit))]
    entry: LogicNode<()>,
    #[node(input = String, goto(entry))]
    exit: LogicNode<()>,
}

#[derive(Graph)]
#[graph(output = String)]
struct Core {
    #[node(entry, input = String, goto(exit))]
    write: LogicNode<()>,
}

#[allow(non_camel_case_types)]
#[derive(Graph)]
#[graph(output = String)]
struct bureau {
    #[node(entry, input = String, goto(exit))]
    write: LogicNode<()>,
}

fn main() {}
