use std::time::Duration;

use async_trait::async_trait;
use interlocking_agents::{
    Agent, AgentError, AgentErrorKind, AgentEvent, Completion, Conversation, Interrupt, NoEvents, NudgeReason, Nudges,
    Reply, ScriptedAgent, Sessions, Turn, TurnContext, Usage,
};
use serde_json::json;

use crate::common::{Recorded, agent, article_schema, fresh, fresh_in, id};

const SECOND: Duration = Duration::from_secs(1);

fn article() -> Turn {
    Turn { schema: Some(article_schema()), ..fresh("Write.") }
}

async fn nudged(agent: &ScriptedAgent, nudges: Nudges) -> Result<Completion, AgentError> {
    Conversation::new(agent).with_nudges(nudges).run(article(), &NoEvents).await
}

/// V3-135 for a single conversation: the prompt, the time, the session.
#[tokio::test(start_paused = true)]
async fn an_idle_agent_is_interrupted_and_reminded_in_its_session() {
    let agent = agent(
        r#"
        [[turn]]
        contains = ["Write."]
        delay = "1h"
        cost = 0.25
        [[turn]]
        contains = ["REMINDER"]
        session = "continue"
        output = { title = "Borrowing", words = 5 }
        cost = 0.5
        "#,
    );
    let (start, recorded) = (tokio::time::Instant::now(), Recorded::default());
    let conversation = Conversation::new(&agent).with_nudges(Nudges::default());
    let completion = conversation.run(article(), &recorded.sink()).await.unwrap();
    assert_eq!(start.elapsed(), 60 * SECOND);
    assert_eq!((completion.nudges, completion.corrections, completion.session), (1, 0, id("write-1")));
    assert_eq!(
        completion.usage.to_string(),
        "$0.75 in 2 calls, 0 tokens in, 0 tokens out",
        "what it says when asked to stop"
    );
    let prompts: Vec<_> = agent.history(&id("write-1")).unwrap().into_iter().map(|exchange| exchange.prompt).collect();
    assert_eq!(prompts, ["Write.", "REMINDER: Emit a decision to complete this phase"]);
    assert!(recorded.events().contains(&AgentEvent::Nudge { round: 1, reason: NudgeReason::Idle }));
}

#[tokio::test(start_paused = true)]
async fn reminders_are_bounded_and_then_the_turn_is_idle() {
    for limit in [0, 1, 3] {
        let agent = agent("[[turn]]\ntimes = 'any'\ndelay = '1h'\ncost = 0.5");
        let start = tokio::time::Instant::now();
        let nudges = Nudges::default().with_limit(limit).with_idle(Some(7 * SECOND));
        let error = nudged(&agent, nudges).await.unwrap_err();
        assert_eq!(start.elapsed(), (limit + 1) * 7 * SECOND);
        assert_eq!(*error.kind, AgentErrorKind::Idle { limit: 7 * SECOND, nudges: limit });
        assert_eq!((error.usage.calls, error.session), (limit + 1, Some(id("write-1"))));
        assert_eq!(agent.history(&id("write-1")).unwrap().len() as u32, limit + 1);
    }
}

