//! Files that git does not show but cargo would read.

use crate::agent_script::AgentScript;
use crate::stage::Stage;
use hybrid::demo::Scenario;
use hybrid::paths::{PathViolation, Role, Territory};
use hybrid::types::HybridFailure;
use std::os::unix::fs::PermissionsExt;

fn planted(role: Role, path: &str) -> HybridFailure {
    let violation = PathViolation { role, path: path.to_owned(), territory: Territory::BuildDefinition };
    HybridFailure::BarrierBroken { violations: vec![violation] }
}

/// A directory that ignores itself, with the agent's own compiler in it.
#[tokio::test(flavor = "multi_thread")]
async fn a_wrapper_in_a_directory_that_ignores_itself_never_runs() {
    let outside = tempfile::tempdir().unwrap();
    let (wrapper, ran) = (outside.path().join("wrapper"), outside.path().join("ran"));
    std::fs::write(&wrapper, format!("#!/bin/sh\necho x >> {}\nexec \"$@\"\n", ran.display())).unwrap();
    std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
    let script = AgentScript::of(Scenario::Happy).with("impl", |turn| {
        turn.write(".cargo/.gitignore", "*\n");
        turn.write(".cargo/config.toml", &format!("[build]\nrustc-wrapper = {:?}\n", wrapper.display().to_string()));
    });
    let stage = Stage::new(script).await;
    let ended = stage.run().await;
    let times = std::fs::read_to_string(&ran).map(|text| text.lines().count()).unwrap_or(0);
    assert_eq!(times, 0, "the agent's compiler ran {times} times in the runtime's builds");
    let (_, failure) = stage.assert_not_landed(&ended);
    assert_eq!(failure, planted(Role::Implementation, ".cargo/config.toml"));
}

/// A runner that reports every test as failed, so that tests that check nothing look red.
#[tokio::test(flavor = "multi_thread")]
async fn a_runner_of_the_agents_does_not_make_a_test_red() {
    let outside = tempfile::tempdir().unwrap();
    let runner = outside.path().join("runner");
    let program = "#!/bin/sh\nif \"$@\" > /dev/null 2>&1; then exit 0; fi\n\
        names=$(\"$1\" --list | sed -n 's/: test$//p')\nset -- $names\n\
        echo \"running $# tests\"\nfor name; do echo \"test $name ... FAILED\"; done\n\
        echo\necho 'failures:'\necho\n\
        for name; do echo \"---- $name stdout ----\"; echo \"thread '$name' panicked at src/lib.rs:1:1:\"; echo 'not yet implemented'; echo; done\n\
        echo 'failures:'\nfor name; do echo \"    $name\"; done\necho\n\
        echo \"test result: FAILED. 0 passed; $# failed; 0 ignored; 0 measured; 0 filtered out\"\nexit 101\n";
    std::fs::write(&runner, program).unwrap();
    std::fs::set_permissions(&runner, std::fs::Permissions::from_mode(0o755)).unwrap();
    let script = AgentScript::of(Scenario::TrivialTests).with("tests", |turn| {
        turn.write(".cargo/.gitignore", "*\n");
        let config = format!("[target.'cfg(all())']\nrunner = {:?}\n", runner.display().to_string());
        turn.write(".cargo/config.toml", &config);
    });
    let stage = Stage::new(script).await;
    let ended = stage.run().await;
    let (_, failure) = stage.assert_not_landed(&ended);
    assert_eq!(failure, planted(Role::Tests, ".cargo/config.toml"));
}

/// The agent's own toolchain file, hidden by the exclude file of its clone.
#[tokio::test(flavor = "multi_thread")]
async fn a_toolchain_file_that_git_was_told_to_ignore_is_a_violation() {
    let script = AgentScript::of(Scenario::Happy).with("impl", |turn| {
        turn.write("rust-toolchain.toml", "[toolchain]\npath = \"/nowhere\"\n");
        turn.run(&["sh", "-c", "echo rust-toolchain.toml >> .git/info/exclude"]);
    });
    let stage = Stage::quick(script).await;
    let ended = stage.run().await;
    let (_, failure) = stage.assert_not_landed(&ended);
    assert_eq!(failure, planted(Role::Implementation, "rust-toolchain.toml"));
}
