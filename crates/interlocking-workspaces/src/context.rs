//! The operations on git workspaces that a handler has: an extension of its [`Cx`].

use crate::checkout::Checkout;
use crate::child::ChildWorkspace;
use crate::error::GitWorkspacesError;
use crate::fresh::FreshCheckout;
use crate::git_run::GitRun;
use crate::landings::LANDING;
use crate::leftover_runs::LeftoverRun;
use interlocking_core::context::Cx;
use interlocking_core::graph::{Graph, Node, RunsChildren, Works};
use interlocking_core::run_id::RunId;
use interlocking_runtime::RunContext as _;
use interlocking_runtime::journal::JournalError;
use interlocking_worktree::{BranchName, CommitId, Keep, Repository};
use std::any::Any;
use std::future::Future;

/// The operations on its run's git workspaces that a handler has.
///
/// A handler can check a commit in a directory that holds nothing else, and land it after that:
///
/// ```
/// use interlocking::prelude::*;
/// use interlocking::worktree::CommitId;
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
///
///         let checkout = cx.fresh_checkout(commit).await?;
///         if std::fs::read_to_string(checkout.path().join("note.txt"))?.is_empty() {
///             return Err("an empty note does not land".into());
///         }
///         let landed = cx.land(commit).await?;
///         goto!(cx, notes::exit, landed)
///     }
/// }
/// # use interlocking::worktree::{Repository, Signature};
/// # use std::sync::Arc;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let place = tempfile::tempdir()?;
/// # let project = Repository::init(place.path().join("project"))?;
/// # let main = project.main_worktree()?.ok_or("a new repository has a working tree")?;
/// # std::fs::write(main.path().join("README.md"), "# Notes\n")?;
/// # main.commit_all(&Signature::new("Me", "me@example.org")?, "Begin")?;
/// let workspaces = Arc::new(GitWorkspaces::new(project, place.path().join("runs")));
/// let run = Run::new(Notes::default()).with_workspaces(workspaces);
/// let landed = run.start("hello".to_owned()).await?.outcome.finished().ok_or("it did not land")?;
/// assert_eq!(main.head()?, landed);
/// # Ok(())
/// # }
/// ```
pub trait GitContext<N: Node> {
    /// The node's own worktree or clone.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError`] where it cannot be made, or the run's workspaces are not on git.
    fn worktree(&mut self) -> impl Future<Output = Result<Checkout<'_>, GitWorkspacesError>> + Send
    where
        N: Works;

    /// The run's worktree or clone of this name, which need not be in the table. It is made if it does not exist.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError`] where it cannot be made, or the run's workspaces are not on git.
    fn worktree_of(&mut self, name: &str) -> impl Future<Output = Result<Checkout<'_>, GitWorkspacesError>> + Send;

    /// Advances the target branch to `commit`, which must contain the branch's head, and updates the files of a working
    /// tree that has it checked out. While a git program locks those files, this is retried. Returns the commit that
    /// has landed.
    ///
    /// A child run lands on its parent: on the branch of the workspace of the map node that started it, under that
    /// branch's lock, and only if the branch is at the commit that the parent has recorded. The landing is in the
    /// parent's journal before this returns.
    ///
    /// A commit lands once: if the handler's process was killed after the landing and the handler begins again and
    /// makes the same files, this returns the commit that landed then.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError::FastForward`] if the branch has moved and `commit` does not contain its head: merge or
    /// rebase, test, and land the result; or if a working tree that has the branch checked out has uncommitted changes.
    /// [`Busy`](GitWorkspacesError::Busy). For a child whose map node's workspace cannot be landed on,
    /// [`NowhereToLand`](GitWorkspacesError::NowhereToLand), [`ReadOnly`](GitWorkspacesError::ReadOnly) and
    /// [`InClone`](GitWorkspacesError::InClone).
    fn land(&mut self, commit: CommitId) -> impl Future<Output = Result<CommitId, GitWorkspacesError>> + Send;

