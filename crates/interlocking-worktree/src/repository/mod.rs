//! The handle of an open repository.

pub(crate) mod branch;
pub(crate) mod correct_configuration;
pub(crate) mod create_branch;
pub(crate) mod current_configuration;
pub(crate) mod history;
pub(crate) mod recent_objects;
pub(crate) mod reference_file;
pub(crate) mod references;
pub(crate) mod registration_lock;
pub(crate) mod rename_branch;
pub(crate) mod tracked;

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use gix::bstr::BString;

use crate::{
    clones::settings::{CloneSettings, is_outside_repository},
    filesystem::own_paths,
    repository::{
        correct_configuration::correct_configuration,
        current_configuration::{Current, is_shared},
        recent_objects::RecentObjects,
        registration_lock::Registration,
    },
    untrusted::{
        Limits,
        git_directory::{self, IS_CLONE},
    },
    values::{
        git_error::{Doing as _, GitError},
        id::CommitId,
        name::BranchName,
    },
};

/// A handle of a repository. It is cheap to clone and can be sent to and shared between threads.
///
/// All operations are synchronous; asynchronous callers use a blocking thread.
#[derive(Clone)]
pub struct Repository {
    inner: Arc<Inner>,
}

struct Inner {
    /// The main worktree or the bare repository, never a linked worktree.
    main: gix::ThreadSafeRepository,
    /// The same repository with the configuration that was read last.
    current: Mutex<Option<Current>>,
    /// The canonical path of the directory that all worktrees share, usually `.git`.
    common_directory: PathBuf,
    registration: Registration,
    recent: RecentObjects,
    configuration: Configuration,
    limits: Limits,
    /// For a clone, the settings that are used instead of its own configuration.
    settings: Option<CloneSettings>,
}

/// Which of git's configuration files are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Configuration {
    /// The system's, the user's and the repository's, as git reads them: global ignore rules and filters such as
    /// git-lfs work. Only the identity of authors and committers is never taken from it.
    #[default]
    All,
    /// Only the repository's, and no `GIT_…` environment variables: the same result on every machine.
    RepositoryOnly,
}

/// Where HEAD of the main worktree is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The branch that is checked out; none if HEAD is detached.
    pub branch: Option<BranchName>,
    /// The commit; none if the branch has no commit yet.
    pub commit: Option<CommitId>,
}

/// A repository could not be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// There is no repository at this path.
    #[error("{} is not a git repository: create one with `git init`, or give its root", path.display())]
    NotARepository {
        /// The place as given.
        path: PathBuf,
    },
    /// It could not be read.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// A repository could not be created.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InitError {
    /// There is already a repository at this path.
    #[error("{} is a git repository already: open it instead", path.display())]
    Exists {
        /// The place as given.
        path: PathBuf,
    },
    /// It could not be written.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// Overrides of every configuration file. The identity is used only for the reflog. The lock timeouts are generous
/// because a run has many writers. A new repository's branch is `main`. A user who hides untracked files from
/// `git status` does not mean to hide them from this crate. The index is read without verifying its checksum, as git
/// reads it, and on one thread: asking for the number of processors takes longer.
///
/// Renames are detected in merges whatever the configuration says, as by default in git 2.47.
///
/// Files beside the objects, which an agent can write, must not change what the objects say: replacement objects, the
/// commit graph and multi-pack indexes are ignored.
const OVERRIDES: [&str; 12] = [
    "gitoxide.committer.nameFallback=interlocking",
    "gitoxide.committer.emailFallback=interlocking@localhost",
    "core.filesRefLockTimeout=10000",
    "core.packedRefsTimeout=10000",
    "init.defaultBranch=main",
    "status.showUntrackedFiles=all",
    "index.skipHash=true",
    "index.threads=1",
    "merge.renames=true",
    "core.useReplaceRefs=false",
    "core.commitGraph=false",
    "core.multiPackIndex=false",
];

