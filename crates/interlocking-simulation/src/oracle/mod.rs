//! Checks the records of a run against the rules of the reference model.
//!
//! An oracle uses neither the frontier nor the replay. For each record, it checks that the event could happen at that
//! time, with the numbers that its tokens must carry, and determines what starts after it. It refuses a record with a
//! reason in words.
//!
//! - `record`: one record; `letters`: answers and messages from outside.
//! - `step`: how tokens move; `outcome`, `effects`: what an execution does to tokens, and its other effects.
//! - `agents`: sessions and usage; `advisory`: nodes beside the graph; `end`: how a run may end; `loops`: the loop of a
//!   spent edge.

mod record;
mod letters;
mod step;
mod outcome;
mod effects;
mod advisory;
mod end;
mod loops;
mod agents;

use crate::checks::{Endings, Given};
use crate::choice::Choice;
use crate::numbers::NOTHING;
use crate::world::{Gathered, Logged, World};
use interlocking_agents::SessionId;
use interlocking_core::failure::{Failure, FailureKind};
use interlocking_core::frontier::{Execution, Limit};
use interlocking_core::net::{Net, NodeIndex};
use interlocking_core::run_id::RunId;
use interlocking_reference_model::rules::{Budgets, Rules, Starts, State};
use interlocking_reference_model::writers;
use interlocking_runtime::journal::{By, Posted, Record, RecordedPayload, TokenRecord};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The state of a run after its records so far.
pub(crate) struct Oracle<'w> {
    world: &'w World,
    level: usize,
    net: &'static Net,
    run: RunId,
    rules: Rules,
    state: State,
    tokens: Tokens,
    /// By node: visits, and attempts in the latest visit.
    counts: Vec<(u32, u32)>,
    /// The running executions, by node, with their tokens.
    running: BTreeMap<usize, (Execution, Vec<Token>)>,
    /// Messages that wait for their event node: the node and the number.
    mailbox: VecDeque<(usize, u64)>,
    /// The last letter that was received.
    letters: u64,
    pub(crate) parent: Option<RunId>,
    /// By record of a failure or a cancellation: the executions that were running then.
    pub(crate) stopped: BTreeMap<u64, Vec<Execution>>,
    /// The questions, each with its answer if there is one.
    asked: BTreeMap<By, Option<u64>>,
    /// The recorded side effects: node, visit, name.
    once: BTreeSet<(String, u32, String)>,
    /// Advisory executions without a report, with their inputs.
    pub(crate) beside: BTreeMap<ExecutionKey, u64>,
    /// The results of advisory executions.
    pub(crate) reports: BTreeMap<ExecutionKey, Result<u64, FailureKind>>,
    /// By memory group: its value.
    sums: BTreeMap<String, u64>,
    /// By observer: its sum, or that it failed.
    pub(crate) watched: BTreeMap<usize, Result<u64, ()>>,
    pub(crate) exit: Option<u64>,
    /// The execution and the limit by which the run must fail next.
    fatal_limit: Option<(Execution, Limit)>,
    /// How it has ended: with a failure or none, and whether it was cancelled.
    pub(crate) ended: Option<(Option<Failure>, bool)>,
    /// Every execution so far, with the numbers of its input.
    executions: BTreeMap<ExecutionKey, Vec<u64>>,
    /// The accepted outcomes.
    pub(crate) outcomes: BTreeMap<ExecutionKey, Vec<TokenRecord>>,
    /// By execution of a map: whether its quorum is reached, which children had ended by then, and how often the run
    /// had been retried.
    pub(crate) decisions: BTreeMap<By, (bool, Vec<RunId>, usize)>,
    /// The executions that a join cancelled at its quorum.
    pub(crate) losers: BTreeSet<ExecutionKey>,
    /// By execution of a map: the items added by messages.
    added: BTreeMap<By, Vec<u64>>,
    /// The reason why the result may depend on the order of concurrent steps, if it may.
    pub(crate) raced: Option<String>,
    /// Whether an execution timed out because it had to wait for the agent's provider or for other calls.
    pub(crate) held_up: bool,
    /// The nodes that must not be at work at once because of a shared workspace: pairs, and single nodes that must not
    /// be at work several times.
    apart: Vec<BTreeSet<String>>,
    /// The executions that each record starts.
    pub(crate) starts: Vec<(u64, Execution)>,
    /// By record: what was at work after it.
    pub(crate) moments: Vec<Moment>,
    pub(crate) seen: Seen,
}

