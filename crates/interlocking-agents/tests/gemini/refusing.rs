//! Turns and settings that are refused before anything runs.

use std::path::{Path, PathBuf};
use std::time::Duration;

use interlocking_agents::faults::FaultyProgram;
use interlocking_agents::{Agent, AgentErrorKind, Gemini, GeminiSettings, Turn, real_calls};
use interlocking_model_server::{Reaction, Script};

use crate::place::{Place, run, slug, with_key};

async fn refusal(settings: GeminiSettings) -> String {
    match *with_key(settings).ready().await.unwrap_err().kind {
        AgentErrorKind::Configuration { reason } => reason,
        other => panic!("{other:?}"),
    }
}

fn settings(home: &Path) -> GeminiSettings {
    GeminiSettings {
        home: Some(home.to_owned()),
        // No server listens there, and no request is sent.
        base_url: Some("http://127.0.0.1:1".to_owned()),
        program: "/bin/true".into(),
        ..GeminiSettings::default()
    }
}

#[tokio::test]
async fn what_cannot_be_had_is_refused_with_the_reason() {
    let home = tempfile::tempdir().unwrap();
    let settings = || settings(home.path());
    for (settings, expected) in [
        (GeminiSettings { max_dollars: Some(1.0), ..settings() }, "does not know what a turn costs"),
        (GeminiSettings { max_steps: Some(0), ..settings() }, "raise `max_steps`"),
        (GeminiSettings { retries: 10, ..settings() }, "lower `retries`"),
        (GeminiSettings { program: "no-such-gemini".into(), ..settings() }, "there is no program no-such-gemini"),
        (settings(), "--version says no version of the Gemini CLI"),
        (GeminiSettings { home: Some(PathBuf::from("/dev/null/home")), ..settings() }, "cannot be used"),
    ] {
        let reason = refusal(settings).await;
        assert!(reason.contains(expected), "{expected}: {reason}");
    }
}

#[tokio::test]
async fn a_key_must_be_there() {
    let home = tempfile::tempdir().unwrap();
    let settings = GeminiSettings { api_key_variable: "NO_SUCH_KEY_HERE".to_owned(), ..settings(home.path()) };
    let error = Gemini::new(settings).ready().await.unwrap_err().to_string();
    assert!(error.contains("NO_SUCH_KEY_HERE holds no API key"), "{error}");
}

/// Paused time advances as soon as all tasks are waiting.
#[tokio::test(start_paused = true)]
async fn a_program_that_does_not_say_its_version_is_not_waited_for() {
    let home = tempfile::tempdir().unwrap();
    let program = FaultyProgram::new().silence(Duration::from_secs(60));
    let program = program.write_to(home.path().join("program")).unwrap();
    let reason = refusal(GeminiSettings { program, ..settings(home.path()) }).await;
    assert!(reason.ends_with("--version does not end: set `program`"), "{reason}");
}

#[tokio::test]
async fn an_old_program_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let program = FaultyProgram::new().answering_version("0.60.9").write_to(home.path().join("program")).unwrap();
    let reason = refusal(GeminiSettings { program, ..settings(home.path()) }).await;
    assert!(
        reason.contains("is the Gemini CLI 0.60.9, which is older than 0.61.0: install @google/gemini-cli"),
        "{reason}"
    );
}

/// The workspace's settings could start programs, and send the key elsewhere.
#[tokio::test]
async fn a_workspace_that_brings_settings_is_refused_unless_it_is_trusted() {
    let Some(place) = Place::new(Script::computed(|_| Reaction::text("Yes."))) else { return };
    let own = place.work().join(".gemini");
    std::fs::create_dir(&own).unwrap();
    std::fs::write(own.join("settings.json"), "{}").unwrap();
    let error = run(&place.gemini(), place.fresh("Hello")).await.0.unwrap_err().to_string();
    assert!(error.contains(".gemini/settings.json would override") && error.contains("workspace_settings"), "{error}");
    let trusting = with_key(GeminiSettings { workspace_settings: true, ..place.settings() });
    let trusted = run(&trusting, place.fresh("Hello")).await.0;
    // The settings can name another provider.
    match std::env::var(real_calls::SWITCH).as_deref() {
        Ok("loopback") => assert!(matches!(*trusted.unwrap_err().kind, AgentErrorKind::Forbidden(_))),
        _ => assert_eq!(trusted.unwrap().text.as_deref(), Some("Yes.")),
    }
}

/// A link through `/proc/self/cwd` leads to nothing from here, and into the workspace for a program that works there.
#[tokio::test]
async fn settings_behind_a_link_are_refused_wherever_it_leads() {
    for (link, target) in [
        (".gemini", "/proc/self/cwd/own"),
        (".gemini/settings.json", "/proc/self/cwd/evil.json"),
        (".gemini/policies", "no/such/directory"),
    ] {
        let (home, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let place = work.path().join(link);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, &place).unwrap();
        let turn = Turn { workspace: Some(work.path().to_owned()), ..Turn::fresh(slug(), "Hello") };
        let error = run(&with_key(settings(home.path())), turn).await.0.unwrap_err().to_string();
        assert!(error.contains(&format!("{} would override", place.display())), "{error}");
    }
}

/// An agent that may write to its role's home can have put them there.
#[tokio::test]
async fn settings_around_the_directory_of_turns_without_a_workspace_are_refused() {
    for file in [".env", "nowhere/.gemini/settings.json", ".gemini/.env"] {
        let home = tempfile::tempdir().unwrap();
        let place = home.path().join(file);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(&place, "").unwrap();
        let trusting = GeminiSettings { workspace_settings: true, ..settings(home.path()) };
        let error = run(&with_key(trusting), Turn::fresh(slug(), "Hello")).await.0.unwrap_err().to_string();
        assert_eq!(error.contains("would override"), file != ".env", "{file}: {error}");
    }
}

#[tokio::test]
async fn a_prompt_that_would_be_cut_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let agent = with_key(settings(home.path()));
    let turn = |prompt: &str| Turn::fresh(slug(), prompt);
    let long = run(&agent, turn(&"x".repeat(8 * 1024 * 1024 + 1))).await.0.unwrap_err();
    assert_eq!(*long.kind, AgentErrorKind::PromptTooLong);
    let empty = run(&agent, turn(" \n")).await.0.unwrap_err();
    assert!(matches!(*empty.kind, AgentErrorKind::Configuration { .. }), "{empty}");
}
