use interlocking_agents::{AgentErrorKind, Disposition};

use crate::common::{agent, fresh, fresh_in, id, run};

#[tokio::test]
async fn a_script_plays_every_kind_of_failure() {
    let reason = || "because".to_owned();
    let kinds = [
        ("rate_limited", AgentErrorKind::RateLimited { retry_after: None }, true),
        ("overloaded", AgentErrorKind::Overloaded, true),
        ("connection", AgentErrorKind::Connection { reason: reason() }, true),
        ("refused", AgentErrorKind::Refused { reason: reason() }, false),
        ("prompt_too_long", AgentErrorKind::PromptTooLong, false),
        ("step_limit", AgentErrorKind::StepLimit, true),
        ("budget_limit", AgentErrorKind::BudgetLimit, false),
        ("crash", AgentErrorKind::Crashed { exit: Some(1), reason: reason() }, true),
    ];
    for (name, kind, resumable) in kinds {
        let script = format!("[[turn]]\nfail = \"{name}\"\ntext = \"because\"\ncost = 0.5");
        let error = run(&agent(&script), fresh("x")).await.unwrap_err();
        assert_eq!(*error.kind, kind);
        assert_eq!(error.usage.cost.to_string(), "$0.50", "{name}: a failure is paid for");
        let resume = Disposition::ResumeSession { session: id("write-1"), after: None };
        assert_eq!(error.disposition(), if resumable { resume } else { Disposition::GiveUp }, "{name}");
    }
}

#[tokio::test]
async fn a_rate_limit_says_when_to_come_back() {
    let error = run(&agent("[[turn]]\nfail = 'rate_limited'\nretry_after = '90s'"), fresh("x")).await.unwrap_err();
    let after = Some(std::time::Duration::from_secs(90));
    assert_eq!(error.disposition(), Disposition::ResumeSession { session: id("write-1"), after });
}

#[tokio::test]
async fn a_failure_comes_after_the_work_and_shows_in_the_history() {
    let workspace = tempfile::tempdir().unwrap();
    let agent = agent("[[turn]]\nfail = \"crash\"\nwrite = [{ path = \"half\", content = \"done\" }]");
    let error = run(&agent, fresh_in(workspace.path(), "x")).await.unwrap_err();
    assert_eq!(error.to_string(), "the agent ended without an answer (exit code 1): the script says so");
    assert!(workspace.path().join("half").exists());
    let history = agent.history(&id("write-1")).unwrap();
    assert_eq!((history.len(), &history[0].text), (1, &None));
}
