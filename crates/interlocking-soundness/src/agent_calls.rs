//! How many agent calls a run can make at worst.
//!
//! The bound is that of the *state equation*: count how often each node starts and each way on is taken; a token is consumed
//! no more often than it is made, a node starts and an edge is taken no more often than its budget allows. An advisory node is started by
//! handlers, as often as they like within its `visits`. The counts of every run keep these limits, so the greatest number of calls under
//! them is an upper bound, and a linear program finds it. It is exact if a run makes that many: one is looked for, along the counts that
//! the program found.

use crate::linear::{Program, Variable};
use crate::witness;
use interlocking_core::agent_calls::AgentCalls;
use interlocking_core::net::{AlternativeIndex, Net, NodeIndex};
use interlocking_core::table::{NodeKind, NodeRow, Visits};

/// The worst-case number of agent calls of any run of the graph. What child runs call is in no table of their parent: with
/// any, nothing is known.
pub fn agent_calls(net: &Net) -> AgentCalls {
    if net.features().maps { AgentCalls::UNKNOWN } else { own_agent_calls(net) }
}

/// The worst-case number of agent calls of any run of the graph, without those of its child runs.
pub fn own_agent_calls(net: &Net) -> AgentCalls {
    let calls: Vec<u32> = net.table().nodes.iter().map(|row| u32::from(asks_an_agent(row))).collect();
    most(net, &calls)
}

/// How often a node starts at most, each time with one child run where it is a graph node: counted like calls.
pub fn starts(net: &Net, node: NodeIndex) -> AgentCalls {
    let once: Vec<u32> = (0..net.nodes().len()).map(|index| u32::from(index == usize::from(node))).collect();
    most(net, &once)
}

/// The most that any run makes, where each start of a node makes so many.
fn most(net: &Net, of_each_start: &[u32]) -> AgentCalls {
    if of_each_start.iter().all(|&calls| calls == 0) {
        return AgentCalls { at_most: Some(0), exact: true };
    }
    let mut counts = Counts::new(net, of_each_start);
    counts.limit();
    let Some(optimum) = counts.program.maximise() else {
        return AgentCalls::UNKNOWN;
    };
    // The true bound is whole; what is behind the point is not a call.
    let at_most = (optimum.value + 1e-6).floor() as u64;
    let plan: Vec<f64> = counts.taken.iter().map(|&variable| optimum.of(variable)).collect();
    AgentCalls { at_most: Some(at_most), exact: witness::makes(net, of_each_start, &plan, at_most) }
}

/// Whether a call begins when a node starts. An LLM node's always does, those of an event node and an advisory node where their rows name
/// an agent.
fn asks_an_agent(row: &NodeRow) -> bool {
    row.kind == NodeKind::Llm || (matches!(row.kind, NodeKind::Event | NodeKind::Advisory) && row.agent.is_some())
}

/// How often things happen in a run, as variables.
struct Counts<'n> {
    net: &'n Net,
    program: Program,
    /// By node: its starts, exhausted entries excluded.
    starts: Vec<Variable>,
    /// By alternative: how often it is taken.
    taken: Vec<Variable>,
    /// By place: what puts tokens there, and from which node.
    arrivals: Vec<Vec<(Variable, usize)>>,
}

impl<'n> Counts<'n> {
    fn new(net: &'n Net, calls: &[u32]) -> Self {
        let mut program = Program::default();
        let starts = calls.iter().map(|&calls| program.variable(f64::from(calls))).collect();
        let taken: Vec<Variable> = net.alternatives().iter().map(|_| program.variable(0.0)).collect();
        let mut arrivals = vec![Vec::new(); net.places().len()];
        for (alternative, &taken) in net.alternatives().iter().zip(&taken) {
            let source = usize::from(alternative.source);
            for branch in &alternative.branches {
                if let [place] = branch[..] {
                    arrivals[usize::from(place)].push((taken, source));
                    continue;
                }
                // One of several targets each time.
                let mut chosen = vec![(taken, -1.0)];
                for &place in branch {
                    let choice = program.variable(0.0);
                    chosen.push((choice, 1.0));
                    arrivals[usize::from(place)].push((choice, source));
                }
                program.limit(chosen, 0.0);
            }
        }
        Self { net, program, starts, taken, arrivals }
    }

