//! Counts of each kind of event, which show that the seeds of a test reach all of them.

use crate::calls::{Call, Ended, Prompted, Returned};
use crate::checks::Followed;
use crate::journal::Fault;
use crate::oracle::Seen;
use crate::plan::Cut;
use crate::world::EVENT;
use crate::world::{LogEvent, Logged};
use interlocking_core::failure::FailureKind;
use interlocking_runtime::Outcome;
use std::collections::BTreeMap;
use std::fmt;

/// How often each kind of event happened, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts(BTreeMap<&'static str, usize>);

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(what, number)| writeln!(f, "{number:>9} {what}"))
    }
}

impl Counts {
    /// How often this kind of event happened.
    pub fn get(&self, what: &str) -> usize {
        self.0.get(what).copied().unwrap_or_default()
    }

    /// Adds the counts of another seed.
    pub fn merge(&mut self, other: &Self) {
        other.0.iter().for_each(|(what, number)| self.add(what, *number));
    }

    pub(crate) fn add(&mut self, what: &'static str, number: usize) {
        *self.0.entry(what).or_default() += number;
    }

    /// Counts the events of a run and its children.
    pub(crate) fn of(&mut self, followed: &Followed<'_>) {
        for oracle in followed.runs.values() {
            self.add("held up", usize::from(oracle.held_up));
            self.add("worked apart", oracle.worked_apart());
            self.seen(oracle.seen);
            self.add("losers", oracle.losers.len());
            let (retried, has_failed) = (oracle.seen.retried, matches!(oracle.ended, Some((Some(_), _))));
            self.add("children retried", oracle.parent.as_ref().map_or(0, |_| retried));
            self.add("failed when retried", usize::from(retried > 0 && has_failed));
            self.add("finished when retried", usize::from(retried > 0 && oracle.exit.is_some()));
        }
        let ended = followed.account.ended;
        let history = &ended.history;
        self.add("seeds run", 1);
        self.add("children", followed.runs.len().saturating_sub(1));
        self.add("waits", history.waited.len());
        self.add("executors", history.world.executor() as usize);
        let kept_after = |line: &&Logged| matches!(line.what, LogEvent::KeptAfterRefusal { .. });
        self.add("kept after a refusal", followed.account.log.iter().filter(kept_after).count());
        self.add("too late", followed.account.log.iter().filter(|line| followed.is_too_late(line)).count());
        self.add("late cancellations", followed.account.log.iter().filter(|line| is_late_cancellation(line)).count());
        self.add("children of graph nodes", followed.given.len());
        self.add("sections", followed.count_sections());
        self.add("waits for a turn", followed.account.log.iter().filter(|line| is_wait_for_a_turn(line)).count());
        self.add("log lines", followed.account.log.len());
        history.cuts.iter().for_each(|cut| self.add(interrupted(*cut), 1));
        self.add(ended_as(&ended.report.outcome), 1);
        self.calls(&followed.account.log);
        if let Outcome::Finished(output) = &ended.report.outcome {
            let limit_ms = history.surroundings.deadline.as_millis() as u64;
            let late = output.reports.iter().filter(|told| told.2 == Err(FailureKind::Timeout { limit_ms }));
            self.add("late reports", late.count());
        }
    }

