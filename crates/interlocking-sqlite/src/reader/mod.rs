//! Reads from the database. Each read has its own connection and a thread that may block: reads do not wait for the writer, nor
//! does the writer wait for them. At most [`READS`] of them run at once; the others wait for their turn.
//!
//! - [`rows`]: rows of the table `record`. [`letters`]: reads letters, and waits for them. [`check`]: checks integrity.

pub(crate) mod rows;
pub(crate) mod letters;
mod check;
#[cfg(test)]
mod tests;

use crate::connection;
use crate::directory::Directory;
use crate::envelope::{self, Read, StartedRow};
use crate::failure::Trouble;
use crate::payloads::parts::Part;
use crate::payloads::stored;
use crate::schema::STATE;
use crate::stats::Counters;
use interlocking_core::run_id::RunId;
use interlocking_core::table::Table;
use interlocking_runtime::journal::{Digest, Encoded, Entry, JournalError, Record, RunSummary};
use rusqlite::Connection;
use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use tokio::sync::Semaphore;

/// How many reads run at once, and so how many connections the pool has at most. A connection has two open files and a cache of
/// up to 8 MiB. More reads at once would only wait for the same processors and the same disk.
const READS: usize = 8;

/// A pool of connections that only read.
#[derive(Debug)]
pub(crate) struct Reader {
    pub(crate) directory: Directory,
    /// A permit for each read that may run. A read holds one until its connection is given back, and never asks for another.
    permits: Arc<Semaphore>,
    connections: Mutex<Connections>,
    given_back: Condvar,
    counters: Arc<Counters>,
}

#[derive(Debug, Default)]
struct Connections {
    idle: Vec<Connection>,
    lent: usize,
    is_closed: bool,
}

/// A connection that was lent from the pool, or a place for one that is still to be opened; returned when dropped.
struct Lent<'reader> {
    reader: &'reader Reader,
    connection: Option<Connection>,
}

impl Reader {
    pub(crate) fn new(directory: Directory, counters: Arc<Counters>) -> Self {
        let permits = Arc::new(Semaphore::new(READS));
        Self { directory, permits, connections: Mutex::default(), given_back: Condvar::new(), counters }
    }

    /// Closes all connections: waits for those in use, and refuses later reads and those that wait for their turn.
    pub(crate) fn close(&self) {
        self.permits.close();
        let mut connections = self.connections();
        connections.is_closed = true;
        while connections.lent > 0 {
            connections = self.given_back.wait(connections).unwrap_or_else(PoisonError::into_inner);
        }
        connections.idle.clear();
    }

