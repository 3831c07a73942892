//! The program: its help, and what it refuses before any agent is called.

use crate::help_is_whole::help_is_whole;
use crate::small::{project, spec};
use crate::without_confinement::without_confinement;
use interlocking::toolchain::{CommandLine, Harness, NamedCommand, Toolchain};
use std::path::Path;
use std::process::Command;
use v3::workbench::{NoSuite, suite_of};

/// What a program that was refused says. It has begun no run.
fn refused(place: &Path, words: &[&str]) -> String {
    let program = |words: &[&str]| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_v3"));
        program.args(words).args(["--journal", "journal"]).current_dir(place).output().unwrap()
    };
    let output = program(&[&["run", "--run-id", "r1"], words].concat());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert_eq!(program(&["show", "r1"]).status.code(), Some(2), "there is no run");
    said
}

#[test]
fn the_program_says_all_of_itself() {
    let program = |words: &[&str]| Command::new(env!("CARGO_BIN_EXE_v3")).args(words).output().unwrap();
    help_is_whole(|words| String::from_utf8(program(words).stdout).unwrap());
}

#[test]
fn a_system_that_cannot_confine_is_refused_before_any_agent_is_called() {
    let place = tempfile::tempdir().unwrap();
    let mut said = String::new();
    without_confinement(&mut || said = refused(place.path(), &[]));
    assert!(said.contains("this system cannot keep the code under test from"), "{said}");
    assert!(said.contains("`--accept-weaker-isolation`"), "{said}");
}

/// Another program's tests are not run by cargo, whose failure would count as that of the tests.
#[tokio::test]
async fn a_toolchain_without_a_command_for_one_file_is_refused() {
    let project = project().await;
    let write = |name: &str, text: &str| std::fs::write(project.place().join(name), text).unwrap();
    write("spec.toml", &toml::to_string(&spec(&[])).unwrap());
    write("npm.toml", "testCommand = [\"npm\", \"test\"]\nharness = \"exitCode\"\n");
    let words = ["--spec", "spec.toml", "--toolchain", "npm.toml", "--repo", "project"];
    let said = refused(project.place(), &words);
    let expected = "nothing says how the tests of one file are run: write it as `commands.suite`";
    assert!(said.contains(expected) && said.contains("at: npm.toml"), "{said}");
}

/// The command for one file has the harness and the time limit that it is given.
#[test]
fn the_tests_of_one_file_are_run_as_their_command_says() {
    let cargo = Toolchain { test_timeout_seconds: 7, ..Toolchain::default() };
    let suite = suite_of(&cargo).unwrap();
    assert_eq!(suite.command.to_string(), "cargo test --no-fail-fast --test '{name}'");
    assert_eq!((suite.harness, suite.timeout_seconds), (Harness::Libtest, 7));
    let go = CommandLine::new("go", &["test", "-json", "{path}"]);
    let named = NamedCommand { harness: Harness::GoTest, timeout_seconds: 9, ..NamedCommand::new(go.clone()) };
    let commands = [("suite".to_owned(), named.clone())].into();
    assert_eq!(suite_of(&Toolchain { test_command: go.clone(), commands, ..cargo.clone() }), Ok(named));
    assert_eq!(suite_of(&Toolchain { test_command: go, ..cargo }), Err(NoSuite::NoCommand));
}

/// A command without a harness is judged by its exit code alone, which is not what the project's harness promises.
#[test]
fn a_command_for_one_file_that_forgets_its_harness_is_refused() {
    let suite = |harness: &str| -> Toolchain {
        let test = "testCommand = [\"go\", \"test\", \"-json\"]\n";
        toml::from_str(&format!("{test}{harness}\n[commands.suite]\ncommand = [\"go\", \"test\", \"{{path}}\"]\n"))
            .unwrap()
    };
    let refused = suite_of(&suite("harness = \"goTest\"")).unwrap_err();
    assert!(refused.to_string().contains("write `harness = …` in `commands.suite`"), "{refused}");
    assert_eq!(suite_of(&suite("harness = \"exitCode\"")).unwrap().harness, Harness::ExitCode);
}
