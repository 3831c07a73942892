//! What surrounds the runs of one seed, and the log of what they do.

use crate::asked::{Asking, Turned};
use crate::calls::{Call, Returned};
use crate::choice::{Choice, Temper, choice};
use crate::dialogue::nudges;
use crate::minds::Minds;
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

/// The most lines of a log. Most have less than a hundred; those of runs that only a message can end have 20,000.
const MOST_LINES: usize = 200_000;

/// What a journal that lies makes of the records that it gives.
pub(crate) type Lie = fn(&mut [Record]);

/// What surrounds the runs of one seed in one weather.
pub(crate) struct World {
    pub(crate) seed: u64,
    pub(crate) temper: Temper,
    pub(crate) nets: [&'static Net; 2],
    /// Whether nobody sends messages, and hardly anything happens at one moment with something else.
    pub(crate) is_calm: bool,
    pub(crate) lie: Option<Lie>,
    moving: Mutex<Moving>,
    minds: Mutex<Minds>,
}

struct Moving {
    /// Which executor runs: each begins where the one before was interrupted.
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
    pub(crate) what: What,
}

/// The event node of every table that has one.
pub(crate) const EVENT: &str = "event";

/// What happened.
#[derive(Clone, Debug)]
pub(crate) enum What {
    /// A handler began.
    Begun { run: RunId, by: By, restarts: u32 },
    /// A side effect was done, with this result.
    Effect { run: RunId, by: By, value: u64 },
    /// A handler got the result of its side effect.
    Got { run: RunId, by: By, value: u64 },
    /// A handler has come to its end, and goes on.
    Left { run: RunId, by: By },
    /// A map node's children ended.
    Gathered { run: RunId, by: By, children: Vec<Gathered> },
    /// A graph node's child finished, with this number.
    Given { run: RunId, by: By, number: u64 },
    /// A record is in the journal.
    Kept { run: RunId, sequence: u64 },
    /// A node says which session it asks the agent in.
    Asks { run: RunId, by: By, session: SessionOp },
    /// The agent is called.
    Called(Call),
    /// The agent says which session it is in.
    Opened { run: RunId, by: By, session: SessionId },
    /// A call has ended by itself.
    Returned(Returned),
    /// A node is told what its turn came to.
    Turned(Turned),
    /// A node has failed, after so many milliseconds.
    Failed { run: RunId, by: By, took: u64 },
    /// A node is stopped.
    Cancelled { run: RunId, by: By },
    /// The failure of who works beside the graph is recorded.
    Reported { run: RunId, by: By },
    /// The journal refuses a record, for a while or for good: one of the executor, or of what an executor that has left has left behind.
    Refused { run: RunId, sequence: u64, left_behind: bool },
    /// A record is in the journal that was written when it had refused another one of the same executor.
    KeptAfterRefusal { run: RunId, sequence: u64 },
    /// The journal has acknowledged a record.
    Acknowledged { run: RunId, sequence: u64 },
    /// The executor says that it has started a node.
    Started { run: RunId, by: By },
    /// Anything else that the executor says.
    Event { run: RunId, text: String },
    /// The harness did something.
    Harness(String),
}

/// A child that a map node was given: its run, and the number that it ended with, or the sort of its failure.
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
        let (temper, moving) = (Temper::of(seed), Mutex::new(moving));
        Self { seed, temper, nets, is_calm: false, lie: None, moving, minds: Mutex::default() }
    }

    /// A new executor takes over. Must be called inside its runtime.
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

    /// A run goes on that had failed.
    pub(crate) fn retried(&self, run: &RunId) {
        *self.lock().retries.entry(run.clone()).or_default() += 1;
    }

    /// What an execution of a run at `level` does now.
    pub(crate) fn choice(&self, level: usize, run: &RunId, execution: Execution) -> Choice {
        let retries = self.lock().retries.get(run).copied().unwrap_or_default();
        self.choice_after(level, run, execution, retries)
    }

    /// What it does when the run has been retried so often.
    pub(crate) fn choice_after(&self, level: usize, run: &RunId, execution: Execution, retries: u32) -> Choice {
        let choice = choice(self.seed, self.temper, self.nets[level], run, execution, retries);
        if self.is_calm { choice.calm() } else { choice }
    }

    /// What whoever asks the agent does.
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
    pub(crate) fn minds(&self) -> MutexGuard<'_, Minds> {
        self.minds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a line to the log; panics if it has become too long.
    pub(crate) fn log(&self, what: What) {
        let mut moving = self.lock();
        let at = moving.epoch.elapsed().as_millis() as u64;
        let executor = moving.executor;
        if moving.log.len() == MOST_LINES {
            drop(moving);
            // Unwinds through the driver, so that one ends too that never waits. Without the panic hook: it is no bug yet.
            std::panic::resume_unwind(Box::new(format!("it goes on and on: its log has {MOST_LINES} lines")));
        }
        moving.log.push(Logged { executor, at, what });
    }

    /// The result of a side effect that is really done: never the same twice.
    pub(crate) fn effect(&self, run: &RunId, by: By) -> u64 {
        let value = {
            let mut moving = self.lock();
            moving.effects += 1;
            moving.effects
        };
        self.log(What::Effect { run: run.clone(), by, value });
        value
    }

    pub(crate) fn logged(&self) -> Vec<Logged> {
        self.lock().log.clone()
    }

    /// What this guards is whole between two statements, whoever panics.
    fn lock(&self) -> MutexGuard<'_, Moving> {
        self.moving.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Logs what an executor of a run says.
