//! Test-driven development as a loop: tests and parts are made side by side, and a barrier holds the implementation back
//! until all of them are there.

use crate::support::{Recording, timed};
use askama::Template;
use interlocking::failure::Exhausted;
use interlocking::prelude::*;
use interlocking::runtime::ChildFailure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The specification, and the parts of which it consists.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Scaffold {
    spec: String,
    parts: Vec<Self>,
}

/// The input of the test writer: in later rounds, the tests that the review misses.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Wanted {
    additional: Vec<String>,
}

/// A merged part, and the run that merged it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Merged {
    part: String,
    by: RunId,
}

/// A part that will not come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Missing {
    Ended(Box<End>),
    Failed(ChildFailure),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Task {
    tests: Vec<String>,
    merged: Vec<Merged>,
    retry: Option<Retry>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Retry {
    diagnosis: String,
    strategy_from: String,
    strategy_to: String,
    failing_tests: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stuck {
    pub(crate) diagnosis: String,
    pub(crate) attempts: u32,
}

/// A retry beyond the limit: its diagnosis is kept.
impl From<Exhausted<Task>> for Stuck {
    fn from(Exhausted { limit, input, .. }: Exhausted<Task>) -> Self {
        Self { diagnosis: input.retry.map(|retry| retry.diagnosis).unwrap_or_default(), attempts: limit.number() }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum End {
    Merged(Merged),
    Stuck(Stuck),
    Rejected { reason: String },
    InvalidScaffold { missing_type: String },
    PartsMissing(Vec<(String, Missing)>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum Written {
    TestsReady { tests: Vec<String> },
    InvalidScaffold { missing_type: String },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum Tried {
    TestsPassed { commit: String },
    RequestRetry(Retry),
    Stuck { diagnosis: String },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum Reviewed {
    Approved,
    MoreTests { additional: Vec<String> },
    Reject { reason: String },
}

#[derive(Template)]
#[template(source = "Test {{ spec }}.{% for test in additional %}\n- {{ test }}{% endfor %}", ext = "txt")]
pub(crate) struct TestPrompt<'a> {
    spec: String,
    additional: &'a [String],
}

#[derive(Template)]
#[template(
    source = "Implement {{ spec }}, attempt {{ attempt }} of 5.\
              {% for test in task.tests %}\nPass {{ test }}.{% endfor %}\
              {% for merged in task.merged %}\nUse {{ merged.part }}.{% endfor %}\
              {% if let Some(retry) = task.retry %}\nLast time: {{ retry.diagnosis }}. Not {{ retry.strategy_from }} but \
              {{ retry.strategy_to }}. Failing: {{ retry.failing_tests.join(\", \") }}.{% endif %}\
              {% if is_final %}\nThis is the final attempt: succeed or emit Stuck.{% endif %}",
    ext = "txt"
)]
pub(crate) struct TaskPrompt<'a> {
    spec: String,
    attempt: u32,
    task: &'a Task,
    is_final: bool,
}

#[derive(Template)]
#[template(source = "Review {{ spec }} at {{ commit }}.", ext = "txt")]
pub(crate) struct ReviewPrompt<'a> {
    spec: String,
    commit: &'a str,
}

type Parts = Vec<(String, Result<Merged, Missing>)>;

/// Tests come first. A run with parts is the parent of a run for each part.
#[derive(Graph)]
#[graph(output = End)]
pub(crate) struct TestFirst {
    #[node(entry, input = Scaffold, fork(write_tests, parts | barrier.parts))]
    dispatch: ForkNode<Dispatch>,
    #[node(input = Vec<Scaffold>, map = TestFirst, depth = 2, goto(barrier))]
    parts: MapNode<EachPart>,
    #[node(input = Wanted, prompt = TestPrompt<'_>, output = Written, goto(barrier), goto(exit, cancels(*)))]
    write_tests: LLMNode<WriteTests>,
    /// The parts are merged once: in later rounds only the tests are new.
    #[node(join(tests: Vec<String> from(write_tests), parts: Parts from(parts, dispatch) latched), goto(implement, exit))]
    barrier: JoinNode<Barrier>,
    #[node(input = Task, prompt = TaskPrompt<'_>, output = Tried, goto(implement, review, give_up), attempts = 5,
        exhausted(give_up))]
    implement: LLMNode<Implement>,
    #[node(input = String, prompt = ReviewPrompt<'_>, output = Reviewed, goto(write_tests, exit), visits = 3)]
    review: LLMNode<Review>,
    #[node(input = Stuck, goto(exit))]
    give_up: LogicNode<GiveUp>,
}

held!(TestFirst);

forks!(Dispatch for test_first::dispatch, |scaffold: Scaffold, cx| match scaffold.parts.is_empty() {
    true => fork!(cx, (Wanted::default(), cx.branch::<test_first::barrier_parts>(Vec::new()))),
    false => fork!(cx, (Wanted::default(), cx.branch::<test_first::parts>(scaffold.parts))),
});

struct EachPart;
impl MapHandler<test_first::parts> for EachPart {
    fn graph(&self, cx: &Cx<'_, test_first::parts>) -> Result<Arc<TestFirst>, NodeError> {
        Ok(cx.own_graph()?)
    }
    async fn items(
        &self,
        parts: &Vec<Scaffold>,
        _: &mut Cx<'_, test_first::parts>,
    ) -> Result<Vec<Item<TestFirst>>, NodeError> {
        Ok(parts.iter().map(|part| Item::new(part.clone()).with_key(&part.spec)).collect())
    }
    async fn gather(
        &self,
        _: Vec<Scaffold>,
        children: Children<TestFirst>,
        cx: &mut Cx<'_, test_first::parts>,
    ) -> Route<test_first::parts> {
        let parts = children.all().await.into_iter().map(|child| {
            let merged = match child.result {
                Ok(End::Merged(merged)) => Ok(merged),
                Ok(end) => Err(Missing::Ended(Box::new(end))),
                Err(failure) => Err(Missing::Failed(failure)),
            };
            (child.key, merged)
        });
        goto!(cx, test_first::barrier, parts.collect())
    }
}

struct WriteTests;
impl LLMHandler<test_first::write_tests> for WriteTests {
    async fn before<'a>(&'a self, wanted: &'a Wanted, cx: &mut Cx<'_, test_first::write_tests>) -> Ask<TestPrompt<'a>> {
        let prompt = TestPrompt { spec: cx.entry()?.spec.clone(), additional: &wanted.additional };
        Ok((prompt, SessionOp::StartFresh(Slug::new("tests")?)))
    }
    async fn after(
        &self,
        _: Wanted,
        reply: Reply<Written>,
        cx: &mut Cx<'_, test_first::write_tests>,
    ) -> Route<test_first::write_tests> {
        match reply.output {
            Written::TestsReady { tests } => goto!(cx, test_first::barrier, tests),
            Written::InvalidScaffold { missing_type } => {
                goto!(cx, test_first::exit, End::InvalidScaffold { missing_type })
            }
        }
    }
}

