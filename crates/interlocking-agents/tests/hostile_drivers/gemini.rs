//! The Gemini CLI's driver.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use interlocking_agents::faults::FaultyProgram;
use interlocking_agents::program::Secret;
use interlocking_agents::{Agent, Gemini, GeminiSettings};

use serde_json::json;

use crate::bench::{SESSION, turn, turn_for};

const ANSWER: &str = r#"{"type":"result","status":"success","stats":{"total_tokens":3}}"#;

fn agent(program: &Path) -> Arc<dyn Agent> {
    agent_with(GeminiSettings::default(), program)
}

fn agent_with(settings: GeminiSettings, program: &Path) -> Arc<dyn Agent> {
    let settings = GeminiSettings {
        program: program.to_owned(),
        home: Some(program.with_file_name("home")),
        base_url: Some("http://127.0.0.1:9".to_owned()),
        ..settings
    };
    Arc::new(Gemini::new(settings).with_key(Secret::new("canary-key")))
}

fn begun() -> FaultyProgram {
    FaultyProgram::new().reading_input().line(&format!(r#"{{"type":"init","session_id":"{SESSION}","model":"m"}}"#))
}

fn says(text: &str) -> String {
    format!(r#"{{"type":"message","role":"assistant","content":"{text}","delta":true}}"#)
}

#[test]
fn an_answer_that_never_ends_is_ended() {
    let program = begun().repeated(100_000, &says(&"x".repeat(1_000))).line(ANSWER);
    turn(&program, agent).fails("answer is longer than 16777216 bytes");
}

#[test]
fn a_flood_of_events_is_counted() {
    let outcome = turn(&begun().repeated(150_000, &says("x")).line(ANSWER), agent);
    outcome.answers("150000 bytes of words");
    // The beginning and the end of the call are events, too.
    assert_eq!(outcome.events - 3 + outcome.left_out, 150_000);
}

#[test]
fn a_line_of_many_values_is_left_out_and_said_so() {
    let line = begun().bytes(br#"{"type":"tool_use","tool_name":"x","tool_id":"1","parameters":["#);
    let line = line.repeated_in_line(1_000_000, "[],").line("[]]}");
    turn(&line.clone().line(&says("yes")).line(ANSWER), agent).answers("yes");
    turn(&line.exit(1), agent).fails("a line of 3000067 bytes was left out: it has more than 100000 JSON values");
}

/// The line that would have ended the tool may never be read.
#[test]
fn after_a_line_that_was_left_out_a_silent_program_is_idle() {
    let tool = r#"{"type":"tool_use","tool_name":"run_shell_command","tool_id":"1","parameters":{}}"#;
    let program = begun().line(tool).repeated_in_line(100_001, "[],").line("").silence(Duration::from_secs(60));
    let outcome = turn(&program, |program| {
        let (idle, time) = (Duration::from_millis(100), Duration::from_secs(30));
        agent_with(
            GeminiSettings { idle_limit: Some(idle), time_limit: Some(time), ..GeminiSettings::default() },
            program,
        )
    });
    outcome.fails("the agent showed no activity for 100ms");
}

#[test]
fn a_line_that_is_too_long_is_said_so() {
    let program = begun().bytes(br#"{"type":"message","content":""#).long(20_000_000).line("\"}").exit(1);
    turn(&program, agent).fails("a line of 20000031 bytes was left out: it is longer than 16777216 bytes");
}

#[test]
fn tools_that_never_end_are_not_kept() {
    let tool = r#"{"type":"tool_use","tool_name":"write_file","tool_id":"NUMBER","parameters":{"file_path":"PATH"}}"#;
    let program = begun().counted(60_000, &tool.replace("PATH", &"p".repeat(2_000)));
    turn(&program.line(&says("yes")).line(ANSWER), agent).answers("yes");
}

#[test]
fn blocks_of_many_values_are_not_kept() {
    let valid = says(r#"```json\n{\"sum\": 3}\n```\n"#);
    let program = (0..50).fold(begun().line(&valid), |program, _| {
        let message = br#"{"type":"message","role":"assistant","delta":true,"content":"```json\n["#;
        program.bytes(message).repeated_in_line(99_000, "0,").line(r#"0]\n```\n"}"#)
    });
    let outcome = turn_for(&program.line(ANSWER), agent, Some(json!({ "type": "object" })));
    outcome.is_bounded();
    assert_eq!(outcome.ended.unwrap().output, json!({ "sum": 3 }));
}

#[test]
fn blocks_that_never_end_are_not_kept() {
    let program = begun().repeated(2_000, &says(&"```\\n0```".repeat(800))).line(ANSWER);
    turn_for(&program, agent, Some(json!({ "type": "object" }))).is_bounded();
}

/// Each name would hold one session more, with a file that stays open.
#[test]
fn a_program_that_names_one_session_after_the_other_is_stopped() {
    let program = begun().counted(10_000, r#"{"type":"init","session_id":"NUMBER","model":"m"}"#);
    turn(&program.line(ANSWER), agent).fails("the Gemini CLI named another session than");
}

#[test]
fn a_long_session_id_makes_no_long_error() {
    let program = FaultyProgram::new().reading_input().bytes(br#"{"type":"init","session_id":""#).long(3_000_000);
    let outcome = turn(&program.line("\"}").line(ANSWER), agent);
    outcome.fails("the Gemini CLI named its session in a way that is not understood");
    assert!(outcome.words().len() < 1_000, "{}", outcome.words());
}

#[test]
fn a_long_complaint_makes_no_long_error() {
    let program = begun().bytes(br#"{"type":"error","severity":"error","message":""#).long(3_000_000).line("\"}");
    let outcome = turn(&program.line(ANSWER), agent);
    outcome.fails("the Gemini CLI gave up: xxx");
    assert!(outcome.words().len() < 10_000, "{}", outcome.words());
}
