use std::sync::Arc;
use std::time::Duration;

use interlocking_agents::{
    AgentErrorKind, Conversation, Disposition, NoEvents, ScriptedAgent, SessionError, SessionUse, Turn,
};

use crate::common::{agent, fork, fresh, fresh_in, go_on, id, run};

const ANYTHING: &str = "[[turn]]\ntimes = \"any\"\ntext = \"fine\"";
const SLOW: &str = "[[turn]]\ntimes = \"any\"\ndelay = \"1s\"";

fn prompts(agent: &ScriptedAgent, session: &str) -> Vec<String> {
    agent.history(&id(session)).unwrap().into_iter().map(|exchange| exchange.prompt).collect()
}

/// PRG-05: fresh = no earlier context; continue = context kept; fork = the child starts from the parent's context and
/// diverges, and the parent does not see what the child does.
#[tokio::test]
async fn fresh_continue_and_fork_mean_what_they_say() {
    let agent = agent(ANYTHING);
    assert_eq!(run(&agent, fresh("one")).await.unwrap().session, id("write-1"));
    assert_eq!(run(&agent, go_on("write-1", "two")).await.unwrap().session, id("write-1"));
    assert_eq!(run(&agent, fork("write-1", "child")).await.unwrap().session, id("fork-1"));
    run(&agent, go_on("write-1", "three")).await.unwrap();
    run(&agent, go_on("fork-1", "child again")).await.unwrap();
    assert_eq!(run(&agent, fresh("other")).await.unwrap().session, id("write-2"));

    assert_eq!(prompts(&agent, "write-1"), ["one", "two", "three"]);
    assert_eq!(prompts(&agent, "fork-1"), ["one", "two", "child", "child again"]);
    assert_eq!(prompts(&agent, "write-2"), ["other"]);
    let first = agent.history(&id("fork-1")).unwrap().remove(0);
    assert_eq!(first.text.as_deref(), Some("fine"), "answers are inherited too");
    assert_eq!(agent.history(&id("write-3")), None);
}

#[tokio::test]
async fn a_session_that_does_not_exist_is_neither_continued_nor_forked() {
    let agent = agent(ANYTHING);
    for turn in [go_on("gone-1", "x"), fork("gone-1", "x")] {
        let error = run(&agent, turn).await.unwrap_err();
        assert_eq!(*error.kind, AgentErrorKind::Session(SessionError::Unknown { session: id("gone-1") }));
        assert_eq!((&error.session, error.disposition()), (&None, Disposition::GiveUp));
        assert_eq!(error.to_string(), "there is no session `gone-1`");
    }
    assert_eq!(agent.unused().len(), 1, "no turn of the script was spent on it");
}

/// CON-19: two parallel continuations of one session are forbidden; the first one is not disturbed.
#[tokio::test(start_paused = true)]
async fn two_parallel_turns_in_one_session_are_refused() {
    let agent = Arc::new(agent(SLOW));
    run(&agent, fresh("one")).await.unwrap();
    let (first, second) = tokio::join!(run(&agent, go_on("write-1", "two")), run(&agent, go_on("write-1", "three")));
    assert_eq!(first.unwrap().session, id("write-1"));
    let error = second.unwrap_err();
    let busy = SessionError::Busy { session: id("write-1"), used_by: SessionUse::Turn, process: None };
    assert_eq!(*error.kind, AgentErrorKind::Session(busy));
    assert_eq!(error.disposition(), Disposition::GiveUp);
    assert_eq!(
        error.to_string(),
        "session `write-1` is busy: a turn runs in it; two turns at once would mangle its history"
    );
    assert_eq!(prompts(&agent, "write-1"), ["one", "two"]);
}

#[tokio::test(start_paused = true)]
async fn a_fresh_session_can_not_be_joined_before_its_first_turn_is_over() {
    let agent = agent(SLOW);
    let late = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        run(&agent, go_on("write-1", "me too")).await
    };
    let (first, second) = tokio::join!(run(&agent, fresh("one")), late);
    assert!(first.is_ok());
    assert!(second.unwrap_err().to_string().contains("is busy"));
}

#[tokio::test(start_paused = true)]
async fn forks_of_one_parent_run_side_by_side() {
    let agent = agent(SLOW);
    run(&agent, fresh("one")).await.unwrap();
    let start = tokio::time::Instant::now();
    let forks = tokio::join!(
        run(&agent, fork("write-1", "a")),
        run(&agent, fork("write-1", "b")),
        run(&agent, fork("write-1", "c")),
        run(&agent, fork("write-1", "d")),
        run(&agent, go_on("write-1", "the parent goes on meanwhile")),
    );
    assert_eq!(start.elapsed(), Duration::from_secs(1));
    let sessions = [forks.0, forks.1, forks.2, forks.3].map(|fork| fork.unwrap().session.to_string());
    assert_eq!(sessions, ["fork-1", "fork-2", "fork-3", "fork-4"]);
    forks.4.unwrap();
    assert_eq!(prompts(&agent, "fork-4"), ["one", "d"], "what the parent does later is not inherited");
}

#[tokio::test(start_paused = true)]
async fn a_session_is_not_forked_in_the_middle_of_a_turn() {
    let agent = agent(SLOW);
    run(&agent, fresh("one")).await.unwrap();
    let (turn, fork) = tokio::join!(run(&agent, go_on("write-1", "two")), run(&agent, fork("write-1", "child")));
    turn.unwrap();
    let busy = SessionError::Busy { session: id("write-1"), used_by: SessionUse::Turn, process: None };
    assert_eq!(*fork.unwrap_err().kind, AgentErrorKind::Session(busy));
}

#[tokio::test]
async fn a_session_is_not_continued_in_another_workspace() {
    let (home, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let agent = agent(ANYTHING);
    run(&agent, fresh_in(home.path(), "one")).await.unwrap();
    let here = |turn: Turn| Turn { workspace: Some(home.path().to_owned()), ..turn };
    let there = |turn: Turn| Turn { workspace: Some(elsewhere.path().to_owned()), ..turn };

    let error = run(&agent, there(go_on("write-1", "two"))).await.unwrap_err();
    assert!(matches!(*error.kind, AgentErrorKind::Session(SessionError::WrongWorkspace { .. })), "{error}");
    run(&agent, here(go_on("write-1", "two"))).await.unwrap();

    run(&agent, there(fork("write-1", "child"))).await.expect("a fork may go elsewhere");
    let error = run(&agent, here(go_on("fork-1", "child again"))).await.unwrap_err();
    assert!(matches!(*error.kind, AgentErrorKind::Session(SessionError::WrongWorkspace { .. })), "{error}");
}

/// The session is held between an answer and its correction.
#[tokio::test(start_paused = true)]
async fn nobody_comes_between_an_answer_and_its_correction() {
    let script = "
        [[turn]]
        contains = [\"one\"]
        output = 1
        [[turn]]
        contains = [\"does not fit\"]
        delay = \"1s\"
        output = { title = \"t\", words = 1 }
        [[turn]]
        times = \"any\"
    ";
    let agent = agent(script);
    let asked = Turn { schema: Some(crate::common::article_schema()), ..fresh("one") };
    let intruder = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        run(&agent, go_on("write-1", "intruder")).await
    };
    let conversation = Conversation::new(&agent);
    let (completion, intruder) = tokio::join!(conversation.run(asked, &NoEvents), intruder);
    assert_eq!(completion.unwrap().corrections, 1);
    assert!(intruder.unwrap_err().to_string().contains("is busy"));
}
