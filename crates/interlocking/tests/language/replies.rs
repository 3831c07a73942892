//! LLM nodes whose prompt is their input: with a handler for the reply, and without a handler.

use askama::Template;
use interlocking::agents::{AgentError, Script, ScriptedAgent};
use interlocking::graph::{Graph as _, Node};
use interlocking::prelude::*;
use interlocking::runtime::llm::LLM;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Serialize, Deserialize, Template)]
#[template(source = "Write about {{ subject }}, try {{ number }}.", ext = "txt")]
struct Task {
    subject: String,
    number: u32,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema, Template)]
#[template(source = "Judge this: {{ text }}", ext = "txt")]
struct Draft {
    text: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Verdict {
    good: bool,
}

/// `judge` has no handler, and fills the slot of a join; `Write_First` has a name that is no slug.
#[derive(Graph, Default)]
#[graph(output = Draft)]
#[expect(non_snake_case, reason = "a session is called like its node, whose name may be no slug")]
struct Desk {
    #[node(entry, input = Task, output = Draft, fork(judge, print.draft), attempts = 3, goto(Write_First))]
    Write_First: LLMNode<Write>,
    #[node(input = Draft, output = Verdict, goto(print))]
    judge: LLMNode,
    #[node(join(judge: Verdict, draft: Draft from(Write_First)), goto(exit))]
    print: JoinNode<Print>,
}

held!(Desk);

#[derive(Default)]
struct Write;
impl ReplyHandler<desk::Write_First> for Write {
    fn system(&self) -> Option<String> {
        Some("You write plain English.".to_owned())
    }
    async fn after(
        &self,
        task: Task,
        reply: Reply<Draft>,
        cx: &mut Cx<'_, desk::Write_First>,
    ) -> Route<desk::Write_First> {
        assert!(reply.session.as_str().starts_with("write_first-"), "{}: called like the node", reply.session);
        assert_eq!(task.number, 2, "the input as it was");
        let draft = reply.output;
        fork!(cx, (Draft { text: draft.text.clone() }, draft))
    }
    async fn unanswered(
        &self,
        task: Task,
        error: AgentError,
        cx: &mut Cx<'_, desk::Write_First>,
    ) -> Route<desk::Write_First> {
        assert!(error.to_string().contains("out of ink"), "{error}");
        goto!(cx, self, Task { number: task.number + 1, ..task })
    }
}

#[derive(Default)]
struct Print;
impl JoinHandler<desk::print> for Print {
    async fn join(&self, (verdict, draft): (Verdict, Draft), cx: &mut Cx<'_, desk::print>) -> Route<desk::print> {
        assert!(verdict.good);
        goto!(cx, desk::exit, draft)
    }
}

#[tokio::test]
async fn the_input_is_the_prompt_and_the_reply_goes_on() {
    let script = r#"turn = [
        { agent = "Write_First", contains = ["Write about tides, try 1."], fail = "crash", text = "out of ink" },
        { agent = "Write_First", session = "fresh", contains = ["try 2."], output = { text = "The tide rises." } },
        { agent = "judge", session = "fresh", contains = ["Judge this: The tide rises."], output = { good = true } },
    ]"#;
    let agent = Arc::new(ScriptedAgent::new(Script::parse("desk.toml", script).unwrap()));
    let run = Run::new(Desk::default()).with_agent_for_others(agent.clone());
    let report = run.start(Task { subject: "tides".to_owned(), number: 1 }).await.unwrap();
    let expected = Draft { text: "The tide rises.".to_owned() };
    assert_eq!(report.outcome.finished(), Some(expected));
    assert!(agent.unused().is_empty(), "{:?}", agent.unused());
}

/// The prompt that the table names is the prompt that is sent.
#[test]
fn the_table_names_the_input_as_the_prompt() {
    let row = Desk::net().row(1);
    assert_eq!((row.prompt.as_deref(), row.input.as_deref()), (Some("Draft"), Some("Draft")));
    fn is_prompt<I, N: Node<Input = I> + for<'a> LLM<Prompt<'a> = I>>() {}
    is_prompt::<_, desk::judge>();
}

#[tokio::test]
async fn a_role_is_played_by_any_agent_shared_or_not() {
    let script = r#"turn = [{ contains = ["Judge this"], output = { good = true } }]"#;
    let judge = ScriptedAgent::parse("judge.toml", script).unwrap();
    let writes = r#"turn = [{ contains = ["Write about tides, try 2."], output = { text = "It rises." } }]"#;
    let writer: Arc<dyn interlocking::agents::Agent> = Arc::new(ScriptedAgent::parse("writer.toml", writes).unwrap());
    let run = Run::new(Desk::default()).with_agent("judge", judge).with_agent("Write_First", writer);
    let report = run.start(Task { subject: "tides".to_owned(), number: 2 }).await.unwrap();
    assert!(report.outcome.finished().is_some());
}