pub(crate) struct Ears(pub(crate) std::sync::Arc<World>);

impl EventSink for Ears {
    fn emit(&self, event: Event) {
        let Event { run, kind, .. } = event;
        let by = |node: &NodeRef| By { node: node.node.to_string(), visit: node.visit, attempt: node.attempt };
        self.0.log(match &kind {
            EventKind::NodeStarted(node) => What::Started { run, by: by(node) },
            EventKind::NodeFailed { node, took_ms, .. } => What::Failed { run, by: by(node), took: *took_ms },
            EventKind::NodeCancelled(node) | EventKind::NodeSuspended(node) => What::Cancelled { run, by: by(node) },
            EventKind::Reported { node, failure: Some(_), .. } => What::Reported { run, by: by(node) },
            other => What::Event { run, text: format!("{other:?}") },
        });
    }
}

impl fmt::Debug for Logged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{} ms ", self.executor, self.at)?;
        match &self.what {
            What::Begun { run, by, restarts } => write!(f, "{run}: {by} begins, after {restarts} restarts"),
            What::Effect { run, by, value } => write!(f, "{run}: {by} has an effect, {value}"),
            What::Got { run, by, value } => write!(f, "{run}: {by} got its effect's result, {value}"),
            What::Left { run, by } => write!(f, "{run}: {by} goes on"),
            What::Gathered { run, by, children } => write!(f, "{run}: {by} gathers {children:?}"),
            What::Given { run, by, number } => write!(f, "{run}: {by} is given {number}"),
            What::Asks { run, by, session } => write!(f, "{run}: {by} asks, {session:?}"),
            What::Called(call) => write!(f, "{call:?}"),
            What::Opened { run, by, session } => write!(f, "{run}: the agent of {by} is in {session}"),
            What::Returned(returned) => write!(f, "{returned:?}"),
            What::Turned(turned) => write!(f, "{turned:?}"),
            What::Failed { run, by, took } => write!(f, "{run}: {by} has failed after {took} ms"),
            What::Cancelled { run, by } => write!(f, "{run}: {by} is stopped"),
            What::Reported { run, by } => write!(f, "{run}: {by} has failed beside the graph"),
            What::Kept { run, sequence } => write!(f, "{run}: record {sequence} is kept"),
            What::Refused { run, sequence, left_behind: false } => write!(f, "{run}: record {sequence} is refused"),
            What::Refused { run, sequence, left_behind: true } => {
                write!(f, "{run}: record {sequence} is refused, which an executor has left behind")
            }
            What::KeptAfterRefusal { run, sequence } => {
                write!(f, "{run}: record {sequence} was written though another was refused")
            }
            What::Acknowledged { run, sequence } => write!(f, "{run}: record {sequence} is acknowledged"),
            What::Started { run, by } => write!(f, "{run}: {by} is started"),
            What::Event { run, text } => write!(f, "{run}: {text}"),
            What::Harness(text) => f.write_str(text),
        }
    }
}
