//! Changes to the account of a run, each of which the checks must refuse.

use crate::calls::{Call, Ended as CallEnded, Returned};
use crate::checks::Account;
use crate::world::{EVENT, LogEvent, Logged};
use interlocking_agents::{SessionId, SessionOp};
use interlocking_core::failure::{ChildFailure, Failure, FailureKind};
use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::{Entry, NodeOutcome, Record, RecordedPayload};

/// Changes the account of a run; `None` where there is nothing to change.
pub(super) type Change = fn(&mut Account<'_>) -> Option<()>;

/// Each change, and the least number of seeds that it must apply to.
pub(super) const CHANGES: [(&str, usize, Change); 32] = [
    ("a record is missing", 30, |account| {
        let (nth, _) = first(account, |_| true)?;
        root(account)?.remove(nth);
        renumber(account)
    }),
    ("the end is missing", 30, |account| {
        let records = root(account)?;
        let last = records.iter().rposition(|record| record.entry.ending().is_some())?;
        records.remove(last);
        renumber(account)
    }),
    ("an outcome comes twice", 30, |account| {
        let (nth, _) = first(account, |_| true)?;
        let records = root(account)?;
        records.insert(nth + 1, records[nth].clone());
        renumber(account)
    }),
    ("an outcome comes before what led to it", 30, |account| {
        let (nth, _) = first(account, |_| true)?;
        root(account)?.swap(nth - 1, nth);
        renumber(account)
    }),
    ("a token carries something else", 30, |account| {
        in_first(account, |outcome| {
            outcome.tokens.first_mut().map(|token| token.payload = RecordedPayload::Json("1".into()))
        })
    }),
    ("a token goes elsewhere", 30, |account| {
        in_first(account, |outcome| outcome.tokens.first_mut().map(|token| token.place = "elsewhere".to_owned()))
    }),
    ("a slot that got nothing gets a value", 1, |account| {
        in_any(account, |outcome| {
            let nothing = outcome.tokens.iter_mut().find(|token| token.payload.is_null());
            nothing.map(|token| token.payload = RecordedPayload::Json("1".into()))
        })
    }),
    ("what a join went on without comes to its end", 3, |account| {
        let (node, visit, attempt) = lost(account)?;
        let records = root(account)?;
        let last = records.iter().rposition(|record| matches!(record.entry, Entry::Outcome(_)))?;
        let mut late = records[last].clone();
        if let Entry::Outcome(outcome) = &mut late.entry {
            (outcome.node, outcome.visit, outcome.attempt) = (node, visit, attempt);
        }
        records.insert(last, late);
        renumber(account)
    }),
    ("a failure that had a way on is not told", 1, |account| {
        in_any(account, |outcome| outcome.failed.take().map(drop))
    }),
    ("a failure that had a way on was another", 1, |account| {
        in_any(account, |outcome| outcome.failed.as_mut().map(|failure| failure.kind = FailureKind::Configuration))
    }),
    ("a graph node was given what its child did not come to", 5, |account| {
        account.log.iter_mut().rev().find_map(|line| match &mut line.what {
            LogEvent::Given { number, .. } => {
                *number ^= 1;
                Some(())
            }
            _ => None,
        })
    }),
    ("a child of a graph node failed otherwise", 1, |account| {
        account.records.values_mut().flatten().find_map(|record| {
            let failure = match &mut record.entry {
                Entry::Ended { failure, .. } => failure.as_mut()?,
                Entry::Outcome(outcome) => outcome.failed.as_mut()?,
                _ => return None,
            };
            let FailureKind::Child(child) = &mut failure.kind else { return None };
            **child = ChildFailure::Cancelled;
            Some(())
        })
    }),
    ("an update of a memory is lost", 5, |account| in_first(account, |outcome| outcome.memory.take().map(drop))),
    ("a run that finished is stuck", 20, |account| {
        let (output, failure) = root(account)?.iter_mut().find_map(|record| match &mut record.entry {
            Entry::Ended { output, failure: failure @ None, cancelled: false, .. } => Some((output, failure)),
            _ => None,
        })?;
        *output = None;
        *failure = Some(Failure::new("exit", 0, 0, FailureKind::Handler, "it is stuck"));
        Some(())
    }),
    ("a node starts late", 30, |account| {
        let line = account.log.iter_mut().find(|line| matches!(line.what, LogEvent::Started { .. }))?;
        line.at += 1;
        Some(())
    }),
    ("a node never starts", 30, |account| {
        let started = came_to_its_end(account)?;
        account.log.remove(started);
        Some(())
    }),
    ("a side effect is done again", 5, |account| {
        let (run, by) = account.records.values().flatten().find_map(|record| match &record.entry {
            Entry::Once { by, .. } => Some((record.run.clone(), by.clone())),
            _ => None,
        })?;
        let last = account.log.last()?.clone();
        account.log.push(Logged { what: LogEvent::Effect { run, by, value: 0 }, ..last });
        Some(())
    }),
    ("an agent is asked for what is done", 10, |account| {
        let (_, done) = first(account, |outcome| !outcome.calls.is_empty())?;
        let run = account.ended.history.root.clone();
        let call =
            account.log.iter().find(|line| called(line).is_some_and(|call| call.run == run && call.by == done.by()));
        let again = call?.clone();
        account.log.push(again);
        Some(())
    }),
    ("an agent is asked before its node asks", 10, |account| {
        let call = account.log.iter().position(|line| called(line).is_some())?;
        account.log[..=call].rotate_right(1);
        Some(())
    }),
    ("a session that was interrupted is not gone on with", 2, |account| {
        let asks = |line: &Logged| matches!(&line.what, LogEvent::Asks { session: SessionOp::StartFresh(_), .. });
        let asked: Vec<usize> = (0..account.log.len()).filter(|nth| asks(&account.log[*nth])).collect();
        let gone_on = asked.into_iter().find_map(|nth| {
            let next = account.log[nth + 1..].iter().position(|line| called(line).is_some())? + nth + 1;
            let (LogEvent::Asks { run, by, session }, call) = (&account.log[nth].what, called(&account.log[next])?)
            else {
                return None;
            };
            let same = (&call.run, &call.by) == (run, by) && call.session != *session;
            same.then(|| (next, session.clone()))
        });
        let (nth, fresh) = gone_on?;
        let LogEvent::Called(call) = &mut account.log[nth].what else { return None };
        call.session = fresh;
        Some(())
    }),
    ("a bad output is taken for an answer", 5, |account| {
        let (nth, turned) = account.log.iter().enumerate().find_map(|(nth, line)| match &line.what {
            LogEvent::Turned(turned) if turned.rounds.is_some() => Some((nth, turned.clone())),
            _ => None,
        })?;
        let mut returned = account.log[..nth].iter_mut().rev().filter_map(returned);
        let last = returned.find(|returned| (&returned.run, &returned.by) == (&turned.run, &turned.by))?;
        last.ended = CallEnded::WithBadOutput;
        Some(())
    }),
    ("an agent is asked though its provider wants to be left alone", 2, |account| {
        let stumbles = |line: &Logged| matches!(&line.what, LogEvent::Returned(Returned { ended: CallEnded::Stumbled(Some(after)), .. }) if *after > 0);
        let log = &account.log;
        let (nth, next) = (0..log.len()).filter(|nth| stumbles(&log[*nth])).find_map(|nth| {
            let next =
                log[nth..].iter().position(|line| called(line).is_some() && line.executor == log[nth].executor)?;
            Some((nth, nth + next))
        })?;
        account.log[next].at = account.log[nth].at;
        Some(())
    }),
    ("what an agent cost is not recorded", 10, |account| {
        in_first(account, |outcome| (!outcome.calls.is_empty()).then(|| outcome.calls.clear()))
    }),
    ("what an agent cost is recorded twice", 10, |account| {
        in_first(account, |outcome| outcome.calls.first().cloned().map(|call| outcome.calls.push(call)))
    }),
    ("a session is recorded in which the agent never was", 10, |account| {
        root(account)?.iter_mut().find_map(|record| match &mut record.entry {
            Entry::Session { session, .. } => SessionId::new("another").ok().map(|other| *session = other),
            _ => None,
        })
    }),
    ("more calls are under way than may be", 2, |account| {
        let limit = account.ended.history.surroundings.concurrency?;
        let call = account.log.iter_mut().find(|line| called(line).is_some())?;
        let LogEvent::Called(call) = &mut call.what else { return None };
        call.open = limit as usize + 1;
        Some(())
    }),
    ("a run is retried that has not failed", 10, |account| {
        let records = root(account)?;
        let last = records.last().filter(|last| last.entry.ending() == Some("finished"))?.clone();
        records.push(Record { sequence: last.sequence + 1, entry: Entry::Retried { letters: 0 }, ..last });
        Some(())
    }),
    ("a run goes on that has failed, and nobody retries it", 3, |account| {
        let retried = retried(account)?;
        root(account)?.remove(retried);
        renumber(account)
    }),
    ("what failed is made as another visit when it is retried", 2, |account| {
        let retried = retried(account)?;
        let records = root(account)?;
        let failure = records[..retried].iter().rev().find_map(|record| match &record.entry {
            Entry::Ended { failure, .. } => failure.clone(),
            _ => None,
        })?;
        records[retried..].iter_mut().find_map(|record| match &mut record.entry {
            Entry::Outcome(outcome) if (&outcome.node, outcome.visit) == (&failure.node, failure.visit) => {
                outcome.visit += 1;
                Some(())
            }
            _ => None,
        })
    }),
    ("what was finished before a retry is done again", 3, |account| {
        let retried = retried(account)?;
        let (_, done) = first(account, |_| true)?;
        let records = root(account)?;
        let again = Record { entry: Entry::Outcome(done), ..records[retried].clone() };
        records.insert(retried + 2, again);
        renumber(account)
    }),
    ("an outcome is recorded though the journal has refused a record", 3, |account| {
        let (nth, _) = first(account, |_| true)?;
        let (run, sequence) = (account.ended.history.root.clone(), nth as u64);
        let refused =
            account.log.iter().position(|line| matches!(line.what, LogEvent::Refused { left_behind: false, .. }))?;
        let kept = Logged { what: LogEvent::KeptAfterRefusal { run, sequence }, ..account.log[refused].clone() };
        account.log.insert(refused + 1, kept);
        Some(())
    }),
    ("a handler that is done begins again with a retry", 3, |account| {
        let retried = retried(account)? as u64;
        let (nth, done) = first(account, |outcome| outcome.node != EVENT)?;
        if nth as u64 > retried {
            return None;
        }
        let run = account.ended.history.root.clone();
        let kept = |line: &Logged| matches!(&line.what, LogEvent::Kept { run: of, sequence } if *of == run && *sequence == retried);
        let nth = account.log.iter().position(kept)?;
        let begun = LogEvent::Begun { run: run.clone(), by: done.by(), restarts: 0 };
        account.log.insert(nth + 1, Logged { what: begun, ..account.log[nth].clone() });
        Some(())
    }),
];

/// A child is retried after its parent was.
pub(super) fn retried_too_late(account: &mut Account<'_>) -> Option<()> {
    let root = account.ended.history.root.clone();
    let is_retry = |run: &RunId, sequence: &u64| {
        let record = account.records.get(run).and_then(|records| records.get(*sequence as usize));
        record.is_some_and(|record| matches!(record.entry, Entry::Retried { .. }))
    };
    let kept = |line: &Logged, is_root: bool| match &line.what {
        LogEvent::Kept { run, sequence } => (*run == root) == is_root && is_retry(run, sequence),
        _ => false,
    };
    let child = account.log.iter().position(|line| kept(line, false))?;
    let parent = child + account.log[child..].iter().position(|line| kept(line, true))?;
    account.log[child..=parent].rotate_left(1);
    Some(())
}

/// A failed child is retried although its parent has not failed.
pub(super) fn retried_alone(account: &mut Account<'_>) -> Option<()> {
    let root = account.ended.history.root.clone();
    let mut children = account.records.iter_mut().filter(|(run, _)| **run != root).map(|(_, records)| records);
    let records = children.find(|records| records.last().is_some_and(|last| last.entry.ending() == Some("failed")))?;
    let last = records.last()?.clone();
    let retried = Record { sequence: last.sequence + 1, entry: Entry::Retried { letters: 0 }, ..last };
    let (run, sequence) = (retried.run.clone(), retried.sequence);
    records.push(retried);
    let end = account.log.last()?.clone();
    account.log.push(Logged { what: LogEvent::Kept { run, sequence }, ..end });
    Some(())
}

fn called(line: &Logged) -> Option<&Call> {
    if let LogEvent::Called(call) = &line.what { Some(call) } else { None }
}

fn returned(line: &mut Logged) -> Option<&mut Returned> {
    if let LogEvent::Returned(returned) = &mut line.what { Some(returned) } else { None }
}

/// The root's records.
pub(super) fn root<'a>(account: &'a mut Account<'_>) -> Option<&'a mut Vec<Record>> {
    account.records.get_mut(&account.ended.history.root)
}

/// An execution of the root that a join cancelled at its quorum.
fn lost(account: &Account<'_>) -> Option<(String, u32, u32)> {
    let root = &account.ended.history.root;
    let followed = account.check().ok()?;
    let (node, visit, attempt) = *followed.runs.get(root)?.losers.first()?;
    Some((account.net(root).name(node).to_owned(), visit, attempt))
}

/// The position of the first record of a retry of the root.
fn retried(account: &mut Account<'_>) -> Option<usize> {
    root(account)?.iter().position(|record| matches!(record.entry, Entry::Retried { .. }))
}

/// The position and the outcome of the first outcome record of the root for which `is` holds.
pub(super) fn first(account: &mut Account<'_>, is: impl Fn(&NodeOutcome) -> bool) -> Option<(usize, NodeOutcome)> {
    root(account)?.iter().enumerate().find_map(|(nth, record)| match &record.entry {
        Entry::Outcome(outcome) if is(outcome) => Some((nth, outcome.clone())),
        _ => None,
    })
}

/// Changes the first outcome of the root to which the change applies.
fn in_first(account: &mut Account<'_>, change: fn(&mut NodeOutcome) -> Option<()>) -> Option<()> {
    root(account)?.iter_mut().find_map(|record| match &mut record.entry {
        Entry::Outcome(outcome) => change(outcome),
        _ => None,
    })
}

/// Changes the first outcome of any run to which the change applies.
fn in_any(account: &mut Account<'_>, change: fn(&mut NodeOutcome) -> Option<()>) -> Option<()> {
    account.records.values_mut().flatten().find_map(|record| match &mut record.entry {
        Entry::Outcome(outcome) => change(outcome),
        _ => None,
    })
}

/// The line of the log at which an execution starts whose outcome the same executor recorded.
fn came_to_its_end(account: &mut Account<'_>) -> Option<usize> {
    let records = root(account)?.clone();
    account.log.iter().find_map(|line| {
        let LogEvent::Acknowledged { run, sequence } = &line.what else { return None };
        let record = records.iter().find(|record| record.sequence == *sequence && record.run == *run)?;
        let Entry::Outcome(outcome) = &record.entry else { return None };
        // No check requires when an event node starts.
        if outcome.node == EVENT {
            return None;
        }
        account.log.iter().rposition(|other| {
            other.executor == line.executor
                && matches!(&other.what, LogEvent::Started { run: of, by } if of == run
                    && (&by.node, by.visit, by.attempt) == (&outcome.node, outcome.visit, outcome.attempt))
        })
    })
}

/// Renumbers the root's records as if they had been written in this order, and removes their acknowledgements.
fn renumber(account: &mut Account<'_>) -> Option<()> {
    (0..).zip(root(account)?).for_each(|(sequence, record)| record.sequence = sequence);
    let root = &account.ended.history.root;
    account.log.retain(|line| !matches!(&line.what, LogEvent::Acknowledged { run, .. } if run == root));
    Some(())
}
