//! A search, on the frontier itself, for a run that makes the greatest number of agent calls.
//!
//! The search is depth first, along a plan that says how often each alternative should be taken. It does not try every
//! run: if it finds none, such a run may still exist.

use interlocking_core::frontier::{Execution, Frontier, Payload};
use interlocking_core::net::{AlternativeIndex, Net, PlaceIndex};
use interlocking_core::route::Step;
use interlocking_core::table::Visits;

/// How many outcomes the search tries, and how many due nodes one start may process.
const MAX_STEPS: usize = 1_000;

/// A token that carries nothing.
#[derive(Clone, Copy, Debug)]
struct Token(PlaceIndex);

impl Payload for Token {
    fn place(&self) -> PlaceIndex {
        self.0
    }

    fn copy(&self) -> Option<Self> {
        Some(*self)
    }
}

/// A partial run.
#[derive(Clone)]
struct Run<'n> {
    frontier: Frontier<'n, Token>,
    running: Vec<Execution>,
    calls: u64,
    /// By node: whether it is an advisory node that has been started, as often as its `visits` allow.
    spawned: Vec<bool>,
    /// By alternative: how often the plan has still to take it.
    plan: Vec<f64>,
}

/// Whether the search finds a run that makes `goal` calls, where each start of a node makes `calls[node]` calls.
pub(crate) fn makes(net: &Net, calls: &[u32], plan: &[f64], goal: u64) -> bool {
    let run = Run {
        frontier: Frontier::new(net, Token(net.entry())),
        running: Vec::new(),
        calls: 0,
        spawned: vec![false; net.nodes().len()],
        plan: plan.to_vec(),
    };
    let mut open = vec![run];
    for _ in 0..MAX_STEPS {
        let Some(mut run) = open.pop() else { return false };
        if !run.start(net, calls) {
            continue;
        }
        if run.calls >= goal {
            return true;
        }
        let next = run.running.iter().position(|execution| !clears(net, *execution)).unwrap_or_default();
        let Some(&execution) = run.running.get(next) else { continue };
        let mut ways: Vec<AlternativeIndex> = net.node(execution.node).alternatives.clone().collect();
        ways.retain(|at| !is_route(net, *at));
        // The last is tried first: the alternative that the plan wants most, and among equals one that does not end the
        // run.
        ways.sort_by(|one, other| {
            let wanted = |at: AlternativeIndex| (run.plan[usize::from(at)], !ends(net, at));
            let ((one, one_goes_on), (other, other_goes_on)) = (wanted(*one), wanted(*other));
            ((one > 0.5) && one_goes_on)
                .cmp(&((other > 0.5) && other_goes_on))
                .then(one.total_cmp(&other))
                .then(one_goes_on.cmp(&other_goes_on))
        });
        for way in ways {
            let mut run = run.clone();
            // If an edge is spent, the edge's exhausted route is taken, if there is one.
            let spent = net.alternative(way).and_then(|edge| edge.times).filter(|_| run.frontier.is_spent(way));
            let Some(way) = spent.map_or(Some(way), |times| times.exhausted) else { continue };
            if run.complete(net, execution, way) {
                run.spawn(net, calls, execution, way);
                open.push(run);
            }
        }
    }
    false
}

fn clears(net: &Net, execution: Execution) -> bool {
    let mut ways = net.node(execution.node).alternatives.clone().filter_map(|at| net.alternative(at));
    ways.any(|alternative| alternative.cancels.is_some())
}

/// Whether it is the route of an exhausted budget, which no handler chooses.
fn is_route(net: &Net, at: AlternativeIndex) -> bool {
    net.alternative(at).is_some_and(|way| way.instead_of.is_some() || net.node(way.source).exhausted == Some(at))
}

fn ends(net: &Net, at: AlternativeIndex) -> bool {
    net.alternative(at).is_some_and(|way| way.branches.iter().flatten().any(|&place| place == net.exit()))
}

impl Run<'_> {
    /// Starts all due nodes; false if a budget ended the run.
    fn start(&mut self, net: &Net, calls: &[u32]) -> bool {
        // In an unsound graph, routes of exhausted budgets can form an endless loop.
        let mut steps_left = MAX_STEPS;
        while let Some(due) = self.frontier.next_due() {
            steps_left -= 1;
            if steps_left == 0 {
                return false;
            }
            let node = due.execution.node;
            if due.exhausted.is_none() {
                self.calls += u64::from(calls[usize::from(node)]);
                self.running.push(due.execution);
            } else if !net.node(node).exhausted.is_some_and(|route| self.complete(net, due.execution, route)) {
                return false;
            }
        }
        true
    }

    /// Starts the advisory nodes that the handler of an execution may start, unless the execution failed.
    fn spawn(&mut self, net: &Net, calls: &[u32], execution: Execution, way: AlternativeIndex) {
        let node = net.node(execution.node);
        if [node.timed_out, node.failed].contains(&Some(way)) {
            return;
        }
        for name in &net.row(execution.node).spawn {
            let Some(index) = net.node_named(name).map(usize::from) else { continue };
            if let Some(Visits::AtMost(visits)) = net.table().nodes[index].visits
                && !std::mem::replace(&mut self.spawned[index], true)
            {
                self.calls += u64::from(calls[index]) * u64::from(visits);
            }
        }
    }

    /// Takes an alternative from a running node; false if the rules forbid it.
    fn complete(&mut self, net: &Net, execution: Execution, at: AlternativeIndex) -> bool {
        let Some(alternative) = net.alternative(at) else { return false };
        let tokens: Vec<Token> =
            alternative.branches.iter().filter_map(|branch| Some(Token(*branch.first()?))).collect();
        let (row, first) = (net.row(execution.node), net.node(execution.node).alternatives.start);
        let is_fork = row.fork.is_some() && row.goto.len() == usize::from(at - first);
        let step = match tokens[..] {
            [token] if !is_fork => Step::One(at, token),
            _ => Step::All(at, tokens),
        };
        self.plan[usize::from(at)] -= 1.0;
        self.running.retain(|running| *running != execution);
        match self.frontier.complete(execution, step) {
            Ok(completed) => {
                self.running.retain(|running| !completed.cancelled.contains(running));
                true
            }
            Err(_) => false,
        }
    }
}
