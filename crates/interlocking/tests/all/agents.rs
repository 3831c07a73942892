//! LLM nodes: the prompt is rendered, the agent called, the output validated, the route taken.

use crate::support::{Log, Recording, failed, finished, pass, timed};
use askama::Template;
use interlocking::agents::{Cost, Usage};
use interlocking::prelude::*;
use interlocking::runtime::CancelToken;
use interlocking::runtime::roles::{Player, Roles};
use interlocking::runtime::workspaces::Directories;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Draft {
    topic: String,
    notes: Vec<String>,
}

/// A word count that must be even, which only the Rust type checks: the schema says integer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "u32")]
#[schemars(with = "u32")]
struct Even(u32);

impl TryFrom<u32> for Even {
    type Error = String;
    fn try_from(number: u32) -> Result<Self, String> {
        if number.is_multiple_of(2) { Ok(Self(number)) } else { Err(format!("{number} is odd")) }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Article {
    text: String,
    words: Even,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Review {
    accepted: bool,
    note: Option<String>,
}

#[derive(Template)]
#[template(
    source = "Write about {{ draft.topic }}.{% for note in draft.notes %}\n- {{ note }}{% endfor %}",
    ext = "txt"
)]
struct WritePrompt<'a> {
    draft: &'a Draft,
}

#[derive(Template)]
#[template(source = "Review, {{ visit }} of 3: {{ article.text }}", ext = "txt")]
struct ReviewPrompt<'a> {
    article: &'a Article,
    visit: u32,
}

#[derive(Graph)]
#[graph(output = (Article, Vec<String>))]
struct Newsroom {
    #[node(entry, input = Draft, prompt = WritePrompt<'_>, output = Article, goto(review), agent = "author",
        model = "medium", workspace = "desk")]
    write: LLMNode<Write>,
    #[node(input = Article, prompt = ReviewPrompt<'_>, output = Review, goto(write, exit), visits = 3, model = "small")]
    review: LLMNode<Reviews>,
}

held!(Newsroom);

struct Write;
impl LLMHandler<newsroom::write> for Write {
    fn system(&self) -> Option<String> {
        Some("You write plain English.".to_owned())
    }
    async fn before<'a>(&'a self, draft: &'a Draft, _: &mut Cx<'_, newsroom::write>) -> Ask<WritePrompt<'a>> {
        Ok((WritePrompt { draft }, SessionOp::StartFresh(Slug::new("write")?)))
    }
    async fn after(
        &self,
        draft: Draft,
        reply: Reply<Article>,
        cx: &mut Cx<'_, newsroom::write>,
    ) -> Route<newsroom::write> {
        assert_eq!(cx.input_of::<newsroom::write>()?, draft, "what `before` saw comes back");
        cx.note(format!(
            "{} in {} after {} corrections, {}",
            reply.output.words.0, reply.session, reply.corrections, reply.usage.cost
        ));
        goto!(cx, newsroom::review, reply.output)
    }
}

struct Reviews;
impl LLMHandler<newsroom::review> for Reviews {
    async fn before<'a>(&'a self, article: &'a Article, cx: &mut Cx<'_, newsroom::review>) -> Ask<ReviewPrompt<'a>> {
        Ok((ReviewPrompt { article, visit: cx.visit() }, SessionOp::StartFresh(Slug::new("review")?)))
    }
    async fn after(
        &self,
        article: Article,
        reply: Reply<Review>,
        cx: &mut Cx<'_, newsroom::review>,
    ) -> Route<newsroom::review> {
        let Draft { topic, mut notes } = cx.input_of::<newsroom::write>()?;
        if reply.output.accepted {
            return goto!(cx, newsroom::exit, (article, notes));
        }
        notes.extend(reply.output.note);
        goto!(cx, newsroom::write, Draft { topic, notes })
    }
}

fn newsroom() -> Newsroom {
    Newsroom { write: LLMNode(Write), review: LLMNode(Reviews) }
}

