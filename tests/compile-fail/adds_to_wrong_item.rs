//! What is added is an item of the map's child graph, and the map is named in the table.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, map = Article, goto(print))]
    writers: MapNode<()>,
    #[node(input = String, map = Article, goto(exit))]
    print: MapNode<()>,
    #[node(on(String), adds_to(writers))]
    more: EventNode<More>,
    #[node(on(String), adds_to(writers))]
    other: EventNode<Other>,
}

#[derive(Graph)]
#[graph(output = String)]
struct Article {
    #[node(entry, input = u32, goto(exit))]
    write: LogicNode<()>,
}

struct More;
impl EventHandler<newsroom::more> for More {
    async fn handle(&self, subject: String, cx: &mut Cx<'_, newsroom::more>) -> Route<newsroom::more> {
        cx.add::<newsroom::writers>([Item::new(subject)])
    }
}

struct Other;
impl EventHandler<newsroom::other> for Other {
    async fn handle(&self, _: String, cx: &mut Cx<'_, newsroom::other>) -> Route<newsroom::other> {
        cx.add::<newsroom::print>([Item::new(1)])
    }
}

fn main() {}
