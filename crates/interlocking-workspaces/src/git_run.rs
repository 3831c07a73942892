//! The workspaces of one run.

use crate::error::GitWorkspacesError;
use crate::lock::{Held, lock};
use crate::names;
use crate::settings::{Base, Settings};
use interlocking_core::run_id::RunId;
use interlocking_core::table::Isolation;
use interlocking_runtime::workspaces::RunScope;
use interlocking_worktree::{BranchName, CommitId, Signature, Worktree};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// The workspaces of one run. A cheap handle.
#[derive(Clone)]
pub(crate) struct GitRun(pub(crate) Arc<State>);

pub(crate) struct State {
    settings: Arc<Settings>,
    pub(crate) run: RunId,
    /// What the run is called in names of directories and branches.
    pub(crate) label: String,
    /// The run that was started.
    pub(crate) root: RunId,
    /// Locked while anybody has workspaces of the run, or of another of its tree.
    pub(crate) alive: Arc<Mutex<Option<File>>>,
    parent: Option<Parent>,
    /// Whether what has the run's name in the repository is the run's: of a new one once it was looked.
    is_claimed: Mutex<bool>,
    wanted: BTreeMap<String, Wanted>,
    begun_at: Mutex<Option<CommitId>>,
    places: Mutex<BTreeMap<String, Place>>,
    /// The numbers of the fresh checkouts that there are of the run's tree.
    pub(crate) checkouts: Arc<Mutex<BTreeSet<u32>>>,
    has_landed: Mutex<bool>,
    /// Whether the run is over. Held for reading during git work: a run that is cancelled does not wait for it, and what it makes must
    /// be removed with the rest.
    closed: RwLock<bool>,
}

/// Whose child a run is, and where its map node works.
struct Parent {
    run: GitRun,
    workspace: Option<String>,
}

/// What the table says of a workspace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) isolation: Isolation,
    /// Whether nobody may change it.
    pub(crate) is_read_only: bool,
}

