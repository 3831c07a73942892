//! A temporary repository, and the git program to check it with.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use interlocking_worktree::{BranchName, CommitId, Configuration, Repository, RepositoryPath, Signature, Worktree};
use tempfile::TempDir;

/// A repository at `project` in a temporary directory.
pub(crate) struct Place {
    directory: TempDir,
    pub(crate) repository: Repository,
}

/// Everything that a failed operation must leave unchanged.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Snapshot {
    references: String,
    worktrees: String,
    /// For each working tree: HEAD, status with ignored files, index.
    trees: BTreeMap<PathBuf, [String; 3]>,
    /// Every file outside `.git`, with its contents.
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl Place {
    /// An empty repository, made by this crate.
    pub(crate) fn empty() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("project");
        let repository = Repository::init_with(root, Configuration::RepositoryOnly).unwrap();
        Self { directory, repository }
    }

    /// A repository with one commit of `README.md` and `src/lib.rs`, made by git.
    pub(crate) fn new() -> Self {
        Self::with_files(&[("README.md", "# Project\n"), ("src/lib.rs", "one\ntwo\nthree\nfour\nfive\n")])
    }

    pub(crate) fn with_files(files: &[(&str, &str)]) -> Self {
        let place = Self::empty();
        for (path, contents) in files {
            write(&place.project().join(path), contents);
        }
        place.git(&["add", "--all"]);
        place.git(&["commit", "--quiet", "--message", "Begin"]);
        place
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.path().join("project")
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git_in(&self.project(), arguments)
    }

    /// Writes a shell script outside of all working trees. Returns the command that runs it.
    pub(crate) fn script(&self, name: &str, body: &str) -> String {
        use std::os::unix::fs::PermissionsExt as _;
        let script = self.path().join(name);
        write(&script, format!("#!/bin/sh\n{body}\n"));
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        script.display().to_string()
    }

    pub(crate) fn main(&self) -> CommitId {
        self.repository.resolve("main").unwrap()
    }

    pub(crate) fn user(&self) -> Worktree {
        self.repository.main_worktree().unwrap().unwrap()
    }

    /// Creates a worktree on a new branch of the same name, from main.
    pub(crate) fn worktree(&self, name: &str) -> Worktree {
        self.worktree_from(name, self.main())
    }

    pub(crate) fn worktree_from(&self, name: &str, from: CommitId) -> Worktree {
        let place = self.path().join("run").join(name);
        self.repository.create_worktree(place, branch(name), from).unwrap()
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let mut trees = BTreeMap::new();
        for root in self.working_trees() {
            let status = ["status", "--porcelain=v2", "--untracked-files=all", "--ignored"];
            trees.insert(
                root.clone(),
                [
                    git_in(&root, &["symbolic-ref", "--quiet", "HEAD"]),
                    git_in(&root, &status),
                    git_in(&root, &["ls-files", "--stage"]),
                ],
            );
        }
        let mut files = BTreeMap::new();
        read_all(self.path(), &mut files);
        Snapshot {
            references: self.git(&["for-each-ref"]),
            worktrees: self.git(&["worktree", "list", "--porcelain"]),
            trees,
            files,
        }
    }

    /// The roots of all existing working trees.
    fn working_trees(&self) -> Vec<PathBuf> {
        let list = self.git(&["worktree", "list", "--porcelain"]);
        list.lines()
            .filter_map(|line| line.strip_prefix("worktree "))
            .map(PathBuf::from)
            .filter(|root| root.is_dir())
            .collect()
    }

    /// Git finds no errors and no dirty working tree.
    pub(crate) fn assert_git_agrees(&self) {
        self.assert_sound();
        for root in self.working_trees() {
            assert_eq!(git_in(&root, &["status", "--porcelain"]), "", "{}", root.display());
            // Git takes a directory's tree from the index if it is noted there, so a stale note shows only here.
            let from_index = git_in(&root, &["write-tree"]);
            assert_eq!(from_index, git_in(&root, &["rev-parse", "HEAD^{tree}"]), "{}", root.display());
        }
    }

    /// Git finds no errors in the objects, references and the list of worktrees.
    pub(crate) fn assert_sound(&self) {
        let fsck = run(&self.project(), &["fsck", "--strict", "--no-dangling"]);
        let report = format!("{}{}", text(&fsck.stdout), text(&fsck.stderr));
        assert!(fsck.status.success() && report.trim().is_empty(), "{report}");
        assert_eq!(self.git(&["worktree", "prune", "--dry-run", "--verbose", "--expire=now"]), "");
    }
}

