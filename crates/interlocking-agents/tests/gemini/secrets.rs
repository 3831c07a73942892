//! A key reaches the provider, and nothing else.

use std::path::Path;
use std::process::Command;

use interlocking_agents::{Gemini, GeminiPermissions, GeminiSettings};
use interlocking_model_server::{Reaction, Rule, Script};
use serde_json::json;

use crate::place::{Place, run};

const VARIABLE: &str = "INTERLOCKING_TEST_KEY";
const KEPT: &str = "INTERLOCKING_TEST_PLACE";

/// The key is in the environment of another process, whose output is searched, too.
#[test]
fn a_key_reaches_the_provider_alone() {
    let canary = format!("sk-canary-{}-{}", std::process::id(), std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos());
    let kept = tempfile::tempdir().unwrap();
    let ran = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "secrets::with_a_key_in_the_environment", "--nocapture"])
        .env(VARIABLE, &canary)
        .env(KEPT, kept.path())
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned();
    assert!(ran.status.success(), "{printed}");
    assert!(!printed.contains(&canary), "{printed}");
    let searched = search(kept.path(), canary.as_bytes());
    assert!(searched > 2 || printed.contains("NOT TESTED"), "{searched} files are what a run leaves behind: {printed}");
}

/// The number of files in a directory; asserts that none of them contains `needle`.
fn search(directory: &Path, needle: &[u8]) -> usize {
    let mut searched = 0;
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            searched += search(&path, needle);
        } else if let Ok(content) = std::fs::read(&path) {
            searched += 1;
            let found = content.windows(needle.len()).any(|window| window == needle);
            assert!(!found, "the key stands in {}", path.display());
        }
    }
    searched
}

/// Does nothing unless the test above runs it, because the key is not set otherwise.
#[tokio::test]
async fn with_a_key_in_the_environment() {
    let (Ok(key), Ok(kept)) = (std::env::var(VARIABLE), std::env::var(KEPT)) else { return };
    let look =
        json!({ "command": "env | sort; echo \"[${INTERLOCKING_TEST_KEY:-nothing} ${GEMINI_API_KEY:-nothing}]\"" });
    let script = Script::new()
        .rule(Rule::asked("look").reply(Reaction::tool("run_shell_command", look)))
        .rule(Rule::told("[nothing nothing]").reply(Reaction::text("not there")))
        .rule(Rule::asked("fail").reply_with(|request| {
            // A provider that repeats the key in its error.
            Reaction::status(401, format!("bad key: {}", request.header("x-goog-api-key").unwrap_or_default()))
        }));
    let Some(place) = Place::new(script) else { return };
    let gemini = Gemini::new(GeminiSettings {
        home: Some(kept.into()),
        api_key_variable: VARIABLE.to_owned(),
        permissions: GeminiPermissions::Everything,
        ..place.settings()
    });
    let (outcome, events) = run(&gemini, place.fresh("look")).await;
    let completion = outcome.unwrap();
    assert_eq!(completion.text.as_deref(), Some("not there"));
    assert_eq!(place.server.requests()[0].header("x-goog-api-key"), Some(&*key));
    let (outcome, more) = run(&gemini, place.fresh("fail")).await;
    let error = outcome.unwrap_err();
    assert!(error.to_string().contains("bad key: [redacted]"), "{error}");
    let all = format!("{completion:?} {events:?} {error:?} {more:?}");
    assert!(!all.contains(&key));
}
