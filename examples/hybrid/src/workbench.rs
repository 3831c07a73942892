//! The tools of the handlers: the user's repository and the toolchain, and the checks that several handlers make.

mod conduct;
mod claims;
mod python;

pub use claims::Defined;

use crate::language::Language;
use crate::prompts::GroundRules;
use crate::resolved::Resolver;
use crate::spec::Task;
use crate::types::CratePath;
use askama::Template;
use interlocking::prelude::{NodeError, RunId};
use interlocking::rust_source::{StubMarkers, UnreadableMarker};
use interlocking::toolchain::{BuildOutcome, Checkout, KnownTests, RunError, Runner, TestRun, Toolchain};
use interlocking::workspaces::{self, FreshCheckout, GitWorkspaces, GitWorkspacesError, changed_paths, in_repository};
use interlocking::worktree::{CommitId, Repository, RepositoryPath};
use std::collections::BTreeSet;
use std::panic::resume_unwind;

/// State shared by the handlers of one run.
#[derive(Debug)]
pub struct Workbench {
    /// The user's repository: to read what was committed.
    repository: Repository,
    /// Where the run works, and what it lands on.
    run: RunPlaces,
    /// Builds and tests checkouts.
    runner: Runner,
    markers: StubMarkers,
    /// Answers what the text of tests leaves open.
    resolver: Resolver,
    resolves_conflicts: bool,
    mechanical_mutants: usize,
    language: Language,
}

/// Where a run works, and what it lands on.
#[derive(Debug)]
pub struct RunPlaces {
    /// The run.
    pub run: RunId,
    /// Its workspaces.
    pub workspaces: GitWorkspaces,
    /// Where the branch was when the run started.
    pub base: CommitId,
}

impl Workbench {
    /// A workbench for one run.
    ///
    /// # Errors
    ///
    /// [`UnreadableMarker`] if a configured stub marker is not a Rust expression.
    pub fn new(repository: Repository, run: RunPlaces, runner: Runner, task: &Task) -> Result<Self, UnreadableMarker> {
        let markers = runner.toolchain().source.markers()?;
        let resolver = Resolver::new(task.language_server.clone(), run.workspaces.checkouts_of(&run.run));
        let (resolves_conflicts, mechanical_mutants) = (task.resolve_conflicts, task.mechanical_mutants);
        let language = Language::of_task(&task.spec);
        Ok(Self { repository, run, runner, markers, resolver, resolves_conflicts, mechanical_mutants, language })
    }

    /// Whether an agent is to resolve conflicts of the merge.
    pub fn resolves_conflicts(&self) -> bool {
        self.resolves_conflicts
    }

    /// How many mutants of the program's own making are tried.
    pub fn mechanical_mutants(&self) -> usize {
        self.mechanical_mutants
    }

    /// The runner that builds and tests checkouts.
    pub fn runner(&self) -> &Runner {
        &self.runner
    }

    /// Advances the branch to a commit, from where the run began.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError`] if it has moved meanwhile, or uncommitted changes are in the way.
    pub async fn land(&self, commit: CommitId) -> Result<(), GitWorkspacesError> {
        let RunPlaces { run, workspaces, base } = &self.run;
        workspaces.land_from(run, *base, commit).await
    }

    /// Builds a checkout.
    ///
    /// # Errors
    ///
    /// [`RunError`] if no build could be run at all.
    pub async fn build(&self, checked_out: &FreshCheckout) -> Result<BuildOutcome, RunError> {
        self.runner.build(&Checkout::at(checked_out.path())).await
    }

    /// Runs the tests of a checkout, of which these are known by name.
    ///
    /// # Errors
    ///
    /// [`RunError`] if no test could be run at all.
    pub async fn test(&self, checked_out: &FreshCheckout, known: KnownTests<'_>) -> Result<TestRun, RunError> {
        self.runner.test(&Checkout::at(checked_out.path()), known).await
    }

    /// How the project is built and tested.
    pub fn toolchain(&self) -> &Toolchain {
        self.runner.toolchain()
    }

    /// The ground rules for every agent's system prompt.
    pub fn ground_rules(&self) -> Option<String> {
        // Two commands in a text: rendering it cannot fail.
        GroundRules::new(self.toolchain(), self.language).render().ok()
    }

    /// The paths in which a commit differs from where the run began.
    ///
    /// # Errors
    ///
    /// If the repository cannot be read.
    pub async fn changed_since_the_start(&self, commit: CommitId) -> Result<BTreeSet<String>, NodeError> {
        self.changed(self.run.base, commit).await
    }

    /// The paths in which two commits differ; both paths of a renamed file.
    ///
    /// # Errors
    ///
    /// If the repository cannot be read.
    pub async fn changed(&self, from: CommitId, to: CommitId) -> Result<BTreeSet<String>, NodeError> {
        changed_paths(self.repository.clone(), from, to).await
    }

    /// A file of a commit; none if it is not there.
    pub(crate) async fn file_at(&self, commit: CommitId, path: &str) -> Result<Option<Vec<u8>>, NodeError> {
        let path: RepositoryPath = path.parse()?;
        in_repository(self.repository.clone(), move |repository| Ok(repository.read_file(commit, &path)?)).await
    }
}

/// Runs what may take long, such as reading an agent's large file as syntax, where it keeps no other task waiting.
pub(crate) async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, NodeError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| match error.try_into_panic() {
        Ok(panic) => resume_unwind(panic),
        Err(error) => error.into(),
    })
}

/// Writes a file where there is nothing yet.
///
/// # Errors
///
/// If it cannot be written.
pub async fn write_if_absent(
    worktree: &mut workspaces::Checkout<'_>,
    path: &CratePath,
    text: &str,
) -> Result<(), NodeError> {
    if worktree.text(path.in_repository()).await? == Ok(None) {
        worktree.write_file(path.in_repository(), text).await?;
    }
    Ok(())
}

/// Copies the lock file that a build has left in a checkout into the worktree that the checkout was made from. Returns whether it
/// differs.
///
/// # Errors
///
/// If it cannot be read or written.
pub async fn take_over_lock(
    worktree: &mut workspaces::Checkout<'_>,
    checked_out: &FreshCheckout,
) -> Result<bool, NodeError> {
    let path = RepositoryPath::new("Cargo.lock")?;
    let (made, before) = (checked_out.text(&path).await??, worktree.text(&path).await?);
    match made {
        Some(made) if before.as_ref().ok().and_then(Option::as_ref) != Some(&made) => {
            worktree.write_file(&path, made).await?;
            Ok(true)
        }
        _ => Ok(false),
    }
}
