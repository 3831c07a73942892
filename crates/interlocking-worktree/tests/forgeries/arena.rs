//! The place of a case: a user's repository, an agent's linked worktree and clone of it, and a victim directory beside
//! them that no operation may touch.

use std::path::{Path, PathBuf};

use interlocking_worktree::{BranchName, CommitId, Configuration, Limits, Pool, Repository, Signature, Worktree};
use tempfile::TempDir;

use crate::tree::{Tree, delete};

/// Made once per process; [`Arena::restore`] restores it at the same path, as its files contain paths.
pub(crate) struct Arena {
    directory: TempDir,
    template: Tree,
    victim: Tree,
    pub(crate) base: CommitId,
    pub(crate) ahead: CommitId,
}

/// Whose files are forged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// A worktree in the list of the user's repository.
    Linked,
    /// A clone: a repository of its own.
    Clone,
}

impl Arena {
    pub(crate) fn new() -> Self {
        // In memory if possible: thousands of places are made and deleted.
        let memory = Path::new("/dev/shm");
        let directory = tempfile::tempdir_in(memory).unwrap_or_else(|_| tempfile::tempdir().unwrap());
        let root = directory.path().join("arena");
        let victim = directory.path().join("victim");
        make_victim(&victim);
        let (base, ahead) = make(&root);
        let (template, victim) = (Tree::read(&root), Tree::read(&victim));
        Self { directory, template, victim, base, ahead }
    }

    pub(crate) fn restore(&self) {
        delete(&self.root());
        self.template.write(&self.root());
    }

    /// Checks that the victim is unchanged in contents, modes and times.
    pub(crate) fn assert_victim_is_untouched(&self) {
        assert_eq!(Tree::read(&self.victim()), self.victim, "what lies beside was touched");
    }

    /// The original files of a place, including git's own.
    pub(crate) fn files(&self, target: Target) -> Vec<PathBuf> {
        let is_in = |path: &&Path| match target {
            Target::Clone => path.starts_with("run/clone"),
            // The agent of a linked worktree can reach the whole of the repository's directory.
            Target::Linked => path.starts_with("run/linked") || path.starts_with("project/.git"),
        };
        self.template.files().filter(is_in).map(|path| self.root().join(path)).collect()
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.directory.path().join("arena")
    }

    pub(crate) fn victim(&self) -> PathBuf {
        self.directory.path().join("victim")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.root().join("project")
    }

    /// The root of an agent's files.
    pub(crate) fn place(&self, target: Target) -> PathBuf {
        self.root().join(match target {
            Target::Linked => "run/linked",
            Target::Clone => "run/clone",
        })
    }

    /// The directory of a place's own index and HEAD.
    pub(crate) fn git_directory(&self, target: Target) -> PathBuf {
        match target {
            Target::Linked => self.project().join(".git/worktrees/linked"),
            Target::Clone => self.place(target).join(".git"),
        }
    }

    /// The directory of a place's references, objects and configuration.
    pub(crate) fn common_directory(&self, target: Target) -> PathBuf {
        match target {
            Target::Linked => self.project().join(".git"),
            Target::Clone => self.place(target).join(".git"),
        }
    }
}

pub(crate) fn open_repository(project: &Path) -> Result<Repository, Box<dyn std::error::Error>> {
    // The defaults, except for what a case may take.
    let mut limits = Limits::default();
    (limits.object, limits.index, limits.references) = (16 << 20, 16 << 20, 8 << 20);
    limits.configuration = 256 << 10;
    Ok(Repository::open_with_limits(project, Configuration::RepositoryOnly, limits)?)
}

pub(crate) fn open_pool(repository: &Repository, root: &Path) -> Result<Pool, Box<dyn std::error::Error>> {
    Ok(Pool::open(repository, root.join("pool"), 1)?)
}

pub(crate) fn open_place(
    repository: &Repository,
    root: &Path,
    target: Target,
) -> Result<Worktree, Box<dyn std::error::Error>> {
    Ok(match target {
        Target::Linked => repository.open_worktree(root.join("run/linked"))?,
        Target::Clone => repository.open_clone(root.join("run/clone"), &BranchName::new("clone")?)?,
    })
}

pub(crate) fn author() -> Signature {
    Signature::new("Ada", "ada@example.org").unwrap().at(1_700_000_000)
}

fn make_victim(victim: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let write = |path: &str, contents: &str| {
        let path = victim.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, contents).unwrap();
    };
    write("precious.txt", "precious\n");
    write("private/key", "secret\n");
    write("repository/.git/HEAD", "ref: refs/heads/main\n");
    write("repository/work.txt", "work\n");
    let set_mode = |path: &str, mode| {
        std::fs::set_permissions(victim.join(path), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set_mode("private/key", 0o600);
    set_mode("private", 0o750);
}

/// Makes the user's repository with two commits, and an agent's worktree and clone, each with a commit and uncommitted
/// changes.
fn make(root: &Path) -> (CommitId, CommitId) {
    let project = root.join("project");
    let repository = Repository::init_with(&project, Configuration::RepositoryOnly).unwrap();
    let user = repository.main_worktree().unwrap().unwrap();
    let write = |root: &Path, path: &str, contents: &str| {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, contents).unwrap();
    };
    let long: String = (0..40).map(|line| format!("line {line}\n")).collect();
    for (path, contents) in
        [("a.txt", "a\n"), ("src/lib.rs", long.as_str()), ("src/deep/er.rs", "er\n"), (".gitignore", "*.log\n")]
    {
        write(&project, path, contents);
    }
    let base = user.commit_all(&author(), "base").unwrap().unwrap();
    write(&project, "user.txt", "the user's\n");
    let ahead = user.commit_all(&author(), "ahead").unwrap().unwrap();

    let pool = open_pool(&repository, root).unwrap();
    let linked = pool.create_worktree(root.join("run/linked"), BranchName::new("linked").unwrap(), base).unwrap();
    let clone = repository.create_clone(root.join("run/clone"), &BranchName::new("clone").unwrap(), base).unwrap();
    for place in [&linked, &clone] {
        write(place.path(), "src/lib.rs", &long.replace("line 7\n", "line seven\n"));
        place.commit_all(&author(), "the agent's").unwrap().unwrap();
        write(place.path(), "b.txt", "not committed\n");
        write(place.path(), "debug.log", "ignored\n");
    }
    (base, ahead)
}