/// What is known of a workspace.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    /// What it began at.
    pub(crate) base: Option<CommitId>,
    /// Where it is to stand.
    pub(crate) at: Option<CommitId>,
    /// The worktree or clone, if it has been made.
    pub(crate) worktree: Option<Worktree>,
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
        let workspace = scope.parent.and_then(|parent| parent.workspace).map(str::to_owned);
        let parent = parent.map(|run| Parent { run, workspace });
        Self::with(settings, scope.run.clone(), names::label(scope), parent, wanted, !scope.is_new)
    }

    /// Those of a run of which nothing is known but its name.
    pub(crate) fn of_name(settings: Arc<Settings>, run: RunId) -> Self {
        let label = run.to_string();
        Self::with(settings, run, label, None, BTreeMap::new(), true)
    }

    fn with(
        settings: Arc<Settings>,
        run: RunId,
        label: String,
        parent: Option<Parent>,
        wanted: BTreeMap<String, Wanted>,
        is_claimed: bool,
    ) -> Self {
        let (root, alive, checkouts) = match &parent {
            Some(Parent { run, .. }) => (run.0.root.clone(), run.0.alive.clone(), run.0.checkouts.clone()),
            None => (run.clone(), Arc::default(), Arc::default()),
        };
        let (begun_at, places, has_landed, closed) = Default::default();
        let is_claimed = Mutex::new(is_claimed);
        Self(Arc::new(State {
            settings,
            run,
            label,
            root,
            alive,
            parent,
            is_claimed,
            wanted,
            begun_at,
            places,
            checkouts,
            has_landed,
            closed,
        }))
    }

    /// Those of a child of this run.
    pub(crate) fn of_child(&self, scope: &RunScope<'_>) -> Self {
        Self::new(self.0.settings.clone(), scope, Some(self.clone()))
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.0.settings
    }

    pub(crate) fn is_child(&self) -> bool {
        self.0.run != self.0.root
    }

    /// What the table says of a workspace; of one that it does not name, that a handler may have a worktree.
    pub(crate) fn wanted(&self, name: &str) -> Wanted {
        let unnamed = Wanted { isolation: Isolation::Worktree, is_read_only: false };
        self.0.wanted.get(name).copied().unwrap_or(unnamed)
    }

    pub(crate) fn is_clone(&self, name: &str) -> bool {
        self.wanted(name).isolation > Isolation::Worktree
    }

    /// Who commits.
    pub(crate) fn author(&self) -> Result<Signature, GitWorkspacesError> {
        match &self.settings().author {
            Some(author) => Ok(author.clone()),
            None => Signature::new("interlocking", "interlocking@localhost").map_err(|error| {
                GitWorkspacesError::Directory { path: self.settings().directory.clone(), reason: error.to_string() }
            }),
        }
    }

    /// The names of the workspaces that are known.
    pub(crate) fn known(&self) -> Vec<String> {
        self.places().iter().filter(|(_, place)| place.worktree.is_some()).map(|(name, _)| name.clone()).collect()
    }

    pub(crate) fn place(&self, name: &str) -> Place {
        self.places().get(name).cloned().unwrap_or_default()
    }

    /// Changes what is known of a workspace.
    pub(crate) fn note(&self, name: &str, change: impl FnOnce(&mut Place)) {
        change(self.places().entry(name.to_owned()).or_default());
    }

    fn places(&self) -> MutexGuard<'_, BTreeMap<String, Place>> {
        self.0.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn has_landed(&self) -> MutexGuard<'_, bool> {
        self.0.has_landed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether what has the run's name in the repository is the run's.
    pub(crate) fn is_claimed(&self) -> bool {
        *self.0.is_claimed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks whether the name of a new run is free, before anything is made of that name. Git work.
    pub(crate) fn claim(&self) -> Result<(), GitWorkspacesError> {
        let mut is_claimed = self.0.is_claimed.lock().unwrap_or_else(PoisonError::into_inner);
        if !*is_claimed {
            self.refuse_taken()?;
            *is_claimed = true;
        }
        Ok(())
    }

    /// Refuses the run's name if there are branches of it. Git work.
    pub(crate) fn refuse_taken(&self) -> Result<(), GitWorkspacesError> {
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

    /// The branch that the run lands on: the target, unless another was named.
    pub(crate) fn landing(&self) -> Result<BranchName, GitWorkspacesError> {
        match &self.settings().landing {
            Some(landing) => Ok(landing.clone()),
            None => self.target(),
        }
    }

    /// What workspaces begin at that say nothing else. Git work.
    fn begun_at(&self) -> Result<CommitId, GitWorkspacesError> {
        if let Some(known) = *self.0.begun_at.lock().unwrap_or_else(PoisonError::into_inner) {
            return Ok(known);
        }
        let begun_at = match &self.0.parent {
            Some(Parent { run, workspace: Some(workspace) }) => run.stands_at(workspace, &mut Vec::new())?,
            Some(Parent { run, workspace: None }) => run.begun_at()?,
            None => match (self.target(), &self.settings().target) {
                (Ok(branch), named) => match (self.head_of(&branch), named) {
                    (Err(GitWorkspacesError::NoBranch { .. }), None) => Err(GitWorkspacesError::NoTarget),
                    (head, _) => head,
                },
                (Err(error), _) => Err(error),
            }?,
        };
        Ok(self.begins_at(begun_at))
    }

    /// Notes what workspaces begin at that say nothing else, unless it is known.
    pub(crate) fn begins_at(&self, commit: CommitId) -> CommitId {
        *self.0.begun_at.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(commit)
    }

    /// Where a branch is. Git work.
    pub(crate) fn head_of(&self, branch: &BranchName) -> Result<CommitId, GitWorkspacesError> {
        let head = self.settings().repository.branch_head(branch)?;
        head.ok_or_else(|| GitWorkspacesError::NoBranch { branch: branch.clone() })
    }

    pub(crate) fn base_setting(&self, name: &str) -> &Base {
        self.settings().bases.get(name).unwrap_or(&Base::Run)
    }

    /// What a workspace begins at. Git work.
    pub(crate) fn base_of(&self, name: &str) -> Result<CommitId, GitWorkspacesError> {
        self.base_by_way_of(name, &mut Vec::new())
    }

    /// Where a workspace stands, or would, if it were made now. Git work.
    pub(crate) fn stands_at(&self, name: &str, seen: &mut Vec<String>) -> Result<CommitId, GitWorkspacesError> {
        match self.place(name).at {
            Some(at) => Ok(at),
            None => self.base_by_way_of(name, seen),
        }
    }

    fn base_by_way_of(&self, name: &str, seen: &mut Vec<String>) -> Result<CommitId, GitWorkspacesError> {
        if let Some(base) = self.place(name).base {
            return Ok(base);
        }
        if seen.iter().any(|seen| seen == name) {
            return Err(GitWorkspacesError::Circle { name: name.to_owned(), by_way_of: std::mem::take(seen) });
        }
        seen.push(name.to_owned());
        match self.base_setting(name) {
            Base::Run => self.begun_at(),
            Base::Workspace(other) => self.stands_at(other, seen),
            Base::Branch(branch) => self.head_of(branch),
            Base::Commit(commit) => Ok(*commit),
        }
    }

    /// Waits until nobody else changes a workspace.
    pub(crate) async fn lock(&self, name: &str) -> Held {
        let branch = self.branch_name(name).map_or_else(|_| name.to_owned(), |branch| branch.to_string());
        lock(self.settings().repository.common_directory(), &branch).await
    }

    /// Does git work, which is synchronous, where it may block, and not once the run is over.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        held: impl Send + 'static,
        work: impl FnOnce(&Self) -> Result<T, GitWorkspacesError> + Send + 'static,
    ) -> Result<T, GitWorkspacesError> {
        let run = self.clone();
        let working = tokio::task::spawn_blocking(move || {
            // To the end of the work, whoever waits for it.
            let _held = held;
            let closed = run.0.closed.read().unwrap_or_else(PoisonError::into_inner);
            if *closed { Err(GitWorkspacesError::Over) } else { work(&run) }
        });
        match working.await {
            Ok(done) => done,
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => Err(GitWorkspacesError::Over),
        }
    }

    /// The same for one workspace, that nobody else changes meanwhile.
    pub(crate) async fn on<T: Send + 'static>(
        &self,
        name: &str,
        work: impl FnOnce(&Self, &str) -> Result<T, GitWorkspacesError> + Send + 'static,
    ) -> Result<T, GitWorkspacesError> {
        let (held, name) = (self.lock(name).await, name.to_owned());
        self.blocking(held, move |run| work(run, &name)).await
    }

    /// Lets nothing more begin. When this returns, nothing is under way any more.
    pub(crate) fn close(&self) {
        *self.0.closed.write().unwrap_or_else(PoisonError::into_inner) = true;
    }
}
