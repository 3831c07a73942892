//! Handlers, side effects and messages happen once.

use super::{Account, Followed};
use crate::world::LogEvent;
use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::{By, Entry, LetterBody, MessageRecord, NodeOutcome};
use std::collections::BTreeMap;

/// The records of the journal, each with the line of the log at which it was written.
#[derive(Default)]
pub(super) struct Kept<'a> {
    pub(super) records: BTreeMap<(&'a RunId, u64), usize>,
    /// Executions that have ended.
    pub(super) done: BTreeMap<(&'a RunId, By), usize>,
    /// Side effects, by node and visit, with their results.
    effects: BTreeMap<(&'a RunId, &'a str, u32), (usize, String)>,
}

impl<'a> Kept<'a> {
    /// Finds the records of an account in its log.
    pub(super) fn of(account: &'a Account<'_>) -> Result<Self, String> {
        let mut kept = Self::default();
        for (nth, line) in account.log.iter().enumerate() {
            if let LogEvent::Kept { run, sequence } = &line.what {
                kept.records.insert((run, *sequence), nth);
            }
        }
        for record in account.records.values().flatten() {
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
}

impl Followed<'_> {
    /// Checks that nothing recorded is done again, and that a repeated execution knows how often it was restarted.
    pub(super) fn effects(&self) -> Result<(), String> {
        let kept = &self.kept;
        for (nth, line) in self.account.log.iter().enumerate() {
            match &line.what {
                LogEvent::Begun { run, by, restarts } => {
                    if kept.done.get(&(run, by.clone())).is_some_and(|position| *position < nth) {
                        return Err(format!("{by} of {run} is done again, at line {nth} of the log"));
                    }
                    let starts = self.starts_before(run, by, nth);
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

    /// How often an execution had to start, according to the records before a line of the log.
    fn starts_before(&self, run: &RunId, by: &By, nth: usize) -> u32 {
        let Some(oracle) = self.runs.get(run) else { return 0 };
        let node = self.account.net(run).node_named(&by.node);
        let starts = oracle.starts.iter().filter(|(sequence, execution)| {
            (Some(execution.node), execution.visit, execution.attempt) == (node, by.visit, by.attempt)
                && self.kept.records.get(&(run, *sequence)).is_some_and(|position| *position < nth)
        });
        starts.count() as u32
    }

    /// Checks that every message of an accepted outcome has arrived, and that no execution has sent any other.
    pub(super) fn messages(&self) -> Result<(), String> {
        let key = |run: &RunId, outcome: &NodeOutcome| format!("message 0 of {} of run {run}", outcome.by());
        let mut sent = BTreeMap::new();
        for (run, records) in &self.account.records {
            let outcomes = records.iter().filter_map(|record| match &record.entry {
                Entry::Outcome(outcome) => Some(outcome),
                _ => None,
            });
            let outcomes: Vec<_> = outcomes.filter(|outcome| !outcome.posted.is_empty()).collect();
            // The last may have been interrupted with its run, which sends the message when it is resumed.
            let must_have_come =
                if self.runs[run].ended.is_some() { outcomes.len() } else { outcomes.len().max(1) - 1 };
            sent.extend((0..).zip(outcomes).map(|(nth, it)| (key(run, it), (&*it.posted, nth < must_have_come))));
        }
        for (to, letters) in &self.account.letters {
            let by_nodes = letters.iter().filter_map(|posted| Some((posted.letter.key.as_ref()?, &posted.letter.body)));
            for (key, body) in by_nodes.filter(|(key, _)| key.contains(" of run ")) {
                let posted = sent.remove(key).map(|(posted, _)| posted).unwrap_or_default();
                let is_it = |message: &MessageRecord| {
                    let LetterBody::Message { node, message: text } = body else { return false };
                    message.to == *to && message.node == *node && message.message.json() == Some(text)
                };
                if !matches!(posted, [message] if is_it(message)) {
                    return Err(format!("{key} came to {to} as {body:?}, and {posted:?} was sent"));
                }
            }
        }
        match sent.into_iter().find(|(_, (_, must_have_come))| *must_have_come) {
            Some((key, _)) => Err(format!("{key} never came")),
            None => Ok(()),
        }
    }
}
