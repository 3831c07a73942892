//! Letters to runs, and waiting for them.

use crate::connection;
use crate::failure::Trouble;
use crate::reader::{Reader, closed};
use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::{JournalError, Letter, Posted};
use rusqlite::{Connection, params};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
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
    /// What tasks wait for. Each task keeps its entry alive.
    awaited: Vec<Weak<Awaited>>,
    /// Whether a task has begun to wait since the last poll. A letter may have come between that poll and the task's read.
    has_new: bool,
    /// Whether the watch thread runs.
    is_running: bool,
    is_closed: bool,
    thread: Option<JoinHandle<()>>,
}

/// The letter that a task waits for: the first one to `run` whose number is above `after`.
#[derive(Debug)]
pub(super) struct Awaited {
    pub(super) run: RunId,
    pub(super) after: u64,
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
            waiting.get_or_insert_with(|| self.wait(reader, Awaited { run: run.clone(), after }));
            if posted.changed().await.is_err() {
                return Err(closed());
            }
        }
    }

    /// Lets the watch thread look for the letter, until what is returned is dropped.
    fn wait(&self, reader: &Arc<Reader>, awaited: Awaited) -> Arc<Awaited> {
        let awaited = Arc::new(awaited);
        let mut state = self.watch.state();
        state.awaited.push(Arc::downgrade(&awaited));
        state.has_new = true;
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
        awaited
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
    let mut state = watch.state();
    loop {
        state.awaited.retain(|awaited| awaited.strong_count() > 0);
        if state.awaited.is_empty() || state.is_closed {
            state.is_running = false;
            return;
        }
        let awaited: Vec<_> = state.awaited.iter().filter_map(Weak::upgrade).collect();
        let has_new = std::mem::take(&mut state.has_new);
        drop(state);
        let opened = watched.take().map_or_else(|| Watched::open(reader), Ok);
        match opened.and_then(|opened| watched.insert(opened).has_any(&awaited, has_new)) {
            Ok(true) => posted.send_modify(|posts| *posts += 1),
            Ok(false) => {}
            // A waiting task then reads the database itself, meets the same error, and returns it.
            Err(trouble) => {
                tracing::warn!(?trouble, place, "the journal cannot be checked for new letters");
                posted.send_modify(|posts| *posts += 1);
            }
        }
        drop(awaited);
        state = watch.pause();
    }
}

/// The database, and its version at the last look.
pub(super) struct Watched {
    connection: Connection,
    /// `PRAGMA data_version`: another value says that another connection has written.
    version: Option<i64>,
}

impl Watched {
    pub(super) fn open(reader: &Reader) -> Result<Self, Trouble> {
        let connection = connection::open(&reader.directory.database(), reader.directory.place())?;
        Ok(Self { connection, version: None })
    }

    /// Whether one of the letters is there. Where nothing was written since the last look, and no letter is newly awaited, that is
    /// not looked up again.
    pub(super) fn has_any(&mut self, awaited: &[Arc<Awaited>], has_new: bool) -> Result<bool, Trouble> {
        let version = self.connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        if self.version.replace(version) == Some(version) && !has_new {
            return Ok(false);
        }
        let mut statement = self.connection.prepare_cached(
            "SELECT EXISTS(SELECT 1 FROM letter WHERE run=(SELECT id FROM run WHERE name=?) AND number>?)",
        )?;
        for Awaited { run, after } in awaited.iter().map(AsRef::as_ref) {
            let after = i64::try_from(*after).unwrap_or(i64::MAX);
            if statement.query_row(params![run.as_str(), after], |row| row.get(0))? {
                return Ok(true);
            }
        }
        Ok(false)
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
