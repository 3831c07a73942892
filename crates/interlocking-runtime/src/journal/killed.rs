//! The calls of turns that were killed with their process, and so were not recorded: the journal says that an agent began a
//! session, but not which calls it made.

use crate::journal::{By, Entry, Record};
use interlocking_agents::{LedgerEntry, Usage};
use std::collections::HashSet;

/// These calls, by execution. Each begun session counts as one call with unknown cost, as it was at least one. `is_executed` says
/// that the run is being executed: then a session without recorded calls at the end of the records is still under way.
pub(crate) fn killed(records: &[Record], is_executed: bool) -> Vec<(By, LedgerEntry)> {
    let mut killed = Vec::new();
    let mut under_way: Vec<(By, LedgerEntry)> = Vec::new();
    // An execution whose calls are recorded begins no more turns until the run is resumed: a later session record was only
    // written late.
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

/// The execution whose calls this entry records completely.
fn outcome_of(entry: &Entry) -> Option<By> {
    match entry {
        Entry::Outcome(outcome) => Some(outcome.by()),
        Entry::Report { by, .. } | Entry::Spent { by, .. } => Some(by.clone()),
        _ => None,
    }
}
