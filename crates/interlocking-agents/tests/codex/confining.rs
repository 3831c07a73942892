//! A turn's sandbox confines Codex and all its child processes, and replaces Codex's own sandbox.

use std::sync::Arc;

use interlocking_agents::program::Secret;
use interlocking_agents::{Codex, CodexSettings, Turn};
use interlocking_model_server::{Reaction, Rule, Script};
use interlocking_sandbox::{Protection, Sandbox};

use crate::place::{Place, run};
use crate::working::command;

const PROBE: &str = "
echo x > ../outside.txt; cat ../secret.txt; echo made > made.txt
echo x > ../home/roles/tests/AGENTS.md; ls ../home.calls; cat ../home.calls/call-other/settings; cat $CODEX_HOME/schema.json
echo x > ../home/roles/tests/sessions/written.txt; echo over";

#[tokio::test]
async fn codex_works_in_a_sandbox_and_reaches_nothing_else() {
    let script = Script::new()
        .rule(Rule::asked("probe").reply(command(PROBE)))
        .rule(Rule::told("over").reply_with(|request| Reaction::text(request.results().join("\n"))));
    let Some(place) = Place::new(script) else { return };
    std::fs::write(place.directory.path().join("secret.txt"), "a secret").unwrap();
    // The directory of another call. It has a lock that its process holds.
    let calls = place.calls();
    std::fs::create_dir_all(calls.join("call-other")).unwrap();
    std::fs::write(calls.join("call-other/settings"), "a secret").unwrap();
    let lock = std::fs::File::create(calls.join("call-other.lock")).unwrap();
    lock.lock().unwrap();
    let temporary = place.directory.path().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let codex = place.codex().with_key(Secret::new("key-of-the-test"));
    let sandbox = codex.grants(Some("tests"), Sandbox::for_place(place.work()).temporary_directory(temporary)).unwrap();
    // What this machine cannot enforce is not tested here.
    let sandbox = Protection::ALL.into_iter().fold(sandbox, Sandbox::accept_without);
    let (sandbox, role) = (Some(Arc::new(sandbox)), Some("tests".to_owned()));
    let (outcome, _) = run(&codex, Turn { sandbox, role, ..place.fresh("probe") }).await;

    let said = outcome.unwrap().text.unwrap();
    assert_eq!(place.read("made.txt"), "made\n", "{said}");
    assert!(!said.contains("a secret") && said.contains("Permission denied"), "{said}");
    assert!(!place.directory.path().join("outside.txt").exists());
    let home = place.home().join("roles/tests");
    assert!(!home.join("AGENTS.md").exists() && home.join("sessions/written.txt").exists(), "{said}");
}

/// An agent without a sandbox can write to the home, and in a sandbox to what its call has there.
#[tokio::test]
async fn what_is_written_to_the_home_controls_no_later_turn() {
    let write = "mkdir -p $CODEX_HOME/skills/planted; cd $CODEX_HOME; echo planted > AGENTS.md; echo over";
    let script =
        Script::new().rule(Rule::asked("write").reply(command(write))).rule(Rule::any().reply(Reaction::text("done")));
    let Some(place) = Place::new(script) else { return };
    let home = place.home();
    std::fs::create_dir_all(home.join("skills/planted")).unwrap();
    let skill = "---\nname: planted\ndescription: planted\n---\nplanted\n";
    std::fs::write(home.join("skills/planted/SKILL.md"), skill).unwrap();
    std::fs::write(home.join("AGENTS.md"), "planted\n").unwrap();
    std::fs::write(home.join(".env"), "HTTP_PROXY=http://127.0.0.1:9\nhttp_proxy=http://127.0.0.1:9\n").unwrap();
    let codex = Codex::new(CodexSettings { own_sandbox: false, ..place.settings() });
    let session = run(&codex, place.fresh("write")).await.0.unwrap().session;
    for turn in [place.fresh("again"), place.go_on(&session, "more"), place.fork(&session, "other")] {
        run(&codex, turn).await.0.unwrap();
    }
    let requests = place.server.requests();
    let fresh = requests.iter().find(|request| request.prompt() == "again").unwrap();
    assert!(!fresh.body.to_string().contains("planted"));
}
