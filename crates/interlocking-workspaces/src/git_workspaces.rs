//! The settings of workspaces on a git repository, which are independent of any run.

use crate::error::GitWorkspacesError;
use crate::git_run::GitRun;
use crate::settings::{Base, Settings, WorkspaceScope};
use async_trait::async_trait;
use interlocking_core::run_id::RunId;
use interlocking_runtime::workspaces::RunScope;
use interlocking_runtime::{WorkspaceError, Workspaces};
use interlocking_sandbox::Sandbox;
use interlocking_worktree::{BranchName, CommitId, Keep, Repository, RepositoryPath, Setup, Signature, WorktreeEntry};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Workspaces on a git repository, for any number of runs: each run has workspaces of its own.
///
/// Give it to [`Run::with_workspaces`](interlocking_runtime::Run::with_workspaces). Each name in the table's
/// `workspace = "…"` is then a worktree, or a clone if `isolation` demands one. It is made before the first node that
/// names it begins:
///
/// | | |
/// |---|---|
/// | its path | `DIRECTORY/RUN/NAME`; of a child run, `DIRECTORY/ROOT/CHILD/NAME`, where `CHILD` begins with its item's key if that is a short word |
/// | its branch | `RUN/NAME`, or `ROOT/CHILD/NAME`, or [a name from the settings](Self::with_branch_names); none if every node that works there is `read_only` |
/// | its base | the target branch's head when the run began, or its [`Base`]; of a child run, the commit that the workspace of its map node is at |
/// | its end | removed when the run has ended, with its branch; see [`with_keep`](Self::with_keep) |
///
/// A node that writes a file and lands it:
///
/// ```
/// use interlocking::prelude::*;
/// use interlocking::worktree::{CommitId, Repository, Signature};
/// use std::sync::Arc;
///
/// #[derive(Graph, Default)]
/// #[graph(output = CommitId)]
/// struct Notes {
///     #[node(entry, input = String, workspace = "notes", goto(exit))]
///     write: LogicNode<Write>,
/// }
///
/// #[derive(Default)]
/// struct Write;
/// impl LogicHandler<notes::write> for Write {
///     async fn run(&self, note: String, cx: &mut Cx<'_, notes::write>) -> Route<notes::write> {
///         let mut worktree = cx.worktree().await?;
///         std::fs::write(worktree.path().join("note.txt"), note)?;
///         let commit = worktree.commit("Add a note").await?.ok_or("nothing was written")?;
///         let landed = cx.land(commit).await?;
///         goto!(cx, notes::exit, landed)
///     }
/// }
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let place = tempfile::tempdir()?;
///     let project = Repository::init(place.path().join("project"))?;
///     let main = project.main_worktree()?.ok_or("a new repository has a working tree")?;
///     std::fs::write(main.path().join("README.md"), "# Notes\n")?;
///     main.commit_all(&Signature::new("Me", "me@example.org")?, "Begin")?;
///
///     let workspaces = Arc::new(GitWorkspaces::new(project.clone(), place.path().join("runs")));
///     let run = Run::new(Notes::default()).with_workspaces(workspaces);
///     let landed = run.start("hello".to_owned()).await?.outcome.finished().ok_or("it did not land")?;
///     assert_eq!(main.head()?, landed);
///     assert!(main.path().join("note.txt").exists());
///     Ok(())
/// }
/// ```
#[derive(Clone)]
pub struct GitWorkspaces(pub(crate) Arc<Settings>);

impl GitWorkspaces {
    /// Workspaces of `repository` below `directory`, which must be outside the repository and is created when it is
    /// needed.
    pub fn new(repository: Repository, directory: impl Into<PathBuf>) -> Self {
        let (author, target, landing, bases, keep, setup, copied_files, grants, branch_names) = Default::default();
        let reserved = Vec::new();
        let (directory, landing_timeout, keeps_children) = (directory.into(), Duration::from_secs(10), false);
        Self(Arc::new(Settings {
            repository,
            directory,
            author,
            target,
            landing,
            bases,
            keep,
            keeps_children,
            reuses_worktrees: false,
            setup,
            copied_files,
            grants,
            landing_timeout,
            reserved,
            branch_names,
            active_runs: Arc::default(),
        }))
    }

