//! The workspaces of one run.

use crate::alive::Alive;
use crate::blocking::spawn_blocking;
use crate::child::Child;
use crate::error::GitWorkspacesError;
use crate::fresh::Checkouts;
use crate::git_workspaces::GitWorkspaces;
use crate::land::Landing;
use crate::lock::{BranchGuard, lock};
use crate::named_branches::Named;
use crate::names::Names;
use crate::place::{Place, Places};
use crate::retired::Retired;
use crate::settings::{Base, Settings};
use interlocking_core::run_id::RunId;
use interlocking_core::table::Isolation;
use interlocking_runtime::workspaces::{ParentJournal, RunScope};
use interlocking_worktree::{BranchName, CommitId, Keep, Signature};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// The workspaces of one run. A cheap handle.
#[derive(Clone)]
pub(crate) struct GitRun(pub(crate) Arc<State>);

pub(crate) struct State {
    settings: Arc<Settings>,
    pub(crate) names: Arc<Names>,
    pub(crate) tree: Arc<Tree>,
    pub(crate) parent: Option<Parent>,
    pub(crate) children: Mutex<Vec<Child>>,
    wanted: BTreeMap<String, Wanted>,
    /// Whether the table of the run, or of one of its parents, demands a sandbox for any node. The parents' workspaces may
    /// be other ones.
    demands_a_sandbox: bool,
    start_commit: Mutex<Option<CommitId>>,
    places: Places,
    /// Whether the run is over. Git work holds this lock for reading: cancelling a run does not wait for the work
    /// itself, but what the work makes must be removed with the rest.
    pub(crate) closed: RwLock<bool>,
    /// Whether the run is over or about to be: set before the end waits for the work under way. A setup, which may take
    /// long, is stopped then.
    pub(crate) is_closing: AtomicBool,
    /// The commits with which handlers have called for landings since the run was started or resumed.
    pub(crate) begun_landings: Mutex<BTreeMap<Landing, CommitId>>,
}

/// The state that the runs of a tree share.
#[derive(Default)]
pub(crate) struct Tree {
    /// The lock that is held while any process has workspaces of a run of the tree.
    pub(crate) alive: Mutex<Option<Alive>>,
    pub(crate) named: Named,
    /// The worktrees that are to be reused.
    pub(crate) retired: Retired,
    pub(crate) checkouts: Checkouts,
    /// The branches, and their heads, when this process last landed.
    at_landing: Mutex<BTreeSet<(BranchName, CommitId)>>,
    /// Whether branches with the tree's name in the repository belong to the tree. For a new tree, this is false until
    /// it was checked.
    is_claimed: Mutex<bool>,
}

/// The parent of a child run: the parent's run, the workspace of its map node, and the journal that records what moves
/// there.
pub(crate) struct Parent {
    pub(crate) run: GitRun,
    pub(crate) workspace: Option<String>,
    pub(crate) journal: ParentJournal,
}

/// The table's settings of a workspace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) isolation: Isolation,
    /// Whether every node of the workspace is read-only.
    pub(crate) is_read_only: bool,
}

impl GitRun {
    pub(crate) fn new(settings: Arc<Settings>, scope: &RunScope<'_>, parent: Option<Self>) -> Self {
        let mut wanted: BTreeMap<String, Wanted> = BTreeMap::new();
        for row in &scope.table.nodes {
            let Some(name) = &row.workspace else { continue };
            let known =
                wanted.entry(name.clone()).or_insert(Wanted { isolation: Isolation::Worktree, is_read_only: true });
            known.isolation = known.isolation.max(row.isolation.unwrap_or(Isolation::Worktree));
            known.is_read_only &= row.read_only;
        }
        let demands_a_sandbox = wanted.values().any(|wanted| wanted.isolation == Isolation::Sandbox)
            || scope.parent.is_some_and(|parent| parent.demands_a_sandbox);
        let names = Names::of(scope, parent.as_ref().map(|run| &*run.0.names));
        let parent = parent.zip(scope.parent).map(|(run, parent)| Parent {
            run,
            workspace: parent.workspace.map(str::to_owned),
            journal: parent.journal.clone(),
        });
        Self::with(settings, names, parent, (wanted, demands_a_sandbox), !scope.is_new)
    }

    /// The workspaces of a run of which only the name is known.
    pub(crate) fn of_name(settings: Arc<Settings>, run: RunId) -> Self {
        Self::with(settings, Names::of_root(run), None, (BTreeMap::new(), false), true)
    }

    fn with(
        settings: Arc<Settings>,
        names: Names,
        parent: Option<Parent>,
        (wanted, demands_a_sandbox): (BTreeMap<String, Wanted>, bool),
        is_claimed: bool,
    ) -> Self {
        let tree = match &parent {
            Some(parent) => parent.run.0.tree.clone(),
            None => Arc::new(Tree { is_claimed: Mutex::new(is_claimed), ..Tree::default() }),
        };
        let (children, start_commit, places, closed) = Default::default();
        let names = Arc::new(names);
        Self(Arc::new(State {
            settings,
            names,
            tree,
            parent,
            children,
            wanted,
            demands_a_sandbox,
            start_commit,
            places,
            closed,
            is_closing: AtomicBool::new(false),
            begun_landings: Mutex::default(),
        }))
    }

