//! A turn's sandbox confines the program and all its child processes.

use std::sync::Arc;

use interlocking_agents::{GeminiPermissions, GeminiSettings, Turn};
use interlocking_model_server::Script;
use interlocking_sandbox::{Protection, Sandbox};
use serde_json::json;

use crate::place::{Place, run, with_key};
use crate::working::calling;

#[tokio::test]
async fn the_program_works_in_a_sandbox_and_reaches_nothing_else() {
    // What the call itself has is in its home.
    let probe = "echo x > ../outside.txt; cat ../secret.txt; echo made > made.txt; ls ../home.calls; \
                 cat ../home.calls/call-other/settings.json; echo x > ../home/GEMINI.md; echo x > ../home/tmp/written.txt; echo over";
    let script = calling(Script::new(), "run_shell_command", json!({ "command": probe }));
    let Some(place) = Place::new(script) else { return };
    std::fs::write(place.directory.path().join("secret.txt"), "a secret").unwrap();
    // The directory of another call. It has a lock that its process holds.
    let calls = place.calls();
    std::fs::create_dir_all(calls.join("call-other")).unwrap();
    std::fs::write(calls.join("call-other/settings.json"), "a secret").unwrap();
    let lock = std::fs::File::create(calls.join("call-other.lock")).unwrap();
    lock.lock().unwrap();
    let settings = GeminiSettings { permissions: GeminiPermissions::Everything, ..place.settings() };
    let agent = with_key(settings);
    let sandbox = agent.grants(None, Sandbox::for_place(place.work())).unwrap();
    // What this machine cannot enforce is not tested here.
    let sandbox = Protection::ALL.into_iter().fold(sandbox, Sandbox::accept_without);
    let turn = Turn { sandbox: Some(Arc::new(sandbox)), ..place.fresh("work") };
    let (outcome, _) = run(&agent, turn).await;

    let said = outcome.unwrap().text.unwrap();
    assert_eq!(std::fs::read_to_string(place.work().join("made.txt")).unwrap(), "made\n", "{said}");
    assert!(!said.contains("a secret") && said.contains("Permission denied"), "{said}");
    assert!(!place.directory.path().join("outside.txt").exists());
    assert!(!place.home().join("GEMINI.md").exists() && place.home().join("tmp/written.txt").exists(), "{said}");
    assert!(calls.join("call-other").exists(), "it is in use");
}