    fn limit(&mut self) {
        let net = self.net;
        for (index, node) in net.nodes().iter().enumerate() {
            let row = &net.table().nodes[index];
            let starts = self.starts[index];
            let exhausted = |at: &AlternativeIndex| node.exhausted == Some(*at);
            let ways = node.alternatives.clone().filter(|at| !exhausted(at));
            let ways = ways.map(|at| (self.taken[usize::from(at)], 1.0));
            self.program.limit(ways.chain([(starts, -1.0)]).collect(), 0.0);
            if let Some(Visits::AtMost(visits)) = row.visits {
                let attempts = row.attempts.unwrap_or(1);
                self.program.limit(vec![(starts, 1.0)], f64::from(visits) * f64::from(attempts));
            }
            for at in node.alternatives.clone() {
                if let Some(times) = net.alternative(at).and_then(|edge| edge.times) {
                    self.program.limit(vec![(self.taken[usize::from(at)], 1.0)], f64::from(times.limit));
                }
            }
            match row.kind {
                NodeKind::Advisory => self.limit_spawned(index),
                NodeKind::Event | NodeKind::Observer => {}
                _ => self.limit_input(index),
            }
        }
    }

    /// Each execution that may start an advisory node may do so as often as that has visits.
    fn limit_spawned(&mut self, index: usize) {
        let rows = &self.net.table().nodes;
        let spawners: Vec<usize> = (0..rows.len()).filter(|&at| rows[at].spawn.contains(&rows[index].name)).collect();
        let each = match rows[index].visits {
            Some(Visits::AtMost(visits)) => f64::from(visits),
            // Nothing limits it, unless nobody starts it.
            _ if !spawners.is_empty() => return,
            _ => 0.0,
        };
        let terms = spawners.into_iter().map(|at| (self.starts[at], -each));
        self.program.limit(terms.chain([(self.starts[index], 1.0)]).collect(), 0.0);
    }

    /// A node that takes tokens starts no more often than these come.
    fn limit_input(&mut self, index: usize) {
        let (net, starts) = (self.net, self.starts[index]);
        let (row, node) = (&net.table().nodes[index], &net.nodes()[index]);
        if let Some(quorum) = &node.quorum {
            return self.limit_quorum(index, quorum.values);
        }
        for place in node.places().filter(|&place| !net.places()[place].latched) {
            let entry = if place == usize::from(net.entry()) { 1.0 } else { 0.0 };
            let mut terms = vec![(starts, 1.0)];
            terms.extend(node.exhausted.map(|at| (self.taken[usize::from(at)], 1.0)));
            terms.extend(self.arrivals[place].iter().map(|&(arrival, _)| (arrival, -1.0)));
            self.program.limit(terms, entry);
            if let Some(attempts) = row.attempts {
                // Each entry from elsewhere is worth so many starts.
                let factor = f64::from(attempts);
                let elsewhere = self.arrivals[place].iter().filter(|(_, source)| *source != index);
                let mut terms: Vec<_> = elsewhere.map(|&(arrival, _)| (arrival, -factor)).collect();
                terms.push((starts, 1.0));
                self.program.limit(terms, entry * factor);
            }
        }
    }

    /// Each round of a join with a quorum takes as many tokens as that at least, no more than one of a slot.
    fn limit_quorum(&mut self, index: usize, values: u16) {
        let node = self.net.node(index as NodeIndex);
        let mut rounds = vec![(self.starts[index], 1.0)];
        rounds.extend(node.exhausted.map(|at| (self.taken[usize::from(at)], 1.0)));
        let mut enough: Vec<_> = rounds.iter().map(|&(round, _)| (round, f64::from(values))).collect();
        for place in node.places() {
            let used = self.program.variable(0.0);
            enough.push((used, -1.0));
            let arrivals = self.arrivals[place].iter().map(|&(arrival, _)| (arrival, -1.0));
            self.program.limit(arrivals.chain([(used, 1.0)]).collect(), 0.0);
            self.program.limit(rounds.iter().map(|&(round, _)| (round, -1.0)).chain([(used, 1.0)]).collect(), 0.0);
        }
        self.program.limit(enough, 0.0);
    }
}
