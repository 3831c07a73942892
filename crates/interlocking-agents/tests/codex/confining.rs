//! A turn's sandbox confines Codex and all its child processes, and replaces Codex's own sandbox.

use std::sync::Arc;

use interlocking_agents::Turn;
use interlocking_model_server::{Reaction, Rule, Script};
use interlocking_sandbox::{Protection, Sandbox};

use crate::place::{Place, run};
use crate::working::command;

#[tokio::test]
async fn codex_works_in_a_sandbox_and_reaches_nothing_else() {
    let probe = "echo x > ../outside.txt; cat ../secret.txt; echo made > made.txt; echo over";
    let script = Script::new()
        .rule(Rule::asked("probe").reply(command(probe)))
        .rule(Rule::told("over").reply_with(|request| Reaction::text(request.results().join("\n"))));
    let Some(place) = Place::new(script) else { return };
    std::fs::write(place.directory.path().join("secret.txt"), "a secret").unwrap();
    let temporary = place.directory.path().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let codex = place.codex();
    let sandbox = codex.grants(None, Sandbox::for_place(place.work()).temporary_directory(temporary)).unwrap();
    // What this machine cannot enforce is not tested here.
    let sandbox = Protection::ALL.into_iter().fold(sandbox, Sandbox::accept_without);
    let turn = Turn { sandbox: Some(Arc::new(sandbox)), ..place.fresh("probe") };
    let (outcome, _) = run(&codex, turn).await;

    let said = outcome.unwrap().text.unwrap();
    assert_eq!(place.read("made.txt"), "made\n", "{said}");
    assert!(!said.contains("a secret") && said.contains("Permission denied"), "{said}");
    assert!(!place.directory.path().join("outside.txt").exists());
}
