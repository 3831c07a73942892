use std::path::Path;

use interlocking_agents::{
    AgentErrorKind, Conversation, Disposition, NoEvents, SessionError, SessionId, SessionOp, SessionUse, Turn,
};
use interlocking_model_server::{Reaction, Request, Rule, Script};

use crate::common::{Bench, fork, run};

/// Answers with everything that the user has said in the conversation so far.
fn remembering() -> Script {
    Script::computed(|request: &Request| Reaction::text(request.prompts().join(" | ")))
}

/// PRG-04: the context of a session continues, and only in that session.
#[tokio::test]
async fn a_session_goes_on_where_it_ended() {
    let Some(bench) = Bench::new(remembering()) else { return };
    let agent = bench.agent();
    let first = run(&agent, bench.fresh("one")).await.unwrap();
    let second = run(&agent, bench.turn(SessionOp::ContinueFrom(first.session.clone()), "two")).await.unwrap();
    assert_eq!(second.session, first.session);
    assert!(second.text.unwrap().contains("one | two"));
    let other = run(&agent, bench.fresh("three")).await.unwrap();
    assert_ne!(other.session, first.session);
    assert_eq!(other.text.as_deref(), Some("three"));
    // The program's own totals accumulate over the session; this crate's usage does not.
    assert_eq!(second.usage, first.usage);
}

/// PRG-05: a fork knows what its parent knew, and the parent does not know the fork.
#[tokio::test]
async fn four_forks_at_once_and_then_the_parent() {
    let Some(bench) = Bench::new(remembering()) else { return };
    let agent = bench.agent();
    let parent = run(&agent, bench.fresh("parent")).await.unwrap().session;
    let children = ["a", "b", "c", "d"].map(|name| {
        let workspace = Some(bench.another(name));
        let turn = Turn { workspace, ..bench.turn(fork(&parent), name) };
        let agent = agent.clone();
        tokio::spawn(async move { (name, run(&agent, turn).await.unwrap()) })
    });
    let mut sessions = vec![parent.clone()];
    for child in children {
        let (name, completion) = child.await.unwrap();
        assert_eq!(completion.text.unwrap(), format!("parent | {name}"));
        assert!(!sessions.contains(&completion.session));
        sessions.push(completion.session);
    }
    let again = run(&agent, bench.turn(SessionOp::ContinueFrom(parent.clone()), "again")).await.unwrap();
    assert_eq!(again.text.as_deref(), Some("parent | again"));
    // A fork continues in its own workspace, and not in that of its parent.
    let (fork, workspace) = (sessions[1].clone(), bench.directory().join("a"));
    let on = |workspace: &Path| Turn {
        workspace: Some(workspace.to_owned()),
        ..bench.turn(SessionOp::ContinueFrom(fork.clone()), "more")
    };
    assert_eq!(run(&agent, on(&workspace)).await.unwrap().text.as_deref(), Some("parent | a | more"));
    let elsewhere = run(&agent, on(&bench.workspace())).await.unwrap_err();
    assert!(matches!(*elsewhere.kind, AgentErrorKind::Session(SessionError::WrongWorkspace { .. })));
}

/// PRG-06: another process that knows only the session's id and the directory of sessions finds the session.
#[tokio::test]
async fn a_session_outlives_the_agent() {
    let Some(bench) = Bench::new(remembering()) else { return };
    let first = run(&bench.agent(), bench.fresh("one")).await.unwrap();
    let second = run(&bench.agent(), bench.turn(SessionOp::ContinueFrom(first.session), "two")).await.unwrap();
    assert!(second.text.unwrap().contains("one | two"));
}

/// The program itself would run both turns and corrupt the history.
#[tokio::test]
async fn a_session_runs_one_turn_at_a_time() {
    let Some(bench) = Bench::new(remembering()) else { return };
    let agent = bench.agent();
    let session = run(&agent, bench.fresh("one")).await.unwrap().session;
    let turn = |prompt: &str| bench.turn(SessionOp::ContinueFrom(session.clone()), prompt);
    // An agent in another process would have the same directory of sessions.
    let other = bench.agent();
    let (conversation, rival) = (Conversation::new(&agent), Conversation::new(&other));
    let (first, second) = tokio::join!(conversation.run(turn("two"), &NoEvents), rival.run(turn("three"), &NoEvents));
    assert!(first.is_ok());
    let busy =
        SessionError::Busy { session: session.clone(), used_by: SessionUse::Turn, process: Some(std::process::id()) };
    assert_eq!(*second.unwrap_err().kind, AgentErrorKind::Session(busy));
    let last = run(&agent, turn("four")).await.unwrap();
    assert!(last.text.unwrap().contains("one | two | four"));
}

#[tokio::test]
async fn a_session_that_is_gone_is_said_to_be() {
    let Some(bench) = Bench::new(remembering()) else { return };
    for name in ["2b1ce9f0-76cf-4d8a-9a6e-0d3a5f4a8e11", "write-1"] {
        let lost = SessionId::new(name).unwrap();
        for operation in [SessionOp::ContinueFrom(lost.clone()), fork(&lost)] {
            let error = run(&bench.agent(), bench.turn(operation, "x")).await.unwrap_err();
            assert_eq!(*error.kind, AgentErrorKind::Session(SessionError::Unknown { session: lost.clone() }));
            assert_eq!(error.disposition(), Disposition::GiveUp);
        }
    }
    assert!(bench.server.requests().is_empty());
}

/// Without `--system-prompt-snapshot off`, the program keeps the system prompt that a session began with.
#[tokio::test]
async fn every_turn_has_its_own_system_prompt() {
    let script = Script::new()
        .rule(Rule::any().system("You are the writer.").reply(Reaction::text("writer")))
        .rule(Rule::any().system("You are the critic.").reply(Reaction::text("critic")));
    let Some(bench) = Bench::new(script) else { return };
    let agent = bench.agent();
    let turn = |session, system: &str| Turn { system: Some(system.to_owned()), ..bench.turn(session, "Who are you?") };
    let first = run(&agent, Turn { system: Some("You are the writer.".to_owned()), ..bench.fresh("Who are you?") })
        .await
        .unwrap();
    assert_eq!(first.text.as_deref(), Some("writer"));
    let second = run(&agent, turn(SessionOp::ContinueFrom(first.session), "You are the critic.")).await.unwrap();
    assert_eq!(second.text.as_deref(), Some("critic"));
}
