//! The switch that forbids real calls. Each case runs in its own process: this test binary with another environment.

use std::process::Command;

use interlocking_agents::real_calls::{self, RealCalls, SWITCH};
use interlocking_agents::{AgentError, Disposition};

const TASK: &str = "INTERLOCKING_TEST_TASK";
const LOCAL: &str = "http://127.0.0.1:1";
const PROVIDER: &str = "https://api.example.com";

/// What a process with this switch reports about its calls, in one line.
fn said(switch: Option<&str>, task: &str) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "switch::a_process_of_its_own", "--nocapture"]).env(TASK, task).env_remove(SWITCH);
    if let Some(switch) = switch {
        command.env(SWITCH, switch);
    }
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}");
    let line = text.lines().find_map(|line| line.split_once("permitted: ")).expect(&text);
    line.1.to_owned()
}

/// The tasks of the other processes. Without a task this does nothing.
#[test]
fn a_process_of_its_own() {
    let Ok(task) = std::env::var(TASK) else { return };
    match task.as_str() {
        "restrict" => {
            real_calls::restrict(RealCalls::Loopback);
            real_calls::restrict(RealCalls::Allow);
        }
        _ => assert_eq!(task, "ask"),
    }
    let calls = [None, Some(LOCAL), Some(PROVIDER)].map(|url| real_calls::permitted("claude", url).is_ok());
    println!("\npermitted: {calls:?}");
    if let Err(forbidden) = real_calls::permitted("claude", None) {
        assert_eq!(AgentError::new(forbidden).disposition(), Disposition::GiveUp);
    }
}

#[test]
fn the_environment_of_a_process_says_which_calls_it_may_make() {
    for (switch, calls) in [
        (None, "[true, true, true]"),
        (Some("allow"), "[true, true, true]"),
        (Some("loopback"), "[false, true, false]"),
        (Some("forbid"), "[false, false, false]"),
        (Some("nonsense"), "[false, false, false]"),
    ] {
        assert_eq!(said(switch, "ask"), calls, "{switch:?}");
    }
}

#[test]
fn a_process_that_restricted_itself_stays_so() {
    assert_eq!(said(None, "restrict"), "[false, true, false]");
    assert_eq!(said(Some("forbid"), "restrict"), "[false, false, false]");
}
