//! A journal that lives as long as the process.

use crate::journal::account::family;
use crate::journal::letter::{Letter, Posted};
use crate::journal::payload::{Digest, Encoded};
use crate::journal::record::{Entry, Origin, Record, ending};
use crate::journal::run_summary::RunSummary;
use crate::journal::{Claim, Journal, JournalError};
use crate::mutex::Mutex;
use async_trait::async_trait;
use interlocking_core::run_id::RunId;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::Notify;

/// A journal that lives as long as the process.
#[derive(Debug, Default)]
pub struct MemoryJournal {
    runs: Arc<Mutex<HashMap<RunId, Kept>>>,
    posted: Notify,
}

#[derive(Debug, Default)]
struct Kept {
    records: Vec<Record>,
    letters: Vec<Letter>,
    claimed: bool,
    started_at_ms: u64,
    updated_at_ms: u64,
}

impl MemoryJournal {
    /// An empty journal.
    pub fn new() -> Self {
        Self::default()
    }

    /// The records of a run so far.
    pub fn records(&self, run: &RunId) -> Vec<Record> {
        self.runs.lock().get(run).map(|kept| kept.records.clone()).unwrap_or_default()
    }
}

#[async_trait]
impl Journal for MemoryJournal {
    fn outlives_its_process(&self) -> bool {
        false
    }

    async fn claim(&self, run: &RunId) -> Result<Claim, JournalError> {
        let mut runs = self.runs.lock();
        let kept = runs.entry(run.clone()).or_default();
        if std::mem::replace(&mut kept.claimed, true) {
            return Err(JournalError::Held { run: run.clone(), holder: "this process".to_owned() });
        }
        let (all, run) = (self.runs.clone(), run.clone());
        Ok(Claim::new(move || {
            let mut runs = all.lock();
            if let Some(kept) = runs.get_mut(&run) {
                kept.claimed = false;
                if kept.records.is_empty() {
                    runs.remove(&run);
                }
            }
        }))
    }

    async fn append(&self, record: Record) -> Result<(), JournalError> {
        let mut runs = self.runs.lock();
        let kept = runs.entry(record.run.clone()).or_default();
        let present = kept.records.len() as u64;
        if record.sequence != present {
            return Err(JournalError::OutOfOrder { run: record.run, sequence: record.sequence, present });
        }
        kept.updated_at_ms = now_ms().max(kept.updated_at_ms);
        if present == 0 {
            kept.started_at_ms = kept.updated_at_ms;
        }
        kept.records.push(record);
        Ok(())
    }

    async fn load(&self, run: &RunId) -> Result<Vec<Record>, JournalError> {
        Ok(self.records(run))
    }

    async fn fetch(&self, run: &RunId, digests: &[Digest]) -> Result<Vec<Encoded>, JournalError> {
        match digests.first() {
            None => Ok(Vec::new()),
            // This journal returns every payload by value, so a digest cannot be from it.
            Some(&digest) => {
                Err(JournalError::PayloadMissing { place: PLACE.to_owned(), digest, what: format!("run `{run}`") })
            }
        }
    }

    async fn runs(&self) -> Result<Vec<RunSummary>, JournalError> {
        let mut runs: Vec<_> = self.runs.lock().iter().filter_map(|(run, kept)| kept.summary(run)).collect();
        runs.sort_by(|one, other| (one.started_at_ms, &one.run).cmp(&(other.started_at_ms, &other.run)));
        Ok(runs)
    }

    async fn post(&self, run: &RunId, letter: Letter) -> Result<u64, JournalError> {
        let mut runs = self.runs.lock();
        let kept = runs.get_mut(run).filter(|kept| !kept.records.is_empty());
        let kept = kept.ok_or_else(|| JournalError::NoRun { run: run.clone(), place: PLACE.to_owned() })?;
        if let Some(key) = &letter.key
            && kept.letters.iter().any(|known| known.key.as_ref() == Some(key))
        {
            return Err(JournalError::AlreadyPosted { run: run.clone(), key: key.clone() });
        }
        kept.letters.push(letter);
        let number = kept.letters.len() as u64;
        drop(runs);
        self.posted.notify_waiters();
        Ok(number)
    }

    async fn next_letter(&self, run: &RunId, after: u64) -> Result<Posted, JournalError> {
        loop {
            let posted = self.posted.notified();
            if let Some(first) = self.letters(run, after).await?.into_iter().next() {
                return Ok(first);
            }
            posted.await;
        }
    }

