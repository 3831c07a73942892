//! Letters to runs, and waiting for them.

use crate::connection;
use crate::failure::Trouble;
use crate::reader::{Reader, closed};
use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::{JournalError, Letter, Posted};
use rusqlite::{Connection, params};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::sync::watch;

/// How often the watch thread polls the database for changes by other processes.
const INTERVAL: Duration = Duration::from_millis(200);

/// Waits for letters. A letter that this process posts wakes the waiting task at once. Letters of other processes are found by
/// polling, on one thread for all runs, which runs only while a task waits.
#[derive(Debug)]
pub(crate) struct Post {
    /// Notified of every letter that this journal posts, and of all others while the watch thread runs.
    pub(crate) posted: Arc<watch::Sender<u64>>,
    watch: Arc<Watch>,
}

#[derive(Debug, Default)]
struct Watch {
    state: Mutex<State>,
    closed: Condvar,
}

/// The state of the watch thread.
#[derive(Debug, Default)]
struct State {
    /// How many tasks wait for a letter.
    waiting: usize,
    /// Whether the watch thread runs.
    is_running: bool,
    is_closed: bool,
    thread: Option<JoinHandle<()>>,
}

impl Post {
    pub(crate) fn new() -> Self {
        Self { posted: Arc::new(watch::channel(0).0), watch: Arc::default() }
    }

    /// The first letter whose number is above `after`; waits until there is one.
    pub(crate) async fn next(&self, reader: &Arc<Reader>, run: &RunId, after: u64) -> Result<Posted, JournalError> {
        let mut posted = self.posted.subscribe();
        let mut waiting = None;
        loop {
            posted.mark_unchanged();
            let this = run.clone();
            let letters = reader.read(move |reader, connection| reader.letters(connection, &this, after, 1)).await?;
            if let Some(first) = letters.into_iter().next() {
                return Ok(first);
            }
            // The first poll of a new watch thread always notifies, so a letter that came since the read is not missed.
            waiting.get_or_insert_with(|| self.wait(reader));
            if posted.changed().await.is_err() {
                return Err(closed());
            }
        }
    }

    /// Keeps the watch thread running until the returned guard is dropped.
    fn wait(&self, reader: &Arc<Reader>) -> Waiting {
        let mut state = self.watch.state();
        state.waiting += 1;
        if !std::mem::replace(&mut state.is_running, true) {
            let (reader, posted, watch) = (Arc::clone(reader), Arc::clone(&self.posted), Arc::clone(&self.watch));
            let keep = move || keep_watch(&reader, &posted, &watch);
            match thread::Builder::new().name("journal letters".to_owned()).spawn(keep) {
                // The previous thread has cleared `is_running`, and only has to return.
                Ok(thread) => join(state.thread.replace(thread)),
                Err(error) => {
                    tracing::warn!(%error, "the thread that watches for letters of other processes cannot be started");
                    state.is_running = false;
                }
            }
        }
        drop(state);
        Waiting(Arc::clone(&self.watch))
    }

    /// Ends the watch thread, which closes its connection.
    pub(crate) fn close(&self) {
        let mut state = self.watch.state();
        state.is_closed = true;
        let thread = state.thread.take();
        drop(state);
        self.watch.closed.notify_all();
        join(thread);
    }
}

fn join(thread: Option<JoinHandle<()>>) {
    if let Some(thread) = thread
        && thread.join().is_err()
    {
        tracing::warn!("the thread that watches for letters panicked");
    }
}

/// Counts a task that waits for a letter, until this is dropped.
struct Waiting(Arc<Watch>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.state().waiting -= 1;
    }
}

impl Watch {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the next poll is due, or until the journal is closed.
    fn pause(&self) -> MutexGuard<'_, State> {
        let waited = self.closed.wait_timeout_while(self.state(), INTERVAL, |state| !state.is_closed);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Notifies waiting tasks of new letters, until no task waits or the journal is closed.
fn keep_watch(reader: &Reader, posted: &watch::Sender<u64>, watch: &Watch) {
    let place = reader.directory.place();
    let mut watched: Option<Watched> = None;
    loop {
        let opened = watched.take().map_or_else(|| Watched::open(reader), Ok);
        match opened.and_then(|opened| watched.insert(opened).may_have_new_letters()) {
            Ok(true) => posted.send_modify(|posts| *posts += 1),
            Ok(false) => {}
            // A waiting task then reads the database itself, meets the same error, and returns it.
            Err(trouble) => {
                tracing::warn!(?trouble, place, "the journal cannot be checked for new letters");
                posted.send_modify(|posts| *posts += 1);
            }
        }
        let mut state = watch.pause();
        if state.waiting == 0 || state.is_closed {
            state.is_running = false;
            return;
        }
    }
}

/// The database, and what of it was there at the last look.
pub(super) struct Watched {
    connection: Connection,
    /// `PRAGMA data_version`: another value says that another connection has written.
    version: Option<i64>,
    /// How often runs were removed, and how many letters there are. Letters are only removed with their run, so where the first
    /// number is the same, a letter has come exactly if the second one is not.
    letters: Option<(i64, i64)>,
}

impl Watched {
    pub(super) fn open(reader: &Reader) -> Result<Self, Trouble> {
        let connection = connection::open(&reader.directory.database(), reader.directory.place())?;
        Ok(Self { connection, version: None, letters: None })
    }

    /// Whether a letter may have come since the last look. At the first look, and after runs were removed, that is not known.
    pub(super) fn may_have_new_letters(&mut self) -> Result<bool, Trouble> {
        let version = self.connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        if self.version == Some(version) {
            return Ok(false);
        }
        let letters: (i64, i64) = self
            .connection
            .prepare_cached("SELECT sweeps,(SELECT count(*) FROM letter) FROM journal")?
            .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let may_have = self.letters != Some(letters);
        (self.version, self.letters) = (Some(version), Some(letters));
        Ok(may_have)
    }
}

impl Reader {
    /// At most `most` letters whose numbers are above `after`; all of them if `most` is negative.
    pub(crate) fn letters(
        &self,
        connection: &Connection,
        run: &RunId,
        after: u64,
        most: i64,
    ) -> Result<Vec<Posted>, Trouble> {
        let mut statement = connection.prepare_cached(
            "SELECT number,key,body FROM letter WHERE run=(SELECT id FROM run WHERE name=?) AND number>? \
             ORDER BY number LIMIT ?",
        )?;
        let mut rows = statement.query(params![run.as_str(), i64::try_from(after).unwrap_or(i64::MAX), most])?;
        let mut letters = Vec::new();
        while let Some(row) = rows.next()? {
            let (number, body) =
                (row.get::<_, i64>(0)? as u64, row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?);
            let body = serde_json::from_str(body)
                .map_err(|error| Trouble::Damaged(format!("letter {number} to run `{run}` cannot be read: {error}")))?;
            letters.push(Posted { number, letter: Letter { key: row.get(1)?, body } });
        }
        Ok(letters)
    }
}
