//! Graphs as nodes of others: their children are played, or have given results; and a graph that runs itself to its depth.

use askama::Template;
use interlocking::prelude::*;
use interlocking::testing::{Ending, Enumerator};
use std::sync::Arc;

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub(crate) enum Verdict {
    Fine,
    Poor(String),
}

#[derive(Graph)]
#[graph(output = Verdict)]
pub(crate) struct Review {
    #[node(entry, input = String, prompt = Question<'_>, output = Verdict, goto(exit))]
    pub(crate) judge: LLMNode<Judge>,
}

#[derive(Template)]
#[template(source = "Judge {{ text }}.", ext = "txt")]
pub(crate) struct Question<'a> {
    text: &'a str,
}

pub(crate) struct Judge;
impl LLMHandler<review::judge> for Judge {
    async fn before<'a>(&'a self, text: &'a String, _: &mut Cx<'_, review::judge>) -> Ask<Question<'a>> {
        Ok((Question { text }, SessionOp::StartFresh(Slug::new("judge")?)))
    }
    async fn after(&self, _: String, reply: Reply<Verdict>, cx: &mut Cx<'_, review::judge>) -> Route<review::judge> {
        goto!(cx, review::exit, reply.output)
    }
}

#[derive(Graph)]
#[graph(output = Said)]
struct Press {
    #[node(entry, input = String, graph = Review, goto(write, exit), failed(exit))]
    review: GraphNode<Editor>,
    #[node(input = String, goto(exit))]
    write: LogicNode<Write>,
}

/// Decides by the verdict on the text.
struct Editor;
impl GraphHandler<press::review> for Editor {
    fn graph(&self, _: &Cx<'_, press::review>) -> Result<Arc<Review>, NodeError> {
        Ok(Arc::new(Review { judge: LLMNode(Judge) }))
    }
    async fn entry(&self, text: &String, _: &mut Cx<'_, press::review>) -> Result<String, NodeError> {
        Ok(text.clone())
    }
    async fn after(&self, text: String, verdict: Verdict, cx: &mut Cx<'_, press::review>) -> Route<press::review> {
        match verdict {
            Verdict::Fine => goto!(cx, press::exit, Said(text)),
            Verdict::Poor(why) => goto!(cx, press::write, why),
        }
    }
}

struct Write;
impl LogicHandler<press::write> for Write {
    async fn run(&self, why: String, cx: &mut Cx<'_, press::write>) -> Route<press::write> {
        goto!(cx, press::exit, Said(format!("poor: {why}")))
    }
}

/// The output of the press.
#[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Said(String);

impl From<Failure> for Said {
    fn from(failure: Failure) -> Self {
        Self(failure.to_string())
    }
}

/// A graph that runs itself, as deep as it may.
#[derive(Graph)]
#[graph(output = u32)]
struct Digger {
    #[node(entry, input = u32, goto(deeper, exit))]
    dig: LogicNode<Dig>,
    #[node(input = u32, graph = Digger, depth = 2, goto(exit))]
    deeper: GraphNode<Deeper>,
}

struct Dig;
impl LogicHandler<digger::dig> for Dig {
    async fn run(&self, left: u32, cx: &mut Cx<'_, digger::dig>) -> Route<digger::dig> {
        assert!(cx.depth() <= 2, "no deeper than the table says");
        let may_nest = cx.depth_limit::<digger::deeper>().is_none_or(|limit| cx.depth() < limit);
        if left > 0 && may_nest { goto!(cx, digger::deeper, left) } else { goto!(cx, digger::exit, cx.depth()) }
    }
}

struct Deeper;
impl GraphHandler<digger::deeper> for Deeper {
    fn graph(&self, cx: &Cx<'_, digger::deeper>) -> Result<Arc<Digger>, NodeError> {
        Ok(cx.own_graph()?)
    }
    async fn entry(&self, left: &u32, _: &mut Cx<'_, digger::deeper>) -> Result<u32, NodeError> {
        Ok(left - 1)
    }
    async fn after(&self, _: u32, depth: u32, cx: &mut Cx<'_, digger::deeper>) -> Route<digger::deeper> {
        assert!((1..=2).contains(&depth));
        goto!(cx, digger::exit, depth)
    }
}

held!(Review, Press, Digger);

fn press() -> Enumerator<Press> {
    let graph = || Press { review: GraphNode(Editor), write: LogicNode(Write) };
    Enumerator::new(move |_| (Run::new(graph()), "the text".to_owned()))
}

const ROUTES: [&str; 4] = ["review → write", "review → exit", "review → exit (failed)", "write → exit"];

/// Agents in the child graph are played as in the graph itself.
#[test]
fn the_child_of_a_graph_node_is_played() {
    let report = press().explore();
    report.assert_all_routes();
    let taken: Vec<String> = report.taken().iter().map(|taken| taken.route.to_string()).collect();
    assert_eq!(taken, ROUTES);
    let choices = report.choices_of("review -> write").unwrap().to_string();
    assert!(choices.contains("/judge.1.1=generated-"), "{choices}");
}

/// With given results, the child is not run, and each result is tried.
#[test]
fn the_child_of_a_graph_node_may_come_to_what_it_is_said_to() {
    let given = || press().with_result::<press::review>(&Verdict::Fine);
    let report = given().explore();
    assert_eq!(report.missing().len(), 2, "one result leads to one of two ways: {report}");
    let enumerator = || given().with_result::<press::review>(&Verdict::Poor("thin".to_owned()));
    let report = enumerator().explore();
    report.assert_all_routes();
    assert_eq!(report.choices_of("review -> write").unwrap().to_string(), "review.1.1=sample-2");
    let replayed = enumerator().replay(&"review.1.1=sample-2".parse().unwrap());
    assert_eq!(replayed.ending, Ending::Finished);
    assert!(replayed.chosen.iter().all(|chosen| !chosen.contains("judge")), "{:?}", replayed.chosen);
}

#[test]
fn a_graph_that_runs_itself_is_driven_to_its_depth() {
    let graph = || Digger { dig: LogicNode(Dig), deeper: GraphNode(Deeper) };
    let report = Enumerator::new(move |_| (Run::new(graph()), 9)).explore();
    report.assert_all_routes();
    assert_eq!(report.taken().len(), 3);
    assert_eq!(report.runs(), 1, "its children are of the same graph, and are counted with it");
    // A given result applies to the level above only.
    let enumerator = Enumerator::new(move |_| (Run::new(graph()), 9)).with_result::<digger::deeper>(&1);
    assert_eq!(enumerator.explore().missing()[0].to_string(), "dig → exit", "no child goes there");
}
