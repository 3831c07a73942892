//! A graph is a struct with named fields and no generics.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
enum Newsroom {
    Write,
}

#[derive(Graph)]
#[graph(output = String)]
struct Pair(LogicNode<()>, LogicNode<()>);

#[derive(Graph)]
#[graph(output = String)]
struct Generic<H> {
    #[node(entry, input = String, goto(exit))]
    write: LogicNode<H>,
}

#[derive(Graph)]
#[graph(output = String)]
struct Empty {}

fn main() {}
