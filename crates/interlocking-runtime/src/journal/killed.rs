//! The calls of turns that were killed with their process, which nobody was left to record: an agent had begun a session, and
//! the record says nothing of what that came to.

use crate::journal::{By, Entry, Record};
use interlocking_agents::{LedgerEntry, Usage};
use std::collections::HashSet;

/// Those calls, by execution. Each session that was begun was at least one call, whose price nobody knows. `is_executed` says that
/// somebody executes the run: what has no end at the end of the records is under way then.
pub(crate) fn killed(records: &[Record], is_executed: bool) -> Vec<(By, LedgerEntry)> {
    let mut killed = Vec::new();
    let mut under_way: Vec<(By, LedgerEntry)> = Vec::new();
    // What has been settled begins no more turns before the run is resumed: its session was only written late.
    let mut settled: HashSet<&By> = HashSet::new();
    let outcomes: Vec<Option<By>> = records.iter().map(|record| outcome_of(&record.entry)).collect();
    for (record, outcome) in records.iter().zip(&outcomes) {
        match &record.entry {
            Entry::Session { by, agent, session, .. } if !settled.contains(by) => {
                let usage = Usage { calls: 1, unpriced_calls: 1, ..Usage::default() };
                let (agent, role) = (agent.clone(), None);
                under_way.push((by.clone(), LedgerEntry { agent, role, session: Some(session.clone()), usage }));
            }
            Entry::Resumed { .. } | Entry::Retried { .. } => {
                killed.append(&mut under_way);
                settled.clear();
            }
            _ => {}
        }
        if let Some(by) = outcome {
            under_way.retain(|(other, _)| other != by);
            settled.insert(by);
        }
    }
    if !is_executed {
        killed.append(&mut under_way);
    }
    killed
}

/// Whose calls an entry records, all of them.
fn outcome_of(entry: &Entry) -> Option<By> {
    match entry {
        Entry::Outcome(outcome) => Some(outcome.by()),
        Entry::Report { by, .. } | Entry::Spent { by, .. } => Some(by.clone()),
        _ => None,
    }
}
