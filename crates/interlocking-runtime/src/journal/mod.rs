//! The journal, which records runs: one record per node outcome, appended before any successor starts.
//!
//! The records are enough to rebuild the run's state: [`Run::resume`](crate::Run::resume) replays them in order through a new
//! [`Frontier`](interlocking_core::frontier::Frontier).
//!
//! - [`record`]: the entries, [`node_outcome`]: what one execution did, and [`payload`]: their payloads, by value or by digest.
//! - [`letter`]: what other programs send to a run.
//! - [`error`]: errors of a journal.
//! - [`MemoryJournal`]: a journal that lives as long as the process.
//!
//! Operations on runs, which work with any journal and without the graph:
//!
//! - [`account`]: shows a run and its child runs as a tree, to people and programs.
//! - [`answer`]: answers an open question.
//! - [`fork`]: creates a new run from a recorded point of another run.
//! - [`stop`]: cancels a run, whether or not it is being executed.

pub(crate) mod question;
pub(crate) mod record_writer;
mod run_summary;
pub(crate) mod named_payloads;
pub(crate) mod replay;
pub(crate) mod replay_error;
pub(crate) mod rules;
pub(crate) mod stored_token;

pub mod record;
pub mod node_outcome;
pub mod payload;
pub mod letter;
pub mod error;
mod memory;
pub(crate) mod standing;
pub(crate) mod retry;
pub(crate) mod killed;
pub mod account;
pub mod answer;
pub mod fork;
pub mod stop;

use async_trait::async_trait;
use interlocking_core::run_id::RunId;

pub use error::JournalError;
pub use letter::{Letter, LetterBody, Posted};
pub use memory::MemoryJournal;
pub use node_outcome::{AddedItems, ItemRecord, MemoryRecord, MessageRecord, NodeOutcome, TokenRecord};
pub use payload::{Digest, Encoded, RecordedPayload};
pub use record::{By, Entry, Origin, Record, ending};
pub use run_summary::RunSummary;

/// Stores the records of runs.
///
/// One executor at a time writes the records of a run: the one that has the run's [`Claim`]. Any program may send letters.
///
/// [`Run::with_journal`](crate::Run::with_journal) gives a run its journal. [`account`](account::account()) reads a run from a
/// journal:
///
/// ```
/// use interlocking::prelude::*;
/// use interlocking::runtime::MemoryJournal;
/// use interlocking::runtime::journal::account::account;
/// use std::sync::Arc;
///
/// #[derive(Graph, Default)]
/// #[graph(output = u32)]
/// struct Doubling {
///     #[node(entry, input = u32, goto(double, exit), attempts = 5)]
///     double: LogicNode<Double>,
/// }
///
/// #[derive(Default)]
/// struct Double;
/// impl LogicHandler<doubling::double> for Double {
///     async fn run(&self, number: u32, cx: &mut Cx<'_, doubling::double>) -> Route<doubling::double> {
///         if number < 100 { goto!(cx, self, number * 2) } else { goto!(cx, doubling::exit, number) }
///     }
/// }
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let journal = Arc::new(MemoryJournal::new());
///     let run = || Run::new(Doubling::default()).with_journal(journal.clone());
///     run().start(30).await?;
///
///     let told = account(&*journal, &RunId::DEFAULT).await?;
///     assert_eq!(told.executions.len(), 3);
///     // Resuming it again returns the same output: nothing is done twice.
///     assert_eq!(run().resume().await?.outcome.finished(), Some(120));
///     Ok(())
/// }
/// ```
#[async_trait]
pub trait Journal: Send + Sync {
    /// Makes the caller the only executor of `run`, until the claim is dropped or its process ends, even by a crash.
    ///
    /// # Errors
    ///
    /// [`JournalError::Held`] while another executor has the run.
    async fn claim(&self, run: &RunId) -> Result<Claim, JournalError>;

