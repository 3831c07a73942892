//! The node kinds that stand beside the graph, run child graphs or ask a person: the rows that the derive writes for
//! them.

use askama::Template;
use interlocking::graph::{Asks, Graph, Maps, Remembers, ReportSource, Reports, Stored, Value};
use interlocking::net::NodeIndex;
use interlocking::prelude::*;
use interlocking::runtime::llm::LLM;
use interlocking::runtime::map::{Children, Item};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::any::TypeId;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Plan {
    parts: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Question {
    text: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Merged {
    sibling: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Hint {
    text: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Seen {
    outcomes: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Edition {
    text: String,
    hints: usize,
    outcomes: u32,
}

impl From<Exhausted<Merged>> for Edition {
    fn from(exhausted: Exhausted<Merged>) -> Self {
        Self { text: exhausted.input.sibling, hints: 0, outcomes: 0 }
    }
}

#[derive(Template)]
#[template(source = "Look at {{ text }}.", ext = "txt")]
struct HintPrompt<'a> {
    text: &'a str,
}

#[derive(Graph)]
#[graph(output = Edition)]
struct Desk {
    /// Starts.
    #[node(entry, input = Plan, goto(chapters, approve), spawn(hint), visits = 5)]
    split: LogicNode<Split>,
    #[node(input = Plan, map = Desk, concurrency = 2, depth = 3, goto(approve), spawn(hint, spelling))]
    chapters: MapNode<Chapters>,
    #[node(input = String, question = Question, answer = bool, goto(split), goto(exit, cancels(*)))]
    approve: HumanNode<Approve>,
    #[node(
        input = String,
        report = Hint,
        reports_to(exit),
        timeout = "90s",
        prompt = HintPrompt<'_>,
        output = Hint,
        workspace = "desk",
        read_only,
    )]
    hint: AdvisoryNode<Critic>,
    #[node(input = u64, report = bool, reports_to(exit), visits = 2, memory = u64)]
    spelling: AdvisoryNode<Speller>,
    #[node(observes(split, chapters, rebase), report = Seen, reports_to(exit))]
    witness: ObserverNode<Witness>,
    #[node(
        on(Merged),
        resume,
        goto(split, cancels(chapters, approve)),
        visits = 4,
        exhausted(exit, cancels(*)),
        prompt = HintPrompt<'_>,
        output = Hint,
        agent = "rebaser",
        workspace = "desk",
        timeout = "5m",
        spawn(hint),
    )]
    rebase: EventNode<Rebase>,
}

struct Split;
impl LogicHandler<desk::split> for Split {
    async fn run(&self, plan: Plan, cx: &mut Cx<'_, desk::split>) -> Route<desk::split> {
        cx.spawn::<desk::hint>("plan".to_owned());
        match plan.parts.len() {
            0 => goto!(cx, desk::approve, "nothing".to_owned()),
            _ => goto!(cx, desk::chapters, plan),
        }
    }
}

struct Chapters;
impl MapHandler<desk::chapters> for Chapters {
    fn graph(&self, _: &Cx<'_, desk::chapters>) -> Result<Arc<Desk>, NodeError> {
        Ok(Arc::new(graph()))
    }
    async fn items(&self, plan: &Plan, _: &mut Cx<'_, desk::chapters>) -> Result<Vec<Item<Desk>>, NodeError> {
        Ok(plan.parts.iter().map(|_| Item::new(Plan { parts: Vec::new() })).collect())
    }
    async fn gather(
        &self,
        _: Plan,
        children: Children<Desk>,
        cx: &mut Cx<'_, desk::chapters>,
    ) -> Route<desk::chapters> {
        let good = children.all().await.into_iter().filter_map(|child| child.result.ok());
        let text = good.map(|edition| edition.text).collect();
        cx.spawn::<desk::spelling>(1);
        goto!(cx, desk::approve, text)
    }
}

struct Approve;
impl HumanHandler<desk::approve> for Approve {
    async fn ask(&self, text: &String, _: &mut Cx<'_, desk::approve>) -> Result<Question, NodeError> {
        Ok(Question { text: text.clone() })
    }
    async fn answered(&self, text: String, good: bool, cx: &mut Cx<'_, desk::approve>) -> Route<desk::approve> {
        match good {
            true => goto!(cx, desk::exit, Edition { text, hints: 0, outcomes: 0 }),
            false => goto!(cx, desk::split, Plan { parts: vec![text] }),
        }
    }
}

struct Critic;
impl AdvisoryHandler<desk::hint> for Critic {
    async fn advise(&self, text: String, cx: &mut Cx<'_, desk::hint>) -> Result<Hint, NodeError> {
        let _ = cx.workspace()?;
        Ok(Hint { text })
    }
}