/// V3-137: a missing output leads to a reminder, and an invalid output to a correction.
#[tokio::test(start_paused = true)]
async fn a_missing_output_is_reminded_of_and_a_wrong_one_corrected() {
    let agent = agent(
        r#"
        [[turn]]
        contains = ["Write."]
        text = "I have thought about it."
        [[turn]]
        contains = ["REMINDER: Emit a decision to complete this phase"]
        output = { title = 3, words = 1 }
        [[turn]]
        contains = ["does not fit the JSON schema", "/title"]
        text = "Oh."
        [[turn]]
        contains = ["REMINDER: Emit a decision to complete this phase"]
        output = { title = "Borrowing", words = 5 }
        "#,
    );
    let completion = nudged(&agent, Nudges::default()).await.unwrap();
    assert_eq!((completion.nudges, completion.corrections), (2, 1));
    assert_eq!(completion.output, json!({ "title": "Borrowing", "words": 5 }));
    assert_eq!((agent.unused(), completion.usage.calls), (Vec::new(), 4));
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_never_decides_has_no_decision() {
    let agent = agent("[[turn]]\ntimes = 'any'\ntext = 'Hm.'");
    let error = nudged(&agent, Nudges::default()).await.unwrap_err();
    assert_eq!(*error.kind, AgentErrorKind::NoDecision { nudges: 3, text: Some("Hm.".to_owned()) });
    assert_eq!(error.to_string(), "the agent gave no decision after 3 reminders");
    assert_eq!((error.usage.calls, error.session), (4, Some(id("write-1"))));
}

/// Idle or undecided, the limit is the same.
#[tokio::test(start_paused = true)]
async fn both_reasons_count_together() {
    let agent = agent(
        "[[turn]]\ndelay = '1h'\n[[turn]]\ntext = 'Hm.'\n[[turn]]\ndelay = '1h'\n[[turn]]\ntext = 'Still.'\n[[turn]]",
    );
    let error = nudged(&agent, Nudges::default()).await.unwrap_err();
    assert_eq!(*error.kind, AgentErrorKind::NoDecision { nudges: 3, text: Some("Still.".to_owned()) });
    assert_eq!(agent.unused().len(), 1);
}

/// A long command counts as work, in real time as well: no reminder.
#[tokio::test]
async fn a_command_is_no_silence() {
    let workspace = tempfile::tempdir().unwrap();
    let agent = agent("[[turn]]\nrun = [{ command = ['sleep', '0.5'] }]\n[[turn]]");
    let nudges = Nudges::default().with_idle(Some(Duration::from_millis(50)));
    let conversation = Conversation::new(&agent).with_nudges(nudges);
    let completion = conversation.run(fresh_in(workspace.path(), "x"), &NoEvents).await.unwrap();
    assert_eq!(completion.nudges, 0);
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_from_outside_is_no_silence() {
    let agent = agent("[[turn]]\ndelay = '1h'");
    let interrupt = Interrupt::new();
    let conversation = Conversation::new(&agent).with_nudges(Nudges::default()).with_interrupt(interrupt.clone());
    let (outcome, ()) = tokio::join!(conversation.run(article(), &NoEvents), async {
        tokio::time::sleep(30 * SECOND).await;
        interrupt.request();
    });
    assert_eq!(*outcome.unwrap_err().kind, AgentErrorKind::Cancelled);
}

/// The behaviour of an unusual agent.
enum Manner {
    /// Does not report its session, and answers only when it is called again.
    Nameless,
    /// Ignores interrupts.
    Deaf,
    /// Answers exactly when it is interrupted.
    Late,
    /// Reports a text every 30 s for three minutes.
    Talkative,
}

struct Peculiar {
    sessions: Sessions,
    manner: Manner,
    prompts: std::sync::Mutex<Vec<String>>,
}

#[async_trait]
impl Agent for Peculiar {
    fn name(&self) -> &str {
        "peculiar"
    }

    fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<Reply, AgentError> {
        let calls = {
            let mut prompts = self.prompts.lock().unwrap();
            prompts.push(turn.prompt.clone());
            prompts.len()
        };
        match self.manner {
            Manner::Nameless if calls == 1 => std::future::pending().await,
            Manner::Nameless => {}
            Manner::Deaf => {
                context.started(&id("s-1"))?;
                if calls == 1 {
                    std::future::pending::<()>().await;
                }
            }
            Manner::Late => context.interrupted().await,
            Manner::Talkative => {
                for _ in 0..6 {
                    tokio::time::sleep(30 * SECOND).await;
                    context.emit(AgentEvent::Text { text: "Hm.".to_owned() });
                }
            }
        }
        let output = Some(json!({ "title": "Borrowing", "words": 5 }));
        Ok(Reply { output, ..Reply::new(id("s-1"), Usage { calls: 1, ..Usage::default() }) })
    }
}

async fn peculiar(manner: Manner) -> (Completion, Vec<String>, Duration) {
    let agent = Peculiar { sessions: Sessions::new(), manner, prompts: Default::default() };
    let start = tokio::time::Instant::now();
    let conversation = Conversation::new(&agent).with_nudges(Nudges::default());
    let completion = conversation.run(article(), &NoEvents).await.unwrap();
    let prompts = agent.prompts.lock().unwrap().clone();
    (completion, prompts, start.elapsed())
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_heard_nothing_is_asked_again_from_the_beginning() {
    let (completion, prompts, _) = peculiar(Manner::Nameless).await;
    assert_eq!(prompts, ["Write.", "Write."]);
    assert_eq!(completion.nudges, 1);
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_does_not_end_by_itself_is_interrupted() {
    let (completion, prompts, took) = peculiar(Manner::Deaf).await;
    assert_eq!(prompts, ["Write.", Nudges::PROMPT]);
    assert_eq!(took, 70 * SECOND, "with ten seconds of grace");
    assert_eq!((completion.usage.calls, completion.usage.unpriced_calls), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_comes_in_the_grace_counts() {
    let (completion, prompts, took) = peculiar(Manner::Late).await;
    assert_eq!((prompts.len(), completion.nudges, took), (1, 0, 60 * SECOND));
}

#[tokio::test(start_paused = true)]
async fn every_event_is_a_sign_of_life() {
    let (completion, _, took) = peculiar(Manner::Talkative).await;
    assert_eq!((completion.nudges, took), (0, 180 * SECOND));
}
