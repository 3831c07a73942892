//! Checks whether a record may come at this point.

use super::{Facts, Oracle, Token, key, number, same};
use crate::numbers::question;
use interlocking_core::frontier::Execution;
use interlocking_core::run_id::RunId;
use interlocking_core::table::NodeKind;
use interlocking_runtime::journal::{By, Entry, LetterBody, Origin, Posted, Record, RecordedPayload};
use std::collections::BTreeSet;

impl Oracle<'_> {
    pub(super) fn take(&mut self, record: &Record, entry: u64, facts: &Facts<'_>) -> Result<(), String> {
        let may_follow_the_end = matches!(record.entry, Entry::Retried { .. }) || self.is_addendum(&record.entry);
        if self.ended.is_some() && !may_follow_the_end {
            return Err("it comes after the run's end".to_owned());
        }
        match &record.entry {
            Entry::Started { input, origin, .. } => {
                if record.sequence != 0 {
                    return Err("the run starts twice".to_owned());
                }
                let parent = match origin {
                    Some(Origin::Child { parent, .. }) => Some(parent),
                    _ => None,
                };
                self.enter(input, entry, parent)
            }
            _ if record.sequence == 0 => Err("the run has not started".to_owned()),
            Entry::Resumed { .. } => {
                self.begin_again(record.sequence);
                Ok(())
            }
            Entry::Retried { letters } => self.retry(*letters, facts),
            Entry::Session { by, conversation, agent, session } => {
                self.session(by, *conversation, agent, session, facts)
            }
            Entry::Spent { by, calls } => self.spent(by, calls),
            Entry::Landed { by, .. } => self.execution(by).map(drop),
            Entry::Decided { by, reached, ended } => self.decide(by, *reached, ended),
            Entry::Once { by, name, .. } => self.effect(by, name),
            Entry::Asked { by, question, .. } => self.ask(by, question),
            Entry::Answered { by, letter, answer } => self.answered(by, *letter, answer, facts),
            Entry::Received { node, letter, message, missed } => self.received(node, *letter, message, *missed, facts),
            Entry::Outcome(outcome) => self.outcome(record.sequence, outcome, facts),
            Entry::Report { by, report, failure, .. } => {
                let execution = self.execution(by)?;
                self.report(by, execution, report.as_ref(), failure.as_ref(), facts)
            }
            Entry::Ended { failure, cancelled, .. } => self.end(record.sequence, failure.as_ref(), *cancelled, facts),
            other => Err(format!("the oracle does not know this entry: {other:?}")),
        }
    }

    /// Whether this record may come after the end: late advisory nodes continue, until they are stopped with their
    /// run's parent.
    fn is_addendum(&self, entry: &Entry) -> bool {
        let (Entry::Report { by, .. } | Entry::Once { by, .. } | Entry::Session { by, .. } | Entry::Spent { by, .. }) =
            entry
        else {
            return false;
        };
        self.execution(by).is_ok_and(|execution| self.beside.contains_key(&key(execution)))
    }

    fn enter(&mut self, input: &RecordedPayload, entry: u64, parent: Option<&RunId>) -> Result<(), String> {
        self.parent = parent.cloned();
        let place = self.rules.places.iter().position(|name| self.net.place(self.net.entry()).name == *name);
        let place = place.ok_or("there is no entry")?;
        same("the entry", number(input)?, entry)?;
        self.tokens.waiting[place] = Some(Token { number: entry, past: BTreeSet::new(), from: None, counts: true });
        Ok(())
    }

    /// Undoes the end, if it was a failure, or the cancellation of a child by its parent's end and not by a request. An
    /// event node that failed handles its message again as the same visit.
    fn retry(&mut self, letters: u64, facts: &Facts<'_>) -> Result<(), String> {
        let is_cancel = |posted: &Posted| posted.letter.body == LetterBody::Cancel;
        let may_have_ended_with_its_parent = self.parent.is_some() && !facts.letters.iter().any(is_cancel);
        let failure = match self.ended.take() {
            Some((Some(failure), _)) => Some(failure),
            Some((None, true)) if may_have_ended_with_its_parent => None,
            other => return Err(format!("it is retried, and had not failed: {other:?}")),
        };
        let last = facts.letters.last().map_or(0, |posted| posted.number);
        if !(self.letters..=last).contains(&letters) {
            return Err(format!("it is retried after letter {letters}, between {} and {last}", self.letters));
        }
        self.seen.retried += 1;
        if let Some(failure) = failure
            && let Some(node) = self.net.node_named(&failure.node)
            && self.net.row(node).kind == NodeKind::Event
        {
            self.counts[usize::from(node)] = (failure.visit - 1, 1);
        }
        Ok(())
    }

    /// Starts all running executions again.
    fn begin_again(&mut self, sequence: u64) {
        self.seen.resumed += 1;
        let again = self.running.values().map(|(execution, _)| *execution);
        let beside = self.beside.keys().map(|&(node, visit, attempt)| Execution { node, visit, attempt });
        // After the exit, the run still waits for reports.
        if self.fatal_limit.is_none() {
            self.starts.extend(again.chain(beside).map(|execution| (sequence, execution)));
        }
    }

    /// A map reaches its quorum, or can no longer reach it: once, unless a retry gives the map another chance.
    fn decide(&mut self, by: &By, reached: bool, ended: &[RunId]) -> Result<(), String> {
        let execution = self.runs(by)?;
        if self.net.row(execution.node).quorum.is_none() {
            return Err(format!("{by} decides, and has no quorum"));
        }
        self.seen.decided += 1;
        self.seen.out_of_reach += usize::from(!reached);
        // It is unknown which other children would have ended in time.
        self.raced.get_or_insert_with(|| format!("{by} was decided"));
        match self.decisions.insert(by.clone(), (reached, ended.to_vec(), self.seen.retried)) {
            Some((before, _, retried)) if before || retried == self.seen.retried => Err(format!("{by} decides twice")),
            _ => Ok(()),
        }
    }

    fn effect(&mut self, by: &By, name: &str) -> Result<(), String> {
        self.runs(by)?;
        self.seen.once += 1;
        match self.once.insert((by.node.clone(), by.visit, name.to_owned())) {
            true => Ok(()),
            false => Err(format!("{by} does `{name}` twice")),
        }
    }

    fn ask(&mut self, by: &By, asked: &RecordedPayload) -> Result<(), String> {
        let execution = self.runs(by)?;
        let input = self.executions.get(&key(execution)).map(Vec::as_slice).unwrap_or_default();
        same("the question", number(asked)?, question(&self.choice(execution), input))?;
        match self.asked.insert(by.clone(), None) {
            None => Ok(()),
            Some(_) => Err(format!("{by} asks twice")),
        }
    }

    /// Checks that the execution may write a record now.
    pub(super) fn runs(&self, by: &By) -> Result<Execution, String> {
        let execution = self.execution(by)?;
        let runs = self.running.get(&usize::from(execution.node)).is_some_and(|(running, _)| *running == execution);
        // An execution that was stopped meanwhile may finish a record that it had begun to write.
        let runs =
            runs || self.executions.contains_key(&key(execution)) && !self.outcomes.contains_key(&key(execution));
        // An execution beside the graph or of an event node has no token.
        let beside = self.beside.contains_key(&key(execution)) || self.net.row(execution.node).kind == NodeKind::Event;
        if runs || beside { Ok(execution) } else { Err(format!("{by} does not run")) }
    }
}
