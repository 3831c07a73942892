//! Compares the search for markers in a repository of 50,000 files with `git grep` for the marker, each as a process: `cargo
//! bench -p interlocking-envoy-cli --bench cleanup`.

#![expect(clippy::print_stdout, reason = "a benchmark reports to whoever runs it")]
#![expect(clippy::unwrap_used, reason = "a benchmark: what is wrong shall end it")]

#[expect(unreachable_pub, reason = "a module of another crate's library")]
#[path = "../../interlocking-bench/src/rounds.rs"]
mod rounds;

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

const FILES: usize = 50_000;
const IN_A_DIRECTORY: usize = 50;
/// One file in so many has a marker.
const MARKED: usize = 1_000;
const ROUNDS: usize = 11;

fn main() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path();
    let bytes = fill(root);
    git(root, &["init", "--quiet"]);
    git(root, &["add", "."]);
    git(root, &["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "--quiet", "--message", "Begin"]);
    println!("{FILES} files, {} MB, {} of them marked", bytes / 1_000_000, FILES / MARKED);

    let search = || assert_eq!(envoy(root, &["--dry-run"]), FILES / MARKED + 1, "a line for each, and one for all");
    let tracked = || assert_eq!(git(root, &["grep", "-lF", "[DEBUG-TEMP]"]), FILES / MARKED);
    let all = || assert_eq!(git(root, &["grep", "-lF", "--untracked", "[DEBUG-TEMP]"]), FILES / MARKED);
    println!("{}", rounds::compare(ROUNDS, search, tracked).line("envoy / git grep", 1, None));
    // Only this comparison covers the same files: the command also examines untracked files.
    println!("{}", rounds::compare(ROUNDS, search, all).line("envoy / git grep --untracked", 1, None));
    // The removal itself, once; afterwards no marker is found.
    assert_eq!(envoy(root, &[]), FILES / MARKED + 1);
    assert_eq!(envoy(root, &[]), 1);
}

/// Writes source files of 200 to 6,000 bytes in directories of fifty, a fifth of them with extensions that are not searched.
/// Gives the number of bytes.
fn fill(root: &Path) -> usize {
    let mut bytes = 0;
    for index in 0..FILES {
        let directory = root.join(format!("d{}/e{}", index / IN_A_DIRECTORY / 20, index / IN_A_DIRECTORY));
        if index % IN_A_DIRECTORY == 0 {
            std::fs::create_dir_all(&directory).unwrap();
        }
        let mut text = String::new();
        if index % MARKED == 0 {
            text += "// [DEBUG-TEMP]\nlog(1);\n\n";
        }
        for line in 0..(5 + index * 7 % 145) {
            writeln!(text, "    let value_{line} = compute({index}, {line});").unwrap();
        }
        let extension = ["rs", "ts", "go", "rs", "json"][index % 5];
        bytes += text.len();
        std::fs::write(directory.join(format!("f{index}.{extension}")), text).unwrap();
    }
    bytes
}

/// Removes the markers, or lists them; gives the number of printed lines.
fn envoy(root: &Path, more: &[&str]) -> usize {
    lines(Command::new(env!("CARGO_BIN_EXE_envoy")).args(["plan", "cleanup-debug-logs"]).args(more), root)
}

fn git(root: &Path, words: &[&str]) -> usize {
    let mut command = Command::new("git");
    for variable in ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"] {
        command.env(variable, "/dev/null");
    }
    lines(command.args(words), root)
}

fn lines(command: &mut Command, root: &Path) -> usize {
    let output = command.current_dir(root).stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "{command:?}");
    output.stdout.split(|byte| *byte == b'\n').count() - 1
}
