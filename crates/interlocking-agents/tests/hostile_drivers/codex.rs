//! Codex's driver.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use interlocking_agents::faults::FaultyProgram;
use interlocking_agents::program::Secret;
use interlocking_agents::{Agent, Codex, CodexSettings, Conversation, NoEvents, Slug, Turn};
use serde_json::json;

use crate::bench::{SESSION, turn, turn_for};

const ANSWER: &str = r#"{"type":"item.completed","item":{"id":"a","type":"agent_message","text":"yes"}}
{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}"#;

fn agent(program: &Path) -> Arc<dyn Agent> {
    agent_with(CodexSettings::default(), program)
}

fn agent_with(settings: CodexSettings, program: &Path) -> Arc<dyn Agent> {
    Arc::new(codex(settings, program).with_key(Secret::new("canary-key")))
}

fn codex(settings: CodexSettings, program: &Path) -> Codex {
    Codex::new(CodexSettings {
        program: program.to_owned(),
        home: Some(program.with_file_name("home")),
        base_url: Some("http://127.0.0.1:9".to_owned()),
        ..settings
    })
}

fn begun() -> FaultyProgram {
    FaultyProgram::new().reading_input().line(&format!(r#"{{"type":"thread.started","thread_id":"{SESSION}"}}"#))
}

#[test]
fn a_flood_of_events_is_counted() {
    let message = r#"{"type":"item.completed","item":{"id":"a","type":"agent_message","text":"x"}}"#;
    let outcome = turn(&begun().repeated(150_000, message).line(ANSWER), agent);
    outcome.answers("yes");
    assert_eq!(outcome.events - 3 + outcome.left_out, 150_001);
}

#[test]
fn a_session_that_starts_again_and_again_is_counted() {
    let started = format!(r#"{{"type":"thread.started","thread_id":"{SESSION}"}}"#);
    turn(&begun().repeated(110_000, &started).line(ANSWER), agent).answers("yes");
}

/// Each name would hold one session more, with a file that stays open.
#[test]
fn a_program_that_names_one_session_after_the_other_is_stopped() {
    let program = begun().counted(10_000, r#"{"type":"thread.started","thread_id":"NUMBER"}"#);
    turn(&program.line(ANSWER), agent).fails("Codex named another session than");
}

#[test]
fn a_line_of_many_values_is_left_out_and_said_so() {
    let line = begun().bytes(br#"{"type":"item.started","item":{"id":"1","type":"mcp_tool_call","arguments":["#);
    let line = line.repeated_in_line(1_000_000, "[],").line("[]]}}");
    turn(&line.clone().line(ANSWER), agent).answers("yes");
    turn(&line.exit(3), agent).fails("a line of 3000081 bytes was left out: it has more than 100000 JSON values");
}

/// The line that would have ended the tool may never be read.
#[test]
fn after_a_line_that_was_left_out_a_silent_program_is_idle() {
    let tool = r#"{"type":"item.started","item":{"id":"1","type":"command_execution","command":"make"}}"#;
    let program = begun().line(tool).repeated_in_line(100_001, "[],").line("").silence(Duration::from_secs(60));
    let outcome = turn(&program, |program| {
        let (idle, time) = (Duration::from_millis(100), Duration::from_secs(30));
        agent_with(
            CodexSettings { idle_limit: Some(idle), time_limit: Some(time), ..CodexSettings::default() },
            program,
        )
    });
    outcome.fails("the agent showed no activity for 100ms");
}

#[test]
fn a_line_that_is_too_long_is_said_so() {
    let program = begun().bytes(br#"{"type":"x","x":""#).long(20_000_000).line("\"}").exit(3);
    turn(&program, agent).fails("a line of 20000019 bytes was left out: it is longer than 16777216 bytes");
}

#[test]
fn commands_that_never_end_are_not_kept() {
    let command = r#"{"type":"item.started","item":{"id":"NUMBER-ID","type":"command_execution","command":"x"}}"#;
    let program = begun().counted(60_000, &command.replace("ID", &"i".repeat(2_000)));
    turn(&program.line(ANSWER), agent).answers("yes");
}

#[test]
fn a_command_of_many_words_is_not_split() {
    let command = br#"{"type":"item.completed","item":{"id":"1","type":"command_execution","exit_code":0,"command":""#;
    let program = begun().bytes(command).repeated_in_line(4_000_000, "a ").line("\"}}");
    turn(&program.line(ANSWER), agent).answers("yes");
}

#[test]
fn a_long_session_id_makes_no_long_error() {
    let program = FaultyProgram::new().reading_input().bytes(br#"{"type":"thread.started","thread_id":""#);
    let outcome = turn(&program.long(3_000_000).line("\"}").line(ANSWER), agent);
    outcome.fails("Codex named its session in a way that is not understood");
    assert!(outcome.words().len() < 1_000, "{}", outcome.words());
}

#[test]
fn a_long_failure_makes_no_long_error() {
    let program = begun().bytes(br#"{"type":"turn.failed","error":{"message":""#).long(3_000_000).line("\"}}");
    let outcome = turn(&program, agent);
    outcome.fails("the provider refuses the request: xxx");
    assert!(outcome.words().len() < 10_000, "{}", outcome.words());
}

/// A server on this machine often takes any key.
#[test]
fn a_key_that_is_a_short_word_does_not_change_the_answer() {
    let program = begun().line(&ANSWER.replace("yes", r#"{\"word\":\"tests\"}"#));
    let schema = json!({ "type": "object", "properties": { "word": { "type": "string" } }, "required": ["word"] });
    let outcome = turn_for(
        &program,
        |program| Arc::new(codex(CodexSettings::default(), program).with_key(Secret::new("test"))),
        Some(schema),
    );
    assert_eq!(outcome.ended.unwrap().output, json!({ "word": "tests" }));
}

/// The system limits the length of an argument.
#[tokio::test]
async fn long_instructions_are_not_an_argument() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let agent = agent(&begun().line(ANSWER).write_to(directory.path().join("program")).unwrap());
    let turn =
        Turn { system: Some("Be brief.\n".repeat(20_000)), ..Turn::fresh(Slug::new("test").unwrap(), "Say yes.") };
    let completion = Conversation::new(&*agent).run(turn, &NoEvents).await.unwrap();
    assert_eq!(completion.text.as_deref(), Some("yes"));
}