struct Speller;
impl AdvisoryHandler<desk::spelling> for Speller {
    async fn advise(&self, errors: u64, cx: &mut Cx<'_, desk::spelling>) -> Result<bool, NodeError> {
        cx.update_memory(move |seen| *seen += errors);
        Ok(errors == 0)
    }
}

struct Witness;
impl ObserverHandler<desk::witness> for Witness {
    async fn observe(&self, _: &Observation, seen: &mut Seen) -> Result<(), NodeError> {
        seen.outcomes += 1;
        Ok(())
    }
}

struct Rebase;
impl EventHandler<desk::rebase> for Rebase {
    async fn handle(&self, merged: Merged, cx: &mut Cx<'_, desk::rebase>) -> Route<desk::rebase> {
        match merged.sibling.as_str() {
            "far" => cx.resume(),
            _ => goto!(cx, desk::split, Plan { parts: vec![merged.sibling] }),
        }
    }
}

impl Finish for Desk {
    async fn finish(&self, output: Edition, reports: Self::Reports) -> Result<Edition, NodeError> {
        let hints = reports.hint.iter().filter(|hint| hint.result.is_ok()).count();
        let spelled = reports.spelling.iter().all(|report| report.result == Ok(true));
        let [Reported { result: Ok(seen), .. }] = &reports.witness[..] else { return Err("nobody saw it".into()) };
        let text = if spelled { output.text } else { format!("{} (sic)", output.text) };
        Ok(Edition { text, hints, outcomes: seen.outcomes })
    }
}

fn graph() -> Desk {
    Desk {
        split: LogicNode(Split),
        chapters: MapNode(Chapters),
        approve: HumanNode(Approve),
        hint: AdvisoryNode(Critic),
        spelling: AdvisoryNode(Speller),
        witness: ObserverNode(Witness),
        rebase: EventNode(Rebase),
    }
}

// What the rows say, field by field.
held!(Desk);

#[test]
fn markers_carry_the_types_of_the_rows() {
    fn is<A: 'static, B: 'static>() -> bool {
        TypeId::of::<A>() == TypeId::of::<B>()
    }
    assert!(is::<<desk::chapters as Maps>::Child, Desk>());
    assert!(is::<<desk::approve as Asks>::Question, Question>() && is::<<desk::approve as Asks>::Answer, bool>());
    assert!(is::<<desk::hint as Reports>::Report, Hint>() && is::<<desk::spelling as Reports>::Report, bool>());
    assert!(is::<<desk::witness as Reports>::Report, Seen>() && is::<<desk::witness as Remembers>::Memory, Seen>());
    assert!(is::<<desk::hint as LLM>::Output, Hint>() && is::<<desk::rebase as LLM>::Output, Hint>());
    assert_ne!(<desk::witness as Remembers>::GROUP, <desk::spelling as Remembers>::GROUP);
}

/// Gives the report of each node that it was passed, as JSON.
struct Told(Vec<(NodeIndex, Vec<&'static str>)>);

impl ReportSource for Told {
    fn read<R: Value>(&mut self, node: NodeIndex) -> Result<Vec<Reported<R>>, NodeError> {
        let reports = self.0.iter().find(|(index, _)| *index == node).map(|(_, reports)| &reports[..]);
        let parsed = |(visit, json): (u32, &&str)| {
            let Stored(result) = serde_json::from_str(json)?;
            Ok(Reported { visit, result: Ok(result) })
        };
        (1..).zip(reports.unwrap_or_default()).map(parsed).collect()
    }
}

#[tokio::test]
async fn reports_reach_the_graph_by_the_names_of_their_nodes() {
    let output = || Edition { text: "news".into(), hints: 0, outcomes: 0 };
    let hint = r#"{"text":"shorter"}"#;
    let told = Told(vec![(3, vec![hint, hint]), (4, vec!["true", "false"]), (5, vec![r#"{"outcomes":7}"#])]);
    let finished = graph_finish(output(), told).await.expect("all reports are good");
    assert_eq!(finished, Edition { text: "news (sic)".into(), hints: 2, outcomes: 7 });

    let unreadable = Told(vec![(4, vec!["maybe"]), (5, vec![r#"{"outcomes":7}"#])]);
    assert!(graph_finish(output(), unreadable).await.is_err(), "a report that does not parse is an error");
    assert_eq!(
        graph_finish(output(), Told(Vec::new())).await.expect_err("the graph's own").to_string(),
        "nobody saw it"
    );
}

async fn graph_finish(output: Edition, told: Told) -> Result<Edition, NodeError> {
    Graph::finish(&graph(), output, told).await
}