impl Repository {
    /// Opens the repository whose root, `.git` directory or linked worktree is at `path`.
    ///
    /// # Errors
    ///
    /// [`OpenError::NotARepository`] if there is none; parent directories are not searched, see
    /// [`Repository::discover`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::open_with(path, Configuration::default())
    }

    /// [`Repository::open`] with a choice of configuration files.
    pub fn open_with(path: impl AsRef<Path>, configuration: Configuration) -> Result<Self, OpenError> {
        Self::open_with_limits(path, configuration, Limits::default())
    }

    /// [`Repository::open_with`] with other limits than the default [`Limits`]: higher for a large project, or lower
    /// for agents.
    pub fn open_with_limits(
        path: impl AsRef<Path>,
        configuration: Configuration,
        limits: Limits,
    ) -> Result<Self, OpenError> {
        let path = path.as_ref();
        let doing = || format!("opening the repository at {}", path.display());
        git_directory::check_at(path, limits)?;
        let opened = match gix::ThreadSafeRepository::open_opts(path, options(configuration, limits)) {
            Ok(opened) => opened,
            Err(_) if !is_repository(path) => {
                return Err(OpenError::NotARepository { path: path.to_owned() });
            }
            Err(error) => return Err(Err::<(), _>(error).doing(doing).expect_err("it is an error").into()),
        };
        let main = opened.to_thread_local();
        git_directory::check(main.common_dir(), limits)?;
        let main = main.main_repo().doing(doing)?;
        Ok(Self::with_main(main, configuration, limits, None)?)
    }

    /// Opens the repository that contains `path`, searching its parent directories.
    pub fn discover(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let path = path.as_ref();
        match gix::discover::upwards(path) {
            Ok((found, _trust)) => {
                let (git_directory, working_tree) = found.into_repository_and_work_tree_directories();
                Self::open(working_tree.unwrap_or(git_directory))
            }
            Err(_) => Err(OpenError::NotARepository { path: path.to_owned() }),
        }
    }

    /// Creates a repository with a working tree at `path`, which may hold files already. Its first branch is `main`.
    pub fn init(path: impl AsRef<Path>) -> Result<Self, InitError> {
        Self::init_with(path, Configuration::default())
    }

    /// [`Repository::init`] with a choice of configuration files.
    pub fn init_with(path: impl AsRef<Path>, configuration: Configuration) -> Result<Self, InitError> {
        let path = path.as_ref();
        if is_repository(path) {
            return Err(InitError::Exists { path: path.to_owned() });
        }
        let doing = || format!("creating a repository at {}", path.display());
        own_paths::create_dir_all(path).doing(doing)?;
        let created = gix::ThreadSafeRepository::init_opts(
            path,
            gix::create::Kind::WithWorktree,
            gix::create::Options::default(),
            options(configuration, Limits::default()),
        )
        .doing(doing)?;
        let main = created.to_thread_local().main_repo().doing(doing)?;
        Ok(Self::with_main(main, configuration, Limits::default(), None)?)
    }

    /// The root of the main working tree; none if the repository is bare.
    #[must_use]
    pub fn working_tree(&self) -> Option<&Path> {
        self.inner.main.work_dir()
    }

    /// The canonical path of the directory that all worktrees share, usually `.git`.
    #[must_use]
    pub fn common_directory(&self) -> &Path {
        &self.inner.common_directory
    }

    /// Where HEAD of the main worktree is.
    pub fn head(&self) -> Result<Head, GitError> {
        head_of(&self.git())
    }

    /// Opens a clone of this repository with this repository's settings instead of the clone's own configuration.
    pub(crate) fn open_own(&self, root: &Path, settings: CloneSettings) -> Result<Self, GitError> {
        let doing = || format!("opening the clone at {}", root.display());
        let (configuration, limits) = (self.inner.configuration, self.inner.limits);
        let options = options_for(configuration, limits, Some(&settings)).open_path_as_is(true);
        let main = gix::open_opts(root.join(".git"), options).doing(doing)?;
        Self::with_main(main, configuration, limits, Some(settings))
    }

    fn with_main(
        mut main: gix::Repository,
        configuration: Configuration,
        limits: Limits,
        settings: Option<CloneSettings>,
    ) -> Result<Self, GitError> {
        correct_configuration(&mut main)?;
        let common_directory = main.common_dir();
        let common_directory =
            std::fs::canonicalize(common_directory).doing(|| format!("resolving {}", common_directory.display()))?;
        Ok(Self {
            inner: Arc::new(Inner {
                main: main.into_sync(),
                current: Mutex::default(),
                registration: Registration::of(&common_directory),
                recent: RecentObjects::default(),
                common_directory,
                configuration,
                limits,
                settings,
            }),
        })
    }

    /// For objects and references. Its view of the index may be stale: worktrees open the repository themselves.
    pub(crate) fn git(&self) -> gix::Repository {
        let mut git = self.inner.main.to_thread_local();
        recent_objects::guard(&mut git);
        git
    }

    /// The cache of objects read by linked worktrees and when worktrees are made from retired ones.
    pub(crate) fn recent_objects(&self) -> &RecentObjects {
        &self.inner.recent
    }

    /// Like [`Repository::git`], with the current configuration. It is kept for the next call, unless it depends on the
    /// branch that is checked out.
    pub(crate) fn git_as_configured(&self) -> Result<gix::Repository, GitError> {
        let mut current = self.inner.current.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(current) = current.as_mut()
            && current.is_current()
        {
            return Ok(current.git.to_thread_local());
        }
        // If opening fails below, the stale configuration must not stay.
        *current = None;
        let git = self.git_of_main_worktree()?;
        *current = is_shared(&git).then(|| Current::of(&git));
        Ok(git)
    }

    /// Opens the main worktree anew.
    pub(crate) fn git_of_main_worktree(&self) -> Result<gix::Repository, GitError> {
        let (directory, limits) = (self.inner.main.git_dir(), self.inner.limits);
        git_directory::check(directory, limits)?;
        let options = options_for(self.inner.configuration, limits, self.inner.settings.as_ref()).open_path_as_is(true);
        let mut git = gix::open_opts(directory, options).doing(|| format!("opening {}", directory.display()))?;
        correct_configuration(&mut git)?;
        git_directory::check_named_files(&git)?;
        recent_objects::guard(&mut git);
        Ok(git)
    }

    /// The lock of the list of worktrees.
    pub(crate) fn registration(&self) -> &Registration {
        &self.inner.registration
    }

    /// The limits on reading data that an agent can write.
    pub(crate) fn limits(&self) -> Limits {
        self.inner.limits
    }
}

