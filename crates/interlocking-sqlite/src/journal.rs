//! The journal.

use crate::directory::Directory;
use crate::options::Options;
use crate::payloads::parts::Part;
use crate::prepared::Prepared;
use crate::reader::letters::Post;
use crate::reader::{Reader, closed};
use crate::retention::{Pruned, Retention};
use crate::stats::{Counters, Stats};
use crate::writer::Writer;
use crate::writer::job::{Job, Reply, Request};
use async_trait::async_trait;
use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::{
    Claim, Digest, Encoded, Journal, JournalError, Letter, Posted, Record, RunSummary,
};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};
use tokio::sync::oneshot;

/// From this many bytes of payloads on, a record is prepared on a thread that may block.
const LONG: usize = 256 << 10;

/// A journal in a directory, which outlives its process. The [crate](crate) documentation has an overview.
///
/// Several journals may be open on one directory, in one process or in several. Dropping the journal and its last claim closes
/// it, which waits for reads and writes that are under way. SQLite then removes the log beside the database, unless another
/// connection has it open.
#[derive(Debug)]
pub struct SqliteJournal {
    reader: Arc<Reader>,
    post: Post,
    counters: Arc<Counters>,
    /// The number of the next claim.
    claims: AtomicU64,
    requests: Arc<Requests>,
}

/// The channel to the writer thread, shared by the journal and its claims. Dropping the last reference waits until that thread
/// has ended.
#[derive(Debug)]
struct Requests {
    /// `None` only during the drop.
    sender: Option<Sender<Request>>,
    writer: Option<JoinHandle<()>>,
}

impl Options {
    /// Opens the journal in `directory`, and creates the directory and the journal where they are missing. This blocks on file
    /// operations.
    ///
    /// # Errors
    ///
    /// [`JournalError::ReadOnly`] where the directory cannot be created or written, [`JournalError::Damaged`] where its database
    /// is not a journal, [`JournalError::NewerLayout`] where a newer program wrote it.
    pub fn open(self, directory: impl AsRef<Path>) -> Result<SqliteJournal, JournalError> {
        SqliteJournal::open_with(directory.as_ref(), self)
    }
}

impl SqliteJournal {
    /// Opens the journal in `directory` with the default [options](Options), and creates the directory and the journal where they
    /// are missing.
    ///
    /// # Errors
    ///
    /// As [`Options::open`].
    pub fn open(directory: impl AsRef<Path>) -> Result<Self, JournalError> {
        Self::options().open(directory)
    }

    /// The default options, to be changed and then [opened](Options::open).
    pub fn options() -> Options {
        Options::default()
    }

    pub(crate) fn open_with(directory: &Path, options: Options) -> Result<Self, JournalError> {
        let (directory, holder) = Directory::open(directory)?;
        let (post, counters) = (Post::new(), Arc::new(Counters::default()));
        let writer = Writer::open(directory.clone(), holder, options, post.posted.clone(), counters.clone());
        let writer = writer.map_err(|trouble| trouble.at(directory.place()))?;
        let (requests, received) = mpsc::channel();
        let thread = thread::Builder::new().name("journal".to_owned());
        let writer = thread.spawn(move || writer.work(received)).map_err(|error| JournalError::Storage {
            reason: format!("no thread can be had to write the journal: {error}"),
        })?;
        let reader = Arc::new(Reader::new(directory, counters.clone()));
        let requests = Arc::new(Requests { sender: Some(requests), writer: Some(writer) });
        Ok(Self { reader, post, counters, claims: AtomicU64::new(0), requests })
    }

    /// Removes the runs that `retention` selects, with their letters and the payloads that no other run needs. The freed space
    /// is reused; the file does not become smaller.
    ///
    /// # Errors
    ///
    /// [`JournalError::ClockBehind`] where `retention` has an age and the clock is behind the time of the newest record.
    pub async fn prune(&self, retention: Retention) -> Result<Pruned, JournalError> {
        match self.ask(Job::Prune(retention)).await? {
            Reply::Pruned(pruned) => Ok(pruned),
            _ => Ok(Pruned::default()),
        }
    }

    /// The runs that [`prune`](Self::prune) would remove now. Nothing is removed, and [`Pruned::objects`] is 0.
    ///
    /// # Errors
    ///
    /// As [`prune`](Self::prune).
    pub async fn would_prune(&self, retention: Retention) -> Result<Pruned, JournalError> {
        match self.ask(Job::WouldPrune(retention)).await? {
            Reply::Pruned(pruned) => Ok(pruned),
            _ => Ok(Pruned::default()),
        }
    }

