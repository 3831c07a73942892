//! A small graph that needs no feature.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
pub struct Shout {
    #[node(entry, input = String, goto(shorten, exit))]
    pub shout: LogicNode<Loud>,
    #[node(input = String, goto(shout), visits = 2)]
    pub shorten: LogicNode<Short>,
}

pub const SHOUT: Shout = Shout { shout: LogicNode(Loud), shorten: LogicNode(Short) };

pub struct Loud;

impl LogicHandler<shout::shout> for Loud {
    async fn run(&self, text: String, cx: &mut Cx<'_, shout::shout>) -> Route<shout::shout> {
        match text.len() {
            9.. => goto!(cx, shout::shorten, text),
            _ => goto!(cx, shout::exit, text.to_uppercase()),
        }
    }
}

pub struct Short;

impl LogicHandler<shout::shorten> for Short {
    async fn run(&self, text: String, cx: &mut Cx<'_, shout::shorten>) -> Route<shout::shorten> {
        goto!(cx, shout::shout, text.chars().take(8).collect())
    }
}
