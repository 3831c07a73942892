//! Codex's driver.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use expect_test::expect;
use interlocking_agents::faults::FaultyProgram;
use interlocking_agents::{Agent, Codex, CodexSettings, Conversation, Disposition, NoEvents, Slug, Turn};

use crate::bench::{Limits, SESSION, Speech, outcome_of_a_relative_path, outcomes};

fn agent(program: &Path, limits: Limits) -> Arc<dyn Agent> {
    let settings = CodexSettings {
        program: program.to_owned(),
        home: Some(program.with_file_name("home")),
        base_url: Some("http://127.0.0.1:9/v1".to_owned()),
        time_limit: limits.total.map(Duration::from_secs),
        first_event_limit: limits.first_event.or(Some(60)).map(Duration::from_secs),
        idle_limit: limits.idle.map(Duration::from_secs),
        ..CodexSettings::default()
    };
    Arc::new(Codex::new(settings))
}

fn line(of: &str) -> &'static str {
    of.replace("SESSION", SESSION).leak()
}

fn speech() -> Speech {
    Speech {
        version: "codex-cli 0.169.0",
        begins: line(r#"{"type":"thread.started","thread_id":"SESSION"}"#),
        says: line(r#"{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"Let me think."}}"#),
        answers: line(
            "{\"type\":\"item.completed\",\"item\":{\"id\":\"2\",\"type\":\"agent_message\",\"text\":\"{\\\"word\\\":\\\"yes\\\"}\"}}\n\
             {\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":5,\"output_tokens\":2}}",
        ),
        nonsense: line(
            "{\"type\":\"thread.started\",\"thread_id\":5}\n{\"type\":\"item.completed\",\"item\":[]}\n\
             {\"type\":\"item.completed\",\"item\":{\"type\":\"command_execution\",\"exit_code\":\"one\"}}\n\
             {\"type\":\"turn.completed\",\"usage\":\"much\"}\n{\"type\":\"turn.failed\"}\n{\"type\":null}",
        ),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_broken_program_ends_in_an_answer_or_a_typed_error() {
    let outcomes = outcomes(&speech(), agent).await;
    expect![[r#"
        all is well: {"word":"yes"}, 1 call
        the last line has no end: {"word":"yes"}, 1 call
        the answer breaks off: crashed (the agent ended without an answer (exit code 1): of its output a line of 82 bytes was left out: it i), a session
        the answer breaks off, and all is said to be well: crashed (the agent ended without an answer (exit code 0): of its output a line of 82 bytes was left out: it i), a session
        a line is no UTF-8: {"word":"yes"}, 1 call
        a line is no JSON: {"word":"yes"}, 1 call
        a line is JSON of other kinds: {"word":"yes"}, 1 call
        fields are of other types: {"word":"yes"}, 1 call
        a line is nested deeply: {"word":"yes"}, 1 call
        100,000 lines mean nothing: {"word":"yes"}, 1 call
        nothing is said: crashed (the agent ended without an answer (exit code 0): ), no session
        nothing is said but why: configuration (the agent is not set up: error: unknown option), no session
        it exits in the middle: crashed (the agent ended without an answer (exit code 7): out of memory), a session
        it is killed in the middle: crashed (the agent ended without an answer (ended by a signal): ), a session
        it falls silent at once: no_first_event (the agent showed no activity within 1s of its start), no session
        it falls silent in the middle: idle (the agent showed no activity for 1s), a session
        it is silent, and ignores signals: timed_out (the turn took longer than 1s), no session
        it answers, and does not end: {"word":"yes"}, 1 call
        it answers, and leaves a child: {"word":"yes"}, 1 call
        it exits, and leaves a child: crashed (the agent ended without an answer (exit code 1): ), a session
        it writes 50 MB of errors: crashed (error error error error error error error error error error error error error error error error), a session
        a line is 100 MB long: {"word":"yes"}, 1 call
    "#]].assert_eq(&outcomes);
}

#[tokio::test]
async fn a_program_that_does_not_tell_its_version_is_refused() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let program =
        FaultyProgram::new().bytes(b"\xff\xfe 2.1\n").exit(3).write_to(directory.path().join("program")).unwrap();
    let refused = agent(&program, Limits::default()).ready().await.unwrap_err().to_string();
    let refused = refused.replace(&directory.path().display().to_string(), "…");
    expect![[r#"the agent is not set up: …/program --version says no version of Codex but "�� 2.1" (): install @openai/codex from npm, or set `program`"#]].assert_eq(&refused);
}

#[tokio::test]
async fn a_relative_path_of_the_program_is_not_one_in_the_workspace() {
    assert_eq!(outcome_of_a_relative_path(&speech(), agent).await, "{\"word\":\"yes\"}");
}

/// Codex names a session before it writes the session's file, and cannot continue it without the file.
#[tokio::test]
async fn a_session_that_is_not_written_is_not_continued() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let program = FaultyProgram::new().reading_input().line(speech().begins).kill_itself();
    let agent = agent(&program.write_to(directory.path().join("program")).unwrap(), Limits::default());
    let turn = Turn::fresh(Slug::new("write").unwrap(), "Go.");
    let error = Conversation::new(&*agent).run(turn, &NoEvents).await.unwrap_err();
    assert_eq!(error.disposition(), Disposition::Retry { after: None });
}
