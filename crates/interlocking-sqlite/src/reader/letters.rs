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

/// How often one looks whether another process has written.
const INTERVAL: Duration = Duration::from_millis(200);

/// Waits for letters: at once for those of this process, and by looking for those of others, on one thread for all runs
/// and only while somebody waits.
#[derive(Debug)]
pub(crate) struct Post {
    /// Told of every letter that was posted here, and of every change of the database while somebody waits.
    pub(crate) posted: Arc<watch::Sender<u64>>,
    watch: Arc<Watch>,
}

#[derive(Debug, Default)]
struct Watch {
    state: Mutex<State>,
    closed: Condvar,
}

/// Who waits, and who keeps the watch.
#[derive(Debug, Default)]
struct State {
    waiting: usize,
    is_kept: bool,
    is_closed: bool,
    thread: Option<JoinHandle<()>>,
}

impl Post {
    pub(crate) fn new() -> Self {
        Self { posted: Arc::new(watch::channel(0).0), watch: Arc::default() }
    }

    /// The first letter after `after`.
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
            // The first look of the watch tells of a change, so what came between is not missed.
            waiting.get_or_insert_with(|| self.wait(reader));
            if posted.changed().await.is_err() {
                return Err(closed());
            }
        }
    }

    /// Has the watch kept, until this is dropped.
    fn wait(&self, reader: &Arc<Reader>) -> Waiting {
        let mut state = self.watch.state();
        state.waiting += 1;
        if !std::mem::replace(&mut state.is_kept, true) {
            let (reader, posted, watch) = (Arc::clone(reader), Arc::clone(&self.posted), Arc::clone(&self.watch));
            let keep = move || keep_watch(&reader, &posted, &watch);
            match thread::Builder::new().name("journal letters".to_owned()).spawn(keep) {
                // The one before has nothing left to do but to end.
                Ok(thread) => end(state.thread.replace(thread)),
                Err(error) => {
                    tracing::warn!(%error, "letters of other processes are not seen until the next one waits");
                    state.is_kept = false;
                }
            }
        }
        drop(state);
        Waiting(Arc::clone(&self.watch))
    }

    /// Ends the watch, and with it its connection.
    pub(crate) fn close(&self) {
        let mut state = self.watch.state();
        state.is_closed = true;
        let thread = state.thread.take();
        drop(state);
        self.watch.closed.notify_all();
        end(thread);
    }
}

fn end(thread: Option<JoinHandle<()>>) {
    if let Some(thread) = thread
        && thread.join().is_err()
    {
        tracing::warn!("the watch for letters failed");
    }
}

/// One that waits.
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

    /// Waits for the next look; not if the journal is closed.
    fn pause(&self) -> MutexGuard<'_, State> {
        let waited = self.closed.wait_timeout_while(self.state(), INTERVAL, |state| !state.is_closed);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Tells who waits of every change, until nobody does or the journal is closed.
fn keep_watch(reader: &Reader, posted: &watch::Sender<u64>, watch: &Watch) {
    let place = reader.directory.place();
    let mut watched: Option<(Connection, i64)> = None;
    loop {
        let looked = match &watched {
            Some((connection, _)) => version(connection),
            None => connection::open(&reader.directory.database(), place).and_then(|connection| {
                let version = version(&connection)?;
                watched = Some((connection, version - 1));
                Ok(version)
            }),
        };
        match (looked, &mut watched) {
            (Ok(now), Some((_, seen))) if *seen != now => {
                *seen = now;
                posted.send_modify(|posts| *posts += 1);
            }
            (Ok(_), _) => {}
            // Who waits will see the same when looking, and tell.
            (Err(trouble), _) => {
                tracing::warn!(?trouble, place, "the watch for letters cannot look");
                posted.send_modify(|posts| *posts += 1);
            }
        }
        let mut state = watch.pause();
        if state.waiting == 0 || state.is_closed {
            state.is_kept = false;
            return;
        }
    }
}

fn version(connection: &Connection) -> Result<i64, Trouble> {
    Ok(connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?)
}

impl Reader {
    /// At most `most` letters after `after`.
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