    fn lend(&self) -> Result<Lent<'_>, Trouble> {
        let mut connections = self.connections();
        if connections.is_closed {
            return Err(closed().into());
        }
        connections.lent += 1;
        Ok(Lent { reader: self, connection: connections.idle.pop() })
    }

    fn connections(&self) -> MutexGuard<'_, Connections> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does `work` on a thread that may block, within one read transaction: all of it sees the same snapshot.
    pub(crate) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self, &Connection) -> Result<T, Trouble> + Send + 'static,
    ) -> Result<T, JournalError> {
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(|_| closed())?;
        let reader = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || {
            let result = reader.read_here(work);
            // Released here, where the connection has been given back, and not where the caller stops waiting.
            drop(permit);
            result.map_err(|trouble| trouble.at(reader.directory.place()))
        });
        done.await.unwrap_or_else(|error| Err(JournalError::Storage { reason: format!("the reader failed: {error}") }))
    }

    fn read_here<T>(&self, work: impl FnOnce(&Self, &Connection) -> Result<T, Trouble>) -> Result<T, Trouble> {
        let mut lent = self.lend()?;
        let connection = match lent.connection.take() {
            Some(connection) => connection,
            None => connection::open(&self.directory.database(), self.directory.place())?,
        };
        let moment = connection.unchecked_transaction()?;
        let result = work(self, &connection);
        moment.finish()?;
        lent.connection = Some(connection);
        result
    }

    /// The records of a run.
    pub(crate) fn load(&self, connection: &Connection, run: &RunId) -> Result<Vec<Record>, Trouble> {
        let mut records: Vec<Record> = Vec::new();
        rows::of_run(connection, run, |sequence, row| {
            let expected = records.len() as u64;
            if sequence != expected {
                return Err(envelope::damaged(run, expected, "it is gone"));
            }
            let entry = match envelope::to_entry(row).map_err(|reason| envelope::damaged(run, sequence, &reason))? {
                Read::Entry(entry) => entry,
                Read::Started(StartedRow { table, input, origin, workspaces }) => {
                    let table = Box::new(self.table(connection, run, &table)?);
                    Entry::Started { table, input: input.into_owned(), origin, workspaces }
                }
            };
            records.push(Record { run: run.clone(), sequence, entry });
            Ok(())
        })?;
        Ok(records)
    }

    fn table(&self, connection: &Connection, run: &RunId, digest: &Digest) -> Result<Table, Trouble> {
        let text = self.text(connection, &format!("record 0 of run `{run}`"), digest)?;
        serde_json::from_str(&text).map_err(|error| envelope::damaged(run, 0, &format!("its table: {error}")))
    }

    fn text(&self, connection: &Connection, what: &str, digest: &Digest) -> Result<Encoded, Trouble> {
        Ok(stored::fetch(connection, digest, self.directory.place(), what, &self.counters.reads)?.text)
    }

    /// The payloads with these names.
    pub(crate) fn fetch(
        &self,
        connection: &Connection,
        run: &RunId,
        digests: &[Digest],
    ) -> Result<Vec<Encoded>, Trouble> {
        let what = format!("run `{run}`");
        digests.iter().map(|digest| self.text(connection, &what, digest)).collect()
    }

    /// The parts of a payload; empty where it is stored whole.
    pub(crate) fn parts(&self, connection: &Connection, run: &RunId, digest: &Digest) -> Result<Vec<Part>, Trouble> {
        if let Some(manifest) = stored::manifest(connection, digest, &self.counters.reads)? {
            return Ok(manifest.parts.into_iter().map(|joint| joint.part).collect());
        }
        self.text(connection, &format!("run `{run}`"), digest).map(|_| Vec::new())
    }

    /// A summary of each run. A run whose name cannot be read is left out, as nobody can name it, and an origin that cannot be read
    /// is absent: what is damaged does not hide the other runs.
    pub(crate) fn runs(&self, connection: &Connection) -> Result<Vec<RunSummary>, Trouble> {
        let mut statement = connection.prepare_cached(&format!(
            "SELECT r.name,r.graph,r.origin,r.started_ms,l.at_ms,l.sequence+1,{STATE},h.holder,h.who FROM run r \
             JOIN record l ON l.id=(SELECT max(id) FROM record WHERE id BETWEEN r.id<<32 AND r.id<<32|4294967295) \
             LEFT JOIN lease h ON h.run=r.name WHERE r.graph IS NOT NULL ORDER BY r.started_ms,r.name",
        ))?;
        let mut rows = statement.query([])?;
        let (mut runs, mut lives) = (Vec::new(), HashMap::new());
        while let Some(row) = rows.next()? {
            let name: String = row.get(0)?;
            let origin: Option<String> = row.get(2)?;
            let (started_ms, at_ms, records): (i64, i64, i64) = (row.get(3)?, row.get(4)?, row.get(5)?);
            let entry: Option<String> = row.get(6)?;
            let (holder, who): (Option<String>, Option<String>) = (row.get(7)?, row.get(8)?);
            let run = match name.parse() {
                Ok(run) => run,
                Err(error) => {
                    tracing::warn!(%error, "the name of a run cannot be read");
                    continue;
                }
            };
            let mut summary = RunSummary::new(run, row.get::<_, String>(1)?);
            summary.origin = origin.and_then(|origin| {
                let read = serde_json::from_str(&origin);
                read.inspect_err(|error| tracing::warn!(run = name, %error, "the origin of a run cannot be read")).ok()
            });
            summary.records = records as u64;
            summary.started_at_ms = started_ms as u64;
            summary.updated_at_ms = started_ms.saturating_add(at_ms) as u64;
            summary.ended = envelope::ending(entry.as_deref()).map(str::to_owned);
            summary.holder = who.filter(|_| {
                let lives =
                    |holder: String| *lives.entry(holder).or_insert_with_key(|holder| self.directory.lives(holder));
                holder.is_some_and(lives)
            });
            runs.push(summary);
        }
        Ok(runs)
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let mut connections = self.reader.connections();
        connections.lent -= 1;
        connections.idle.extend(self.connection.take());
        drop(connections);
        self.reader.given_back.notify_all();
    }
}

/// The error of every request to a journal that was dropped.
pub(crate) fn closed() -> JournalError {
    JournalError::Storage { reason: "the journal was closed; open it again".to_owned() }
}
