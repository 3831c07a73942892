//! Letters to runs, and waiting for them.

use crate::connection;
use crate::failure::Trouble;
use crate::reader::Reader;
use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::{JournalError, Letter, Posted};
use rusqlite::{Connection, params};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
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
    watch: Arc<Mutex<Watch>>,
}

/// Who waits, and whether the watch is kept.
#[derive(Debug, Default)]
struct Watch {
    waiting: usize,
    is_kept: bool,
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
                return Err(JournalError::Storage { reason: "the journal was closed; open it again".to_owned() });
            }
        }
    }

    /// Has the watch kept, until this is dropped.
    fn wait(&self, reader: &Arc<Reader>) -> Waiting {
        let mut watch = lock(&self.watch);
        watch.waiting += 1;
        if !std::mem::replace(&mut watch.is_kept, true) {
            let (reader, posted, shared) = (Arc::clone(reader), Arc::clone(&self.posted), Arc::clone(&self.watch));
            let keep = move || keep_watch(&reader, &posted, &shared);
            if let Err(error) = thread::Builder::new().name("journal letters".to_owned()).spawn(keep) {
                tracing::warn!(%error, "letters of other processes are not seen until the next one waits");
                watch.is_kept = false;
            }
        }
        Waiting(Arc::clone(&self.watch))
    }
}

/// One that waits.
struct Waiting(Arc<Mutex<Watch>>);

impl Drop for Waiting {
    fn drop(&mut self) {
        lock(&self.0).waiting -= 1;
    }
}

fn lock(watch: &Mutex<Watch>) -> MutexGuard<'_, Watch> {
    watch.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tells who waits of every change, until nobody does.
fn keep_watch(reader: &Reader, posted: &watch::Sender<u64>, watch: &Mutex<Watch>) {
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
        thread::sleep(INTERVAL);
        let mut watch = lock(watch);
        if watch.waiting == 0 {
            watch.is_kept = false;
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