pub(crate) fn branch(name: &str) -> BranchName {
    BranchName::new(name).unwrap()
}

pub(crate) fn path(path: &str) -> RepositoryPath {
    RepositoryPath::new(path).unwrap()
}

/// A fixed author, the same as for git in [`git_in`], so that equal commits have equal ids.
pub(crate) fn author() -> Signature {
    Signature::new("Ada", "ada@example.org").unwrap().at(1_700_000_000)
}

pub(crate) fn write(file: &Path, contents: impl AsRef<[u8]>) {
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, contents).unwrap();
}

/// Writes files, commits everything with git, and returns the commit.
pub(crate) fn commit_with_git(root: &Path, files: &[(&str, &str)], message: &str) -> CommitId {
    for (file, contents) in files {
        write(&root.join(file), contents);
    }
    git_in(root, &["add", "--all"]);
    git_in(root, &["commit", "--quiet", "--message", message]);
    git_in(root, &["rev-parse", "HEAD"]).parse().unwrap()
}

/// Runs git and returns its standard output without the last line break. `symbolic-ref` may fail.
pub(crate) fn git_in(root: &Path, arguments: &[&str]) -> String {
    let output = run(root, arguments);
    assert!(
        output.status.success() || arguments[0] == "symbolic-ref",
        "git {arguments:?} in {}: {}",
        root.display(),
        text(&output.stderr)
    );
    text(&output.stdout).trim_end().to_owned()
}

pub(crate) fn run(root: &Path, arguments: &[&str]) -> Output {
    git_command(root, arguments).output().unwrap()
}

/// Runs git with standard input, which it may read slowly.
pub(crate) fn feed(root: &Path, arguments: &[&str], input: &[u8]) -> Output {
    feed_with(root, arguments, input, &[])
}

/// Like [`feed`], with variables in the environment.
pub(crate) fn feed_with(root: &Path, arguments: &[&str], input: &[u8], variables: &[(&str, &Path)]) -> Output {
    use std::{io::Write as _, process::Stdio};
    let mut command = git_command(root, arguments);
    command.envs(variables.iter().copied());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // Git may write before it has read everything, and end before that too.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().unwrap()
    })
}

/// A git command that does not depend on the environment, with fixed names and times.
pub(crate) fn git_command(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("GIT_")) {
        command.env_remove(name);
    }
    command
        .args(arguments)
        .current_dir(root)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .envs([("GIT_AUTHOR_NAME", "Ada"), ("GIT_AUTHOR_EMAIL", "ada@example.org")])
        .envs([("GIT_COMMITTER_NAME", "Ada"), ("GIT_COMMITTER_EMAIL", "ada@example.org")])
        .envs([("GIT_AUTHOR_DATE", "1700000000 +0000"), ("GIT_COMMITTER_DATE", "1700000000 +0000")]);
    command
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn read_all(directory: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        if entry.file_name() == ".git" && kind.is_dir() {
            continue;
        }
        if kind.is_dir() {
            // Empty directories count too.
            files.insert(entry.path(), Vec::new());
            read_all(&entry.path(), files);
        } else if kind.is_symlink() {
            let target = std::fs::read_link(entry.path()).unwrap();
            files.insert(entry.path(), target.to_string_lossy().into_owned().into_bytes());
        } else {
            files.insert(entry.path(), std::fs::read(entry.path()).unwrap());
        }
    }
}
