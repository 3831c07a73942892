//! A project under git, checked with the git program, and what runs have left in it.

use interlocking::workspaces::{GitWorkspaces, LeftoverRun};
use interlocking::worktree::{CommitId, Configuration, Repository, Signature, Worktree};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A project with one commit on `main`, which is checked out.
pub(crate) struct Project {
    place: PathBuf,
    /// The directory, which is deleted with this value.
    _room: Option<TempDir>,
    pub(crate) begin: CommitId,
}

impl Project {
    pub(crate) fn new() -> Self {
        let room = tempfile::tempdir().unwrap();
        let place = room.path().to_owned();
        let repository = Repository::init_with(place.join("project"), Configuration::RepositoryOnly).unwrap();
        let main = repository.main_worktree().unwrap().unwrap();
        std::fs::write(main.path().join("README.md"), "# Project\n").unwrap();
        std::fs::write(main.path().join(".gitignore"), "*.log\n").unwrap();
        let begin = main.commit_all(&author(), "Begin").unwrap().unwrap();
        Self { place, _room: Some(room), begin }
    }

    /// A project that another process has made.
    pub(crate) fn at(root: &Path) -> Self {
        let repository = Repository::open_with(root, Configuration::RepositoryOnly).unwrap();
        Self { place: root.parent().unwrap().to_owned(), _room: None, begin: repository.resolve("HEAD").unwrap() }
    }

    /// The repository, opened again.
    pub(crate) fn repository(&self) -> Repository {
        Repository::open_with(self.root(), Configuration::RepositoryOnly).unwrap()
    }

    /// The user's working tree.
    pub(crate) fn root(&self) -> PathBuf {
        self.place.join("project")
    }

    pub(crate) fn main(&self) -> Worktree {
        self.repository().main_worktree().unwrap().unwrap()
    }

    /// A new linked worktree of the user, with an untracked file.
    pub(crate) fn worktree_of_user(&self) -> PathBuf {
        let place = self.place.canonicalize().unwrap().join("of-user");
        self.git(&["worktree", "add", "-q", "--detach", place.to_str().unwrap()]);
        std::fs::write(place.join("untracked"), "the user's").unwrap();
        place
    }

    /// The directory of the runs' worktrees.
    pub(crate) fn runs(&self) -> PathBuf {
        self.place.join("runs")
    }

    /// Workspaces that share no state with any other value.
    pub(crate) fn workspaces(&self) -> GitWorkspaces {
        GitWorkspaces::new(self.repository(), self.runs()).with_author(author())
    }

    /// What is left of the only run, whose future was dropped.
    pub(crate) async fn leftover_run(&self) -> LeftoverRun {
        loop {
            // A child's task, or git work on a thread, releases the run a moment later.
            if let Some(left) = self.workspaces().leftover_runs().await.unwrap().pop() {
                return left;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
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

    /// A file of the commit that a revision names; none if it does not exist.
    pub(crate) fn file(&self, revision: &str, path: &str) -> Option<String> {
        let repository = self.repository();
        let commit = repository.resolve(revision).unwrap();
        let bytes = repository.read_file(commit, &path.parse().unwrap()).unwrap()?;
        Some(String::from_utf8(bytes).unwrap())
    }

    /// The worktrees, branches and directories that runs have left; empty if all is cleaned up. Also checks that git
    /// accepts the repository.
    pub(crate) fn left(&self) -> Vec<String> {
        let repository = self.repository();
        let runs = self.runs().canonicalize().unwrap_or(self.runs());
        let worktrees = repository.worktrees().unwrap().into_iter();
        let worktrees = worktrees
            .map(|entry| format!("worktree {}", entry.path.strip_prefix(&runs).unwrap_or(&entry.path).display()));
        let branches = repository.branches().unwrap().into_iter().map(|(branch, _)| branch.to_string());
        let mut left: Vec<_> = worktrees.chain(branches.filter(|branch| branch != "main")).collect();
        left.sort();
        if self.runs().exists() {
            left.extend(
                std::fs::read_dir(self.runs())
                    .unwrap()
                    .map(|entry| format!("directory {:?}", entry.unwrap().file_name())),
            );
        }
        self.git(&["fsck", "--strict"]);
        assert_eq!(self.git(&["status", "--porcelain"]), "", "the user's working tree is as it should be");
        left
    }

    /// The names in the archive, without the suffixes that differ from run to run.
    pub(crate) fn archived(&self) -> Vec<String> {
        let archived = self.repository().archived().unwrap().into_iter();
        archived.map(|(name, _)| name.as_str().rsplit_once('-').unwrap().0.to_owned()).collect()
    }
}

pub(crate) fn author() -> Signature {
    Signature::new("Runtime", "runtime@example.org").unwrap()
}
