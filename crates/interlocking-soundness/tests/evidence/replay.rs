//! Replays the paths of violations: in the brute force, and on the frontier.

use crate::frontier_agrees::{Token, is_value};
use interlocking_core::frontier::{self, Frontier};
use interlocking_core::net::Net;
use interlocking_core::route;
use interlocking_core::table::{Goto, NodeRow, Table};
use interlocking_reference_model::explore::{Broken, Hashes};
use interlocking_reference_model::generate::Dice;
use interlocking_reference_model::rules::{Budgets, Failing, Move, Outcome, Rules, Starts, State, Way};
use interlocking_soundness::Step;
use std::collections::{BTreeMap, BTreeSet, HashSet};

type States = HashSet<State, Hashes>;

/// The rules for replaying paths: any schedule, with one-bit budgets.
pub(crate) fn rules(table: &Table) -> Rules {
    Rules::new(table, Budgets::OneBit, Starts::Any)
}

/// Whether some schedule takes exactly these steps by these [`rules`], and the last step breaks `rule`.
pub(crate) fn by_brute_force(rules: &Rules, path: &[Step], rule: &Broken) -> bool {
    let mut states = States::from_iter([rules.start()]);
    for (nth, step) in path.iter().enumerate() {
        let last = nth + 1 == path.len();
        let mut next = States::default();
        for state in silently(rules, states) {
            for way in rules.moves(&state).into_iter().filter(|&way| is(rules, way, step)) {
                let broken = match rules.apply(&state, way) {
                    Outcome::Next(state) => {
                        next.insert(state);
                        continue;
                    }
                    Outcome::DoubleToken { from, place } => {
                        let place = rules.place_name(place).to_owned();
                        Broken::DoubleToken { from: rules.nodes[from].name.clone(), place }
                    }
                    Outcome::LiveAtExit { from, .. } => Broken::LiveAtExit { from: rules.nodes[from].name.clone() },
                    Outcome::Exit | Outcome::Failed => continue,
                };
                if last && broken == *rule {
                    return true;
                }
            }
        }
        states = next;
    }
    let states = silently(rules, states);
    match rule {
        Broken::Stuck { joins } => states.iter().filter(|state| rules.is_stuck(state)).any(|state| {
            let waiting = rules.half_filled(state).into_iter().map(|node| rules.nodes[node].name.clone());
            waiting.collect::<BTreeSet<_>>() == *joins
        }),
        Broken::SharedWorkspace { nodes } => states.iter().any(|state| {
            let is_at_work = |name: &String| {
                let node = rules.nodes.iter().position(|node| node.name == *name).unwrap();
                rules.is_at_work(state, node)
            };
            nodes.iter().all(is_at_work)
        }),
        _ => false,
    }
}

/// These states, and those that starts and messages without effect lead to.
fn silently(rules: &Rules, states: States) -> States {
    let mut todo: Vec<State> = states.iter().cloned().collect();
    let mut all = states;
    while let Some(state) = todo.pop() {
        for step in
            rules.moves(&state).into_iter().filter(|step| matches!(step, Move::Start { .. } | Move::Resume { .. }))
        {
            if let Outcome::Next(next) = rules.apply(&state, step)
                && all.insert(next.clone())
            {
                todo.push(next);
            }
        }
    }
    all
}

fn is(rules: &Rules, way: Move, step: &Step) -> bool {
    let (node, way, exhausted) = match way {
        Move::Start { .. } | Move::Resume { .. } => return false,
        Move::End { node, way } | Move::Redirect { node, way } => (node, &rules.nodes[node].ways[way], false),
        Move::Spent { node, way } => match &rules.nodes[node].ways[way].instead {
            Some(way) => (node, &**way, true),
            None => return false,
        },
        Move::EndExhausted { node } | Move::Overrun { node } => match &rules.nodes[node].exhausted {
            Some(way) => (node, way, true),
            None => return false,
        },
    };
    rules.nodes[node].name == step.node && exhausted == step.exhausted && leads(rules, way, step)
}

/// Why a step is not the outcome of a handler.
fn failing(step: &Step) -> Option<Failing> {
    match (step.timed_out, step.failed) {
        (true, _) => Some(Failing::TimedOut),
        (_, true) => Some(Failing::Failed),
        _ => None,
    }
}

/// Whether a way makes the tokens of a step, in any order, for the same reason as the step.
fn leads(rules: &Rules, way: &Way, step: &Step) -> bool {
    let mut to: Vec<&str> = way.tokens.iter().map(|&place| rules.place_name(place)).collect();
    let mut expected: Vec<&str> = step.to.iter().map(String::as_str).collect();
    to.sort_unstable();
    expected.sort_unstable();
    let none = way.tokens.iter().filter(|&&place| !is_value(way, place)).map(|&place| rules.place_name(place));
    let none: BTreeSet<&str> = none.filter(|place| rules.is_optional(place)).collect();
    to == expected && way.failing == failing(step) && none == step.none.iter().map(String::as_str).collect()
}

