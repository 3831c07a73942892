//! Sessions: continued, forked, forked four times at once, lost, in use.

use std::sync::Arc;

use futures_util::future::join_all;
use interlocking_agents::{
    AgentError, AgentErrorKind, Disposition, NoEvents, SessionError, SessionId, SessionOp, SessionUse, Turn, Usage,
};
use interlocking_model_server::{Reaction, Request, Rule, Script, Usage as Tokens};

use crate::place::{Place, run};

const TOKENS: Tokens = Tokens { input: 100, cached: 0, cache_written: 0, output: 10 };

/// Answers with all prompts of the session.
fn echo() -> Script {
    Script::computed(|request: &Request| Reaction::text(own(request).join(" | ")).with_usage(TOKENS))
}

/// The user's prompts, without those that Codex adds in the user's name.
fn own(request: &Request) -> Vec<String> {
    request.prompts().into_iter().filter(|prompt| !prompt.starts_with('<')).collect()
}

fn usage() -> Usage {
    Usage { calls: 1, input_tokens: 100, output_tokens: 10, unpriced_calls: 1, ..Usage::default() }
}

#[tokio::test]
async fn a_session_goes_on_in_another_driver_and_is_counted_by_the_call() {
    let Some(place) = Place::new(echo()) else { return };
    let first = run(&place.codex(), place.fresh("one")).await.0.unwrap();
    // As after a restart: only the home and the id are known.
    let second = run(&place.codex(), place.go_on(&first.session, "two")).await.0.unwrap();
    let third = run(&place.codex(), place.go_on(&first.session, "three")).await.0.unwrap();

    assert_eq!((&second.session, &third.session), (&first.session, &first.session));
    assert_eq!(third.text.as_deref(), Some("one | two | three"));
    // Codex itself reports 100, 200 and 300.
    assert_eq!([first.usage, second.usage, third.usage], [usage(); 3]);
}

#[tokio::test]
async fn a_fork_knows_what_its_parent_knows_and_leaves_it_alone() {
    let Some(place) = Place::new(echo()) else { return };
    let codex = place.codex();
    let parent = run(&codex, place.fresh("base")).await.0.unwrap();
    let elsewhere = place.directory.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let fork = Turn { workspace: Some(elsewhere), ..place.fork(&parent.session, "left") };
    let child = run(&codex, fork).await.0.unwrap();
    let grandchild = run(&codex, place.fork(&child.session, "further")).await.0.unwrap();
    let parent_again = run(&codex, place.go_on(&parent.session, "right")).await.0.unwrap();

    assert_ne!(child.session, parent.session);
    assert_eq!(child.text.as_deref(), Some("base | left"));
    assert_eq!(grandchild.text.as_deref(), Some("base | left | further"));
    assert_eq!(parent_again.text.as_deref(), Some("base | right"));
    assert_eq!([child.usage, grandchild.usage, parent_again.usage], [usage(); 3]);
}

#[tokio::test]
async fn four_forks_at_once() {
    let Some(place) = Place::new(echo()) else { return };
    let codex = place.codex();
    let parent = run(&codex, place.fresh("base")).await.0.unwrap();
    let forks = ["a", "b", "c", "d"].map(|name| run(&codex, place.fork(&parent.session, name)));
    let children: Vec<_> = join_all(forks).await.into_iter().map(|(outcome, _)| outcome.unwrap()).collect();

    let mut ids: Vec<&SessionId> = children.iter().map(|child| &child.session).chain([&parent.session]).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 5);
    for (child, name) in children.iter().zip(["a", "b", "c", "d"]) {
        assert_eq!(child.text, Some(format!("base | {name}")));
        assert_eq!(child.usage, usage());
    }
    let parent = run(&codex, place.go_on(&parent.session, "later")).await.0.unwrap();
    assert_eq!(parent.text.as_deref(), Some("base | later"));
}