    /// The workspaces of a child of this run.
    pub(crate) fn of_child(&self, scope: &RunScope<'_>) -> Self {
        let child = Self::new(self.0.settings.clone(), scope, Some(self.clone()));
        let State { names, places, .. } = &*child.0;
        self.0.tree.named.add_active(&names.label);
        let mut children = self.0.children.lock().unwrap_or_else(PoisonError::into_inner);
        children.retain(|child| child.names.run != names.run);
        let by = scope.parent.map(|parent| parent.journal.by().clone());
        children.push(Child { names: names.clone(), by, places: places.clone() });
        drop(children);
        child
    }

    /// The workspaces of all runs, including this one.
    pub(crate) fn workspaces(&self) -> GitWorkspaces {
        GitWorkspaces(self.0.settings.clone())
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.0.settings
    }

    pub(crate) fn is_child(&self) -> bool {
        self.0.names.is_child()
    }

    /// The table's settings of a workspace. A workspace that is not in the table is a worktree that may be changed.
    pub(crate) fn wanted(&self, name: &str) -> Wanted {
        let unnamed = Wanted { isolation: Isolation::Worktree, is_read_only: false };
        self.0.wanted.get(name).copied().unwrap_or(unnamed)
    }

    pub(crate) fn is_clone(&self, name: &str) -> bool {
        self.wanted(name).isolation > Isolation::Worktree
    }

    /// Whether the table of the run, or of one of its parents, demands a sandbox for any node.
    pub(crate) fn demands_a_sandbox(&self) -> bool {
        self.0.demands_a_sandbox
    }

    /// The author of commits.
    pub(crate) fn author(&self) -> Result<Signature, GitWorkspacesError> {
        match &self.settings().author {
            Some(author) => Ok(author.clone()),
            None => Signature::new("interlocking", "interlocking@localhost").map_err(|error| {
                GitWorkspacesError::Directory { path: self.settings().directory.clone(), reason: error.to_string() }
            }),
        }
    }

    /// The names of the workspaces that have been made or opened.
    pub(crate) fn known(&self) -> Vec<String> {
        self.0
            .places
            .lock()
            .iter()
            .filter(|(_, place)| place.worktree.is_some())
            .map(|(name, _)| name.clone())
            .collect()
    }

    pub(crate) fn place(&self, name: &str) -> Place {
        self.0.places.lock().get(name).cloned().unwrap_or_default()
    }

    /// Changes the recorded state of a workspace.
    pub(crate) fn note(&self, name: &str, change: impl FnOnce(&mut Place)) {
        change(self.0.places.lock().entry(name.to_owned()).or_default());
    }

