//! The usage of agents according to the records.

use interlocking_agents::Usage;
use interlocking_runtime::journal::{By, Entry, Record};
use std::collections::BTreeSet;

/// The usage of agents in a record.
pub(crate) fn spent(entry: &Entry) -> Usage {
    let calls = match entry {
        Entry::Outcome(outcome) => &outcome.calls,
        Entry::Report { calls, .. } | Entry::Spent { calls, .. } => calls,
        _ => return Usage::default(),
    };
    calls.iter().map(|call| call.usage).sum()
}

/// The positions of session records of killed turns: the executor that began the turn recorded no usage for it.
pub(crate) fn killed(records: &[Record]) -> Vec<usize> {
    let executors: Vec<usize> = records
        .iter()
        .scan(0, |executor, record| {
            *executor += usize::from(matches!(record.entry, Entry::Resumed { .. }));
            Some(*executor)
        })
        .collect();
    let settled = records.iter().zip(&executors).filter_map(|(record, executor)| Some((*executor, by(record)?)));
    let settled: BTreeSet<(usize, By)> = settled.collect();
    let sessions = records.iter().zip(&executors).enumerate().filter(|(_, (record, executor))| match &record.entry {
        Entry::Session { by, .. } => !settled.contains(&(**executor, by.clone())),
        _ => false,
    });
    sessions.map(|(at, _)| at).collect()
}

/// The execution whose calls a record contains.
pub(crate) fn by(record: &Record) -> Option<By> {
    match &record.entry {
        Entry::Outcome(outcome) if !outcome.calls.is_empty() => Some(outcome.by()),
        Entry::Report { by, calls, .. } if !calls.is_empty() => Some(by.clone()),
        Entry::Spent { by, .. } => Some(by.clone()),
        _ => None,
    }
}
