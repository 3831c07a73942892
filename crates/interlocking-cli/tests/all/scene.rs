//! A repository with what `examples/pair` needs to run over it, and that program as a process of its own.

use crate::processes::example;
use crate::support::steady;
use interlocking::worktree::{BranchName, CommitId, Repository, Signature};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The agents. The agent that checks can be made to wait, or to fail. Its check fails if it is given the key.
pub(crate) const SCRIPT: &str = r#"
[[turn]]
times = "any"
contains = ["Write the program"]
write = [{ path = "greet.sh", content = "echo hello" }]
output = { subject = "Greet" }
cost = 0.0125

[[turn]]
times = "any"
contains = ["Write the check"]
write = [{ path = "check.sh", content = "test \"$(sh greet.sh)$PROVIDER_KEY\" = HELLO" }]
output = { subject = "Check the greeting" }
"#;

/// A repository with one commit on `main`, a script, a directory for worktrees, and a journal.
pub(crate) struct Scene {
    pub(crate) place: TempDir,
    pub(crate) base: CommitId,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let project = Repository::init(place.path().join("project")).unwrap();
        let tree = project.main_worktree().unwrap().unwrap();
        fs::write(tree.path().join("README.md"), "# Greetings\n").unwrap();
        let base = tree.commit_all(&Signature::new("Me", "me@example.org").unwrap(), "Begin").unwrap().unwrap();
        for name in ["work", "temporary"] {
            fs::create_dir(place.path().join(name)).unwrap();
        }
        let scene = Self { place, base };
        scene.script("agents.toml", &SCRIPT.replace("HELLO", "hello"));
        scene
    }

    pub(crate) fn script(&self, name: &str, text: &str) {
        fs::write(self.at(name), text).unwrap();
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    pub(crate) fn repository(&self) -> Repository {
        Repository::open(self.at("project")).unwrap()
    }

    pub(crate) fn head(&self, branch: &str) -> Option<CommitId> {
        self.repository().branch_head(&BranchName::new(branch).unwrap()).unwrap()
    }

    /// The program, started beside the repository.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = example("pair", self.place.path(), words);
        command.env("INTERLOCKING_JOURNAL", self.at("journal")).env("TMPDIR", self.at("temporary"));
        command.env("PROVIDER_KEY", "sk-test");
        command
    }

    pub(crate) fn call(&self, words: &[&str]) -> (Option<i32>, String, String) {
        crate::processes::ran(self.command(words).output().unwrap())
    }

    /// `run` as `r1` in the repository, with worktrees in `work`.
    pub(crate) fn run(&self, more: &[&str]) -> (Option<i32>, String, String) {
        self.call(&run_words(more))
    }

    /// `run` with this name, in this repository.
    pub(crate) fn run_as(&self, name: &str, repository: &str, lands_on: &str) -> (Option<i32>, String, String) {
        let words = ["run", "a greeting", "--run-id", name, "--repo", repository, "--land-on", lands_on];
        self.call(&[&words[..], &["--work-dir", "work", "--script", "agents.toml"]].concat())
    }

    /// The output of `show` for run `r1`, if there is one.
    pub(crate) fn show(&self) -> Option<Value> {
        let (exit, stdout, _) = self.call(&["show", "r1", "--json"]);
        (exit == Some(0)).then(|| serde_json::from_str(&stdout).unwrap())
    }

    /// What differs from the state before the run, except for the branch and the journal.
    pub(crate) fn left(&self) -> Vec<String> {
        let names = |directory: &str| -> Vec<String> {
            let entries = fs::read_dir(self.at(directory)).into_iter().flatten();
            entries.map(|entry| format!("{directory}/{}", entry.unwrap().file_name().to_string_lossy())).collect()
        };
        let repository = self.repository();
        let branches = repository.branches().unwrap().into_iter().map(|(branch, _)| branch.to_string());
        let worktrees = repository.worktrees().unwrap().into_iter().map(|entry| entry.path.display().to_string());
        let mut left = [names("work"), names("temporary"), names("journal/pair")].concat();
        left.extend(branches.filter(|branch| branch != "main").chain(worktrees));
        left.sort();
        left
    }

    /// A run whose checking agent works for as long as the test needs.
    pub(crate) fn spawn(&self, more: &[&str]) -> Running {
        let slow = SCRIPT
            .replace("HELLO", "hello")
            .replace("contains = [\"Write the check\"]", "contains = [\"Write the check\"]\ndelay = \"10m\"");
        self.script("agents.toml", &slow);
        let mut command = self.command(&run_words(more));
        let running = Running(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        let begun = Instant::now();
        let is_done = |shown: Value| {
            let executions = shown["executions"].as_array().unwrap().clone();
            let is = |node: &str, state: &str| {
                executions.iter().any(|known| known["node"] == node && known["state"] == state)
            };
            is("program", "done") && is("check", "running")
        };
        while !self.show().is_some_and(is_done) {
            assert!(begun.elapsed() < Duration::from_secs(60), "the program is not written");
            std::thread::sleep(Duration::from_millis(10));
        }
        self.script("agents.toml", &SCRIPT.replace("HELLO", "hello"));
        running
    }

    /// A text with this scene's paths replaced.
    pub(crate) fn page(&self, (exit, stdout, stderr): (Option<i32>, String, String)) -> String {
        let text = format!("exit {}\n{stdout}{stderr}", exit.unwrap());
        steady(&text.replace(self.place.path().to_str().unwrap(), "PLACE"))
    }
}

pub(crate) fn run_words<'w>(more: &[&'w str]) -> Vec<&'w str> {
    let words =
        ["run", "a greeting", "--run-id", "r1", "--repo", "project", "--work-dir", "work", "--script", "agents.toml"];
    [&words, more].concat()
}

/// A process that ends with the test.
pub(crate) struct Running(Child);

impl Running {
    pub(crate) fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
