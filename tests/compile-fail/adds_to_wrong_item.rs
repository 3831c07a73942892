//! What is added is an item of the map's child graph, and the map is named in the table.

use interlocking::prelude::*;
use std::sync::Arc;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, map = Article, goto(print))]
    writers: MapNode<Writers>,
    #[node(input = String, map = Article, goto(exit))]
    print: MapNode<Writers>,
    #[node(on(String), adds_to(writers))]
    more: EventNode<More>,
    #[node(on(String), adds_to(writers))]
    other: EventNode<Other>,
}

#[derive(Graph)]
#[graph(output = String)]
struct Article {
    #[node(entry, input = u32, goto(exit))]
    write: LogicNode<Write>,
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

struct Writers;
macro_rules! writers {
    ($node:path) => {
        impl MapHandler<$node> for Writers {
            fn graph(&self, _: &Cx<'_, $node>) -> Result<Arc<Article>, NodeError> {
                todo!()
            }
            async fn items(&self, _: &String, _: &mut Cx<'_, $node>) -> Result<Vec<Item<Article>>, NodeError> {
                todo!()
            }
            async fn gather(&self, _: String, _: Children<Article>, _: &mut Cx<'_, $node>) -> Route<$node> {
                todo!()
            }
        }
    };
}
writers!(newsroom::writers);
writers!(newsroom::print);

struct Write;
impl LogicHandler<article::write> for Write {
    async fn run(&self, _: u32, _: &mut Cx<'_, article::write>) -> Route<article::write> {
        todo!()
    }
}

fn main() {}
