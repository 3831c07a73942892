//! A run over a repository in this process, from its options until it is ready to start.

use super::directories::{Directories, result_file};
use super::facts::{Facts, file};
use super::marker;
use super::options::{Location, RepositoryOptions, current_directory};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::reserved_file::ReservedFile;
use crate::start::Start;
use interlocking_core::graph::Graph;
use interlocking_runtime::Run;
use interlocking_runtime::journal::Claim;
use interlocking_worktree::{BranchName, CommitId, Repository};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

/// A run over a repository, in this process: its directories, and the facts that are stored beside the journal, including the
/// program's own facts `M`.
///
/// A program that sets a run up calls [`begin`](Self::begin) or [`resume`](Self::resume), and [`ready`](Self::ready) once nothing
/// more can keep the run from starting. From then on until this process has executed the run, no other process can begin or resume
/// a run of that name. If the value is dropped before `ready`, it removes the directories that it has made, and the file of the
/// result if it has made that.
pub struct RepositoryRun<M: Remembered = ()> {
    pub(super) start: Start,
    pub(super) facts: Facts<M>,
    /// The file to which this process also writes the result.
    pub(super) result: Option<ReservedFile>,
    /// The path of the script as the user gave it.
    pub(super) named_script: Option<PathBuf>,
    /// The state of the run before this process changed anything.
    pub(super) before: Before<M>,
    /// The directories that this process has made, until the run is ready.
    pub(super) made: Option<Directories>,
    /// Keeps other processes from the run, until its executor gets it and while its directories are removed.
    pub(super) claim: Option<Claim>,
    /// At the run's end: why its directories are not for this process to remove.
    pub(super) left_alone: Option<String>,
}

/// A value that a program stores for a run.
pub trait Remembered: Clone + Serialize + DeserializeOwned + 'static {}

impl<M: Clone + Serialize + DeserializeOwned + 'static> Remembered for M {}

/// The state of a run before this process began or resumed it.
pub(super) struct Before<M> {
    /// The stored facts; `None` for a new run, and for a fork that the command `fork` did not make and that was never
    /// resumed.
    pub(super) known: Option<Box<Facts<M>>>,
    /// The number of the run's records.
    pub(super) records: usize,
    /// Whether there may be sessions of its agents.
    pub(super) has_sessions: bool,
}

impl<M: Remembered> RepositoryRun<M> {
    /// Begins a new run over the repository that the options name, or else the repository in which the program is started:
    /// creates the run's directory.
    ///
    /// # Errors
    ///
    /// [`CommandError`] if a run of that name exists or another process begins one, the work directory lies inside the repository,
    /// the result file cannot be written, or the branch does not exist. In that case nothing was done.
    pub async fn begin(
        mut location: Location,
        options: &RepositoryOptions,
        start: Start,
        own: M,
    ) -> Result<Self, CommandError> {
        if location.repo.is_none() {
            let found = Repository::discover(current_directory()?).map_err(|error| {
                CommandError::from(error).remedy("start the program in a git repository, or name one with --repo DIR")
            })?;
            let directory = found.working_tree().unwrap_or_else(|| found.common_directory());
            location.repo = Some(directory.to_owned());
        }
        Self::begin_at(location, options, start, own).await
    }