/// The same table, but all edges may be taken at any time, and also their routes, which are appended as gotos: a path with
/// one-bit budgets needs no more. (The frontier only reports that a node is beyond its own bound.)
pub(crate) fn unbudgeted(table: &Table) -> Net {
    let mut table = table.clone();
    for row in &mut table.nodes {
        let routes: Vec<Goto> = row
            .goto
            .iter_mut()
            .filter_map(|goto| {
                goto.times = None;
                goto.exhausted.take().map(|route| *route)
            })
            .collect();
        row.goto.extend(routes);
    }
    Net::new(table).unwrap()
}

/// The position of a way among the alternatives of its node's row in the net of [`unbudgeted`].
fn position(rules: &Rules, row: &NodeRow, node: usize, way: &Way) -> usize {
    let routes = rules.nodes[node].ways.iter().filter_map(|way| way.instead.as_deref()).map(|route| route.alternative);
    // A way that sends no value to an optional slot has the same route as the way that sends a value.
    let routes: Vec<usize> = routes.collect::<BTreeSet<_>>().into_iter().collect();
    let gotos = row.goto.len() - routes.len();
    match routes.iter().position(|route| *route == way.alternative) {
        Some(nth) => gotos + nth,
        None if way.alternative < gotos => way.alternative,
        None => way.alternative + routes.len(),
    }
}

/// The frontier's violation at the end of `path` in an [`unbudgeted`] net; `None` if no tried order of starts can take the path.
///
/// The path does not say when nodes have started; that matters only if a join has a remembered value. So the latest starts are
/// tried first, then the earliest, then some at random.
pub(crate) fn on_the_frontier(net: &Net, rules: &Rules, path: &[Step], rule: &Broken) -> bool {
    let mut dice = Dice::new(path.len() as u64);
    (0..400).any(|attempt| match attempt {
        0 => walk(net, rules, path, rule, &mut |_, _| 0),
        1 => walk(net, rules, path, rule, &mut |choice, _| if choice == Choice::Start { 1 } else { 0 }),
        _ => walk(net, rules, path, rule, &mut |_, bound| dice.below(bound)),
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Choice {
    Start,
    Way,
}

fn walk(
    net: &Net,
    rules: &Rules,
    path: &[Step],
    rule: &Broken,
    choose: &mut dyn FnMut(Choice, usize) -> usize,
) -> bool {
    let mut frontier = Frontier::new(net, Token(net.entry(), true));
    let mut running = BTreeMap::new();
    for (nth, step) in path.iter().enumerate() {
        let node = net.node_named(&step.node).unwrap();
        // The node itself must have started; others may have.
        while !running.contains_key(&node) || frontier.has_due() && choose(Choice::Start, 2) == 1 {
            let Some(due) = frontier.next_due() else { return false };
            running.insert(due.execution.node, due.execution);
        }
        let execution = running.remove(&node).unwrap();
        let row = &rules.nodes[usize::from(node)];
        let routes = row.exhausted.iter().chain(row.ways.iter().filter_map(|way| way.instead.as_deref()));
        let ways = row.ways.iter().filter(|_| !step.exhausted).chain(routes.filter(|_| step.exhausted));
        let ways: Vec<&Way> = ways.filter(|way| leads(rules, way, step)).collect();
        if ways.is_empty() {
            return false;
        }
        let way = ways[choose(Choice::Way, ways.len())];
        let position = position(rules, net.row(node), usize::from(node), way);
        let alternative = net.node(node).alternatives.start + u16::try_from(position).unwrap();
        let place = |&place: &usize| Token(net.place_named(rules.place_name(place)).unwrap(), is_value(way, place));
        let mut tokens = way.tokens.iter().map(place);
        let taken = if way.fork {
            route::Step::All(alternative, tokens.collect())
        } else {
            route::Step::One(alternative, tokens.next().unwrap())
        };
        match frontier.complete(execution, taken) {
            Ok(completed) => {
                for stopped in completed.cancelled {
                    running.remove(&stopped.node);
                }
            }
            Err(frontier::Violation::DoubleToken { from, place }) => {
                return nth + 1 == path.len() && *rule == Broken::DoubleToken { from, place };
            }
            Err(frontier::Violation::LiveAtExit { from, .. }) => {
                return nth + 1 == path.len() && *rule == Broken::LiveAtExit { from };
            }
            Err(other) => panic!("{other}"),
        }
    }
    if let Broken::SharedWorkspace { nodes } = rule {
        while let Some(due) = frontier.next_due() {
            running.insert(due.execution.node, due.execution);
        }
        return nodes.iter().all(|name| running.contains_key(&net.node_named(name).unwrap()));
    }
    let Broken::Stuck { joins } = rule else { return false };
    let marked: Vec<usize> = frontier.marking().collect();
    let waiting = marked.iter().map(|&place| net.name(net.places()[place].node).to_owned());
    running.is_empty() && frontier.stuck().is_some() && waiting.collect::<BTreeSet<_>>() == *joins
}