    /// Whether a run that is recorded here can be resumed by another process than the one that executed it. Then the executor may
    /// have been killed, so [`Run::resume`](crate::Run::resume) looks for programs that it has left.
    fn outlives_its_process(&self) -> bool {
        true
    }

    /// Appends a record atomically and durably: once this has returned, the record is not lost.
    ///
    /// # Errors
    ///
    /// [`JournalError`]; the run then stops with its whole tree, as [`Outcome::JournalFailed`](crate::Outcome::JournalFailed),
    /// and no successor starts.
    async fn append(&self, record: Record) -> Result<(), JournalError>;

    /// The records of a run, in order; empty if there are none. Payloads may be returned by digest: see [`fetch`](Self::fetch).
    ///
    /// # Errors
    ///
    /// [`JournalError`] where they cannot be read.
    async fn load(&self, run: &RunId) -> Result<Vec<Record>, JournalError>;

    /// The payloads that records of `run` name, in the order of `digests`.
    ///
    /// # Errors
    ///
    /// [`JournalError::PayloadMissing`] or [`JournalError::PayloadTampered`] for the first payload that cannot be read.
    async fn fetch(&self, run: &RunId, digests: &[Digest]) -> Result<Vec<Encoded>, JournalError>;

    /// A summary of each run, the oldest first.
    ///
    /// # Errors
    ///
    /// [`JournalError`] where the runs cannot be read.
    async fn runs(&self) -> Result<Vec<RunSummary>, JournalError>;

    /// A summary of each child run of `run`.
    ///
    /// # Errors
    ///
    /// [`JournalError`] where the runs cannot be read.
    async fn children(&self, run: &RunId) -> Result<Vec<RunSummary>, JournalError> {
        let is_child =
            |summary: &RunSummary| matches!(&summary.origin, Some(Origin::Child { parent, .. }) if parent == run);
        Ok(self.runs().await?.into_iter().filter(is_child).collect())
    }

    /// Sends a letter to a run, and returns the letter's number. This needs no claim. The letters of a run are numbered in the
    /// order in which they came, from 1.
    ///
    /// # Errors
    ///
    /// [`JournalError::NoRun`] where there is no such run, and [`JournalError::AlreadyPosted`] where the run already has a letter
    /// with the same key.
    async fn post(&self, run: &RunId, letter: Letter) -> Result<u64, JournalError>;

    /// The first letter to `run` whose number is above `after`; waits until there is one.
    ///
    /// # Errors
    ///
    /// [`JournalError`] where the letters cannot be read.
    async fn next_letter(&self, run: &RunId, after: u64) -> Result<Posted, JournalError>;

    /// The letters to `run` whose numbers are above `after`, without waiting.
    ///
    /// # Errors
    ///
    /// [`JournalError`] where the letters cannot be read.
    async fn letters(&self, run: &RunId, after: u64) -> Result<Vec<Posted>, JournalError>;

    /// Removes a run and all its descendants (its child runs, their child runs and so on) with their letters, and the payloads
    /// that no other run names. A child run's name follows from its parent's, so a child run that stayed would be continued by a
    /// later run with the parent's name. Forks of the removed runs stay, and so do the messages that the removed runs [have
    /// sent](Letter::sender) to others, but without their keys: a later run with the same name sends its own.
    ///
    /// # Errors
    ///
    /// [`JournalError::Held`] while an executor has one of these runs, and [`JournalError::NoRun`] where there is no such run.
    /// Nothing is removed then.
    async fn remove(&self, run: &RunId) -> Result<(), JournalError>;
}

/// The right to append to a run. Dropping it releases the run.
pub struct Claim(Option<Box<dyn FnOnce() + Send + Sync>>);

impl Claim {
    /// A claim that calls `release` when it is dropped. `release` must not block.
    pub fn new(release: impl FnOnce() + Send + Sync + 'static) -> Self {
        Self(Some(Box::new(release)))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if let Some(release) = self.0.take() {
            release();
        }
    }
}

impl std::fmt::Debug for Claim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Claim")
    }
}