    async fn letters(&self, run: &RunId, after: u64) -> Result<Vec<Posted>, JournalError> {
        let runs = self.runs.lock();
        let letters = runs.get(run).map(|kept| &kept.letters[..]).unwrap_or_default();
        let numbered = letters.iter().zip(1..).map(|(letter, number)| Posted { number, letter: letter.clone() });
        Ok(numbered.filter(|posted| posted.number > after).collect())
    }

    async fn remove(&self, run: &RunId) -> Result<(), JournalError> {
        let mut runs = self.runs.lock();
        if !runs.contains_key(run) {
            return Err(JournalError::NoRun { run: run.clone(), place: PLACE.to_owned() });
        }
        let summaries: Vec<RunSummary> = runs.iter().filter_map(|(run, kept)| kept.summary(run)).collect();
        let descendants = family(&summaries, run).into_iter().skip(1).map(|summary| summary.run.clone());
        let removed: Vec<RunId> = std::iter::once(run.clone()).chain(descendants).collect();
        for run in &removed {
            if runs.get(run).is_some_and(|kept| kept.claimed) {
                return Err(JournalError::Held { run: run.clone(), holder: "this process".to_owned() });
            }
        }
        for run in &removed {
            runs.remove(run);
        }
        for letter in runs.values_mut().flat_map(|kept| &mut kept.letters) {
            if letter.sender().is_some_and(|sender| removed.iter().any(|run| run.as_str() == sender)) {
                letter.key = None;
            }
        }
        Ok(())
    }
}

const PLACE: &str = "the journal in memory";

impl Kept {
    fn summary(&self, run: &RunId) -> Option<RunSummary> {
        let Some(Record { entry: Entry::Started { table, origin, .. }, .. }) = self.records.first() else {
            return None;
        };
        let origin: Option<Origin> = origin.clone();
        Some(RunSummary {
            run: run.clone(),
            graph: table.graph.clone(),
            origin,
            records: self.records.len() as u64,
            started_at_ms: self.started_at_ms,
            updated_at_ms: self.updated_at_ms,
            ended: ending(&self.records).map(str::to_owned),
            holder: self.claimed.then(|| "this process".to_owned()),
        })
    }
}

/// The wall clock, in milliseconds since 1970.
fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str) -> RunId {
        name.parse().unwrap()
    }

    async fn start(journal: &MemoryJournal, name: &str, origin: Option<Origin>) {
        let table = serde_json::from_str(r#"{"graph":"Draft","output":"u32","nodes":[]}"#).unwrap();
        let entry = Entry::Started { table: Box::new(table), input: "1".into(), origin, workspaces: Vec::new() };
        journal.append(Record { run: id(name), sequence: 0, entry }).await.unwrap();
    }

    /// A child of another run than the removed one, and a fork with its child, stay.
    #[tokio::test]
    async fn a_run_is_removed_with_its_descendants_and_without_its_forks() {
        let journal = MemoryJournal::new();
        let child_of = |parent: &str| {
            let (node, key) = ("map".to_owned(), "0".to_owned());
            Some(Origin::Child { parent: id(parent), node, visit: 1, attempt: 1, key, number: 1 })
        };
        for name in ["night", "other"] {
            start(&journal, name, None).await;
        }
        let children = [("child", "night"), ("grandchild", "child"), ("of-other", "other"), ("of-fork", "fork")];
        for (name, parent) in children {
            start(&journal, name, child_of(parent)).await;
        }
        for (name, of) in [("fork", "night"), ("fork-of-child", "child")] {
            start(&journal, name, Some(Origin::Fork { of: id(of), records: 1 })).await;
        }
        let held = journal.claim(&id("grandchild")).await.unwrap();
        let refused = journal.remove(&id("night")).await.unwrap_err();
        assert!(matches!(&refused, JournalError::Held { run, .. } if *run == id("grandchild")), "{refused}");
        assert_eq!(journal.runs().await.unwrap().len(), 8, "nothing was removed");
        drop(held);

        journal.remove(&id("night")).await.unwrap();
        let mut left: Vec<_> = journal.runs().await.unwrap().into_iter().map(|summary| summary.run).collect();
        left.sort();
        assert_eq!(left, ["fork", "fork-of-child", "of-fork", "of-other", "other"].map(id));
        assert!(matches!(journal.remove(&id("night")).await, Err(JournalError::NoRun { .. })));
    }
}