impl fmt::Debug for Repository {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Repository")
            .field("common_directory", &self.inner.common_directory)
            .finish_non_exhaustive()
    }
}

/// Two handles are equal if they refer to the same repository.
impl PartialEq for Repository {
    fn eq(&self, other: &Self) -> bool {
        self.inner.common_directory == other.inner.common_directory
    }
}

impl Eq for Repository {}

pub(crate) fn head_of(git: &gix::Repository) -> Result<Head, GitError> {
    let doing = || format!("reading HEAD of {}", git.git_dir().display());
    git_directory::check_head(git)?;
    let head = git.head().doing(doing)?;
    Ok(Head { branch: head.referent_name().and_then(BranchName::from_git), commit: head.id().map(CommitId::from_git) })
}

fn options_for(configuration: Configuration, limits: Limits, settings: Option<&CloneSettings>) -> gix::open::Options {
    let options = options(configuration, limits);
    let Some(settings) = settings else { return options };
    let is_clone = BString::from(format!("{IS_CLONE}=true"));
    let overrides = overrides(limits).chain(settings.overrides()).chain([is_clone]);
    options.config_overrides(overrides).filter_config_section(is_outside_repository)
}

fn overrides(limits: Limits) -> impl Iterator<Item = BString> {
    OVERRIDES.into_iter().map(BString::from).chain(limits.overrides())
}

fn options(configuration: Configuration, limits: Limits) -> gix::open::Options {
    let options = match configuration {
        Configuration::All => gix::open::Options::default().permissions(permissions()),
        Configuration::RepositoryOnly => gix::open::Options::isolated(),
    };
    options.config_overrides(overrides(limits))
}

/// Variables with which git tells its hooks which repository they run for. A runtime that a hook starts inherits them,
/// and must not use that repository's index or working tree for the one it opens.
const REDIRECTIONS: [&str; 6] = [
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_SHALLOW_FILE",
];

fn permissions() -> gix::open::Permissions {
    let mut permissions = gix::open::Permissions::all();
    if REDIRECTIONS.iter().any(|name| std::env::var_os(name).is_some()) {
        // gix can only allow or deny these variables together.
        permissions.env.git_prefix = gix::sec::Permission::Deny;
        permissions.env.objects = gix::sec::Permission::Deny;
    }
    permissions
}

fn is_repository(path: &Path) -> bool {
    gix::discover::is_git(path).is_ok() || gix::discover::is_git(&path.join(".git")).is_ok()
}