/// What is at work in a run after one of its records.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    /// The executions that hold tokens.
    pub(crate) running: Vec<Execution>,
    /// Whether a message waits to be handled, or an advisory node works.
    pub(crate) is_busy_beside: bool,
}

/// The tokens by place, with the rules' numbering of places.
struct Tokens {
    waiting: Vec<Option<Token>>,
    held: Vec<Option<Token>>,
    remembered: Vec<Option<Token>>,
}

/// A token: its number, and every execution that led to it.
#[derive(Clone, Debug)]
struct Token {
    number: u64,
    past: BTreeSet<ExecutionKey>,
    from: Option<usize>,
    /// Whether it counts for the quorum of the join in whose slot it lies.
    counts: bool,
}

/// An execution as an ordered key: node, visit, attempt.
pub(crate) type ExecutionKey = (NodeIndex, u32, u32);

/// Counts of each kind of event.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) outcomes: usize,
    pub(crate) decided: usize,
    pub(crate) out_of_reach: usize,
    /// Joins that reached their quorum, joins that did not, and the slots that the former did not wait for.
    pub(crate) quorums_met: usize,
    pub(crate) quorums_missed: usize,
    pub(crate) slots_missing: usize,
    pub(crate) items_added: usize,
    pub(crate) items_refused: usize,
    pub(crate) cancelled: usize,
    pub(crate) exhausted: usize,
    pub(crate) spent_edges: usize,
    pub(crate) routed: usize,
    /// Executions that timed out and took a route.
    pub(crate) timed_out: usize,
    pub(crate) failed_children: usize,
    pub(crate) received: usize,
    pub(crate) missed: usize,
    pub(crate) messages: usize,
    pub(crate) redirects: usize,
    pub(crate) answers: usize,
    pub(crate) remembered: usize,
    pub(crate) advisory: usize,
    pub(crate) once: usize,
    pub(crate) sent: usize,
    pub(crate) memories: usize,
    pub(crate) resumed: usize,
    pub(crate) retried: usize,
    pub(crate) sessions: usize,
    pub(crate) spent: usize,
}

/// The facts that an oracle gets besides the records.
pub(crate) struct Facts<'f> {
    pub(crate) letters: &'f [Posted],
    /// By execution: the results of children that its handler got, each time.
    pub(crate) gathered: &'f BTreeMap<(RunId, By), Vec<Vec<Gathered>>>,
    /// By execution of a graph node: the result that its handler got last, and the ends in its child's records.
    pub(crate) children: (&'f Given, &'f Endings),
    /// The sessions that the agent has begun or continued, for each execution.
    pub(crate) opened: &'f BTreeSet<(RunId, By, SessionId)>,
    /// Whether any executor had a limit on calls.
    pub(crate) bounded: bool,
    /// All lines of the log.
    pub(crate) log: &'f [Logged],
    /// The executions that timed out after a wait for the provider or for a free call slot.
    pub(crate) held_up: &'f BTreeSet<(RunId, By)>,
}

impl<'w> Oracle<'w> {
    /// The oracle of a run at `level` that has not begun.
    pub(crate) fn new(world: &'w World, level: usize, run: RunId) -> Self {
        let net = world.nets[level];
        let rules = Rules::new(net.table(), Budgets::Concrete, Starts::InTurn);
        let nowhere = vec![None; rules.places.len()];
        Self {
            world,
            level,
            net,
            run,
            state: rules.start(),
            tokens: Tokens { waiting: nowhere.clone(), held: nowhere.clone(), remembered: nowhere },
            counts: vec![(0, 0); net.nodes().len()],
            rules,
            running: BTreeMap::new(),
            mailbox: VecDeque::new(),
            letters: 0,
            parent: None,
            stopped: BTreeMap::new(),
            asked: BTreeMap::new(),
            once: BTreeSet::new(),
            beside: BTreeMap::new(),
            reports: BTreeMap::new(),
            sums: BTreeMap::new(),
            watched: BTreeMap::new(),
            exit: None,
            fatal_limit: None,
            ended: None,
            executions: BTreeMap::new(),
            outcomes: BTreeMap::new(),
            decisions: BTreeMap::new(),
            losers: BTreeSet::new(),
            added: BTreeMap::new(),
            raced: None,
            held_up: false,
            apart: writers::all(net.table()),
            starts: Vec::new(),
            moments: Vec::new(),
            seen: Seen::default(),
        }
    }