joins!(Barrier for test_first::barrier, |(tests, parts): (Vec<String>, Parts), cx| {
    let (mut merged, mut missing) = (Vec::new(), Vec::new());
    for (part, result) in parts {
        match result {
            Ok(part) => merged.push(part),
            Err(why) => missing.push((part, why)),
        }
    }
    match missing.is_empty() {
        true => goto!(cx, test_first::implement, Task { tests, merged, retry: None }),
        false => goto!(cx, test_first::exit, End::PartsMissing(missing)),
    }
});

struct Implement;
impl LLMHandler<test_first::implement> for Implement {
    async fn before<'a>(&'a self, task: &'a Task, cx: &mut Cx<'_, test_first::implement>) -> Ask<TaskPrompt<'a>> {
        let (spec, attempt, is_final) = (cx.entry()?.spec.clone(), cx.attempt(), cx.is_final_attempt());
        let prompt = TaskPrompt { spec, attempt, task, is_final };
        Ok((prompt, SessionOp::StartFresh(Slug::new("implement")?)))
    }
    async fn after(
        &self,
        task: Task,
        reply: Reply<Tried>,
        cx: &mut Cx<'_, test_first::implement>,
    ) -> Route<test_first::implement> {
        match reply.output {
            Tried::TestsPassed { commit } => goto!(cx, test_first::review, commit),
            Tried::RequestRetry(retry) => goto!(cx, self, Task { retry: Some(retry), ..task }),
            Tried::Stuck { diagnosis } => {
                goto!(cx, test_first::give_up, Stuck { diagnosis, attempts: cx.attempt() })
            }
        }
    }
}

struct Review;
impl LLMHandler<test_first::review> for Review {
    async fn before<'a>(&'a self, commit: &'a String, cx: &mut Cx<'_, test_first::review>) -> Ask<ReviewPrompt<'a>> {
        let prompt = ReviewPrompt { spec: cx.entry()?.spec.clone(), commit };
        Ok((prompt, SessionOp::StartFresh(Slug::new("review")?)))
    }
    async fn after(
        &self,
        _: String,
        reply: Reply<Reviewed>,
        cx: &mut Cx<'_, test_first::review>,
    ) -> Route<test_first::review> {
        match reply.output {
            Reviewed::Approved => {
                let merged = Merged { part: cx.entry()?.spec.clone(), by: cx.run_id().clone() };
                goto!(cx, test_first::exit, End::Merged(merged))
            }
            Reviewed::MoreTests { additional } => goto!(cx, test_first::write_tests, Wanted { additional }),
            Reviewed::Reject { reason } => goto!(cx, test_first::exit, End::Rejected { reason }),
        }
    }
}

logic!(GiveUp for test_first::give_up, |stuck: Stuck, cx| goto!(cx, test_first::exit, End::Stuck(stuck)));

/// A run whose agents all follow this script.
pub(crate) fn run(agent: &Arc<Recording>) -> Run<TestFirst> {
    let graph = TestFirst {
        dispatch: ForkNode(Dispatch),
        parts: MapNode(EachPart),
        write_tests: LLMNode(WriteTests),
        barrier: JoinNode(Barrier),
        implement: LLMNode(Implement),
        review: LLMNode(Review),
        give_up: LogicNode(GiveUp),
    };
    timed(graph).with_agent_for_others(agent.clone())
}

pub(crate) fn scaffold(spec: &str, parts: &[&str]) -> Scaffold {
    let part = |part: &&str| Scaffold { spec: (*part).to_owned(), parts: Vec::new() };
    Scaffold { spec: spec.to_owned(), parts: parts.iter().map(part).collect() }
}

/// One turn of an agent for a prompt that contains `prompt`; it takes so many seconds.
pub(crate) fn turn(prompt: &str, seconds: u64, output: &str) -> String {
    format!("[[turn]]\ncontains = ['{prompt}']\ndelay = '{seconds}s'\noutput_json = '{output}'\n")
}

pub(crate) const READY: &str = r#"{"TestsReady":{"tests":["one"]}}"#;
pub(crate) const PASSED: &str = r#"{"TestsPassed":{"commit":"abc"}}"#;
pub(crate) const APPROVED: &str = r#""Approved""#;

/// The prompts so far that start with `beginning`.
pub(crate) fn prompts(agent: &Recording, beginning: &str) -> Vec<String> {
    let prompts = agent.turns().into_iter().map(|turn| turn.prompt);
    prompts.filter(|prompt| prompt.starts_with(beginning)).collect()
}
