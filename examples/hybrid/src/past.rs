//! What a run has already done in another process, read from its journal.

use crate::places::SKELETON;
use crate::types::{HybridMemory, MutationAdversaryResult, NodeObservation, StackSpec};
use crate::witness;
use interlocking::prelude::*;
use interlocking::runtime::journal::account::account;
use interlocking::runtime::journal::{Encoded, Entry, Journal, JournalError, Record, RecordedPayload, ending};
use interlocking::worktree::{CommitId, ObjectIdError};
use serde::de::DeserializeOwned;

/// The facts that resuming a run needs.
#[derive(Debug)]
pub struct Past {
    /// The head of `main` when it started.
    pub base: CommitId,
    /// What it is to build.
    pub spec: StackSpec,
    /// Whether it goes on: a run that is over only reports its end again, unless it [is retried](Self::retried).
    pub goes_on: bool,
    /// The merged code, if there is any, the last repair included.
    pub merged: Option<CommitId>,
    /// Whether it may have places that another process has made; otherwise they [are made anew](Self::without_places).
    pub has_places: bool,
}

/// Why a run's past cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum PastError {
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The journal does not record how the run began.
    #[error("the journal of `{run}` does not say {what}: it is no run of this program, or of an older one")]
    Missing {
        /// The run.
        run: RunId,
        /// What is missing.
        what: &'static str,
    },
    /// Its task is not a specification.
    #[error("the specification of run `{run}` cannot be read: {reason}")]
    Spec {
        /// The run.
        run: RunId,
        /// The parser's words.
        reason: ReadError,
    },
    /// Its nodes' memory, or a report, does not fit this program.
    #[error("what `{run}` remembers cannot be read: {reason}; it is a run of another version of this program")]
    Memory {
        /// The run.
        run: RunId,
        /// The parser's words.
        reason: ReadError,
    },
    /// The head of `main` is not a commit.
    #[error(transparent)]
    Base(#[from] ObjectIdError),
}

impl Past {
    /// Reads it.
    ///
    /// # Errors
    ///
    /// [`PastError`]; nothing is changed.
    pub async fn read(journal: &dyn Journal, run: &RunId) -> Result<Self, PastError> {
        let missing = |what| PastError::Missing { run: run.clone(), what };
        let records = journal.load(run).await?;
        let goes_on = ending(&records).is_none();
        let first = records.first().map(|record| &record.entry);
        let Some(Entry::Started { input, workspaces, .. }) = first else { return Err(missing("how it began")) };
        let at_first = workspaces.iter().find(|commit| commit.workspace == SKELETON);
        let base = at_first.ok_or_else(|| missing("where the branch was"))?.id.parse()?;
        let text = text(journal, run, input.clone()).await?.ok_or_else(|| missing("what it is to build"))?;
        let spec = read(&text).map_err(|reason| PastError::Spec { run: run.clone(), reason })?;
        let merged = memory_in(journal, run, &records).await?.merge_commit;
        Ok(Self { base, spec, goes_on, merged, has_places: true })
    }

    /// Marks a failed run as [retried](interlocking::runtime::Run::retry): it goes on at the node that failed.
    #[must_use]
    pub fn retried(mut self) -> Self {
        self.goes_on = true;
        self
    }

    /// Marks a run that has no places here, because they were removed when it was over, or because it is a
    /// [fork](interlocking::runtime::journal::fork) that was not resumed yet. They are made at the commits in its journal, under
    /// names that nothing else may have.
    #[must_use]
    pub fn without_places(mut self) -> Self {
        self.has_places = false;
        self
    }
}

/// What its nodes did.
///
/// # Errors
///
/// [`PastError`] if it cannot be read.
pub(crate) async fn observations(journal: &dyn Journal, run: &RunId) -> Result<Vec<NodeObservation>, PastError> {
    Ok(witness::from_journal(&account(journal, run).await?))
}

/// The memory after the last accepted outcome; an empty memory if no outcome has changed it yet.
///
/// # Errors
///
/// [`PastError`] if it cannot be read.
pub(crate) async fn last_memory(journal: &dyn Journal, run: &RunId) -> Result<HybridMemory, PastError> {
    memory_in(journal, run, &journal.load(run).await?).await
}

/// What the mutation adversary beside the run reported last, or why it failed; `None` if it has not reported.
///
/// # Errors
///
/// [`PastError`] if it cannot be read.
pub(crate) async fn last_report(
    journal: &dyn Journal,
    run: &RunId,
) -> Result<Option<Result<MutationAdversaryResult, Box<Failure>>>, PastError> {
    let records = journal.load(run).await?;
    let reports = records.into_iter().filter_map(|record| match record.entry {
        Entry::Report { by, report, failure, .. } if by.node == "mutation_advisory" => Some((report, failure)),
        _ => None,
    });
    match reports.last() {
        Some((_, Some(failure))) => Ok(Some(Err(Box::new(failure)))),
        Some((Some(report), None)) => {
            let missing = PastError::Missing { run: run.clone(), what: "what was reported" };
            let text = text(journal, run, report).await?.ok_or(missing)?;
            let found = read(&text).map_err(|reason| PastError::Memory { run: run.clone(), reason })?;
            Ok(Some(Ok(found)))
        }
        _ => Ok(None),
    }
}

async fn memory_in(journal: &dyn Journal, run: &RunId, records: &[Record]) -> Result<HybridMemory, PastError> {
    let missing = |what| PastError::Missing { run: run.clone(), what };
    if records.is_empty() {
        return Err(missing("how it began"));
    }
    let mut memories = records.iter().rev().filter_map(|record| match &record.entry {
        Entry::Outcome(outcome) => outcome.memory.as_ref(),
        _ => None,
    });
    let Some(memory) = memories.next() else { return Ok(HybridMemory::default()) };
    let text = text(journal, run, memory.value.clone()).await?.ok_or_else(|| missing("what its nodes remember"))?;
    read(&text).map_err(|reason| PastError::Memory { run: run.clone(), reason })
}

/// Says which field cannot be read, and why.
pub type ReadError = serde_path_to_error::Error<serde_json::Error>;

/// Reads a payload as the runtime does, so that the code which reads its type is compiled once.
fn read<T: DeserializeOwned>(json: &str) -> Result<T, ReadError> {
    serde_path_to_error::deserialize(&mut serde_json::Deserializer::from_str(json))
}

async fn text(journal: &dyn Journal, run: &RunId, payload: RecordedPayload) -> Result<Option<Encoded>, JournalError> {
    match payload {
        RecordedPayload::Json(text) => Ok(Some(text)),
        RecordedPayload::Stored(digest) => Ok(journal.fetch(run, &[digest]).await?.pop()),
    }
}
