//! The environment of one seed's runs, and the log of what they do.

use crate::agent_memory::AgentMemory;
use crate::asked::{Asking, Turned};
use crate::calls::{Call, Returned};
use crate::choice::{Choice, Rates, choice};
use crate::dialogue::nudges;
use interlocking_agents::{Nudges, SessionId, SessionOp};
use interlocking_core::frontier::Execution;
use interlocking_core::net::Net;
use interlocking_core::run_id::RunId;
use interlocking_runtime::event::{Event, EventKind, EventSink, NodeRef};
use interlocking_runtime::journal::{By, Record};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::time::Instant;

/// The most lines of a log. Most logs have less than a hundred; those of runs that only a message can end have 20,000.
const MAX_LINES: usize = 200_000;

/// How a lying journal changes the records that it returns.
pub(crate) type Lie = fn(&mut [Record]);

/// The environment of one seed's runs in one weather.
pub(crate) struct World {
    pub(crate) seed: u64,
    pub(crate) rates: Rates,
    pub(crate) nets: [&'static Net; 2],
    /// Whether there are no messages, and hardly any two events at the same moment.
    pub(crate) is_calm: bool,
    pub(crate) lie: Option<Lie>,
    moving: Mutex<Moving>,
    agent_memory: Mutex<AgentMemory>,
}

struct Moving {
    /// The number of the present executor: each continues where the one before was interrupted.
    executor: u32,
    epoch: Instant,
    effects: u64,
    /// By run: how often it has been retried.
    retries: BTreeMap<RunId, u32>,
    log: Vec<Logged>,
}

/// One line of the log.
#[derive(Clone)]
pub(crate) struct Logged {
    pub(crate) executor: u32,
    /// Milliseconds of virtual time since the executor's runtime began.
    pub(crate) at: u64,
    pub(crate) what: LogEvent,
}

/// The event node of every table that has one.
pub(crate) const EVENT: &str = "event";

/// An event in the log.
#[derive(Clone, Debug)]
pub(crate) enum LogEvent {
    /// A handler began.
    Begun { run: RunId, by: By, restarts: u32 },
    /// A side effect was done, with this result.
    Effect { run: RunId, by: By, value: u64 },
    /// A handler got the result of its side effect.
    Got { run: RunId, by: By, value: u64 },
    /// A handler has ended without an error.
    Left { run: RunId, by: By },
    /// A map node's children ended.
    Gathered { run: RunId, by: By, children: Vec<Gathered> },
    /// A graph node's child finished, with this number.
    Given { run: RunId, by: By, number: u64 },
    /// A record was written to the journal.
    Kept { run: RunId, sequence: u64 },
    /// A node asks the agent, in this session.
    Asks { run: RunId, by: By, session: SessionOp },
    /// The agent is called.
    Called(Call),
    /// The agent reports its session.
    Opened { run: RunId, by: By, session: SessionId },
    /// A call has ended.
    Returned(Returned),
    /// A node got the result of its turn.
    Turned(Turned),
    /// A node has failed, after this many milliseconds.
    Failed { run: RunId, by: By, took: u64 },
    /// A node is stopped.
    Cancelled { run: RunId, by: By },
    /// The failure of a node beside the graph is recorded.
    Reported { run: RunId, by: By },
    /// The journal refuses a record, for a while or for good: a record by the executor, or by a task that an earlier
    /// executor left behind.
    Refused { run: RunId, sequence: u64, left_behind: bool },
    /// A record was written after the journal had refused another record of the same executor.
    KeptAfterRefusal { run: RunId, sequence: u64 },
    /// The journal has acknowledged a record.
    Acknowledged { run: RunId, sequence: u64 },
    /// The executor reports that it has started a node.
    Started { run: RunId, by: By },
    /// Any other event of the executor.
    Event { run: RunId, text: String },
    /// An action of the harness.
    Harness(String),
}

/// The result of a child that a map node got: the child's run, and its output number or the sort of its failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gathered {
    pub(crate) run: RunId,
    pub(crate) item: u64,
    pub(crate) result: Result<u64, String>,
}

