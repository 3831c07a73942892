//! Tracing: one span for each node execution, without the prompt.
//!
//! This is a process of its own, in which every thread that runs a graph has a subscriber: `tracing` decides once for a
//! process whether a span is of interest, and may do so by asking a thread without a subscriber.

#![expect(clippy::unwrap_used, reason = "a test: what is wrong shall end it")]

#[macro_use]
#[path = "../../../interlocking-soundness/tests/evidence/tables/held.rs"]
mod held;

use askama::Template;
use interlocking::agents::{Script, ScriptedAgent};
use interlocking::prelude::*;
use std::io::Write;
use std::sync::{Arc, Mutex};
use tracing::Level;
use tracing_subscriber::fmt::format::FmtSpan;

const SECRET: &str = "pancakes";

#[derive(Template)]
#[template(source = "Tell me about {{ topic }}.", ext = "txt")]
struct TellPrompt<'a> {
    topic: &'a str,
}

#[derive(Graph)]
#[graph(output = String)]
struct Told {
    #[node(entry, input = String, prompt = TellPrompt<'_>, output = String, goto(listen))]
    tell: LLMNode<Tell>,
    #[node(input = String, goto(listen, exit), attempts = 2)]
    listen: LogicNode<Listen>,
}

held!(Told);

struct Tell;
impl LLMHandler<told::tell> for Tell {
    fn system(&self) -> Option<String> {
        Some(format!("You know about {SECRET}."))
    }
    async fn before<'a>(&'a self, topic: &'a String, _: &mut Cx<'_, told::tell>) -> Ask<TellPrompt<'a>> {
        Ok((TellPrompt { topic }, SessionOp::StartFresh(Slug::new("tell")?)))
    }
    async fn after(&self, _: String, reply: Reply<String>, cx: &mut Cx<'_, told::tell>) -> Route<told::tell> {
        goto!(cx, told::listen, reply.output)
    }
}
struct Listen;
impl LogicHandler<told::listen> for Listen {
    async fn run(&self, text: String, cx: &mut Cx<'_, told::listen>) -> Route<told::listen> {
        tracing::info!("the handler's own words");
        match (text.as_str(), cx.attempt()) {
            ("panic", _) => panic!("no more"),
            (_, 1) => goto!(cx, self, text),
            _ => goto!(cx, told::exit, text),
        }
    }
}

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The trace of a run at this level.
async fn traced(level: Level, answer: &str, journal: bool) -> (String, Outcome<String>) {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_span_events(FmtSpan::NEW | FmtSpan::CLOSE)
        .without_time()
        .with_ansi(false)
        .with_target(false)
        .with_writer(move || writer.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let script = format!("[[turn]]\ntext = '{SECRET}!'\noutput_json = '\"{answer}\"'\n");
    let agent = Arc::new(ScriptedAgent::new(Script::parse("test.toml", &script).unwrap()));
    let run = Run::new(Told { tell: LLMNode(Tell), listen: LogicNode(Listen) }).with_agent("tell", agent);
    let run = if journal { run } else { run.without_journal() };
    let report = run.start(SECRET.to_owned()).await.unwrap();
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    (text, report.outcome)
}

#[tokio::test]
async fn each_execution_has_a_span_with_its_node_visit_and_attempt() {
    for journal in [true, false] {
        let (text, outcome) = traced(Level::INFO, "fine", journal).await;
        assert_eq!(outcome, Outcome::Finished("fine".to_owned()));
        for span in [
            r#"node{node="tell" visit=1 attempt=1}: new"#,
            r#"node{node="listen" visit=1 attempt=1}: new"#,
            r#"node{node="listen" visit=1 attempt=2}: new"#,
        ] {
            assert_eq!(text.matches(span).count(), 1, "{span} in:\n{text}");
        }
        assert_eq!(text.matches("}: close").count(), text.matches("}: new").count(), "{text}");
        assert!(
            text.contains(r#"node{node="tell" visit=1 attempt=1}:agent_turn{agent="scripted" role="tell""#),
            "an agent's turn is inside its node's span:\n{text}"
        );
        assert!(
            text.contains(r#"node{node="listen" visit=1 attempt=2}: the handler's own words"#),
            "and so is what a handler traces:\n{text}"
        );
    }
}

#[tokio::test]
async fn no_prompt_and_no_answer_is_traced() {
    for level in [Level::INFO, Level::DEBUG, Level::TRACE] {
        let (text, outcome) = traced(level, "fine", true).await;
        assert_eq!(outcome, Outcome::Finished("fine".to_owned()));
        assert!(text.contains("node{"), "something is traced at {level}:\n{text}");
        assert!(!text.contains(SECRET), "at {level}:\n{text}");
    }
}

#[tokio::test]
async fn the_span_of_a_node_that_fails_is_closed() {
    let (text, outcome) = traced(Level::INFO, "panic", false).await;
    assert!(matches!(outcome, Outcome::Failed(failure) if failure.kind == FailureKind::Panic));
    assert!(text.contains(r#"node{node="listen" visit=1 attempt=1}: new"#), "{text}");
    assert_eq!(text.matches("}: close").count(), text.matches("}: new").count(), "{text}");
}
