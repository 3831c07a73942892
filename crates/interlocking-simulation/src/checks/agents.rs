//! Requests to the agent and their sessions: checks each turn call by call.

use super::turn::Turn;
use super::{Account, Followed};
use crate::calls::Ended;
use crate::tables::TIMEOUT_MS;
use crate::world::{LogEvent, Logged};
use interlocking_agents::SessionId;
use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::{By, Entry};
use std::collections::{BTreeMap, BTreeSet};

/// The sessions that the agent has reported, by execution.
pub(super) fn opened(log: &[Logged]) -> BTreeSet<(RunId, By, SessionId)> {
    let opened = log.iter().filter_map(|line| match &line.what {
        LogEvent::Opened { run, by, session } => Some((run.clone(), by.clone(), session.clone())),
        _ => None,
    });
    opened.collect()
}

impl Account<'_> {
    /// The executions that timed out after a wait: for the provider, after it had failed a call, or for a free call slot.
    pub(super) fn held_up(&self) -> BTreeSet<(RunId, By)> {
        let mut stumbled = BTreeSet::new();
        let mut started = BTreeMap::new();
        let mut held_up = BTreeSet::new();
        let bounded = self.ended.history.surroundings.concurrency.is_some();
        for line in &self.log {
            match &line.what {
                LogEvent::Returned(returned) if matches!(returned.ended, Ended::Stumbled(_)) => {
                    stumbled.insert(line.executor);
                }
                LogEvent::Started { run, by } => {
                    started.insert((run, by), (line.executor, line.at));
                }
                LogEvent::Failed { run, by, took: TIMEOUT_MS } | LogEvent::Reported { run, by } => {
                    let (executor, at) = started.get(&(run, by)).copied().unwrap_or_default();
                    let waited = bounded || stumbled.contains(&line.executor);
                    if waited && executor == line.executor && line.at >= at + TIMEOUT_MS {
                        held_up.insert((run.clone(), by.clone()));
                    }
                }
                _ => {}
            }
        }
        held_up
    }
}

/// The latest turns, by execution.
type Turns<'a> = BTreeMap<(&'a RunId, &'a By), Turn>;

fn turn_of<'t, 'a>(turns: &'t mut Turns<'a>, run: &'a RunId, by: &'a By) -> Result<&'t mut Turn, String> {
    let turn = turns.get_mut(&(run, by));
    turn.ok_or_else(|| format!("the agent is asked for {by} of {run}, which has not asked"))
}

impl Followed<'_> {
    /// Checks that every turn proceeds correctly: in the session that the journal has, with corrections and reminders
    /// up to their limits, and through errors of the provider; and that no execution asks after its outcome is
    /// recorded.
    pub(super) fn turns(&self) -> Result<(), String> {
        let kept = &self.kept;
        let nudges = self.account.ended.history.world.nudges();
        let concurrency = self.account.ended.history.surroundings.concurrency;
        let sessions = self.sessions();
        let mut turns = Turns::new();
        // By executor: until when the provider accepts no calls.
        let mut closed: BTreeMap<u32, u64> = BTreeMap::new();
        for (nth, line) in self.account.log.iter().enumerate() {
            match &line.what {
                LogEvent::Asks { run, by, session } => {
                    let recorded = sessions.get(&(run, by)).into_iter().flatten().rfind(|(sequence, _)| {
                        kept.records.get(&(run, *sequence)).is_some_and(|position| *position < nth)
                    });
                    let recorded = recorded.map(|(_, session)| (*session).clone());
                    turns.insert((run, by), Turn::new(session.clone(), recorded));
                }
                LogEvent::Opened { run, by, session } => turn_of(&mut turns, run, by)?.session = Some(session.clone()),
                LogEvent::Called(call) => {
                    let (run, by) = (&call.run, &call.by);
                    if kept.done.get(&(run, by.clone())).is_some_and(|position| *position < nth) {
                        return Err(format!("the agent is asked for {by} of {run}, which is done"));
                    }
                    if let Some(until) = closed.get(&line.executor).filter(|until| line.at < **until) {
                        return Err(format!("the agent is asked for {by} of {run}, and not before {until} ms"));
                    }
                    if concurrency.is_some_and(|limit| call.open > limit as usize) {
                        return Err(format!("{} calls are under way with that of {by} of {run}", call.open));
                    }
                    let why = |why| format!("line {nth} of the log, the agent of {by} of {run}: {why}");
                    turn_of(&mut turns, run, by)?.called(call, &nudges).map_err(why)?;
                }
                LogEvent::Returned(returned) => {
                    let (run, by) = (&returned.run, &returned.by);
                    if let Ended::Stumbled(Some(after)) = returned.ended {
                        let until = closed.entry(line.executor).or_default();
                        *until = (*until).max(line.at + after);
                    }
                    let why = |why| format!("line {nth} of the log, the agent of {by} of {run}: {why}");
                    turn_of(&mut turns, run, by)?.returned(returned, &nudges).map_err(why)?;
                }
                LogEvent::Turned(turned) => {
                    let (run, by) = (&turned.run, &turned.by);
                    let why = |why| format!("line {nth} of the log, the agent of {by} of {run}: {why}");
                    turn_of(&mut turns, run, by)?.turned(turned, &nudges).map_err(why)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The sessions in the journal, by execution, each with its record.
    fn sessions(&self) -> BTreeMap<(&RunId, &By), Vec<(u64, &SessionId)>> {
        let mut sessions: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for record in self.account.records.values().flatten() {
            if let Entry::Session { by, session, .. } = &record.entry {
                sessions.entry((&record.run, by)).or_default().push((record.sequence, session));
            }
        }
        sessions
    }
}
