//! A graph says what it ends with.

use interlocking::prelude::*;

#[derive(Graph)]
struct Newsroom {
    #[node(entry, input = String, goto(exit))]
    write: LogicNode<()>,
}

#[derive(Graph)]
#[graph(outptu = String)]
struct Bureau {
    #[node(entry, input = String, goto(exit))]
    write: LogicNode<()>,
}

fn main() {}