    /// Follows the records of the run, which starts with `entry`.
    pub(crate) fn follow(&mut self, records: &[Record], entry: u64, facts: &Facts<'_>) -> Result<(), String> {
        for (nth, record) in records.iter().enumerate() {
            let sequence = record.sequence;
            if sequence != nth as u64 || record.run != self.run {
                return Err(format!("record {nth} of {} is number {sequence} of {}", self.run, record.run));
            }
            self.take(record, entry, facts).map_err(|why| format!("record {sequence} of {}: {why}", self.run))?;
            let started = self.start_due(sequence).and_then(|()| self.works_apart());
            started.map_err(|why| format!("after record {sequence} of {}: {why}", self.run))?;
            let running = self.running.values().map(|(execution, _)| *execution).collect();
            let is_busy_beside = !self.mailbox.is_empty() || !self.beside.is_empty();
            self.moments.push(Moment { running, is_busy_beside });
        }
        Ok(())
    }

    /// How often each node was entered, in table order.
    pub(crate) fn visits(&self) -> Vec<(&'static str, u32)> {
        let visits = (0..self.counts.len()).map(|node| (self.net.name(node as NodeIndex), self.counts[node].0));
        visits.filter(|(_, visits)| *visits > 0).collect()
    }

    /// Checks that no two executions are at work that may change the same workspace.
    fn works_apart(&self) -> Result<(), String> {
        let at_work = |name: &String| {
            let is_it = |node: NodeIndex| self.net.name(node) == name;
            let running = self.running.values().filter(|(execution, _)| is_it(execution.node)).count();
            running + self.beside.keys().filter(|(node, ..)| is_it(*node)).count()
        };
        let is_broken = |nodes: &&BTreeSet<String>| {
            let most = if nodes.len() == 1 { 1 } else { 0 };
            nodes.iter().all(|name| at_work(name) > most)
        };
        match self.apart.iter().find(is_broken) {
            Some(nodes) => Err(format!("{nodes:?} are at work at once, and may change one workspace")),
            None => Ok(()),
        }
    }

    /// How many pairs of nodes that may change the same workspace have both run, one after the other.
    pub(crate) fn worked_apart(&self) -> usize {
        let visited = self.visits();
        let has_run = |name: &String| visited.iter().any(|(visited, _)| visited == name);
        self.apart.iter().filter(|nodes| nodes.iter().all(has_run)).count()
    }

    fn execution(&self, by: &By) -> Result<Execution, String> {
        let node = self.net.node_named(&by.node).ok_or_else(|| format!("there is no node {}", by.node))?;
        Ok(Execution { node, visit: by.visit, attempt: by.attempt })
    }

    fn choice(&self, execution: Execution) -> Choice {
        self.world.choice_after(self.level, &self.run, execution, self.seen.retried as u32)
    }
}

fn key(execution: Execution) -> ExecutionKey {
    (execution.node, execution.visit, execution.attempt)
}

fn number(payload: &RecordedPayload) -> Result<u64, String> {
    let json = payload.json().ok_or("a payload is not there")?;
    json.parse().map_err(|_| format!("{json} is no number"))
}

/// The number of a token, which may be that for no value.
fn carried(payload: &RecordedPayload) -> Result<u64, String> {
    if payload.is_null() { Ok(NOTHING) } else { number(payload) }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what} is {found:?} and should be {expected:?}")) }
}
