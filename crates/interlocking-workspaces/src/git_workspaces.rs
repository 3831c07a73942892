//! Workspaces on a git repository, before any run has them.

use crate::error::GitWorkspacesError;
use crate::git_run::GitRun;
use crate::settings::{Base, Settings, WorkspaceScope};
use async_trait::async_trait;
use interlocking_core::run_id::RunId;
use interlocking_runtime::workspaces::RunScope;
use interlocking_runtime::{WorkspaceError, Workspaces};
use interlocking_sandbox::Sandbox;
use interlocking_worktree::{BranchName, CommitId, Keep, Repository, RepositoryPath, Setup, Signature};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Workspaces on a git repository, for any number of runs: each has its own.
///
/// Give it to [`Run::with_workspaces`](interlocking_runtime::Run::with_workspaces). Each name in the table's `workspace = "…"` is then a
/// worktree, or a clone where `isolation` demands one, made before the first node that names it begins:
///
/// | | |
/// |---|---|
/// | where it lies | `DIRECTORY/RUN/NAME`; of a child run, `DIRECTORY/ROOT/CHILD/NAME`, where `CHILD` begins with its item's key if that is a short word |
/// | its branch | `RUN/NAME`, or `ROOT/CHILD/NAME`, or [as it is told](Self::with_branch_names); none where every node that works there is `read_only` |
/// | what it begins at | where the target branch was when the run began, or its [`Base`]; of a child run, where the workspace of its map node stands |
/// | what becomes of it | taken away when the run has ended, with its branch; see [`with_keep`](Self::with_keep) |
///
/// A node that writes a file, and lands it:
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
    /// Workspaces of `repository`, below `directory`, which is made when it is needed and lies outside the repository.
    pub fn new(repository: Repository, directory: impl Into<PathBuf>) -> Self {
        let (author, target, landing, bases, keep, setup, copied_files, grants, branch_names) = Default::default();
        let (directory, patience, keeps_children) = (directory.into(), Duration::from_secs(10), false);
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
            patience,
            branch_names,
            under_way: Arc::default(),
        }))
    }

    /// The same below another directory, such as [where another run's worktrees lie](Self::directory_of).
    #[must_use]
    pub fn with_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.settings().directory = directory.into();
        self
    }

    /// The same with this author of all commits; without one it is `interlocking`.
    #[must_use]
    pub fn with_author(mut self, author: Signature) -> Self {
        self.settings().author = Some(author);
        self
    }

    /// The same for this branch: what workspaces begin at, and what [lands](crate::GitContext::land) there. Without one it is the
    /// branch that the user's working tree is on.
    #[must_use]
    pub fn with_target(mut self, branch: BranchName) -> Self {
        self.settings().target = Some(branch);
        self
    }

    /// The same where what lands goes to this branch in place of the target, which stays what workspaces begin at. A branch that is not
    /// there is made by what lands first.
    #[must_use]
    pub fn with_landing(mut self, branch: BranchName) -> Self {
        self.settings().landing = Some(branch);
        self
    }

    /// The same with a base of its own for the workspaces called `name`.
    #[must_use]
    pub fn with_base(mut self, name: impl Into<String>, base: Base) -> Self {
        self.settings().bases.insert(name.into(), base);
        self
    }

    /// The same with worktrees, clones and branches left in place after their run's end; without a word none are. Where they are always
    /// kept, those that a handler [retires](crate::Checkout::retire) stay, too.
    #[must_use]
    pub fn with_keep(mut self, keep: Keep) -> Self {
        self.settings().keep = keep;
        self
    }

    /// The same where worktrees and clones of child runs stay when these have ended, with what is not committed there: until another child
    /// takes a branch over, they are [retired](crate::GitContext::retire_child_workspaces), or the run that was started ends.
    #[must_use]
    pub fn with_children_kept(mut self) -> Self {
        self.settings().keeps_children = true;
        self
    }

    /// The same with worktrees that are used again: one that is not needed any more is cleaned, and kept until the run that was started ends,
    /// and the next one of the run or its children is made from it. In a large repository that is much faster than to delete its files
    /// and to write them once more. [Fresh checkouts](crate::GitContext::fresh_checkout) are made from each other in the same way, and
    /// worktrees from what was [prepared](crate::GitContext::prepare_worktrees).
    ///
    /// It is cleaned of all that its agent has left there. But a program that the agent has started and that still runs knows the
    /// directory, and can reach who works there next: so not where agents are to know nothing of each other.
    #[must_use]
    pub fn with_worktrees_reused(mut self) -> Self {
        self.settings().reuses_worktrees = true;
        self
    }

    /// The same with a command that makes each worktree and clone ready: run there when it was made, and when it was reset or put back, which
    /// takes away what is ignored.
    #[must_use]
    pub fn with_setup(mut self, setup: Setup) -> Self {
        self.settings().setup = Some(setup);
        self
    }

    /// The same with ignored files, such as `.env`, that are copied from the user's working tree to each worktree and clone, before its
    /// [setup](Self::with_setup), as often as that. Those that are named, and no others: agents read them.
    #[must_use]
    pub fn with_copied_files(mut self, files: impl IntoIterator<Item = RepositoryPath>) -> Self {
        self.settings().copied_files = files.into_iter().collect();
        self
    }

    /// The same with more in the sandboxes of the workspaces for which the table demands `isolation = "sandbox"`: `grants` is given a
    /// workspace's name and a sandbox of its clone, of a directory for temporary files and of git.
    #[must_use]
    pub fn with_grants(mut self, grants: impl Fn(&str, Sandbox) -> Sandbox + Send + Sync + 'static) -> Self {
        self.settings().grants = Some(Arc::new(grants));
        self
    }

    /// The same with so much time to land while a git program holds the files of the target's working tree; ten seconds without a
    /// word.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.settings().patience = patience;
        self
    }

    /// The same with names for branches: where `names` gives one for a workspace, its branch is called so, and the workspace is not made
    /// where anybody else has a branch of that name ([`BranchTaken`](crate::GitWorkspacesError::BranchTaken)). A child run that has ended
    /// lets another of the same tree have the name.
    ///
    /// `names` gives the same name whenever it is asked for the same workspace: that is how another process finds the branch.
    #[must_use]
    pub fn with_branch_names(
        mut self,
        names: impl Fn(&WorkspaceScope<'_>) -> Option<BranchName> + Send + Sync + 'static,
    ) -> Self {
        self.settings().branch_names = Some(Arc::new(names));
        self
    }

    /// Advances the target branch to `commit` from `from`, as [`GitContext::land_from`](crate::GitContext::land_from) does, for a run of
    /// these workspaces at its exit: a graph's [`Finish`](interlocking_core::graph::Finish) has no context. It may be done again.
    ///
    /// # Errors
    ///
    /// As there; [`GitWorkspacesError::Over`] where the run has ended, or none of that name has begun.
    pub async fn land_from(&self, run: &RunId, from: CommitId, commit: CommitId) -> Result<(), GitWorkspacesError> {
        let run = self.0.under_way.get(run).ok_or(GitWorkspacesError::Over)?;
        let target = run.landing_branch().await?;
        run.land(target, Some(from), commit).await
    }

    fn settings(&mut self) -> &mut Settings {
        Arc::make_mut(&mut self.0)
    }
}

#[async_trait]
impl Workspaces for GitWorkspaces {
    fn of_run(&self, run: &RunScope<'_>) -> Option<Arc<dyn Workspaces>> {
        let run = GitRun::new(self.0.clone(), run, None);
        self.0.under_way.add(&run);
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