    /// Like [`land`](Self::land), if the branch is still at `from`: for work that was verified on top of that commit. A
    /// branch that [`with_landing`](crate::GitWorkspaces::with_landing) names is created if it does not exist.
    ///
    /// # Errors
    ///
    /// As [`land`](Self::land); [`FastForwardError::Moved`](interlocking_worktree::FastForwardError::Moved) if the
    /// branch is elsewhere and does not contain `commit`.
    fn land_from(
        &mut self,
        from: CommitId,
        commit: CommitId,
    ) -> impl Future<Output = Result<CommitId, GitWorkspacesError>> + Send;

    /// Checks out the files of a commit for builds and tests, in a directory that is never given to an agent: a clone
    /// without history, of which each object was checked. The files are deleted when the value is dropped, or with the
    /// run's workspaces if its process is killed.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError`]; nothing is left behind.
    fn fresh_checkout(
        &self,
        commit: CommitId,
    ) -> impl Future<Output = Result<FreshCheckout, GitWorkspacesError>> + Send;

    /// The branch to land on, and its head; for a child run, the branch of its map node's workspace, and the commit
    /// that the workspace is at. This commit differs from a worktree's [`base`](Checkout::base) if another commit has
    /// landed since the worktree was made (SAW-113).
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError::NoTarget`], [`NoBranch`](GitWorkspacesError::NoBranch); of a child, as [`land`](Self::land).
    fn target(&self) -> impl Future<Output = Result<(BranchName, CommitId), GitWorkspacesError>> + Send;

    /// The workspaces, with a branch, of the child runs of `Child`, a map or graph node of this run: of the children
    /// that its last execution with any children has started or adopted, in whichever process, ordered by key and name.
    /// Any node may ask, also the map node itself. For children that have ended, [`head`](ChildWorkspace::head) is
    /// final.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError`] where the journal or the repository cannot be read.
    fn child_workspaces<Child>(&self) -> impl Future<Output = Result<Vec<ChildWorkspace>, GitWorkspacesError>> + Send
    where
        Child: RunsChildren<Graph = N::Graph>;

    /// Removes the worktrees and clones of the [child workspaces](Self::child_workspaces) of `Child`, whose runs have
    /// ended, because their files are no longer needed. Uncommitted changes in them are lost; their branches stay until
    /// the root run has ended. If workspaces are always [kept](crate::GitWorkspaces::with_keep), they stay, too.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError`] if one cannot be removed; the end of the run tries again.
    fn retire_child_workspaces<Child>(&self) -> impl Future<Output = Result<(), GitWorkspacesError>> + Send
    where
        Child: RunsChildren<Graph = N::Graph>;

    /// Writes the files of `count` worktrees at a commit ahead of time, if [worktrees are
    /// reused](crate::GitWorkspaces::with_worktrees_reused): the worktrees that are made next, those of child runs too,
    /// use these files and begin much sooner. Call it while the run waits anyway, for example for a person. If
    /// worktrees are not reused, this does nothing.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError::Create`], [`GitWorkspacesError::Pool`].
    fn prepare_worktrees(
        &self,
        count: usize,
        at: CommitId,
    ) -> impl Future<Output = Result<(), GitWorkspacesError>> + Send;

    /// What is left of another run on the same repository; none if nothing is left, or a process is working on the run.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError`] where something cannot be read.
    fn leftover_of(&self, run: &RunId) -> impl Future<Output = Result<Option<LeftoverRun>, GitWorkspacesError>> + Send;

    /// The repository, for reading commits. Its operations are synchronous.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError::NotOnGit`].
    fn repository(&self) -> Result<Repository, GitWorkspacesError>;
}

