//! Ends of the program that say nothing about the turn.

use std::time::Duration;

use interlocking_agents::{AgentErrorKind, Codex, CodexSettings, Disposition};
use interlocking_model_server::{Reaction, Rule, Script};

use crate::place::{Place, run};

#[tokio::test]
async fn a_configuration_that_codex_does_not_take() {
    let Some(place) = Place::new(Script::new()) else { return };
    let config = toml::from_str("approval_policy = 7").unwrap();
    let codex = Codex::new(CodexSettings { config, ..place.settings() });
    let error = run(&codex, place.fresh("go")).await.0.unwrap_err();
    let AgentErrorKind::Configuration { reason } = &*error.kind else { panic!("{error}") };
    assert!(reason.contains("approval_policy"), "{reason}");
    assert_eq!(error.disposition(), Disposition::GiveUp);
}

#[tokio::test]
async fn a_program_that_is_killed_from_outside() {
    for (signal, number) in [("KILL", 9), ("TERM", 15), ("HUP", 1), ("INT", 2)] {
        // `nohup` makes its child ignore the signal, and so do all processes that the child starts.
        if signal == "HUP" && is_ignored(number) {
            continue;
        }
        let script = Script::new().rule(Rule::any().reply(Reaction::text("late").after(Duration::from_secs(60))));
        let Some(place) = Place::new(script) else { return };
        let codex = place.codex();
        let calls = place.calls().into_os_string().into_encoded_bytes();
        let kill = async {
            while place.server.requests().is_empty() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            let running = || processes_with(&[b"CODEX_HOME=", &calls[..], b"/"].concat());
            let found = running();
            let [id] = found[..] else { panic!("one Codex runs: {found:?}") };
            // An interrupt that arrives before Codex handles interrupts is lost.
            loop {
                if running() == [id] {
                    let mut sent = std::process::Command::new("kill");
                    sent.args([&format!("-{signal}"), &id.to_string()]).status().unwrap();
                }
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
        };
        let ran = tokio::select! {
            ran = run(&codex, place.fresh("go")) => ran,
            never = kill => never,
        };
        let error = ran.0.unwrap_err();
        let AgentErrorKind::Crashed { exit, .. } = *error.kind else { panic!("{signal}: {error}") };
        assert_eq!(exit, (signal == "INT").then_some(1), "{signal}");
        let session = error.session.clone().unwrap();
        assert_eq!(error.disposition(), Disposition::ResumeSession { session, after: None });
    }
}

/// Whether this process ignores a signal.
fn is_ignored(signal: u32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:\t")).unwrap();
    u64::from_str_radix(ignored, 16).unwrap() >> (signal - 1) & 1 == 1
}

/// Children of this process that have an entry in their environment that begins like this.
fn processes_with(beginning: &[u8]) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(|process| {
        let process = process.ok()?;
        let id = process.file_name().to_str()?.parse().ok()?;
        let environment = std::fs::read(process.path().join("environ")).ok()?;
        let status = std::fs::read_to_string(process.path().join("status")).ok()?;
        let is_child = status.lines().any(|line| line == format!("PPid:\t{}", std::process::id()));
        (is_child && environment.split(|byte| *byte == 0).any(|one| one.starts_with(beginning))).then_some(id)
    });
    processes.collect()
}

/// The session can be continued afterwards, and the usage of the killed call is neither lost nor counted twice.
#[tokio::test]
async fn a_session_goes_on_after_a_crash() {
    let script = Script::new()
        .rule(Rule::asked("work").reply(crate::working::command("sleep 60")))
        .rule(Rule::any().reply(Reaction::text("done")));
    let Some(place) = Place::new(script) else { return };
    let session = run(&place.codex(), place.fresh("begin")).await.0.unwrap().session;
    let limit = Duration::from_secs(3);
    let codex = Codex::new(CodexSettings { time_limit: Some(limit), ..place.settings() });
    let error = run(&codex, place.go_on(&session, "work")).await.0.unwrap_err();
    assert_eq!((*error.kind, error.usage.input_tokens), (AgentErrorKind::TimedOut { limit }, 100));
    // Codex itself reports 200 for the whole session here, although it was 300.
    let after = run(&place.codex(), place.go_on(&session, "after")).await.0.unwrap();
    assert_eq!(after.usage.input_tokens, 100);
}
