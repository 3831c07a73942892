//! Continuing and forking sessions.

use std::fs;
use std::path::Path;

use interlocking_agents::{AgentErrorKind, Gemini, GeminiSettings, SessionError, SessionId, Turn};
use interlocking_model_server::{Reaction, Script};

use crate::place::{Place, run, with_key};

/// A model that repeats all prompts that it was sent.
fn counting() -> Script {
    Script::computed(|request| Reaction::text(request.prompts().join(", ")))
}

/// The session of a fork that knows what was said in its parent, and nothing else.
async fn fork_that_knows(place: &Place, agent: &Gemini, parent: &SessionId, index: usize) -> SessionId {
    let asked = format!("fork {index}");
    let completion = run(agent, place.fork(parent, &asked)).await.0.unwrap();
    assert_eq!(completion.text, Some(format!("one, two, {asked}")));
    completion.session
}

/// Names the files of all sessions as if they had begun earlier. The program then begins another file for a session that it
/// continues.
fn make_older(directory: &Path) {
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
        if entry.file_type().unwrap().is_dir() {
            make_older(&path);
        } else if let Some((_, id)) = name.strip_prefix("session-").and_then(|name| name.rsplit_once('-')) {
            fs::rename(&path, path.with_file_name(format!("session-2026-01-01T00-00-{id}"))).unwrap();
        }
    }
}

#[tokio::test]
async fn a_session_goes_on_and_forks_leave_it_as_it_was() {
    let Some(place) = Place::new(counting()) else { return };
    let agent = place.gemini();
    let parent = run(&agent, place.fresh("one")).await.0.unwrap();
    make_older(&place.home().join("tmp"));
    // By another agent with other settings, as in another process.
    let other = with_key(GeminiSettings { max_steps: Some(5), ..place.settings() });
    let on = run(&other, place.go_on(&parent.session, "two")).await.0.unwrap();
    assert_eq!((&on.session, on.text.as_deref()), (&parent.session, Some("one, two")));
    assert_eq!(on.usage.input_tokens, 100, "of this call alone");

    let forks = [place.gemini(), place.gemini(), place.gemini(), place.gemini()];
    let fork = |index: usize| fork_that_knows(&place, &forks[index], &parent.session, index);
    let (a, b) = tokio::join!(fork(0), fork(1));
    let (c, d) = tokio::join!(fork(2), fork(3));
    let mut sessions = vec![parent.session.clone()];
    for session in [a, b, c, d] {
        assert!(!sessions.contains(&session));
        sessions.push(session);
    }
    let after = run(&agent, place.go_on(&parent.session, "three")).await.0.unwrap();
    assert_eq!(after.text.as_deref(), Some("one, two, three"));
    let child = run(&agent, place.go_on(&sessions[2], "on")).await.0.unwrap();
    assert_eq!(child.text.as_deref(), Some("one, two, fork 1, on"));
    let grandchild = run(&agent, place.fork(&sessions[3], "again")).await.0.unwrap();
    assert_eq!(grandchild.text.as_deref(), Some("one, two, fork 2, again"));
}

#[tokio::test]
async fn a_fork_may_leave_the_workspace() {
    let Some(place) = Place::new(counting()) else { return };
    let agent = place.gemini();
    let parent = run(&agent, place.fresh("one")).await.0.unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let turn = Turn { workspace: Some(elsewhere.path().to_owned()), ..place.fork(&parent.session, "two") };
    let child = run(&agent, turn).await.0.unwrap();
    assert_eq!(child.text.as_deref(), Some("one, two"));
}

/// The program would treat a number as a position in its list of sessions.
#[tokio::test]
async fn an_unknown_session_is_said_to_be_unknown() {
    let Some(place) = Place::new(counting()) else { return };
    let agent = place.gemini();
    run(&agent, place.fresh("one")).await.0.unwrap();
    for id in ["1", "latest", "01a203a3-ab4b-74b1-9e3e-e1d88a5e1064"] {
        let session = SessionId::new(id).unwrap();
        for turn in [place.go_on(&session, "two"), place.fork(&session, "two")] {
            let error = run(&agent, turn).await.0.unwrap_err();
            assert_eq!(*error.kind, AgentErrorKind::Session(SessionError::Unknown { session: session.clone() }));
        }
    }
    assert_eq!(place.server.requests().len(), 1);
}
