//! The demonstration, and what happens where the protocol is broken.

use envoy_debugging::{Debugging, Site, bug, demonstration, developer};
use expect_test::expect_file;
use interlocking::agents::{Script, ScriptedAgent};
use interlocking::draw::mermaid;
use interlocking::envoy::Library;
use interlocking::graph::Graph;
use interlocking::prelude::*;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

held!(Debugging);

/// The picture that the book shows.
#[test]
fn the_picture_is_that_of_the_table() {
    expect_file!["./debugging.mmd"].assert_eq(&mermaid(Debugging::net().table()));
}

fn project_with(protocol: &str) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join(".claude/protocols");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("debugging.yaml"), protocol).unwrap();
    place
}

fn source(place: &Path) -> String {
    std::fs::read_to_string(place.join("project/tide.sh")).unwrap()
}

/// ENV-89, ENV-103: the logs go before anything is merged, and the check runs after that. Here it finds that the removal took
/// the fix along, and nothing is merged until one holds.
#[tokio::test]
async fn the_bug_is_fixed_and_the_logs_are_gone() {
    let place = tempfile::tempdir().unwrap();
    let site = Site::create(place.path()).unwrap();
    let before = source(place.path());
    let agent = developer().unwrap();
    let run = demonstration(&Library::embedded(), &site, agent.clone()).unwrap();
    let report = run.start(bug()).await.unwrap();
    assert_eq!(report.visits_of("fix"), 2, "the first fix went with the log");
    let fixed = report.outcome.finished().unwrap();
    assert_eq!(agent.unused(), []);
    let head =
        Command::new("git").args(["rev-parse", "main"]).current_dir(place.path().join("project")).output().unwrap();
    assert_eq!(String::from_utf8(head.stdout).unwrap().trim(), fixed.commit);

    // The agent read the protocol's steps, numbered as in the whole.
    let prompt = |session: &str| agent.history(&SessionId::new(session).unwrap()).unwrap()[0].prompt.clone();
    let debugging = Library::embedded().resolve(&"debugging".parse().unwrap()).unwrap();
    let steps = debugging.excerpt("6".parse().unwrap(), "6.1".parse().unwrap()).unwrap().to_string();
    assert!(prompt("investigate-1").ends_with(&steps), "{}", prompt("investigate-1"));
    assert!(prompt("fix-1").contains("\n9: [7] Implement the fix"));

    let after = source(place.path());
    assert_ne!(after, before);
    assert!(!after.contains("DEBUG-TEMP"), "{after}");
    assert!(after.contains("[ \"$hour\" -le 6 ] ||"), "{after}");
    let check = Command::new("sh").arg("check.sh").current_dir(place.path().join("project")).status().unwrap();
    assert!(check.success());
}

/// What is merged is what was checked, and not what a check that the agent may have written made of it.
#[tokio::test]
async fn what_a_check_writes_is_not_merged() {
    let script = r#"
        [[turn]]
        contains = ["7: [6.1] Implement the logging tasks"]
        output = { hypothesis = "none", logs = [] }

        [[turn]]
        contains = ["9: [7] Implement the fix"]
        output = { walkthrough = "it is checked" }

        [[turn.write]]
        path = "tide.sh"
        content = "echo checked\n"

        [[turn.write]]
        path = "check.sh"
        content = "echo later > later.txt; grep checked tide.sh && echo 'echo never checked' > tide.sh\n"
    "#;
    let place = tempfile::tempdir().unwrap();
    let site = Site::create(place.path()).unwrap();
    let agent = Arc::new(ScriptedAgent::new(Script::parse("script.toml", script).unwrap()));
    let run = demonstration(&Library::embedded(), &site, agent).unwrap();
    let fixed = run.start(bug()).await.unwrap().outcome.finished().unwrap();
    let project = place.path().join("project");
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).current_dir(&project).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(git(&["show", &format!("{}:tide.sh", fixed.commit)]), "echo checked");
    assert_eq!(git(&["ls-tree", "--name-only", "main"]), "check.sh\ntide.sh");
    assert_eq!(git(&["rev-parse", "main"]), fixed.commit);
    assert_eq!(git(&["worktree", "list"]).lines().count(), 2, "the checkout that was checked is gone");
}

#[test]
fn help_says_what_the_program_does() {
    let help = Command::new(env!("CARGO_BIN_EXE_envoy-debugging")).arg("--help").output().unwrap();
    assert!(help.status.success());
    expect_test::expect![[r#"
        Runs a demonstration in a temporary directory: an agent looks for a bug with debug logs, as the protocol `debugging` says, and what it fixes is merged without them.

        The agent is scripted, so no key and no server is needed; the files, logs, checks and commits are real. The protocol is that of the project in which this is started, if it has one, else the one that comes along.

        Usage: envoy-debugging

        Options:
          -h, --help
                  Print help (see a summary with '-h')
    "#]].assert_eq(&String::from_utf8(help.stdout).unwrap());
}

/// A protocol that cannot be resolved stops the run before it starts: there is no graph, and nobody was asked.
#[tokio::test]
async fn a_broken_protocol_starts_nothing() {
    let place = tempfile::tempdir().unwrap();
    let site = Site::create(place.path()).unwrap();
    for (protocol, told) in [
        ("name: debugging\nextends: nothing\nsteps: {}\n", "`debugging` extends a protocol that cannot be loaded"),
        ("name: debugging\nsteps:\n  - 1\n", "debugging.yaml:3:3: `steps`: expected a table, found a list"),
        // It resolves, and lacks what a prompt includes.
        ("name: debugging\nsteps: {1: Do it}\n", "protocol `debugging` has no step `6`: its steps are 1"),
    ] {
        let project = project_with(protocol);
        let agent = developer().unwrap();
        let error =
            demonstration(&Library::of_project(project.path()), &site, agent.clone()).err().unwrap().to_string();
        assert!(error.contains(told), "{error}");
        assert_eq!(agent.unused().len(), 3, "nobody was asked");
    }
}

/// A project's own protocol is what its agents read.
#[tokio::test]
async fn a_projects_own_protocol_is_followed() {
    let place = tempfile::tempdir().unwrap();
    let site = Site::create(place.path()).unwrap();
    let project =
        project_with("name: debugging\nextends: implementation\nsteps:\n  6.1: Log\n  6.2: Wait\n  7: Mend it\n");
    let run = demonstration(&Library::of_project(project.path()), &site, developer().unwrap()).unwrap();
    // The script knows the prompts of the protocol that comes along alone, so the agent has no turn for this one.
    let Outcome::Failed(failure) = run.start(bug()).await.unwrap().outcome else { panic!("it cannot finish") };
    assert_eq!(failure.node, "investigate");
    let told = failure.to_string();
    assert!(told.contains("7: [6.1] Log"), "{told}");
}