    /// The parts of a large payload. Each part is itself a payload: [`fetch`](Journal::fetch) reads one without the others
    /// (V3-148). Empty where the payload is stored whole, as every payload below a mebibyte is.
    ///
    /// # Errors
    ///
    /// [`JournalError::PayloadMissing`] and [`JournalError::PayloadTampered`].
    pub async fn parts(&self, run: &RunId, digest: Digest) -> Result<Vec<Part>, JournalError> {
        let run = run.clone();
        self.reader.read(move |reader, connection| reader.parts(connection, &run, &digest)).await
    }

    /// Checks the whole database, and returns a description of each problem; empty where there is none. This reads everything.
    ///
    /// # Errors
    ///
    /// [`JournalError`] where the database cannot be read at all.
    pub async fn check(&self) -> Result<Vec<String>, JournalError> {
        self.reader.read(Reader::check).await
    }

    /// What this journal has done since it was opened.
    pub fn stats(&self) -> Stats {
        self.counters.now()
    }

    async fn ask(&self, job: Job) -> Result<Reply, JournalError> {
        let (reply, answer) = oneshot::channel();
        self.requests.send(Request { job, reply: Some(reply) });
        // The sender is dropped where the writer thread has ended.
        answer.await.map_err(|_| closed())?
    }
}

#[async_trait]
impl Journal for SqliteJournal {
    async fn claim(&self, run: &RunId) -> Result<Claim, JournalError> {
        let number = self.claims.fetch_add(1, Ordering::Relaxed);
        let (requests, held) = (self.requests.clone(), run.clone());
        // Created before the request, so that a caller that stops waiting releases a claim that is granted later.
        let claim = Claim::new(move || requests.send(Request { job: Job::Release(held, number), reply: None }));
        self.ask(Job::Claim(run.clone(), number)).await?;
        Ok(claim)
    }

    async fn append(&self, mut record: Record) -> Result<(), JournalError> {
        let prepared = if Prepared::size(&mut record) < LONG {
            Prepared::of(record)
        } else {
            let prepared = tokio::task::spawn_blocking(move || Prepared::of(record)).await;
            prepared
                .map_err(|error| JournalError::Storage { reason: format!("the record was not prepared: {error}") })?
        };
        self.ask(Job::Append(Box::new(prepared?))).await.map(|_| ())
    }

    async fn load(&self, run: &RunId) -> Result<Vec<Record>, JournalError> {
        let run = run.clone();
        self.reader.read(move |reader, connection| reader.load(connection, &run)).await
    }

    async fn fetch(&self, run: &RunId, digests: &[Digest]) -> Result<Vec<Encoded>, JournalError> {
        let (run, digests) = (run.clone(), digests.to_vec());
        self.reader.read(move |reader, connection| reader.fetch(connection, &run, &digests)).await
    }

    async fn runs(&self) -> Result<Vec<RunSummary>, JournalError> {
        self.reader.read(Reader::runs).await
    }

    async fn post(&self, run: &RunId, letter: Letter) -> Result<u64, JournalError> {
        match self.ask(Job::Post(run.clone(), letter)).await? {
            Reply::Number(number) => Ok(number),
            _ => Ok(0),
        }
    }

    async fn next_letter(&self, run: &RunId, after: u64) -> Result<Posted, JournalError> {
        self.post.next(&self.reader, run, after).await
    }

    async fn letters(&self, run: &RunId, after: u64) -> Result<Vec<Posted>, JournalError> {
        let run = run.clone();
        self.reader.read(move |reader, connection| reader.letters(connection, &run, after, -1)).await
    }

    async fn remove(&self, run: &RunId) -> Result<(), JournalError> {
        self.ask(Job::Remove(run.clone())).await.map(|_| ())
    }
}

impl Requests {
    fn send(&self, request: Request) {
        if let Some(sender) = &self.sender
            && sender.send(request).is_err()
        {
            tracing::trace!("the journal's thread has ended");
        }
    }
}

impl Drop for SqliteJournal {
    fn drop(&mut self) {
        self.post.close();
        self.reader.close();
    }
}

impl Drop for Requests {
    fn drop(&mut self) {
        // The writer thread ends when its channel has no sender.
        self.sender.take();
        if let Some(writer) = self.writer.take()
            && writer.join().is_err()
        {
            tracing::warn!("the journal's thread failed");
        }
    }
}
