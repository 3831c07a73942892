//! No process that a turn started outlives it, however the turn ends.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use interlocking_agents::{
    AgentErrorKind, AgentEvent, ClaudeSettings, Conversation, Interrupt, Nudges, SessionOp, Turn,
};
use interlocking_model_server::{Reaction, Rule, Script};
use serde_json::json;

use crate::common::{Bench, run};
use stopped_time::StoppedTime;

#[path = "../stopped_time/mod.rs"]
mod stopped_time;

/// A command that waits, and has started a process in its own session, which waits too. Both write their process ids to
/// files.
fn lingering(after: &str) -> Script {
    let command =
        format!("setsid sh -c 'echo $$ > far; exec sleep 300' & sh -c 'echo $$ > near; exec sleep 300' & {after}");
    let lingering = Reaction::tool("Bash", json!({ "command": command, "description": "wait" }));
    Script::new().rule(Rule::asked("Work").reply(lingering)).rule(Rule::any().reply(Reaction::text("Done.")))
}

/// The ids of the waiting processes, once both are waiting.
async fn waiting(workspace: &Path) -> Vec<u32> {
    let begun = Instant::now();
    loop {
        let said = ["far", "near"].map(|name| std::fs::read_to_string(workspace.join(name)).ok()?.trim().parse().ok());
        if let [Some(far), Some(near)] = said {
            return vec![far, near];
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "nobody waits");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn is_alive(id: u32) -> bool {
    // A zombie counts as gone.
    std::fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

/// Whether all processes end after they were killed: on a busy machine it takes time until a killed process is
/// scheduled.
async fn end(ids: &[u32]) -> bool {
    let begun = Instant::now();
    while ids.iter().any(|id| is_alive(*id)) {
        if begun.elapsed() > Duration::from_secs(20) {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    true
}

fn allowed(bench: &Bench) -> ClaudeSettings {
    ClaudeSettings { allowed_tools: vec!["Bash".to_owned()], ..bench.settings() }
}

#[tokio::test]
async fn dropping_the_future_in_the_midst_of_a_tool_ends_the_whole_tree() {
    let Some(bench) = Bench::new(lingering("wait")) else { return };
    let (agent, turn) = (bench.agent_with(allowed(&bench)), bench.fresh("Work."));
    let task = tokio::spawn(async move { run(&agent, turn).await });
    let waiting = waiting(&bench.workspace()).await;
    assert!(waiting.iter().all(|id| is_alive(*id)));
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    assert!(end(&waiting).await);
}

#[tokio::test]
async fn an_interrupted_turn_ends_in_order_says_what_it_cost_and_goes_on_later() {
    let Some(bench) = Bench::new(lingering("wait")) else { return };
    let (agent, turn, interrupt) = (bench.agent_with(allowed(&bench)), bench.fresh("Work."), Interrupt::new());
    let interrupted = interrupt.clone();
    let again = agent.clone();
    let task = tokio::spawn(async move {
        Conversation::new(&agent).with_interrupt(interrupted).run(turn, &|_event: AgentEvent| {}).await
    });
    let waiting = waiting(&bench.workspace()).await;
    interrupt.request();
    let error = task.await.unwrap().unwrap_err();
    assert_eq!(*error.kind, AgentErrorKind::Cancelled);
    assert_eq!((error.usage.calls, error.usage.unpriced_calls, error.usage.output_tokens), (1, 0, 10));
    assert!(!waiting.iter().any(|id| is_alive(*id)));
    let session = error.session.unwrap();
    let completion = run(&again, bench.turn(SessionOp::ContinueFrom(session), "Go on.")).await.unwrap();
    assert_eq!(completion.text.as_deref(), Some("Done."));
}

#[tokio::test]
async fn what_a_command_left_behind_ends_with_a_turn_that_went_well() {
    let Some(bench) = Bench::new(lingering("while [ ! -s far ] || [ ! -s near ]; do sleep 0.05; done; true")) else {
        return;
    };
    let agent = bench.agent_with(allowed(&bench));
    let completion = run(&agent, bench.fresh("Work.")).await.unwrap();
    assert_eq!(completion.text.as_deref(), Some("Done."));
    let waited = waiting(&bench.workspace()).await;
    assert!(!waited.iter().any(|id| is_alive(*id)));
}

/// A long command is silent, but the agent is not idle.
#[tokio::test]
async fn a_command_that_takes_its_time_is_waited_for() {
    const LIMIT: Duration = Duration::from_secs(60);
    let command = "touch began; while [ ! -e go ]; do sleep 0.05; done; touch made";
    let command = Reaction::tool("Bash", json!({ "command": command, "description": "wait" }));
    let script =
        Script::new().rule(Rule::asked("Work").reply(command)).rule(Rule::any().reply(Reaction::text("Done.")));
    let Some(bench) = Bench::new(script) else { return };
    let agent = bench.agent_with(ClaudeSettings { idle_limit: Some(LIMIT), ..allowed(&bench) });
    let nudges = Nudges { idle: Some(LIMIT), limit: 0, ..Nudges::DEFAULT };
    let (conversation, time) = (Conversation::new(&agent).with_nudges(nudges), StoppedTime::new());
    let is_used = AtomicBool::new(false);
    let sink = |event| {
        if matches!(event, AgentEvent::ToolUse { .. }) {
            is_used.store(true, Ordering::Relaxed);
        }
    };
    let waiting = async {
        let workspace = bench.workspace();
        time.until(|| is_used.load(Ordering::Relaxed) && workspace.join("began").exists()).await;
        time.pass(60 * LIMIT).await;
        std::fs::write(workspace.join("go"), "").unwrap();
    };
    let (completion, ()) = tokio::join!(conversation.run(bench.fresh("Work."), &sink), waiting);
    assert_eq!(completion.unwrap().text.as_deref(), Some("Done."));
    assert!(bench.workspace().join("made").exists());
}

/// An agent is not idle while a long answer arrives.
#[tokio::test]
async fn an_answer_that_is_still_being_written_is_waited_for() {
    let slow = Reaction::text("word ".repeat(60)).paced(Duration::from_millis(700));
    let Some(bench) = Bench::new(Script::new().rule(Rule::any().reply(slow))) else { return };
    let agent = bench.agent_with(ClaudeSettings { idle_limit: Some(Duration::from_secs(3)), ..bench.settings() });
    let begun = Instant::now();
    let turn = Turn { workspace: None, ..bench.fresh("Write.") };
    run(&agent, turn).await.unwrap();
    assert!(begun.elapsed() > Duration::from_secs(3), "it took longer than it may be silent: {:?}", begun.elapsed());
}
