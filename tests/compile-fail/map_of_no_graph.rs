//! A map runs graphs. (Its handler could not be written yet.)

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, map = Nothing, goto(exit))]
    write: MapNode<Write>,
}

struct Nothing;
struct Write;

fn main() {}
