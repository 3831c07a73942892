//! The program as a process.

use crate::support::Project;
use serde_json::json;
use std::process::{Command, Stdio};

fn envoy(words: &[&str]) -> std::process::Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_envoy"));
    command.args(words).current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::null()).output().unwrap()
}

/// ENV-20: results on standard output, diagnostics on standard error, the exit code. ENV-104: the program includes the
/// four protocols.
#[test]
fn the_program_ends_with_its_code() {
    for name in ["implementation", "debugging", "discovery", "bug-discovery"] {
        let done = envoy(&["protocol", name]);
        assert!(done.status.success() && done.stderr.is_empty() && !done.stdout.is_empty());
    }
    let refused = envoy(&["protocol", "nothing"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(refused.stdout.is_empty() && refused.stderr.starts_with(b"error: "));
    assert_eq!(envoy(&[]).status.code(), Some(2));
    let version = envoy(&["--version"]);
    assert_eq!(String::from_utf8(version.stdout).unwrap(), concat!("envoy ", env!("CARGO_PKG_VERSION"), "\n"));
}

/// A closed standard output gives an exit code, and no panic.
#[test]
fn nobody_listens() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output =
        Command::new(env!("CARGO_BIN_EXE_envoy")).args(["protocol", "debugging"]).stdout(writer).output().unwrap();
    assert_eq!(output.status.code(), Some(8));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.starts_with("error: the result could not be written to standard output"), "{told}");
}

/// A command needs a directory to work in.
#[cfg(target_os = "linux")]
#[test]
fn a_directory_that_is_gone_is_told() {
    for (option, begins) in [(None, "error: the current directory cannot be used: "), (Some("--json"), "{\"error\":{")]
    {
        let project = Project::new();
        let gone = project.path("gone");
        std::fs::create_dir(&gone).unwrap();
        let mut shell = Command::new("sh");
        shell
            .args(["-c", "rmdir \"$PWD\" && exec \"$@\"", "sh", env!("CARGO_BIN_EXE_envoy"), "protocols"])
            .args(option);
        let output = shell.current_dir(gone).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), told.starts_with(begins)), (Some(2), true), "{told}");
    }
}

/// The file of the user's git configuration comes after the repository's, as for git itself.
#[test]
fn what_git_ignores_is_left_alone_wherever_it_is_told_to() {
    let project = Project::repository();
    project.write(".gitignore", "!first.rs\n");
    project.write(".git/info/exclude", "first.rs\n!second.rs\nthird.rs\n");
    project.write("user/excludes", "second.rs\n!third.rs\nfourth.rs\n/user\n");
    project.write("user/config", &format!("[core]\n\texcludesFile = {}\n", project.path("user/excludes").display()));
    for name in ["first", "second", "third", "fourth", "fifth"] {
        project.write(&format!("{name}.rs"), "// [DEBUG-TEMP]\nlog\n\n");
    }
    let here = |program: &str, words: &[&str]| {
        let mut command = Command::new(program);
        command.args(words).current_dir(project.path("")).env("GIT_CONFIG_GLOBAL", project.path("user/config"));
        String::from_utf8(command.env("GIT_CONFIG_SYSTEM", "/dev/null").output().unwrap().stdout).unwrap()
    };
    let report = here(env!("CARGO_BIN_EXE_envoy"), &["plan", "cleanup-debug-logs", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["files_modified"], json!(["fifth.rs", "first.rs", "second.rs"]));
    let for_git = here("git", &["ls-files", "--others", "--exclude-standard", "*.rs"]);
    assert_eq!(for_git.lines().collect::<Vec<_>>(), ["fifth.rs", "first.rs", "second.rs"]);
}

/// The files are cleaned up all the same, and the report says which.
#[test]
fn a_check_fails_if_no_shell_can_be_started() {
    let project = Project::repository();
    project.write("x.rs", "// [DEBUG-TEMP]\nlog\n\n");
    let mut envoy = Command::new(env!("CARGO_BIN_EXE_envoy"));
    envoy.args(["plan", "cleanup-debug-logs", "--json", "--check", "true", "--check", "touch not-run"]);
    let output = envoy.current_dir(project.path("")).env("PATH", project.path("none")).output().unwrap();
    let (told, report) = (String::from_utf8(output.stderr).unwrap(), String::from_utf8(output.stdout).unwrap());
    assert_eq!(output.status.code(), Some(1), "{told}");
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!((&report["success"], &report["files_modified"]), (&json!(true), &json!(["x.rs"])));
    assert_eq!(report["checks"], json!([{"command": "true", "passed": false}]));
    assert!(told.starts_with("error: sh, in which checks run, cannot be started in "), "{told}");
    assert_eq!(project.read("x.rs"), "\n");
}
