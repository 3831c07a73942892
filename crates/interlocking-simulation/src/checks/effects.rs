//! Handlers, side effects and messages happen once.

use super::Followed;
use crate::world::LogEvent;
use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::{By, Entry};
use std::collections::{BTreeMap, BTreeSet};

/// The records of the journal, each with the line of the log at which it was written.
#[derive(Default)]
pub(super) struct Kept<'a> {
    pub(super) records: BTreeMap<(&'a RunId, u64), usize>,
    /// Executions that have ended.
    pub(super) done: BTreeMap<(&'a RunId, By), usize>,
    /// Side effects, by node and visit, with their results.
    effects: BTreeMap<(&'a RunId, &'a str, u32), (usize, String)>,
}

impl Followed<'_> {
    /// Checks that nothing recorded is done again, and that a repeated execution knows how often it was restarted.
    pub(super) fn effects(&self) -> Result<(), String> {
        let kept = self.kept()?;
        for (nth, line) in self.account.log.iter().enumerate() {
            match &line.what {
                LogEvent::Begun { run, by, restarts } => {
                    if kept.done.get(&(run, by.clone())).is_some_and(|position| *position < nth) {
                        return Err(format!("{by} of {run} is done again, at line {nth} of the log"));
                    }
                    let starts = self.starts_before(&kept, run, by, nth);
                    if starts > 0 && *restarts != starts - 1 {
                        return Err(format!("{by} of {run} begins for the {starts}th time, and knows of {restarts}"));
                    }
                }
                LogEvent::Effect { run, by, .. } => {
                    let recorded = kept.effects.get(&(run, by.node.as_str(), by.visit));
                    if recorded.is_some_and(|(position, _)| *position < nth) {
                        return Err(format!("{by} of {run} has its effect again"));
                    }
                }
                LogEvent::Got { run, by, value } => {
                    let recorded =
                        kept.effects.get(&(run, by.node.as_str(), by.visit)).map(|(_, value)| value.as_str());
                    if recorded != Some(value.to_string().as_str()) {
                        return Err(format!("{by} of {run} got {value} for an effect recorded as {recorded:?}"));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn kept(&self) -> Result<Kept<'_>, String> {
        let mut kept = Kept::default();
        for (nth, line) in self.account.log.iter().enumerate() {
            if let LogEvent::Kept { run, sequence } = &line.what {
                kept.records.insert((run, *sequence), nth);
            }
        }
        for record in self.account.records.values().flatten() {
            let Some(&position) = kept.records.get(&(&record.run, record.sequence)) else {
                return Err(format!("nobody wrote record {} of {}", record.sequence, record.run));
            };
            match &record.entry {
                Entry::Outcome(outcome) => {
                    let by = By { node: outcome.node.clone(), visit: outcome.visit, attempt: outcome.attempt };
                    kept.done.insert((&record.run, by), position);
                }
                Entry::Report { by, .. } => {
                    kept.done.insert((&record.run, by.clone()), position);
                }
                Entry::Once { by, value, .. } => {
                    let value = value.json().map(ToString::to_string).unwrap_or_default();
                    kept.effects.insert((&record.run, &by.node, by.visit), (position, value));
                }
                _ => {}
            }
        }
        Ok(kept)
    }

    /// How often an execution had to start, according to the records before a line of the log.
    fn starts_before(&self, kept: &Kept<'_>, run: &RunId, by: &By, nth: usize) -> u32 {
        let Some(oracle) = self.runs.get(run) else { return 0 };
        let node = self.account.net(run).node_named(&by.node);
        let starts = oracle.starts.iter().filter(|(sequence, execution)| {
            (Some(execution.node), execution.visit, execution.attempt) == (node, by.visit, by.attempt)
                && kept.records.get(&(run, *sequence)).is_some_and(|position| *position < nth)
        });
        starts.count() as u32
    }

    /// Checks that every message of an accepted outcome has arrived exactly once.
    pub(super) fn messages(&self) -> Result<(), String> {
        let mut keys = BTreeSet::new();
        for key in self.account.letters.values().flatten().filter_map(|posted| posted.letter.key.as_ref()) {
            if !keys.insert(key.as_str()) {
                return Err(format!("{key} has come twice"));
            }
        }
        for (run, records) in &self.account.records {
            let outcomes = records.iter().filter_map(|record| match &record.entry {
                Entry::Outcome(outcome) if !outcome.posted.is_empty() => Some(outcome),
                _ => None,
            });
            let outcomes: Vec<_> = outcomes.collect();
            let ended = self.runs[run].ended.is_some();
            for (nth, outcome) in outcomes.iter().enumerate() {
                let by = By { node: outcome.node.clone(), visit: outcome.visit, attempt: outcome.attempt };
                let key = format!("message 0 of {by} of run {run}");
                // The last may have been interrupted with its run, which sends the message when it is resumed.
                if !keys.contains(key.as_str()) && (ended || nth + 1 < outcomes.len()) {
                    return Err(format!("{key} never came"));
                }
            }
        }
        Ok(())
    }
}
