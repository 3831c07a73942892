//! A run that makes as many agent calls as there can be, looked for on the frontier itself.
//!
//! Depth first, along a plan that says how often each alternative should be taken. Not every run is tried: if none is found,
//! there may still be one.

use interlocking_core::frontier::{Execution, Frontier, Payload};
use interlocking_core::net::{AlternativeIndex, Net, PlaceIndex};
use interlocking_core::route::Step;
use interlocking_core::table::Visits;

/// How many outcomes are tried.
const PATIENCE: usize = 1_000;

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

/// A run somewhere on its way.
#[derive(Clone)]
struct Run<'n> {
    frontier: Frontier<'n, Token>,
    running: Vec<Execution>,
    calls: u64,
    /// By node: whether it is an advisory node that has been started, as often as may be.
    spawned: Vec<bool>,
    /// By alternative: how often the plan still takes it.
    plan: Vec<f64>,
}

/// Whether a run is found that makes `goal` calls, where `calls[node]` begin at each start of a node.
pub(crate) fn makes(net: &Net, calls: &[u32], plan: &[f64], goal: u64) -> bool {
    let run = Run {
        frontier: Frontier::new(net, Token(net.entry())),
        running: Vec::new(),
        calls: 0,
        spawned: vec![false; net.nodes().len()],
        plan: plan.to_vec(),
    };
    let mut open = vec![run];
    for _ in 0..PATIENCE {
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
        // The last is tried first: what the plan wants most, and of that what does not end the run.
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
            // Where an edge is spent its route is taken, if it has one.
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

/// Whether no handler chooses it: it is the route of an exhausted budget.
fn is_route(net: &Net, at: AlternativeIndex) -> bool {
    net.alternative(at).is_some_and(|way| way.instead_of.is_some() || net.node(way.source).exhausted == Some(at))
}

fn ends(net: &Net, at: AlternativeIndex) -> bool {
    net.alternative(at).is_some_and(|way| way.branches.iter().flatten().any(|&place| place == net.exit()))
}

impl Run<'_> {
    /// Starts all that is due; false if a budget ended the run.
    fn start(&mut self, net: &Net, calls: &[u32]) -> bool {
        // Routes of exhausted budgets can go round for ever, in a graph that is not sound.
        let mut patience = PATIENCE;
        while let Some(due) = self.frontier.next_due() {
            patience -= 1;
            if patience == 0 {
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

    /// Starts what the handler of an execution may start beside the graph, unless it has failed.
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

    /// Takes a way on from a node that runs; false if that is against the rules.
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
