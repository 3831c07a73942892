//! Claude Code's driver.

use std::path::Path;
use std::sync::Arc;

use interlocking_agents::faults::FaultyProgram;
use interlocking_agents::program::Secret;
use interlocking_agents::{Agent, ClaudeCode, ClaudeSettings};

use crate::bench::{SESSION, turn};

fn agent(program: &Path) -> Arc<dyn Agent> {
    let settings = ClaudeSettings {
        program: program.to_owned(),
        home: Some(program.with_file_name("config")),
        base_url: Some("http://127.0.0.1:9".to_owned()),
        ..ClaudeSettings::default()
    };
    Arc::new(ClaudeCode::new(settings).with_key(Secret::new("canary-key")))
}

fn begun() -> FaultyProgram {
    FaultyProgram::new()
        .reading_line()
        .line(&format!(r#"{{"type":"system","subtype":"init","session_id":"{SESSION}"}}"#))
}

fn says(content: &str) -> String {
    format!(r#"{{"type":"assistant","message":{{"content":[{content}]}},"session_id":"{SESSION}"}}"#)
}

fn answer() -> String {
    format!(
        r#"{{"type":"result","subtype":"success","is_error":false,"result":"yes","session_id":"{SESSION}","model_usage_since_last_result":{{}}}}"#
    )
}

#[test]
fn a_flood_of_events_is_counted() {
    let program = begun().repeated(150_000, &says(r#"{"type":"text","text":"x"}"#)).line(&answer());
    let outcome = turn(&program, agent);
    outcome.answers("yes");
    assert_eq!(outcome.events - 3 + outcome.left_out, 150_000);
}

#[test]
fn a_line_of_many_values_is_left_out_and_said_so() {
    let line =
        begun().bytes(br#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"1","name":"x","input":["#);
    let line = line.repeated_in_line(1_000_000, "[],").line("[]]}]}}");
    turn(&line.clone().line(&answer()), agent).answers("yes");
    turn(&line.exit(1), agent).fails("a line of 3000097 bytes was left out: it has more than 100000 JSON values");
}

#[test]
fn a_line_that_is_too_long_is_said_so() {
    let program = begun().bytes(br#"{"type":"x","x":""#).long(20_000_000).line("\"}").exit(1);
    turn(&program, agent).fails("a line of 20000019 bytes was left out: it is longer than 16777216 bytes");
}

#[test]
fn tools_that_never_end_are_not_kept() {
    let tool = says(r#"{"type":"tool_use","id":"NUMBER","name":"Bash","input":{"command":"COMMAND"}}"#);
    let program = begun().counted(60_000, &tool.replace("COMMAND", &"c".repeat(2_000)));
    turn(&program.line(&answer()), agent).answers("yes");
}

#[test]
fn results_that_never_end_are_not_kept() {
    let result = answer().replace("\"yes\"", &format!("\"{}\"", "x".repeat(2_000)));
    turn(&begun().line(&answer()).repeated(60_000, &result), agent).answers("yes");
}

#[test]
fn a_long_session_id_makes_no_long_error() {
    let program = FaultyProgram::new().reading_line().bytes(br#"{"type":"system","subtype":"init","session_id":""#);
    turn(&program.long(3_000_000).line("\"}").line(&answer()), agent).answers("yes");
}

#[test]
fn a_long_failure_makes_no_long_error() {
    let program = begun().bytes(br#"{"type":"result","subtype":"success","is_error":true,"result":""#);
    let outcome = turn(&program.long(3_000_000).line("\"}"), agent);
    outcome.fails("no connection to the provider: xxx");
    assert!(outcome.words().len() < 10_000, "{}", outcome.words());
}