fn draft() -> Draft {
    Draft { topic: "lending".to_owned(), notes: Vec::new() }
}

fn run(agent: &Arc<Recording>) -> (Run<Newsroom>, Log) {
    let log = Log::new();
    let desk = Directories::new().with("desk", "/");
    let run = timed(newsroom()).with_agent_for_others(agent.clone()).with_workspaces(Arc::new(desk));
    (run.with_events(log.sink()), log)
}

const TWO_ROUNDS: &str = "
    [[turn]]
    agent = 'author'
    contains = ['Write about lending.']
    output = { text = 'Borrow it.', words = 2 }
    cost = 0.01
    tokens = { input = 100, output = 10 }
    [[turn]]
    agent = 'review'
    contains = ['Review, 1 of 3: Borrow it.']
    output = { accepted = false, note = 'Say what.' }
    cost = 0.002
    [[turn]]
    agent = 'author'
    contains = ['Write about lending.', '- Say what.']
    output = { text = 'Borrow the value now.', words = 4 }
    cost = 0.01
    [[turn]]
    agent = 'review'
    contains = ['Review, 2 of 3: Borrow the value now.']
    output = { accepted = true }
    cost = 0.002
";

/// PRG-40: the template is rendered, the agent called, its output parsed, and the way on is what `after` says.
/// PRG-03: `after` has the parsed output and the session, and makes a typed choice.
#[tokio::test(start_paused = true)]
async fn prompts_are_rendered_answered_and_routed() {
    let agent = Recording::new(TWO_ROUNDS);
    let (run, log) = run(&agent);
    let report = run.start(draft()).await.unwrap();
    assert_eq!(report.usage().to_string(), "$0.024 in 4 calls, 100 tokens in, 10 tokens out");
    assert_eq!(log.line("ended finished:"), "0 ended finished: $0.024 in 4 calls, 100 tokens in, 10 tokens out");
    let of_author = report.ledger.total_where(|entry| entry.role.as_deref() == Some("author"));
    assert_eq!(of_author.cost, Cost::from_micro_dollars(20_000));
    assert_eq!((report.visits_of("write"), report.visits_of("review")), (2, 2));
    let (article, notes) = finished(report);
    assert_eq!(article, Article { text: "Borrow the value now.".into(), words: Even(4) });
    assert_eq!(notes, ["Say what."]);
    assert_eq!(agent.scripted().unused(), [], "every turn was asked for");
}

/// PRG-01: the four parts of a handler, as the agent gets them: system prompt, user prompt and session of `before`, the
/// schema of the output that `after` takes.
#[tokio::test(start_paused = true)]
async fn a_turn_is_made_of_the_handlers_parts_and_the_row() {
    let agent = Recording::new(TWO_ROUNDS);
    run(&agent).0.start(draft()).await.unwrap();
    let turns = agent.turns();
    let (write, review, rewrite) = (&turns[0], &turns[1], &turns[2]);
    assert_eq!(write.prompt, "Write about lending.");
    assert_eq!(rewrite.prompt, "Write about lending.\n- Say what.");
    assert_eq!((write.system.as_deref(), review.system.as_deref()), (Some("You write plain English."), None));
    assert_eq!((write.role.as_deref(), review.role.as_deref()), (Some("author"), Some("review")));
    assert_eq!(write.workspace.as_deref(), Some(std::path::Path::new("/")));
    assert_eq!(review.workspace, None);
    assert!(!write.read_only);
    let schema = |turn: &interlocking::agents::Turn| turn.schema.as_ref().unwrap().as_value().clone();
    assert_eq!(schema(write), schemars::schema_for!(Article).to_value());
    assert_eq!(schema(review), schemars::schema_for!(Review).to_value());
    assert!(Arc::ptr_eq(write.schema.as_ref().unwrap(), rewrite.schema.as_ref().unwrap()), "compiled once a run");
}

