//! A project, and the command called in it.

use envoy::{Io, execute};
use serde_json::Value;
use std::cell::RefCell;
use std::io::{self, Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use tempfile::TempDir;

pub(crate) struct Project {
    directory: TempDir,
}

/// The result of a call.
#[derive(Debug)]
pub(crate) struct Called {
    pub(crate) exit: u8,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Project {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    /// A project with these protocols.
    pub(crate) fn with_protocols(files: &[(&str, &str)]) -> Self {
        let project = Self::new();
        for (name, content) in files {
            project.write(&format!(".claude/protocols/{name}.yaml"), content);
        }
        project
    }

    /// A git repository with a first commit.
    pub(crate) fn repository() -> Self {
        let project = Self::new();
        project.git(&["init", "--quiet", "--initial-branch", "main"]);
        project.git(&["commit", "--quiet", "--allow-empty", "--message", "Begin"]);
        project
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.directory.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, content: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap()
    }

    pub(crate) fn git(&self, words: &[&str]) -> String {
        git(self.directory.path(), words)
    }

    /// `envoy`, called at the project's root.
    pub(crate) fn call(&self, words: &[&str]) -> Called {
        self.call_in("", "", words)
    }

    /// The same in a subdirectory, with this standard input.
    pub(crate) fn call_in(&self, directory: &str, input: impl AsRef<[u8]>, words: &[&str]) -> Called {
        let (stdout, stderr) = (Shared::default(), Shared::default());
        let input = Cursor::new(input.as_ref().to_owned());
        let mut io = Io::new(self.path(directory), input, stdout.clone(), stderr.clone());
        let exit = execute(["envoy"].iter().chain(words), &mut io).code();
        let root = self.directory.path().display().to_string();
        let text = |shared: Shared| String::from_utf8(shared.0.take()).unwrap().replace(&root, "ROOT");
        Called { exit, stdout: text(stdout), stderr: text(stderr) }
    }
}

impl Called {
    /// The whole output; lines of standard error begin with `!`.
    pub(crate) fn page(&self) -> String {
        let stderr: String = self.stderr.lines().map(|line| format!("! {line}").trim_end().to_owned() + "\n").collect();
        format!("exit {}\n{}{stderr}", self.exit, self.stdout)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

pub(crate) fn git(directory: &Path, words: &[&str]) -> String {
    let mut command = Command::new("git");
    for variable in ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"] {
        command.env(variable, "/dev/null");
    }
    let identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"];
    let output = command.args(identity).args(words).current_dir(directory).output().unwrap();
    assert!(output.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[derive(Clone, Default)]
struct Shared(Rc<RefCell<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
