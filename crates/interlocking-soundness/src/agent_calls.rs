//! How many agent calls a run can make at worst.
//!
//! The bound comes from the *state equation*: it counts how often each node starts and each alternative is taken. A
//! token is consumed no more often than it is made, and a node starts and an edge is taken no more often than the
//! budget allows. Handlers may start an advisory node as often as its `visits` allow. The counts of every run keep
//! these limits, so the greatest number of calls under them is an upper bound, which a linear program finds. The bound
//! is exact if some run makes that many calls: a search looks for such a run along the counts that the program found.

use crate::linear::{Program, Variable};
use crate::witness;
use interlocking_core::agent_calls::AgentCalls;
use interlocking_core::net::{AlternativeIndex, Net, NodeIndex};
use interlocking_core::table::{NodeKind, NodeRow, Visits};

/// What the rounding of floats can add to a bound or take from it.
const ROUNDING: f64 = 1e-6;

/// From here on, rounding can be more than [`ROUNDING`].
const TOO_LARGE: f64 = 4_294_967_296.0;

/// The worst-case number of agent calls of any run of the graph. The table does not contain the calls of child runs, so
/// the result is unknown for a graph with child runs.
pub fn agent_calls(net: &Net) -> AgentCalls {
    if net.features().maps { AgentCalls::UNKNOWN } else { own_agent_calls(net) }
}

/// The worst-case number of agent calls of any run of the graph, without those of its child runs.
pub fn own_agent_calls(net: &Net) -> AgentCalls {
    let calls: Vec<u32> = net.table().nodes.iter().map(|row| u32::from(asks_an_agent(row))).collect();
    most(net, &calls)
}

/// How often a node starts at most, counted like calls. Each start of a graph node starts one child run.
pub fn starts(net: &Net, node: NodeIndex) -> AgentCalls {
    let once: Vec<u32> = (0..net.nodes().len()).map(|index| u32::from(index == usize::from(node))).collect();
    most(net, &once)
}

/// The most calls that any run makes, where each start of a node makes `of_each_start[node]` calls.
fn most(net: &Net, of_each_start: &[u32]) -> AgentCalls {
    if of_each_start.iter().all(|&calls| calls == 0) {
        return AgentCalls { at_most: Some(0), exact: true };
    }
    let mut counts = Counts::new(net, of_each_start);
    counts.limit();
    let Some(optimum) = counts.program.maximise().filter(|optimum| optimum.value < TOO_LARGE) else {
        return AgentCalls::UNKNOWN;
    };
    // The true bound is an integer, so the fraction is dropped.
    let at_most = (optimum.value + ROUNDING).floor() as u64;
    let plan: Vec<f64> = counts.taken.iter().map(|&variable| optimum.of(variable)).collect();
    AgentCalls { at_most: Some(at_most), exact: witness::makes(net, of_each_start, &plan, at_most) }
}

/// Whether a call begins when a node starts: always for an LLM node, and for an event node or an advisory node whose
/// row names an agent.
fn asks_an_agent(row: &NodeRow) -> bool {
    row.kind == NodeKind::Llm || (matches!(row.kind, NodeKind::Event | NodeKind::Advisory) && row.agent.is_some())
}

/// How often each step happens in a run, as variables of a linear program.
struct Counts<'n> {
    net: &'n Net,
    program: Program,
    /// By node: its starts, exhausted entries excluded.
    starts: Vec<Variable>,
    /// By alternative: how often it is taken.
    taken: Vec<Variable>,
    /// By place: the variables that count tokens arriving there, each with the node that sends them.
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
                // Each time the branch goes to one of several targets.
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

    /// Each execution that may start an advisory node may do so as often as the advisory node's `visits` allow.
    fn limit_spawned(&mut self, index: usize) {
        let rows = &self.net.table().nodes;
        let spawners: Vec<usize> = (0..rows.len()).filter(|&at| rows[at].spawn.contains(&rows[index].name)).collect();
        let each = match rows[index].visits {
            Some(Visits::AtMost(visits)) => f64::from(visits),
            // Without `visits`, the starts are unlimited, unless no node starts it.
            _ if !spawners.is_empty() => return,
            _ => 0.0,
        };
        let terms = spawners.into_iter().map(|at| (self.starts[at], -each));
        self.program.limit(terms.chain([(self.starts[index], 1.0)]).collect(), 0.0);
    }

    /// A node that takes tokens starts no more often than tokens arrive.
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
                // Each entry from another node allows that many starts.
                let factor = f64::from(attempts);
                let elsewhere = self.arrivals[place].iter().filter(|(_, source)| *source != index);
                let mut terms: Vec<_> = elsewhere.map(|&(arrival, _)| (arrival, -factor)).collect();
                terms.push((starts, 1.0));
                self.program.limit(terms, entry * factor);
            }
        }
    }

    /// Each round of a join with a quorum takes at least as many tokens as the quorum, at most one per slot.
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