    /// Counts the calls of the agent and their results.
    fn calls(&mut self, log: &[Logged]) {
        let mut asked = BTreeMap::new();
        for line in log {
            match &line.what {
                LogEvent::Asks { run, by, session } => {
                    asked.insert((run, by), session);
                    self.add(session.kind().name(), 1);
                }
                LogEvent::Called(Call { run, by, session, prompted, .. }) => {
                    let is_beside = by.node == EVENT || by.node == "advisory";
                    // The first call of a turn is in the session that the node asks for, unless the execution was
                    // interrupted in a session before.
                    let is_resumed = asked.remove(&(run, by)).is_some_and(|asked| asked != session);
                    self.add("calls", 1);
                    self.add("called beside", usize::from(is_beside));
                    self.add("sessions resumed", usize::from(is_resumed));
                    self.add("corrections", usize::from(*prompted == Prompted::Correction));
                    self.add("reminders", usize::from(*prompted == Prompted::Reminder));
                }
                LogEvent::Returned(Returned { ended, .. }) => self.add(
                    match ended {
                        Ended::Interrupted => "interrupted",
                        Ended::Stumbled(_) => "provider errors",
                        Ended::Unknown => "sessions lost",
                        Ended::Failed => "agent errors",
                        Ended::Well | Ended::WithBadOutput | Ended::WithoutOutput => continue,
                    },
                    1,
                ),
                _ => {}
            }
        }
    }

    fn seen(&mut self, seen: Seen) {
        let Seen { outcomes, cancelled, exhausted, spent_edges, received, messages, redirects, answers, .. } = seen;
        let Seen {
            remembered,
            advisory,
            once,
            sent,
            memories,
            resumed,
            sessions,
            spent,
            retried,
            routed,
            timed_out,
            failed_children,
            ..
        } = seen;
        self.add("decisions", seen.decided);
        self.add("out of reach", seen.out_of_reach);
        self.add("quorums met", seen.quorums_met);
        self.add("quorums missed", seen.quorums_missed);
        self.add("slots missing", seen.slots_missing);
        self.add("items added", seen.items_added);
        self.add("items refused", seen.items_refused);
        self.add("runs", 1);
        self.add("outcomes", outcomes);
        self.add("cancelled", cancelled);
        self.add("exhausted", exhausted);
        self.add("spent edges", spent_edges);
        self.add("routed", routed);
        self.add("timed out", timed_out);
        self.add("failed children", failed_children);
        self.add("received", received);
        self.add("messages missed", seen.missed);
        self.add("messages", messages);
        self.add("redirects", redirects);
        self.add("answers", answers);
        self.add("remembered", remembered);
        self.add("advisory", advisory);
        self.add("effects", once);
        self.add("sent", sent);
        self.add("memories", memories);
        self.add("resumed", resumed);
        self.add("retried", retried);
        self.add("sessions", sessions);
        self.add("spent", spent);
    }
}

/// Whether an execution waits for its turn.
fn is_wait_for_a_turn(line: &Logged) -> bool {
    matches!(&line.what, LogEvent::Event { text, .. } if text.starts_with("NodeWaits"))
}

/// Whether a failed run was sent a cancellation.
fn is_late_cancellation(line: &Logged) -> bool {
    matches!(&line.what, LogEvent::Harness(text) if text.starts_with("a cancellation is posted"))
}

fn interrupted(cut: Cut) -> &'static str {
    match cut {
        Cut::Ends => "process ends",
        Cut::Dropped => "future dropped",
        Cut::Suspended => "suspended",
        Cut::Calls(_) => "calls used up",
        Cut::Patience(_) => "patience used up",
        Cut::Journal(Fault::Refuses) => "journal refuses",
        Cut::Journal(Fault::RefusesAWhile(_)) => "journal refuses for a while",
        Cut::Journal(Fault::EndsBefore) => "ends before a record",
        Cut::Journal(Fault::EndsAfter) => "ends after a record",
    }
}

fn ended_as<T>(outcome: &Outcome<T>) -> &'static str {
    match outcome {
        Outcome::Finished(_) => "finished",
        Outcome::Failed(failure) => match failure.kind {
            FailureKind::Panic => "panicked",
            FailureKind::Timeout { .. } => "timed out",
            FailureKind::Agent => "failed by its agent",
            FailureKind::Exhausted(_) => "failed by a bound",
            FailureKind::Child(_) => "failed by a child",
            FailureKind::EdgeExhausted { .. } => "failed by an edge",
            _ => "failed",
        },
        _ => "was cancelled",
    }
}