/// HY-56, HY-58: a node names a model, which is used if its role names none.
#[tokio::test(start_paused = true)]
async fn a_role_has_its_agent_and_its_model() {
    let (author, others) = (Recording::new(TWO_ROUNDS), Recording::new(TWO_ROUNDS));
    let mut roles = Roles::new();
    roles.bind("author", Player { model: Some("large".to_owned()), ..Player::new(author.clone()) });
    roles.bind_others(Player::new(others.clone()));
    let (run, _) = run(&author);
    let report = run.with_roles(roles).start(draft()).await.unwrap();
    finished(report);
    let models = |agent: &Recording| agent.turns().into_iter().map(|turn| turn.model).collect::<Vec<_>>();
    assert_eq!(models(&author), [Some("large".to_owned()), Some("large".to_owned())]);
    let small = Some("small".to_owned());
    assert_eq!(models(&others), [small.clone(), small]);
}

/// An invalid output goes back to the agent, in its session; so does an output that only the type rejects.
#[tokio::test(start_paused = true)]
async fn corrections_are_visible_and_paid_for() {
    let agent = Recording::new(
        "
        [[turn]]
        agent = 'author'
        session = 'fresh'
        output = { text = 'Borrow it.' }
        cost = 0.01
        [[turn]]
        agent = 'author'
        session = 'continue'
        contains = ['\"words\" is a required property']
        output = { text = 'Borrow it.', words = 3 }
        cost = 0.02
        [[turn]]
        agent = 'author'
        session = 'continue'
        contains = ['3 is odd']
        output = { text = 'Borrow it.', words = 2 }
        cost = 0.04
        [[turn]]
        agent = 'review'
        output = { accepted = true }
        ",
    );
    let (run, log) = run(&agent);
    let report = run.start(draft()).await.unwrap();
    assert_eq!(log.line("note write 1.1"), "0 note write 1.1 2 in write-1 after 2 corrections, $0.07");
    assert_eq!(log.lines().matches("agent write 1.1 \"correction\"").count(), 2, "{}", log.lines());
    assert_eq!(report.ledger.entries()[0].usage.calls, 3);
    assert_eq!(report.visits_of("write"), 1, "a correction is no visit of the node");
    assert_eq!(finished(report).0.words, Even(2));
}