    /// Begins a new run over the repository that the options name, or else over a repository that the program makes in the run's
    /// directory, with the branch that the options name or `main`. That repository is removed when the run is over, unless the
    /// user keeps it.
    ///
    /// # Errors
    ///
    /// Those of [`begin`](Self::begin).
    pub async fn begin_at(
        location: Location,
        options: &RepositoryOptions,
        start: Start,
        own: M,
    ) -> Result<Self, CommandError> {
        let (agents, land_on) = (options.agent_options()?.unwrap_or_default(), options.landing_branch()?);
        Facts::<M>::forget_removed(&start).await?;
        // Before the claim, too: while another process executes the run, its name is taken all the same.
        refuse_taken(&start).await?;
        let claim = start.journal.claim(&start.run).await.map_err(CommandError::of_journal)?;
        refuse_taken(&start).await?;
        let result = result_file(options.result.as_deref(), None)?;
        let location = location.absolute()?;
        let (branch, base) = match &location.repo {
            Some(repository) => {
                let repository = Repository::open(repository)?;
                refuse_journal_at_root(&start, &repository)?;
                let (branch, base) = branch_of(&repository, location.branch.as_deref())?;
                (branch, Some(base))
            }
            None => (location.branch.clone().unwrap_or_else(|| "main".to_owned()), None),
        };
        let made = Directories::make(start.program, &location, &start.run)?;
        let facts = Facts {
            is_there: true,
            set_ups: 0,
            directory: made.own.clone(),
            removed: made.removed.clone(),
            target_directory: made.target.clone(),
            repository: made.repository.clone(),
            is_demonstration: location.repo.is_none(),
            branch,
            base,
            location,
            land_on,
            agents,
            keep: options.keep,
            result: result.as_ref().map(|file| file.path().to_owned()),
            own,
        };
        let run = Self {
            start,
            facts,
            result,
            named_script: options.script.clone(),
            before: Before { known: None, records: 0, has_sessions: false },
            made: Some(made),
            claim: Some(claim),
            left_alone: None,
        };
        run.make_agents_directory()?;
        Ok(run)
    }

    /// Resumes a run that another process began, or a fork, by its stored facts. Options that are given replace the stored ones.
    ///
    /// # Errors
    ///
    /// [`CommandError`] if another process executes the run, there are no stored facts, the repository is gone, or an option is
    /// invalid. In that case nothing was done.
    pub async fn resume(options: &RepositoryOptions, start: Start) -> Result<Self, CommandError> {
        let claim = start.journal.claim(&start.run).await.map_err(CommandError::of_journal)?;
        let known = Facts::<M>::find(&start)?;
        let mut facts = Facts::read(&start).await?;
        facts.require_repository(&start)?;
        if let Some(agents) = options.agent_options()? {
            facts.agents = agents;
        }
        facts.keep |= options.keep;
        facts.land_on = options.landing_branch()?.or(facts.land_on);
        let result = result_file(options.result.as_deref(), facts.result.take())?;
        let records = start.journal.load(&start.run).await.map_err(CommandError::of_journal)?.len();
        let made = if facts.is_there {
            // The work itself is in the repository.
            facts.make_again(&start)?;
            None
        } else {
            Some(facts.make_directories(start.program, &start.run)?)
        };
        facts.result = result.as_ref().map(|file| file.path().to_owned());
        let has_sessions = known.is_some() && file(&start).directory().exists();
        let before = Before { known: known.map(Box::new), records, has_sessions };
        let (named_script, claim, left_alone) = (options.script.clone(), Some(claim), None);
        let run = Self { start, facts, result, named_script, before, made, claim, left_alone };
        run.make_agents_directory()?;
        Ok(run)
    }

    fn make_agents_directory(&self) -> Result<(), CommandError> {
        let made = file(&self.start).make_directory();
        made.map_err(|error| CommandError::from(error).at(self.agents_directory().display().to_string()))
    }

    /// The start of the run, or of its continuation.
    pub fn start(&self) -> &Start {
        &self.start
    }

    /// The path of the repository.
    pub fn repository(&self) -> &Path {
        &self.facts.repository
    }

    /// Whether the program makes the repository for the run, and removes it with the run.
    pub fn is_demonstration(&self) -> bool {
        self.facts.is_demonstration
    }

    /// The branch at which the run begins.
    pub fn branch(&self) -> &str {
        &self.facts.branch
    }

    /// The branch that the run advances in place of [`branch`](Self::branch), if the user names one with `--land-on`.
    pub fn land_on(&self) -> Option<&str> {
        self.facts.land_on.as_deref()
    }

    /// The branch that the run advances.
    pub fn landing_branch(&self) -> &str {
        self.land_on().unwrap_or(self.branch())
    }

    /// The run's own directory.
    pub fn directory(&self) -> &Path {
        &self.facts.directory
    }

    /// The directory for the run's worktrees, inside the run's own directory.
    pub fn worktrees(&self) -> PathBuf {
        self.facts.directory.join("worktrees")
    }

    /// The directory for build artefacts.
    pub fn target_directory(&self) -> &Path {
        &self.facts.target_directory
    }