    /// Puts the workspaces below another directory, such as [the one where another run's worktrees
    /// lie](Self::directory_of).
    #[must_use]
    pub fn with_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.settings().directory = directory.into();
        self
    }

    /// Sets the author of all commits. The default is `interlocking`.
    #[must_use]
    pub fn with_author(mut self, author: Signature) -> Self {
        self.settings().author = Some(author);
        self
    }

    /// Sets the target branch: workspaces begin at it, and work [lands](crate::GitContext::land) on it. The default is
    /// the branch that the user's working tree has checked out.
    #[must_use]
    pub fn with_target(mut self, branch: BranchName) -> Self {
        self.settings().target = Some(branch);
        self
    }

    /// Sets the branch that work lands on, in place of the target. Workspaces still begin at the target. If the branch
    /// does not exist, the first landing creates it.
    #[must_use]
    pub fn with_landing(mut self, branch: BranchName) -> Self {
        self.settings().landing = Some(branch);
        self
    }

    /// Sets the base of the workspaces called `name`.
    #[must_use]
    pub fn with_base(mut self, name: impl Into<String>, base: Base) -> Self {
        self.settings().bases.insert(name.into(), base);
        self
    }

    /// Sets when worktrees, clones and branches stay after their run's end. The default is never. With
    /// [`Keep::Always`], those that a handler [retires](crate::Checkout::retire) stay, too.
    #[must_use]
    pub fn with_keep(mut self, keep: Keep) -> Self {
        self.settings().keep = keep;
        self
    }

    /// Keeps the worktrees and clones of child runs when these have ended, with uncommitted changes: until another
    /// child takes their branch over, they are [retired](crate::GitContext::retire_child_workspaces), or the root run
    /// ends.
    #[must_use]
    pub fn with_children_kept(mut self) -> Self {
        self.settings().keeps_children = true;
        self
    }

    /// Reuses worktrees: a worktree that is no longer needed is cleaned and kept until the root run ends, and the next
    /// worktree of the run or its children is made from it. In a large repository this is much faster than deleting its
    /// files and writing them again. [Fresh checkouts](crate::GitContext::fresh_checkout) are reused in the same way,
    /// and worktrees are made from what was [prepared](crate::GitContext::prepare_worktrees).
    ///
    /// Everything that the agent has left in the worktree is removed. But a program that the agent has started and that
    /// still runs knows the directory, and can reach the agent that works there next: do not use this if agents must be
    /// isolated from each other.
    #[must_use]
    pub fn with_worktrees_reused(mut self) -> Self {
        self.settings().reuses_worktrees = true;
        self
    }

    /// Sets a command that prepares each worktree and clone. It runs when the worktree is made, and when it is reset,
    /// restored or moved along with its base, which removes ignored files. It has a
    /// [time limit](Setup::with_time_limit), and is stopped when its run is over.
    ///
    /// It runs what the commit contains, such as the scripts of a `package.json`, and an agent may have written that.
    /// If the run's table, or one of its parents', demands `isolation = "sandbox"` for any node, the command runs in a
    /// sandbox of its workspace, whichever that is. It can write to the workspace and to an empty directory for
    /// temporary files, which is its `HOME` unless it is given one, and can run its program; what else it needs, such as
    /// a tool in a home directory, [`with_grants`](Self::with_grants) allows. It can use the network, unless these
    /// grants deny that. **Otherwise it is not confined**, and can do what the operator can do.
    #[must_use]
    pub fn with_setup(mut self, setup: Setup) -> Self {
        self.settings().setup = Some(setup);
        self
    }

    /// Sets ignored files, such as `.env`, that are copied from the user's working tree to each worktree and clone each
    /// time before its [setup](Self::with_setup) runs. Only the named files are copied: agents can read them.
    #[must_use]
    pub fn with_copied_files(mut self, files: impl IntoIterator<Item = RepositoryPath>) -> Self {
        self.settings().copied_files = files.into_iter().collect();
        self
    }

    /// Extends the sandboxes of the workspaces for which the table demands `isolation = "sandbox"`, and those in which a
    /// [setup](Self::with_setup) runs: `grants` receives a workspace's name and a sandbox that allows its directory, a
    /// directory for temporary files, and git.
    #[must_use]
    pub fn with_grants(mut self, grants: impl Fn(&str, Sandbox) -> Sandbox + Send + Sync + 'static) -> Self {
        self.settings().grants = Some(Arc::new(grants));
        self
    }

    /// Sets how long to retry landing while a git program locks the files of the target's working tree. The default is
    /// ten seconds.
    #[must_use]
    pub fn with_landing_timeout(mut self, landing_timeout: Duration) -> Self {
        self.settings().landing_timeout = landing_timeout;
        self
    }

    /// Reserves a directory for the program itself, such as that of its journal, in case it is inside a working tree of
    /// the repository: a commit that changes a file there does not land
    /// ([`Reserved`](crate::GitWorkspacesError::Reserved)), so that an agent cannot write what the program reads there.
    /// Upper and lower case of ASCII count as equal.
    #[must_use]
    pub fn with_reserved_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.settings().reserved.push(directory.into());
        self
    }

    /// Sets names for branches: if `names` returns a name for a workspace, its branch has this name. The workspace is
    /// not made if a branch of that name belongs to another workspace, run or program
    /// ([`BranchTaken`](crate::GitWorkspacesError::BranchTaken)). When a child run has ended, another child of the same
    /// tree can take the name.
    ///
    /// `names` must always return the same name for the same workspace: another process finds the branch by it.
    #[must_use]
    pub fn with_branch_names(
        mut self,
        names: impl Fn(&WorkspaceScope<'_>) -> Option<BranchName> + Send + Sync + 'static,
    ) -> Self {
        self.settings().branch_names = Some(Arc::new(names));
        self
    }

    /// Advances the target branch from `from` to `commit`, as [`GitContext::land_from`](crate::GitContext::land_from)
    /// does, for a run of these workspaces at its exit: a graph's [`Finish`](interlocking_core::graph::Finish) has no
    /// context. Calling it again is harmless.
    ///
    /// # Errors
    ///
    /// As [`GitContext::land_from`](crate::GitContext::land_from); [`GitWorkspacesError::RunEnded`] if the run has ended,
    /// or no run of this name has begun.
    pub async fn land_from(&self, run: &RunId, from: CommitId, commit: CommitId) -> Result<(), GitWorkspacesError> {
        let run = self.0.active_runs.get(run).ok_or(GitWorkspacesError::RunEnded)?;
        let target = run.landing_branch().await?;
        run.land(target, Some(from), commit).await
    }

    /// The directory below which the worktrees of a run lie, according to git's list, wherever the program of the run
    /// has put them; none if the run has no worktree left on a branch of its own name. With [this
    /// directory](Self::with_directory), everything that is [left of the run](Self::leftover_of) is found. This is
    /// synchronous, like the operations of a [`Repository`](interlocking_worktree::Repository).
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError`] where git's list cannot be read.
    pub fn directory_of(&self, run: &RunId) -> Result<Option<PathBuf>, GitWorkspacesError> {
        let prefix = GitRun::of_name(self.0.clone(), run.clone()).tree_prefix();
        let is_of_run = |entry: &WorktreeEntry| {
            let branch = entry.branch.as_ref();
            branch.is_some_and(|branch| branch.as_str().starts_with(&prefix))
        };
        let found = self.0.repository.worktrees()?.into_iter().filter(is_of_run).find_map(|entry| {
            // The worktree is in the run's directory, or in a child's directory there. Others may be called like it.
            let own = entry.path.ancestors().skip(1).take(2).find(|path| path.ends_with(run.as_str()))?;
            own.parent().map(Path::to_owned)
        });
        Ok(found)
    }

    /// Refuses a name of a run if there are branches of that name: for a check before anything is made for a new run.
    /// This is synchronous, like the operations of a [`Repository`](interlocking_worktree::Repository).
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError::RunTaken`].
    pub fn ensure_name_is_free(&self, run: &RunId) -> Result<(), GitWorkspacesError> {
        GitRun::of_name(self.0.clone(), run.clone()).ensure_name_is_free()
    }

    /// The directory of the [fresh checkouts](crate::GitContext::fresh_checkout) of a run and its children, for callers
    /// that confine builds to it.
    pub fn checkouts_of(&self, run: &RunId) -> PathBuf {
        GitRun::of_name(self.0.clone(), run.clone()).checkouts_directory()
    }

    fn settings(&mut self) -> &mut Settings {
        Arc::make_mut(&mut self.0)
    }
}

#[async_trait]
impl Workspaces for GitWorkspaces {
    fn of_run(&self, run: &RunScope<'_>) -> Option<Arc<dyn Workspaces>> {
        let run = GitRun::new(self.0.clone(), run, None);
        self.0.active_runs.add(&run);
        Some(Arc::new(run))
    }

    fn locate(&self, _: &str) -> Result<PathBuf, WorkspaceError> {
        Err(of_no_run())
    }

    async fn changes(&self, _: &str) -> Result<Vec<String>, WorkspaceError> {
        Err(of_no_run())
    }
}

fn of_no_run() -> WorkspaceError {
    let reason = "these are workspaces of no run yet: `Workspaces::of_run` makes those of one".to_owned();
    WorkspaceError::Unusable { reason }
}

impl fmt::Debug for GitWorkspaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Settings { repository, directory, target, landing, bases, keep, .. } = &*self.0;
        f.debug_struct("GitWorkspaces")
            .field("repository", repository)
            .field("directory", directory)
            .field("target", target)
            .field("landing", landing)
            .field("bases", bases)
            .field("keep", keep)
            .finish_non_exhaustive()
    }
}
