use interlocking_agents::claude::{Credential, PermissionMode};
use interlocking_agents::faults::FaultyProgram;
use interlocking_agents::{Agent, AgentErrorKind, ClaudeCode, ClaudeSettings};
use interlocking_model_server::Script;

use crate::common::Bench;

async fn problem(agent: &ClaudeCode) -> String {
    match *agent.ready().await.unwrap_err().kind {
        AgentErrorKind::Configuration { reason } => reason,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_program_that_is_there_with_a_key_is_ready_and_asks_nobody() {
    let Some(bench) = Bench::new(Script::new()) else { return };
    bench.agent().ready().await.unwrap();
    assert!(bench.server.requests().is_empty());
}

#[tokio::test]
async fn what_is_missing_is_said_all_at_once() {
    let Some(bench) = Bench::new(Script::new()) else { return };
    let credential = Some(Credential::ApiKey { variable: "INTERLOCKING_NO_SUCH_KEY".to_owned() });
    let settings =
        ClaudeSettings { program: "no-such-claude".into(), credential, max_steps: Some(0), ..bench.settings() };
    let reason = problem(&ClaudeCode::new(settings)).await;
    for part in ["no-such-claude", "npm install", "INTERLOCKING_NO_SUCH_KEY", "`max_steps`"] {
        assert!(reason.contains(part), "{part}: {reason}");
    }
}

#[tokio::test]
async fn what_is_no_claude_or_an_old_one_is_refused() {
    let Some(bench) = Bench::new(Script::new()) else { return };
    let old = FaultyProgram::new().answering_version("1.0.20 (Claude Code)");
    let old = old.write_to(bench.directory().join("old")).unwrap();
    let reason = problem(&bench.agent_with(ClaudeSettings { program: old, ..bench.settings() })).await;
    assert!(reason.contains("1.0.20") && reason.contains("2.1.330"), "{reason}");
    let reason = problem(&bench.agent_with(ClaudeSettings { program: "/bin/true".into(), ..bench.settings() })).await;
    assert!(reason.contains("says no version of Claude Code"), "{reason}");
}

/// The program itself would refuse this, but late, or only for root.
#[tokio::test]
async fn bypassing_permissions_wants_a_sandbox() {
    let Some(bench) = Bench::new(Script::new()) else { return };
    let settings = ClaudeSettings { permission_mode: PermissionMode::BypassPermissions, ..bench.settings() };
    let error = crate::common::run(&bench.agent_with(settings), bench.fresh("x")).await.unwrap_err();
    let AgentErrorKind::Configuration { reason } = &*error.kind else { panic!("{error:?}") };
    assert!(reason.contains("sandbox"), "{reason}");
}

/// The program sets them for itself, whichever settings files apply.
#[tokio::test]
async fn variables_in_the_programs_own_file_are_refused() {
    let Some(bench) = Bench::new(Script::new()) else { return };
    let home = bench.directory().join("state");
    std::fs::create_dir(&home).unwrap();
    let env = r#"{"env":{"ANTHROPIC_BASE_URL":"http://127.0.0.1:1"}}"#;
    std::fs::write(home.join(".claude.json"), env).unwrap();
    let error = crate::common::run(&bench.agent(), bench.fresh("x")).await.unwrap_err();
    assert!(error.to_string().contains(".claude.json is refused: its `env` would override"), "{error}");
}

/// Calls to this machine stay permitted, whatever the switch says about other calls; calls to other machines are
/// forbidden.
#[tokio::test]
async fn calls_of_a_provider_elsewhere_can_be_forbidden() {
    let Some(bench) = Bench::new(Script::new()) else { return };
    interlocking_agents::real_calls::restrict(interlocking_agents::RealCalls::Loopback);
    let elsewhere = Some("https://api.anthropic.com".to_owned());
    let bedrock = ("CLAUDE_CODE_USE_BEDROCK".to_owned(), "1".to_owned());
    for settings in [
        ClaudeSettings { base_url: elsewhere, ..bench.settings() },
        ClaudeSettings { setting_sources: vec!["project".to_owned()], ..bench.settings() },
        ClaudeSettings { environment: [bedrock].into(), ..bench.settings() },
    ] {
        let agent = bench.agent_with(settings);
        let error = crate::common::run(&agent, bench.fresh("x")).await.unwrap_err();
        assert!(matches!(&*error.kind, AgentErrorKind::Forbidden(_)), "{error:?}");
        assert!(matches!(&*agent.ready().await.unwrap_err().kind, AgentErrorKind::Forbidden(_)));
    }
    bench.agent().ready().await.unwrap();
}
