//! A project under git, checked with the git program.

use interlocking::cli::repository::{EmbeddedFile, LayOutError, lay_out};
use interlocking::workspaces::GitWorkspaces;
use interlocking::worktree::{BranchName, Keep, Repository, Signature};
use scout_and_wave::demo;
use scout_and_wave::run::workspaces;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A project with one commit on `main`, which is checked out.
pub(crate) struct Project {
    place: TempDir,
    target: &'static str,
}

impl Project {
    /// The demonstration's crate.
    pub(crate) async fn demonstration() -> Self {
        Self::of(&demo::SEED).await
    }

    /// A project of these files.
    pub(crate) async fn of(files: &[EmbeddedFile]) -> Self {
        let place = tempfile::tempdir().unwrap();
        lay_out(&place.path().join("project"), files, "Begin", async |_| Ok::<_, LayOutError>(())).await.unwrap();
        Self { place, target: "main" }
    }

    /// The same with another name of the branch.
    pub(crate) fn with_target(self, target: &'static str) -> Self {
        self.git(&["branch", "-m", target]);
        Self { target, ..self }
    }

    /// The user's own working tree.
    pub(crate) fn root(&self) -> PathBuf {
        self.place.path().join("project")
    }

    /// The directory that contains the project and everything else.
    pub(crate) fn place(&self) -> &Path {
        self.place.path()
    }

    /// A copy of everything, as a process has left it that was killed.
    pub(crate) fn saved(&self) -> TempDir {
        let copy = tempfile::tempdir().unwrap();
        copy_all(self.place(), copy.path());
        copy
    }

    /// Puts everything back in its place as it was [saved](Self::saved).
    pub(crate) fn restore(&self, saved: &TempDir) {
        for entry in std::fs::read_dir(self.place()).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }.unwrap();
        }
        copy_all(saved.path(), self.place());
    }

    pub(crate) fn repository(&self) -> Repository {
        Repository::open(self.root()).unwrap()
    }

    /// Workspaces as the program makes them.
    pub(crate) fn workspaces(&self) -> GitWorkspaces {
        let author = Signature::new("Orchestrator", "orchestrator@example.org").unwrap();
        let made = GitWorkspaces::new(self.repository(), self.place().join("runs"));
        workspaces(made.with_author(author).with_target(BranchName::new(self.target).unwrap()).with_keep(Keep::Never))
    }

    /// The output of the git program.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git(&self.root(), arguments)
    }

    /// A file in the commit of a revision.
    pub(crate) fn file(&self, revision: &str, path: &str) -> String {
        self.git(&["show", &format!("{revision}:{path}")])
    }
}

fn copy_all(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").arg(from.join(".")).arg(to).status().unwrap();
    assert!(copied.success());
}

pub(crate) fn git(directory: &Path, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    git.arg("-C").arg(directory).args(arguments);
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    let output = git.output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
