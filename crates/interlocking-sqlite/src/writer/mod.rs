//! The writer thread, the only one that writes.
//!
//! All waiting requests are written in one transaction (group commit), and answered when it is committed: a single run has one
//! commit per record, many runs share commits.
//!
//! - [`job`]: requests and replies; [`group`]: gathers requests into groups. [`known`]: a cache of runs.
//! - [`append`], [`claims`], [`letters`], [`prune`], [`sweep`]: the work.

pub(crate) mod group;
pub(crate) mod job;
mod known;
mod append;
mod claims;
mod letters;
mod prune;
mod sweep;
#[cfg(test)]
mod tests;

use crate::connection;
use crate::directory::{Directory, Holder};
use crate::failure::Trouble;
use crate::options::{Durability, Options};
use crate::payloads::objects::Objects;
use crate::stats::Counters;
use crate::writer::group::Gathering;
use crate::writer::job::{Job, Reply, Request};
use crate::writer::known::Known;
use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::JournalError;
use rusqlite::Connection;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;
use std::time::Duration;
use tokio::sync::watch;

/// How long after a failure a release is retried, where nothing else is written before.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// The state of the writer thread.
pub(crate) struct Writer {
    directory: Directory,
    holder: Holder,
    connection: Connection,
    durability: Durability,
    /// Whether the next commit waits for the disk.
    syncs: bool,
    objects: Objects,
    known: Known,
    /// The runs that this journal's executors have claimed, with the numbers of the claims.
    claimed: HashMap<RunId, u64>,
    /// Releases that could not be written. They are retried, as otherwise the claims would stay until the process ends.
    failed_releases: Vec<Request>,
    /// Notified whenever a letter was posted.
    posted: Arc<watch::Sender<u64>>,
    counters: Arc<Counters>,
}

impl Writer {
    pub(crate) fn open(
        directory: Directory,
        holder: Holder,
        options: Options,
        posted: Arc<watch::Sender<u64>>,
        counters: Arc<Counters>,
    ) -> Result<Self, Trouble> {
        let connection = connection::open(&directory.database(), directory.place())?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        if let Some(bytes) = options.maximum_bytes {
            let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
            let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
            // SQLite returns the limit that it has set, which is not below the current size.
            connection.pragma_update_and_check(None, "max_page_count", (bytes / page).max(1), |_| Ok(()))?;
        }
        let durability = options.durability;
        let (objects, known) = (Objects::new(), Known::default());
        let (claimed, failed_releases) = (HashMap::new(), Vec::new());
        Ok(Self {
            directory,
            holder,
            connection,
            durability,
            syncs: true,
            objects,
            known,
            claimed,
            failed_releases,
            posted,
            counters,
        })
    }

    /// Works until all senders of requests are gone.
    pub(crate) fn work(mut self, requests: Receiver<Request>) {
        let mut gathering = Gathering::new(requests);
        while let Some(mut group) = gathering.next((!self.failed_releases.is_empty()).then_some(RETRY_INTERVAL)) {
            group.splice(0..0, self.failed_releases.drain(..));
            self.serve(group);
        }
    }

    fn serve(&mut self, group: Vec<Request>) {
        match self.attempt(&group) {
            Ok(answers) => {
                for (request, answer) in group.into_iter().zip(answers) {
                    request.answer(answer);
                }
            }
            Err(trouble) if group.len() == 1 || trouble.is_busy() => {
                let error = trouble.at(self.directory.place());
                let (releases, refused): (Vec<_>, Vec<_>) = group.into_iter().partition(Request::is_release);
                self.failed_releases.extend(releases);
                refused.into_iter().for_each(|request| request.answer(Err(error.clone())));
            }
            // A request made the transaction fail. Each is tried alone, so that only that one fails.
            Err(_) => group.into_iter().for_each(|request| self.serve(vec![request])),
        }
    }