#[tokio::test(start_paused = true)]
async fn an_output_that_stays_invalid_fails_the_run_and_is_paid_for() {
    let agent = Recording::new(
        "
        [[turn]]
        times = 'any'
        output = { text = 7 }
        cost = 0.01
        tokens = { input = 5, output = 1 }
        ",
    );
    let (run, log) = run(&agent);
    let report = run.start(draft()).await.unwrap();
    let spent = Usage {
        calls: 3,
        input_tokens: 15,
        output_tokens: 3,
        cost: Cost::from_micro_dollars(30_000),
        unpriced_calls: 0,
    };
    assert_eq!(report.usage(), spent);
    assert_eq!(report.ledger.entries()[0].session.as_ref().map(SessionId::as_str), Some("write-1"));
    assert_eq!(log.line("ended failed:"), "0 ended failed: $0.03 in 3 calls, 15 tokens in, 3 tokens out");
    let failure = failed(report);
    assert_eq!((failure.node.as_str(), &failure.kind), ("write", &FailureKind::Agent));
    let message = &failure.message;
    assert!(message.starts_with("the output is still invalid after 2 correction rounds: "), "{message}");
    assert!(message.contains("\"words\" is a required property"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_fails_fails_the_run_with_its_words() {
    let agent = Recording::new("[[turn]]\nfail = 'crash'\ntext = 'out of memory'\ncost = 0.5\n");
    let (run, _) = run(&agent);
    let report = run.start(draft()).await.unwrap();
    assert_eq!(report.usage().cost.to_string(), "$0.50");
    let failure = failed(report);
    assert_eq!(failure.kind, FailureKind::Agent);
    assert_eq!(
        failure.to_string(),
        "node `write` failed: the agent ended without an answer (exit code 1): out of memory"
    );
}

/// A node that is cancelled between its call and its outcome has paid for the call.
#[tokio::test(start_paused = true)]
async fn calls_of_a_cancelled_node_are_in_the_ledger() {
    #[derive(Graph)]
    #[graph(output = bool)]
    struct Slow {
        #[node(entry, input = Draft, prompt = WritePrompt<'_>, output = bool, goto(exit))]
        only: LLMNode<Lingers>,
    }
    crate::held::is_held::<Slow>(module_path!());
    struct Lingers;
    impl LLMHandler<slow::only> for Lingers {
        async fn before<'a>(&'a self, draft: &'a Draft, _: &mut Cx<'_, slow::only>) -> Ask<WritePrompt<'a>> {
            Ok((WritePrompt { draft }, SessionOp::StartFresh(Slug::new("only")?)))
        }
        async fn after(&self, _: Draft, reply: Reply<bool>, cx: &mut Cx<'_, slow::only>) -> Route<slow::only> {
            pass(1_000).await;
            goto!(cx, slow::exit, reply.output)
        }
    }
    let agent = Recording::new("[[turn]]\ndelay = '10ms'\noutput_json = 'true'\ncost = 0.25\n");
    let cancel = CancelToken::new();
    let run = timed(Slow { only: LLMNode(Lingers) }).with_agent_for_others(agent).with_cancel(cancel.clone());
    let (report, ()) = tokio::join!(run.start(draft()), async {
        pass(100).await;
        cancel.cancel();
    });
    let report = report.unwrap();
    assert_eq!(report.outcome, Outcome::Cancelled);
    assert_eq!(report.usage().cost.to_string(), "$0.25");
}

/// An interrupted turn is paid for as well, at a price that stays unknown: the sum is marked as a lower bound.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_interrupted_is_in_the_ledger_without_a_price() {
    #[derive(Graph)]
    #[graph(output = u32)]
    struct Hasty {
        #[node(entry, input = Draft, prompt = WritePrompt<'_>, output = u32, goto(exit), timeout = "1s")]
        only: LLMNode<Only>,
    }
    crate::held::is_held::<Hasty>(module_path!());
    struct Only;
    impl LLMHandler<hasty::only> for Only {
        async fn before<'a>(&'a self, draft: &'a Draft, _: &mut Cx<'_, hasty::only>) -> Ask<WritePrompt<'a>> {
            Ok((WritePrompt { draft }, SessionOp::StartFresh(Slug::new("only")?)))
        }
        async fn after(&self, _: Draft, reply: Reply<u32>, cx: &mut Cx<'_, hasty::only>) -> Route<hasty::only> {
            goto!(cx, hasty::exit, reply.output)
        }
    }
    // The first answer is wrong and has a price; the correction takes too long.
    let script =
        "[[turn]]\noutput_json = '\"no\"'\ncost = 0.25\n[[turn]]\ndelay = '1h'\noutput_json = '1'\ncost = 9.0\n";
    let stopped = |cancel: CancelToken| async {
        let run = timed(Hasty { only: LLMNode(Only) }).with_agent_for_others(Recording::new(script));
        run.with_cancel(cancel).start(draft()).await.unwrap()
    };
    let late = stopped(CancelToken::new()).await;
    let cancel = CancelToken::new();
    let (cancelled, ()) = tokio::join!(stopped(cancel.clone()), async {
        pass(500).await;
        cancel.cancel();
    });
    assert_eq!(cancelled.outcome, Outcome::Cancelled);
    for report in [&late, &cancelled] {
        assert_eq!(report.usage().to_string(), "at least $0.25 in 2 calls, 0 tokens in, 0 tokens out");
        assert_eq!(report.ledger.entries().len(), 1, "one turn");
        assert_eq!(report.ledger.entries()[0].session, Some(SessionId::new("only-1").unwrap()));
    }
    assert_eq!(failed(late).kind, FailureKind::Timeout { limit_ms: 1000 });
}