    /// The branches of the tree, and their heads, when this process last landed: what was on them then has landed, or is
    /// not to.
    pub(crate) fn at_landing(&self) -> MutexGuard<'_, BTreeSet<(BranchName, CommitId)>> {
        self.0.tree.at_landing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether branches with the tree's name in the repository belong to the tree.
    pub(crate) fn is_claimed(&self) -> bool {
        *self.0.tree.is_claimed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks that the name of a new run is free, before anything with this name is made. Git work.
    pub(crate) fn claim(&self) -> Result<(), GitWorkspacesError> {
        let mut is_claimed = self.0.tree.is_claimed.lock().unwrap_or_else(PoisonError::into_inner);
        if !*is_claimed {
            self.ensure_name_is_free()?;
            self.forget_branches()?;
            *is_claimed = true;
        }
        Ok(())
    }

    /// Refuses the run's name if there are branches with it. Git work.
    pub(crate) fn ensure_name_is_free(&self) -> Result<(), GitWorkspacesError> {
        match self.branches()?.into_iter().next() {
            Some((branch, at)) => Err(GitWorkspacesError::RunTaken { branch, at }),
            None => Ok(()),
        }
    }

    /// The branch that the run begins at.
    pub(crate) fn target(&self) -> Result<BranchName, GitWorkspacesError> {
        match &self.settings().target {
            Some(target) => Ok(target.clone()),
            None => self.settings().repository.head()?.branch.ok_or(GitWorkspacesError::NoTarget),
        }
    }

    /// The branch that the run lands on: the target, unless the settings name another.
    pub(crate) fn landing(&self) -> Result<BranchName, GitWorkspacesError> {
        match &self.settings().landing {
            Some(landing) => Ok(landing.clone()),
            None => self.target(),
        }
    }

    /// The commit at which workspaces without another base begin. Git work.
    pub(crate) fn start_commit(&self) -> Result<CommitId, GitWorkspacesError> {
        if let Some(known) = *self.0.start_commit.lock().unwrap_or_else(PoisonError::into_inner) {
            return Ok(known);
        }
        let start_commit = match &self.0.parent {
            Some(Parent { run, workspace: Some(workspace), .. }) => run.current_commit(workspace, &mut Vec::new())?,
            Some(Parent { run, workspace: None, .. }) => run.start_commit()?,
            None => match (self.target(), &self.settings().target) {
                (Ok(branch), named) => match (self.head_of(&branch), named) {
                    (Err(GitWorkspacesError::NoBranch { .. }), None) => Err(GitWorkspacesError::NoTarget),
                    (head, _) => head,
                },
                (Err(error), _) => Err(error),
            }?,
        };
        Ok(self.note_start(start_commit))
    }

    /// Notes the commit at which workspaces without another base begin, unless it is known.
    pub(crate) fn note_start(&self, commit: CommitId) -> CommitId {
        *self.0.start_commit.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(commit)
    }

    /// The head of a branch. Git work.
    pub(crate) fn head_of(&self, branch: &BranchName) -> Result<CommitId, GitWorkspacesError> {
        let head = self.settings().repository.branch_head(branch)?;
        head.ok_or_else(|| GitWorkspacesError::NoBranch { branch: branch.clone() })
    }

    pub(crate) fn base_setting(&self, name: &str) -> &Base {
        self.settings().bases.get(name).unwrap_or(&Base::Run)
    }

    /// The commit at which a workspace begins. Git work.
    pub(crate) fn base_of(&self, name: &str) -> Result<CommitId, GitWorkspacesError> {
        self.resolve_base(name, &mut Vec::new())
    }

    /// The commit that a workspace is at, or would be at if it were made now. Git work.
    pub(crate) fn current_commit(&self, name: &str, seen: &mut Vec<String>) -> Result<CommitId, GitWorkspacesError> {
        match self.place(name).at {
            Some(at) => Ok(at),
            None => self.resolve_base(name, seen),
        }
    }

    fn resolve_base(&self, name: &str, seen: &mut Vec<String>) -> Result<CommitId, GitWorkspacesError> {
        if let Some(base) = self.place(name).base {
            return Ok(base);
        }
        if seen.iter().any(|seen| seen == name) {
            return Err(GitWorkspacesError::BaseCycle { name: name.to_owned(), through: std::mem::take(seen) });
        }
        seen.push(name.to_owned());
        match self.base_setting(name) {
            Base::Run => self.start_commit(),
            Base::Workspace(other) => self.current_commit(other, seen),
            Base::Branch(branch) => self.head_of(branch),
            Base::Commit(commit) => Ok(*commit),
        }
    }

    /// Waits for the lock of a workspace's branch.
    pub(crate) async fn lock(&self, name: &str) -> BranchGuard {
        let branch = self.branch_name(name).map_or_else(|_| name.to_owned(), |branch| branch.to_string());
        lock(self.settings().repository.common_directory(), &branch).await
    }

    /// Runs git work, which is synchronous, on a blocking thread, and not once the run is over.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        held: impl Send + 'static,
        work: impl FnOnce(&Self) -> Result<T, GitWorkspacesError> + Send + 'static,
    ) -> Result<T, GitWorkspacesError> {
        let run = self.clone();
        let working = spawn_blocking(move || {
            // Held to the end of the work, even if the caller stops waiting.
            let _held = held;
            let closed = run.0.closed.read().unwrap_or_else(PoisonError::into_inner);
            if *closed { Err(GitWorkspacesError::RunEnded) } else { work(&run) }
        });
        match working.await {
            Ok(done) => done,
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => Err(GitWorkspacesError::RunEnded),
        }
    }

    /// Reads one workspace under its lock: also once the run is over, if its worktrees are kept.
    pub(crate) async fn inspect<T: Send + 'static>(
        &self,
        name: &str,
        look: impl FnOnce() -> Result<T, GitWorkspacesError> + Send + 'static,
    ) -> Result<T, GitWorkspacesError> {
        let is_over = *self.0.closed.read().unwrap_or_else(PoisonError::into_inner);
        if !is_over || self.settings().keep != Keep::Always {
            return self.on(name, move |_, _| look()).await;
        }
        let held = self.lock(name).await;
        let looking = spawn_blocking(move || {
            let _held = held;
            look()
        });
        looking.await.unwrap_or(Err(GitWorkspacesError::RunEnded))
    }

    /// Runs git work in one workspace under its lock, and not once the run is over.
    pub(crate) async fn on<T: Send + 'static>(
        &self,
        name: &str,
        work: impl FnOnce(&Self, &str) -> Result<T, GitWorkspacesError> + Send + 'static,
    ) -> Result<T, GitWorkspacesError> {
        let (held, name) = (self.lock(name).await, name.to_owned());
        self.blocking(held, move |run| work(run, &name)).await
    }

    /// Stops a setup that runs, and lets no other begin.
    pub(crate) fn stop_setups(&self) {
        self.0.is_closing.store(true, Ordering::Release);
    }

    /// Lets no more git work begin, and waits for the work under way to end.
    pub(crate) fn close(&self) {
        *self.0.closed.write().unwrap_or_else(PoisonError::into_inner) = true;
    }
}
