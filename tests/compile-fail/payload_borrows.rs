//! What a run stores owns its data.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = &'static str, goto(desk))]
    write: LogicNode<()>,
    #[node(input = Vec<Draft<'_>>, goto(exit), memory = Option<&'static [u8]>)]
    desk: LogicNode<()>,
}

struct Draft<'a>(&'a str);

fn main() {}