/// Codex ignores system instructions when a session is continued: they must be in the prompt then, and only if they are
/// new.
#[tokio::test]
async fn a_session_that_goes_on_is_told_what_it_does_not_know_of_itself() {
    let Some(place) = Place::new(echo()) else { return };
    let codex = place.codex();
    let told = |turn, system: &str| Turn { system: Some(system.to_owned()), ..turn };
    let parent = run(&codex, told(place.fresh("base"), "Be brief.")).await.0.unwrap();
    let same = run(&codex, told(place.go_on(&parent.session, "same"), "Be brief.")).await.0.unwrap();
    assert_eq!(same.text.as_deref(), Some("base | same"));
    let fork = run(&codex, told(place.fork(&parent.session, "fork"), "Be brief.")).await.0.unwrap();
    assert_eq!(fork.text.as_deref(), Some("base | same | fork"));
    let other = run(&codex, told(place.fork(&fork.session, "other"), "Be kind.")).await.0.unwrap();
    let prompt = "# Your part\n\nBe kind.\n\n# Your task\n\nother";
    assert_eq!(other.text, Some(format!("base | same | fork | {prompt}")));
    let known = run(&codex, told(place.go_on(&other.session, "known"), "Be kind.")).await.0.unwrap();
    assert_eq!(known.text, Some(format!("base | same | fork | {prompt} | known")));
    let back = run(&codex, told(place.go_on(&other.session, "back"), "Be brief.")).await.0.unwrap();
    assert!(back.text.unwrap().ends_with("| # Your part\n\nBe brief.\n\n# Your task\n\nback"));
    let requests = place.server.requests();
    assert!(requests.iter().all(|request| request.system().contains("Be brief.")), "it was told once, at first");
}

#[tokio::test]
async fn a_session_that_is_lost_is_said_to_be() {
    let Some(place) = Place::new(echo()) else { return };
    let codex = place.codex();
    let lost = SessionId::new("01a203a3-ab4b-74b1-9e3e-e1d88a5e1064").unwrap();
    // Codex would treat this as a name, and silently start a fresh session.
    let foreign = SessionId::new("some-name").unwrap();
    for session in [lost, foreign] {
        for turn in [place.go_on(&session, "more"), place.fork(&session, "more")] {
            let (outcome, events) = run(&codex, turn).await;
            let error = outcome.unwrap_err();
            assert_eq!(*error.kind, AgentErrorKind::Session(SessionError::Unknown { session: session.clone() }));
            assert_eq!(error.disposition(), Disposition::GiveUp);
            assert_eq!(error.usage, Usage::default(), "nothing was asked");
            assert!(!events.iter().any(|event| matches!(event, interlocking_agents::AgentEvent::Started { .. })));
        }
    }
    assert!(place.server.requests().is_empty());
}

/// Codex has its own guard across processes. This crate refuses the turn before anything is started.
#[tokio::test]
async fn two_turns_at_once_in_one_session_are_refused() {
    let slow = Rule::asked("slow").reply(Reaction::text("done").after(std::time::Duration::from_secs(3)));
    let Some(place) = Place::new(Script::new().rule(slow).rule(Rule::any().reply(Reaction::text("quick")))) else {
        return;
    };
    let codex = Arc::new(place.codex());
    let session = run(&codex, place.fresh("begin")).await.0.unwrap().session;
    let busy = |error: AgentError, by: Option<u32>| {
        let (session, used_by) = (session.clone(), SessionUse::Turn);
        assert_eq!(*error.kind, AgentErrorKind::Session(SessionError::Busy { session, used_by, process: by }));
    };
    let first = {
        let (codex, turn) = (Arc::clone(&codex), place.go_on(&session, "slow"));
        tokio::spawn(async move { interlocking_agents::Conversation::new(&*codex).run(turn, &NoEvents).await })
    };
    while !place.server.requests().iter().any(|request| request.prompt() == "slow") {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    busy(run(&codex, place.go_on(&session, "ours")).await.0.unwrap_err(), Some(std::process::id()));
    // Without the registry only Codex's own guard is left.
    std::fs::remove_dir_all(place.home().join("interlocking-sessions")).unwrap();
    busy(run(&codex, place.go_on(&session, "theirs")).await.0.unwrap_err(), None);
    assert_eq!(first.await.unwrap().unwrap().text.as_deref(), Some("done"));
}

#[tokio::test]
async fn a_turn_without_a_workspace_and_one_of_another() {
    let Some(place) = Place::new(echo()) else { return };
    let codex = place.codex();
    let here = run(&codex, place.fresh("here")).await.0.unwrap();
    let elsewhere = Turn { workspace: None, ..Turn::new(SessionOp::ContinueFrom(here.session), "there") };
    let error = run(&codex, elsewhere).await.0.unwrap_err();
    assert!(matches!(*error.kind, AgentErrorKind::Session(SessionError::WrongWorkspace { .. })), "{error}");
}