    /// Does all requests of a group in one transaction, or none. A refused request changes nothing, and the others are still
    /// done.
    fn attempt(&mut self, group: &[Request]) -> Result<Vec<Result<Reply, JournalError>>, Trouble> {
        // Claims end with the process, so they need not survive a loss of power.
        let lasts = !group.iter().all(|request| matches!(request.job, Job::Claim(..) | Job::Release(..)));
        self.synchronous(lasts && self.durability == Durability::Full)?;
        let mut before = Vec::new();
        let answers = self.transact(group, &mut before);
        match &answers {
            Ok(answers) => {
                self.counters.commits.fetch_add(1, Ordering::Relaxed);
                if self.syncs {
                    self.counters.syncs.fetch_add(1, Ordering::Relaxed);
                }
                let records =
                    group.iter().zip(answers).filter(|(request, answer)| request.is_record() && answer.is_ok());
                self.counters.records.fetch_add(records.count() as u64, Ordering::Relaxed);
                self.counters.objects.store(self.objects.written, Ordering::Relaxed);
                if group.iter().any(|request| matches!(request.job, Job::Post(..))) {
                    self.posted.send_modify(|posts| *posts += 1);
                }
            }
            Err(_) => {
                if !self.connection.is_autocommit()
                    && let Err(error) = self.connection.execute_batch("ROLLBACK")
                {
                    tracing::warn!(%error, "a transaction was not rolled back");
                }
                // The cache may have values that were rolled back.
                self.known.forget();
                self.objects.forget();
                self.objects.written = self.counters.objects.load(Ordering::Relaxed);
                for (run, claim) in before.into_iter().rev() {
                    match claim {
                        Some(number) => self.claimed.insert(run.clone(), number),
                        None => self.claimed.remove(run),
                    };
                }
            }
        }
        answers
    }

    /// Does the requests of a group in one transaction. `before` gets the claim that each claim and release replaces, so that the
    /// caller can restore `claimed` after a rollback.
    fn transact<'group>(
        &mut self,
        group: &'group [Request],
        before: &mut Vec<(&'group RunId, Option<u64>)>,
    ) -> Result<Vec<Result<Reply, JournalError>>, Trouble> {
        self.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        self.refresh_cache()?;
        let mut answers = Vec::with_capacity(group.len());
        for request in group {
            if let Job::Claim(run, _) | Job::Release(run, _) = &request.job {
                before.push((run, self.claimed.get(run).copied()));
            }
            let answer = match self.perform(&request.job) {
                Err(Trouble::Sql(error)) => return Err(Trouble::Sql(error)),
                // The request may have changed something before it failed. It is alone in its transaction, which is rolled back.
                Err(trouble) if request.is_alone() => return Err(trouble),
                answer => answer.map_err(|trouble| trouble.at(self.directory.place())),
            };
            answers.push(answer);
        }
        self.connection.prepare_cached("COMMIT")?.execute([])?;
        Ok(answers)
    }

    fn perform(&mut self, job: &Job) -> Result<Reply, Trouble> {
        match job {
            Job::Append(prepared) => self.append(prepared).map(|()| Reply::Done),
            Job::Claim(run, number) => self.claim(run, *number).map(|()| Reply::Done),
            Job::Release(run, number) => self.release(run, *number).map(|()| Reply::Done),
            Job::Post(run, letter) => self.post(run, letter).map(Reply::Number),
            Job::Remove(run) => self.remove(run).map(|()| Reply::Done),
            Job::Prune(retention) => self.prune(retention).map(Reply::Pruned),
            Job::WouldPrune(retention) => self.would_prune(retention).map(Reply::Pruned),
        }
    }

    /// Removes from the cache what another process may have changed.
    fn refresh_cache(&mut self) -> Result<(), Trouble> {
        let version = self.connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        if self.known.version == Some(version) {
            return Ok(());
        }
        let sweeps = self.connection.prepare_cached("SELECT sweeps FROM journal")?.query_row([], |row| row.get(0))?;
        if self.known.sweeps != Some(sweeps) {
            self.known.forget();
            self.objects.forget();
        }
        self.known.forget_positions();
        (self.known.version, self.known.sweeps) = (Some(version), Some(sweeps));
        Ok(())
    }

    /// Sets whether commits wait for the disk.
    fn synchronous(&mut self, syncs: bool) -> Result<(), Trouble> {
        if self.syncs != syncs {
            let level = if syncs { "PRAGMA synchronous=FULL" } else { "PRAGMA synchronous=NORMAL" };
            self.connection.execute_batch(level)?;
            self.syncs = syncs;
        }
        Ok(())
    }
}
