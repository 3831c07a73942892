//! A graph whose child is another graph of the same name: what the child does would count as the graph's own.

use crate::graph_nodes;
use interlocking::prelude::*;
use interlocking::testing::Enumerator;

#[derive(Graph)]
#[graph(output = graph_nodes::Verdict)]
struct Review {
    #[node(entry, input = String, graph = graph_nodes::Review, goto(exit))]
    inner: GraphNode<graph_nodes::Review>,
}

held!(Review);

#[test]
#[should_panic(expected = "two graphs are called `Review`, and their routes could not be told apart: rename one")]
fn graphs_of_one_name_are_refused() {
    let inner = || GraphNode(graph_nodes::Review { judge: LLMNode(graph_nodes::Judge) });
    Enumerator::new(move |_| (Run::new(Review { inner: inner() }), String::new()));
}
