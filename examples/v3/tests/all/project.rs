//! A project under git, checked with the git program.

use interlocking::cli::repository::{EmbeddedFile, LayOutError, lay_out};
use interlocking::workspaces::GitWorkspaces;
use interlocking::worktree::{BranchName, Keep, Repository, Signature};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use v3::run::workspaces;

/// A project with one commit on `main`, which is checked out.
pub(crate) struct Project {
    place: TempDir,
}

impl Project {
    pub(crate) async fn of(files: &[EmbeddedFile]) -> Self {
        let place = tempfile::tempdir().unwrap();
        lay_out(&place.path().join("project"), files, "Begin", async |_| Ok::<_, LayOutError>(())).await.unwrap();
        Self { place }
    }

    /// The user's own working tree.
    pub(crate) fn root(&self) -> PathBuf {
        self.place.path().join("project")
    }

    /// The directory that contains the project and everything else.
    pub(crate) fn place(&self) -> &Path {
        self.place.path()
    }

    /// Workspaces as the program makes them.
    pub(crate) fn workspaces(&self) -> GitWorkspaces {
        let author = Signature::new("Runtime", "runtime@example.org").unwrap();
        let made = GitWorkspaces::new(Repository::open(self.root()).unwrap(), self.place().join("runs"));
        workspaces(made.with_author(author).with_target(BranchName::new("main").unwrap()).with_keep(Keep::Never))
    }

    /// The output of the git program.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let mut git = Command::new("git");
        git.arg("-C").arg(self.root()).args(arguments);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        let output = git.output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The subjects of a revision's commits, the latest first.
    pub(crate) fn subjects(&self, revision: &str) -> Vec<String> {
        self.git(&["log", "--format=%s", revision]).lines().map(str::to_owned).collect()
    }

    /// Asserts that a run has left nothing except its landed commits.
    pub(crate) fn is_tidy(&self) {
        assert_eq!(self.git(&["worktree", "list"]).lines().count(), 1);
        assert_eq!(self.git(&["branch", "--format=%(refname:short)"]), "main\n");
        assert_eq!(self.git(&["status", "--short"]), "");
    }
}
