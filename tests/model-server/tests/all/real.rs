//! Runs a real program against the server, isolated from this machine.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

/// A temporary home and working directory.
pub(crate) struct Place {
    directory: TempDir,
}

/// The result of a program.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        for name in ["home", "work", "tmp"] {
            std::fs::create_dir(directory.path().join(name)).unwrap();
        }
        Self { directory }
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.directory.path().join("home")
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.directory.path().join("work")
    }

    /// A command that sees nothing of this machine except the programs on its path.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().current_dir(self.work()).kill_on_drop(true);
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.home()).env("TMPDIR", self.directory.path().join("tmp"));
        command
    }
}

/// Runs a command with `input` on its standard input, for a minute at most.
pub(crate) async fn run(mut command: Command, input: &str) -> Ran {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).await.unwrap();
    drop(stdin);
    let output = tokio::time::timeout(Duration::from_secs(60), child.wait_with_output());
    let output = output.await.expect("the program ends within a minute").unwrap();
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    Ran { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
}

impl Ran {
    /// The events that the program wrote, one a line.
    pub(crate) fn events(&self) -> Vec<serde_json::Value> {
        self.stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// The last event of a type.
    pub(crate) fn last(&self, kind: &str) -> serde_json::Value {
        let events = self.events();
        let last = events.iter().rfind(|event| event["type"] == kind);
        last.unwrap_or_else(|| panic!("no event `{kind}` in\n{}\nstderr:\n{}", self.stdout, self.stderr)).clone()
    }
}