impl<N: Node> GitContext<N> for Cx<'_, N> {
    async fn worktree(&mut self) -> Result<Checkout<'_>, GitWorkspacesError>
    where
        N: Works,
    {
        let name = N::Graph::net().row(N::INDEX).workspace.clone().unwrap_or_default();
        checkout(self, name).await
    }

    async fn worktree_of(&mut self, name: &str) -> Result<Checkout<'_>, GitWorkspacesError> {
        checkout(self, name.to_owned()).await
    }

    async fn land(&mut self, commit: CommitId) -> Result<CommitId, GitWorkspacesError> {
        land(self, None, commit).await
    }

    async fn land_from(&mut self, from: CommitId, commit: CommitId) -> Result<CommitId, GitWorkspacesError> {
        land(self, Some(from), commit).await
    }

    async fn fresh_checkout(&self, commit: CommitId) -> Result<FreshCheckout, GitWorkspacesError> {
        git_run(self)?.blocking((), move |run| run.check_out(commit)).await
    }

    async fn target(&self) -> Result<(BranchName, CommitId), GitWorkspacesError> {
        git_run(self)?.landing_point().await
    }

    async fn child_workspaces<Child>(&self) -> Result<Vec<ChildWorkspace>, GitWorkspacesError>
    where
        Child: RunsChildren<Graph = N::Graph>,
    {
        let run = git_run(self)?;
        let unreadable = |error: JournalError| GitWorkspacesError::JournalUnreadable { reason: error.to_string() };
        let recorded = self.children::<Child>().await.map_err(unreadable)?;
        let node = N::Graph::net().name(Child::INDEX);
        run.blocking((), move |run| run.workspaces_of_children(node, recorded)).await
    }

    async fn retire_child_workspaces<Child>(&self) -> Result<(), GitWorkspacesError>
    where
        Child: RunsChildren<Graph = N::Graph>,
    {
        let run = git_run(self)?;
        if run.settings().keep == Keep::Always {
            return Ok(());
        }
        let workspaces = self.child_workspaces::<Child>().await?;
        run.blocking((), move |run| run.retire_workspaces_of_children(&workspaces)).await
    }

    async fn prepare_worktrees(&self, count: usize, at: CommitId) -> Result<(), GitWorkspacesError> {
        let run = git_run(self)?;
        // One after the other: the files of each are written by as many threads as there are cores.
        while run.blocking((), move |run| run.prepare_worktree(count, at)).await? {}
        Ok(())
    }

    async fn leftover_of(&self, run: &RunId) -> Result<Option<LeftoverRun>, GitWorkspacesError> {
        git_run(self)?.workspaces().leftover_of(run).await
    }

    fn repository(&self) -> Result<Repository, GitWorkspacesError> {
        Ok(git_run(self)?.settings().repository.clone())
    }
}

async fn land<N: Node>(
    cx: &mut Cx<'_, N>,
    from: Option<CommitId>,
    commit: CommitId,
) -> Result<CommitId, GitWorkspacesError> {
    let run = git_run(cx)?;
    let target = run.landing_branch().await?;
    // The commit that is about to land is recorded before it lands.
    for number in 1.. {
        let name = format!("{LANDING}{number}");
        let intended = cx.once(&name, std::future::ready(Ok(commit))).await;
        let intended = intended.map_err(|error| GitWorkspacesError::JournalUnwritable { reason: error.to_string() })?;
        let landing = (N::INDEX, cx.visit(), cx.attempt(), number);
        let is_this = match run.begun_landing(landing) {
            _ if intended == commit => true,
            // What this attempt has landed may have been reverted since: the same files are to land again.
            Some(begun_with) => begun_with == commit,
            None => run.has_landed_as(&target, intended, commit).await?,
        };
        if is_this {
            run.begin_landing(landing, commit);
            return run.land(target, from, intended).await.map(|()| intended);
        }
    }
    Ok(commit)
}

async fn checkout<'cx, N: Node>(cx: &'cx mut Cx<'_, N>, name: String) -> Result<Checkout<'cx>, GitWorkspacesError> {
    let run = git_run(cx)?;
    let known = run.place(&name).worktree.is_some();
    let (worktree, base) = run.on(&name, |run, name| run.make_ready(name)).await?;
    // The executor has already recorded the node's own workspace in the journal.
    if !known {
        let at = run.place(&name).at.unwrap_or(base);
        cx.committed(name.as_str(), at.to_string());
    }
    Ok(Checkout { cx, run, name, worktree, base, held: None })
}

fn git_run<N: Node>(cx: &Cx<'_, N>) -> Result<GitRun, GitWorkspacesError> {
    let workspaces = cx.workspaces()?;
    let any: &dyn Any = &*workspaces;
    any.downcast_ref::<GitRun>().cloned().ok_or(GitWorkspacesError::NotOnGit)
}