impl World {
    pub(crate) fn new(seed: u64, nets: [&'static Net; 2]) -> Self {
        let moving =
            Moving { executor: 0, epoch: Instant::now(), effects: 0, retries: BTreeMap::new(), log: Vec::new() };
        let (rates, moving) = (Rates::of(seed), Mutex::new(moving));
        Self { seed, rates, nets, is_calm: false, lie: None, moving, agent_memory: Mutex::default() }
    }

    /// Starts a new executor. Must be called inside the executor's runtime.
    pub(crate) fn next_executor(&self) -> u32 {
        let mut moving = self.lock();
        moving.executor += 1;
        moving.epoch = Instant::now();
        moving.executor
    }

    /// The number of the executor that runs.
    pub(crate) fn executor(&self) -> u32 {
        self.lock().executor
    }

    /// Whether runs at `level` handle messages.
    pub(crate) fn has_event_node(&self, level: usize) -> bool {
        self.nets[level].node_named(EVENT).is_some()
    }

    /// Records that a failed run is retried.
    pub(crate) fn retried(&self, run: &RunId) {
        *self.lock().retries.entry(run.clone()).or_default() += 1;
    }

    /// What an execution of a run at `level` does now.
    pub(crate) fn choice(&self, level: usize, run: &RunId, execution: Execution) -> Choice {
        let retries = self.lock().retries.get(run).copied().unwrap_or_default();
        self.choice_after(level, run, execution, retries)
    }

    /// What an execution does after the run has been retried this often.
    pub(crate) fn choice_after(&self, level: usize, run: &RunId, execution: Execution, retries: u32) -> Choice {
        let choice = choice(self.seed, self.rates, self.nets[level], run, execution, retries);
        if self.is_calm { choice.calm() } else { choice }
    }

    /// What the execution does that asks the agent.
    pub(crate) fn choice_of(&self, asking: &Asking) -> Choice {
        let Asking { level, run, by, .. } = asking;
        let node = self.nets[*level].node_named(&by.node).expect("the node that asks is there");
        self.choice(*level, run, Execution { node, visit: by.visit, attempt: by.attempt })
    }

    /// When agents are reminded.
    pub(crate) fn nudges(&self) -> Nudges {
        nudges(self.seed)
    }

    /// What the agent remembers.
    pub(crate) fn agent_memory(&self) -> MutexGuard<'_, AgentMemory> {
        self.agent_memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a line to the log; panics if it has become too long.
    pub(crate) fn log(&self, what: LogEvent) {
        let mut moving = self.lock();
        let at = moving.epoch.elapsed().as_millis() as u64;
        let executor = moving.executor;
        if moving.log.len() == MAX_LINES {
            drop(moving);
            // Unwinds through the driver, so that a driver that never waits ends too. Skips the panic hook, as this is
            // not a bug yet.
            std::panic::resume_unwind(Box::new(format!("it goes on and on: its log has {MAX_LINES} lines")));
        }
        moving.log.push(Logged { executor, at, what });
    }

    /// The result of a side effect that is really executed: each is different.
    pub(crate) fn effect(&self, run: &RunId, by: By) -> u64 {
        let value = {
            let mut moving = self.lock();
            moving.effects += 1;
            moving.effects
        };
        self.log(LogEvent::Effect { run: run.clone(), by, value });
        value
    }

    /// How many lines the log has.
    pub(crate) fn log_length(&self) -> usize {
        self.lock().log.len()
    }

    pub(crate) fn logged(&self) -> Vec<Logged> {
        self.lock().log.clone()
    }

    /// Ignores poisoning: the data is consistent between any two statements.
    fn lock(&self) -> MutexGuard<'_, Moving> {
        self.moving.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Logs the events of an executor.
pub(crate) struct LogSink(pub(crate) std::sync::Arc<World>);

impl EventSink for LogSink {
    fn emit(&self, event: Event) {
        let Event { run, kind, .. } = event;
        let by = |node: &NodeRef| By { node: node.node.to_string(), visit: node.visit, attempt: node.attempt };
        self.0.log(match &kind {
            EventKind::NodeStarted(node) => LogEvent::Started { run, by: by(node) },
            EventKind::NodeFailed { node, took_ms, .. } => LogEvent::Failed { run, by: by(node), took: *took_ms },
            EventKind::NodeCancelled(node) | EventKind::NodeSuspended(node) => {
                LogEvent::Cancelled { run, by: by(node) }
            }
            EventKind::Reported { node, failure: Some(_), .. } => LogEvent::Reported { run, by: by(node) },
            other => LogEvent::Event { run, text: format!("{other:?}") },
        });
    }
}

impl fmt::Debug for Logged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{} ms ", self.executor, self.at)?;
        match &self.what {
            LogEvent::Begun { run, by, restarts } => write!(f, "{run}: {by} begins, after {restarts} restarts"),
            LogEvent::Effect { run, by, value } => write!(f, "{run}: {by} has an effect, {value}"),
            LogEvent::Got { run, by, value } => write!(f, "{run}: {by} got its effect's result, {value}"),
            LogEvent::Left { run, by } => write!(f, "{run}: {by} goes on"),
            LogEvent::Gathered { run, by, children } => write!(f, "{run}: {by} gathers {children:?}"),
            LogEvent::Given { run, by, number } => write!(f, "{run}: {by} is given {number}"),
            LogEvent::Asks { run, by, session } => write!(f, "{run}: {by} asks, {session:?}"),
            LogEvent::Called(call) => write!(f, "{call:?}"),
            LogEvent::Opened { run, by, session } => write!(f, "{run}: the agent of {by} is in {session}"),
            LogEvent::Returned(returned) => write!(f, "{returned:?}"),
            LogEvent::Turned(turned) => write!(f, "{turned:?}"),
            LogEvent::Failed { run, by, took } => write!(f, "{run}: {by} has failed after {took} ms"),
            LogEvent::Cancelled { run, by } => write!(f, "{run}: {by} is stopped"),
            LogEvent::Reported { run, by } => write!(f, "{run}: {by} has failed beside the graph"),
            LogEvent::Kept { run, sequence } => write!(f, "{run}: record {sequence} is kept"),
            LogEvent::Refused { run, sequence, left_behind: false } => write!(f, "{run}: record {sequence} is refused"),
            LogEvent::Refused { run, sequence, left_behind: true } => {
                write!(f, "{run}: record {sequence} is refused, which an executor has left behind")
            }
            LogEvent::KeptAfterRefusal { run, sequence } => {
                write!(f, "{run}: record {sequence} was written though another was refused")
            }
            LogEvent::Acknowledged { run, sequence } => write!(f, "{run}: record {sequence} is acknowledged"),
            LogEvent::Started { run, by } => write!(f, "{run}: {by} is started"),
            LogEvent::Event { run, text } => write!(f, "{run}: {text}"),
            LogEvent::Harness(text) => f.write_str(text),
        }
    }
}
