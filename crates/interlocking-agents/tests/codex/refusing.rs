//! Settings that Codex does not support are refused before anything runs, with the reason.

use interlocking_agents::faults::FaultyProgram;
use interlocking_agents::{Agent, AgentErrorKind, Codex, CodexSettings, Disposition};
use interlocking_model_server::programs;

async fn refused(settings: CodexSettings) -> String {
    let error = Codex::new(settings).ready().await.unwrap_err();
    assert_eq!(error.disposition(), Disposition::GiveUp);
    match *error.kind {
        AgentErrorKind::Configuration { reason } => reason,
        other => panic!("{other}"),
    }
}

/// The settings for a provider on this machine, which is never forbidden.
fn local() -> CodexSettings {
    let home = Some(std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("codex-refusing"));
    CodexSettings { base_url: Some("http://127.0.0.1:1/v1".to_owned()), home, ..CodexSettings::default() }
}

fn settings(text: &str) -> CodexSettings {
    let CodexSettings { base_url, home, .. } = local();
    CodexSettings { base_url, home, ..toml::from_str(text).unwrap() }
}

#[tokio::test]
async fn limits_that_codex_cannot_keep() {
    assert!(refused(settings("max_steps = 5")).await.contains("cannot limit the steps"));
    assert!(refused(settings("max_dollars = 1.5")).await.contains("does not know what a call costs"));
    let at_openai = CodexSettings { base_url: None, ..settings("retries = 2") };
    assert!(refused(at_openai).await.contains("`base_url`"));
}

#[tokio::test]
async fn a_program_that_is_missing_or_another() {
    assert!(refused(settings("program = \"no-such-codex\"")).await.contains("no-such-codex"));
    let other = refused(settings("program = \"git\"")).await;
    assert!(other.contains("says no version of Codex") && other.contains("git version"), "{other}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_program_that_is_too_old() {
    let place = tempfile::tempdir().unwrap();
    let program = FaultyProgram::new().answering_version("codex-cli 0.99.3");
    let program = program.write_to(place.path().join("codex")).unwrap();
    let reason = refused(CodexSettings { program, ..local() }).await;
    assert!(reason.contains("0.99.3, which is older than 0.169.0"), "{reason}");
}

/// The program is asked as a turn would start it, so that a turn does not fail with what is not found out here.
#[cfg(unix)]
#[tokio::test]
async fn a_home_that_cannot_be_made_and_an_environment_in_which_the_program_fails() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = tempfile::tempdir().unwrap();
    let home = place.path().join("home");
    let program = place.path().join("codex");
    let script = "#!/bin/sh\n[ -d \"$CODEX_HOME/sessions\" ] && [ \"$WANTED\" = here ] && echo codex-cli 0.169.0\n";
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let environment = [("WANTED".to_owned(), "here".to_owned())].into();
    let settings = CodexSettings { program, home: Some(home.clone()), environment, ..local() };
    Codex::new(settings.clone()).ready().await.unwrap();
    let refused_without = refused(CodexSettings { environment: Default::default(), ..settings.clone() }).await;
    assert!(refused_without.contains("says no version of Codex"), "{refused_without}");
    let nowhere = refused(CodexSettings { home: Some("/dev/null/home".into()), ..settings }).await;
    assert!(nowhere.contains("Codex's home /dev/null/home cannot be used"), "{nowhere}");
    assert_eq!(std::fs::read_dir(home.with_added_extension("calls")).unwrap().count(), 0);
    assert_eq!(std::fs::read_dir(home.join("sessions")).unwrap().count(), 0);
}

#[tokio::test]
async fn a_key_that_is_not_there() {
    let reason = refused(settings("api_key_variable = \"INTERLOCKING_NO_SUCH_KEY\"")).await;
    assert!(reason.contains("INTERLOCKING_NO_SUCH_KEY"), "{reason}");
}

#[test]
fn settings_that_nobody_knows() {
    let error = toml::from_str::<CodexSettings>("modle = \"x\"").unwrap_err();
    assert!(error.to_string().contains("modle"), "{error}");
    assert!(toml::from_str::<CodexSettings>("idle_limit = \"5 minutes\"").is_err());
}

#[tokio::test]
async fn the_program_that_is_there_is_ready() {
    let Some(program) = programs::found(programs::codex()) else { return };
    Codex::new(CodexSettings { program, ..local() }).ready().await.unwrap();
}
