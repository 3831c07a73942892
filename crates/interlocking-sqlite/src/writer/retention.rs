//! Removes runs.

use crate::envelope;
use crate::failure::Trouble;
use crate::schema::record_ids;
use crate::writer::Writer;
use crate::writer::append::now_ms;
use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::JournalError;
use rusqlite::OptionalExtension;
use std::time::Duration;

/// Which runs go. Each condition that is given must hold of a run; with none given, no run goes.
///
/// Runs that somebody works on are never removed, and runs that have not ended only if that is said.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Retention {
    older_than: Option<Duration>,
    keep_last: Option<usize>,
    unfinished_too: bool,
}

/// What was removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// The runs, the oldest first.
    pub runs: Vec<RunId>,
    /// How many payload objects nobody needed any more.
    pub objects: u64,
}

impl Retention {
    /// No run goes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs go whose latest record is older than this.
    pub fn older_than(mut self, age: Duration) -> Self {
        self.older_than = Some(age);
        self
    }

    /// Runs go that are not among the latest `count`, by their latest records. Runs that stay for another reason count.
    pub fn keep_last(mut self, count: usize) -> Self {
        self.keep_last = Some(count);
        self
    }

    /// Runs go too that have not ended and that nobody works on: they cannot be resumed any more.
    pub fn unfinished_too(mut self) -> Self {
        self.unfinished_too = true;
        self
    }
}

/// A run as retention sees it.
struct Aged {
    id: i64,
    run: RunId,
    updated_ms: i64,
    ended: bool,
}

impl Writer {
    /// Removes one run.
    pub(crate) fn remove(&mut self, run: &RunId) -> Result<(), Trouble> {
        if let Some(who) = self.executor(run)? {
            return Err(self.held(run, who));
        }
        let id = self
            .connection
            .prepare_cached("SELECT id FROM run WHERE name=?")?
            .query_row([run.as_str()], |row| row.get(0))
            .optional()?;
        let Some(id) = id else {
            return Err(JournalError::NoRun { run: run.clone(), place: self.directory.place().to_owned() }.into());
        };
        self.delete(id)?;
        self.sweep().map(|_| ())
    }

    /// Removes the runs that `retention` lets go.
    pub(crate) fn prune(&mut self, retention: &Retention) -> Result<Pruned, Trouble> {
        let Retention { older_than, keep_last, unfinished_too } = retention;
        if older_than.is_none() && keep_last.is_none() {
            return Ok(Pruned::default());
        }
        let runs = self.aged()?;
        let now = now_ms();
        if let (Some(_), Some(newest)) = (older_than, runs.last())
            && now < newest.updated_ms
        {
            let (now_ms, newest_ms) = (now.max(0) as u64, newest.updated_ms as u64);
            return Err(
                JournalError::ClockBehind { place: self.directory.place().to_owned(), now_ms, newest_ms }.into()
            );
        }
        let old = runs.len().saturating_sub(keep_last.unwrap_or(0));
        let mut pruned = Pruned::default();
        for Aged { id, run, updated_ms, ended } in runs.into_iter().take(old) {
            let age = Duration::from_millis((now - updated_ms).max(0) as u64);
            if older_than.is_none_or(|limit| age > limit)
                && (ended || *unfinished_too)
                && self.executor(&run)?.is_none()
            {
                self.delete(id)?;
                pruned.runs.push(run);
            }
        }
        pruned.objects = self.sweep()?;
        Ok(pruned)
    }

    /// Every run, the one with the oldest latest record first.
    fn aged(&self) -> Result<Vec<Aged>, Trouble> {
        let mut statement = self.connection.prepare(
            "SELECT r.id,r.name,r.started_ms+l.at_ms AS updated,l.entry FROM run r \
             JOIN record l ON l.id=(SELECT max(id) FROM record WHERE id BETWEEN r.id<<32 AND r.id<<32|4294967295) \
             ORDER BY updated,r.id",
        )?;
        let rows = statement.query_map([], |row| {
            let entry: Option<String> = row.get(3)?;
            let (name, ended) = (row.get::<_, String>(1)?, envelope::ending(entry.as_deref()).is_some());
            Ok((row.get(0)?, name, row.get(2)?, ended))
        })?;
        rows.map(|row| {
            let (id, name, updated_ms, ended) = row?;
            let run = name.parse().map_err(|error| Trouble::Damaged(format!("run {id}: {error}")))?;
            Ok(Aged { id, run, updated_ms, ended })
        })
        .collect()
    }

    fn delete(&self, run: i64) -> Result<(), Trouble> {
        let records = "DELETE FROM record WHERE id BETWEEN ? AND ?";
        self.connection.prepare_cached(records)?.execute(record_ids(run))?;
        for statement in ["DELETE FROM letter WHERE run=?", "DELETE FROM run WHERE id=?"] {
            self.connection.prepare_cached(statement)?.execute([run])?;
        }
        Ok(())
    }
}