    /// The directory in which agents keep their sessions, beside the journal. Kept for as long as the run may be continued.
    pub fn agents_directory(&self) -> PathBuf {
        file(&self.start).directory()
    }

    /// Whether the user keeps the run's directories when the run is over.
    pub fn keeps(&self) -> bool {
        self.facts.keep
    }

    /// Whether the run has no directories that an earlier process has made.
    pub fn is_fresh(&self) -> bool {
        !self.before.known.as_ref().is_some_and(|known| known.is_there)
    }

    /// The program's own facts about the run.
    pub fn own(&self) -> &M {
        &self.facts.own
    }

    /// The program's own facts, which it can change until the run is [ready](Self::ready).
    pub fn own_mut(&mut self) -> &mut M {
        &mut self.facts.own
    }

    /// Stores the run's facts, once nothing more can keep the run from starting. `run` is the run to be executed: with the right to
    /// execute it, which this process has had since it began or resumed it.
    ///
    /// # Errors
    ///
    /// [`CommandError`] if the facts cannot be written.
    pub fn ready<G: Graph>(&mut self, run: Run<G>) -> Result<Run<G>, CommandError> {
        let file = file(&self.start);
        self.facts.set_ups += 1;
        match self.start.is_resumed {
            false => file.write_new(&self.facts)?,
            true => file.replace(&self.facts)?,
        }
        self.made = None;
        Ok(match self.claim.take() {
            Some(claim) => run.with_claim(claim),
            None => run,
        })
    }
}

/// Fails if there is a run of that name: one in the journal, or one that is ready to be executed.
async fn refuse_taken(start: &Start) -> Result<(), CommandError> {
    if start.journal.load(&start.run).await.map_err(CommandError::of_journal)?.is_empty() {
        return file(start).require_absent();
    }
    let taken = CommandError::new(format!("there is a run `{}` in the journal", start.run));
    Err(taken.at(start.directory.display().to_string()).remedy("choose another --run-id"))
}

/// Fails if the journal's own files lie beside those of the repository, among which everything lands.
fn refuse_journal_at_root(start: &Start, repository: &Repository) -> Result<(), CommandError> {
    let (journal, root) = (start.directory.canonicalize(), repository.working_tree().map(Path::canonicalize));
    if !journal.is_ok_and(|journal| root.is_some_and(|root| root.is_ok_and(|root| root == journal))) {
        return Ok(());
    }
    let error =
        CommandError::new("the journal's directory is the repository's working tree, in which agents' work lands");
    Err(error.at(start.directory.display().to_string()).remedy("name another directory with --journal DIR"))
}

/// The branch at which the run begins, and its commit.
fn branch_of(repository: &Repository, named: Option<&str>) -> Result<(String, CommitId), CommandError> {
    let branch = match named {
        Some(named) => BranchName::new(named).map_err(|error| CommandError::from(error).at("--branch"))?,
        None => repository.head()?.branch.ok_or_else(|| {
            CommandError::new("the repository's working tree is on no branch").remedy("name one with --branch BRANCH")
        })?,
    };
    match repository.branch_head(&branch)? {
        Some(head) => Ok((branch.to_string(), head)),
        None => Err(CommandError::new(format!("there is no branch `{branch}` with a commit"))
            .at(repository.working_tree().unwrap_or_else(|| repository.common_directory()).display().to_string())
            .remedy("commit something there, or name another with --branch BRANCH")),
    }
}

impl<M: Remembered> Drop for RepositoryRun<M> {
    fn drop(&mut self) {
        // The claim is dropped after this: the next process of that name makes the same directories.
        let Some(made) = self.made.take() else { return };
        let mut removed = marker::remove(&made.removed, self.start.program, &self.start.run);
        if !self.before.has_sessions {
            removed = removed.and(file(&self.start).clear());
        }
        if let Err(error) = removed {
            self.start.tell(&error.with_exit(Exit::Output));
        }
    }
}

impl<M: Remembered> std::fmt::Debug for RepositoryRun<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RepositoryRun")
            .field("start", &self.start)
            .field("directory", &self.facts.directory)
            .finish_non_exhaustive()
    }
}
