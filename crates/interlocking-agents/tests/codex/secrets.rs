//! A key reaches the provider, and nothing else.

use std::path::Path;
use std::process::Command;

use interlocking_agents::{Codex, CodexSettings};
use interlocking_model_server::{Reaction, Rule, Script};

use crate::place::{Place, run};
use crate::working::command;

const VARIABLE: &str = "INTERLOCKING_TEST_KEY";

/// The key is in the environment of another process, whose output is searched, too.
#[test]
fn a_key_reaches_the_provider_alone() {
    let canary = format!("sk-canary-{}-{}", std::process::id(), std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos());
    let place = tempfile::Builder::new().prefix("canary-").tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let ran = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "secrets::with_a_key_in_the_environment", "--nocapture"])
        .env(VARIABLE, &canary)
        .env("INTERLOCKING_TEST_PLACE", place.path())
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned();
    assert!(ran.status.success(), "{printed}");
    assert!(!printed.contains(&canary), "{printed}");
    let mut searched = 0;
    search(place.path(), canary.as_bytes(), &mut searched);
    if !printed.contains("NOT TESTED") {
        assert!(searched > 5, "{searched} files are what a run leaves behind");
    }
}

fn search(directory: &Path, needle: &[u8], searched: &mut usize) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            search(&path, needle, searched);
        } else if let Ok(content) = std::fs::read(&path) {
            *searched += 1;
            let found = content.windows(needle.len()).any(|window| window == needle);
            assert!(!found, "the key stands in {}", path.display());
        }
    }
}

/// Does nothing unless the test above runs it, because the key is not set otherwise.
#[tokio::test]
async fn with_a_key_in_the_environment() {
    let (Ok(key), Ok(kept)) = (std::env::var(VARIABLE), std::env::var("INTERLOCKING_TEST_PLACE")) else { return };
    let script = Script::new()
        .rule(Rule::asked("look").reply(command(
            "env | sort | tee environment.txt; echo ${INTERLOCKING_TEST_KEY:-nothing} ${CODEX_API_KEY:-nothing}",
        )))
        .rule(Rule::told("nothing nothing").reply(Reaction::text("not there")))
        .rule(Rule::asked("fail").reply_with(|request| {
            // A provider that repeats the key in its error.
            Reaction::status(401, format!("bad key: {}", request.header("authorization").unwrap_or_default()))
        }));
    let Some(place) = Place::new(script) else { return };
    let home = Path::new(&kept).join("home");
    let codex = |own_sandbox| {
        let (api_key_variable, home) = (Some(VARIABLE.to_owned()), Some(home.clone()));
        Codex::new(CodexSettings { api_key_variable, home, own_sandbox, ..place.settings() })
    };
    for own_sandbox in [true, false] {
        let (outcome, events) = run(&codex(own_sandbox), place.fresh("look")).await;
        let completion = outcome.unwrap();
        assert_eq!(completion.text.as_deref(), Some("not there"));
        std::fs::write(Path::new(&kept).join("events.txt"), format!("{events:#?}{completion:#?}")).unwrap();
    }
    search(&place.work(), key.as_bytes(), &mut 0);
    // Codex stores what a provider says about the key in its home, so this agent has another home.
    let elsewhere = Codex::new(CodexSettings { api_key_variable: Some(VARIABLE.to_owned()), ..place.settings() });
    let (outcome, events) = run(&elsewhere, place.fresh("fail")).await;
    let error = outcome.unwrap_err();
    assert!(error.to_string().contains("[redacted]"), "{error}");
    std::fs::write(Path::new(&kept).join("error.txt"), format!("{events:#?}{error:#?}{:#?}", codex(true))).unwrap();
    let sent = format!("Bearer {key}");
    assert!(place.server.requests().iter().all(|request| request.header("authorization") == Some(sent.as_str())));
}
