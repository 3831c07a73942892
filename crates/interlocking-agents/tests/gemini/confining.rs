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
    let probe = "echo x > ../outside.txt; cat ../secret.txt; echo made > made.txt; echo over";
    let script = calling(Script::new(), "run_shell_command", json!({ "command": probe }));
    let Some(place) = Place::new(script) else { return };
    std::fs::write(place.directory.path().join("secret.txt"), "a secret").unwrap();
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
}
