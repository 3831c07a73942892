//! Compares the brute force with the frontier of the runtime: the same executions in the same order lead to the same
//! state.

use crate::routed;
use interlocking_core::frontier::{Due, Execution, Frontier, Payload, Violation};
use interlocking_core::net::{Net, PlaceIndex};
use interlocking_core::route::Step;
use interlocking_core::table::{NodeKind, Table};
use interlocking_reference_model::edge_budgets::budgeted;
use interlocking_reference_model::explore::Graph;
use interlocking_reference_model::generate::{self, Dice};
use interlocking_reference_model::quorums::with_quorums;
use interlocking_reference_model::rules::{Budgets, EXIT, Move, Outcome, Rules, Set, Starts, State, Way};
use std::collections::{BTreeMap, BTreeSet};

/// A token without content; the flag says whether it counts for a quorum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token(pub(crate) PlaceIndex, pub(crate) bool);

impl Payload for Token {
    fn place(&self) -> PlaceIndex {
        self.0
    }

    fn is_value(&self) -> bool {
        self.1
    }

    fn copy(&self) -> Option<Self> {
        Some(*self)
    }
}

/// A run on the frontier that follows the brute force's moves.
struct Run<'n> {
    net: &'n Net,
    rules: &'n Rules,
    frontier: Frontier<'n, Token>,
    running: BTreeMap<usize, (Execution, bool)>,
}

impl<'n> Run<'n> {
    fn new(net: &'n Net, rules: &'n Rules) -> Self {
        Self { net, rules, frontier: Frontier::new(net, Token(net.entry(), true)), running: BTreeMap::new() }
    }

    /// Makes a move; `None` if the frontier has no such move, also for an exhausted entry without a route.
    fn apply(&mut self, step: Move) -> Option<Result<(), Violation>> {
        let (node, way) = match step {
            Move::Start { node, exhausted } => {
                let Due { execution, exhausted: limit, .. } = self.frontier.next_due()?;
                if usize::from(execution.node) != node || limit.is_some() != exhausted {
                    return None;
                }
                self.running.insert(node, (execution, exhausted));
                return Some(Ok(()));
            }
            Move::End { node, way } => (node, &self.rules.nodes[node].ways[way]),
            Move::EndExhausted { node } => (node, self.rules.nodes[node].exhausted.as_ref()?),
            Move::Spent { node, way } => {
                let edge = &self.rules.nodes[node].ways[way];
                let first = self.net.node(node.try_into().ok()?).alternatives.start;
                if !self.frontier.is_spent(first + u16::try_from(edge.alternative).unwrap()) {
                    return None;
                }
                (node, edge.instead.as_deref()?)
            }
            Move::Resume { .. } | Move::Redirect { .. } | Move::Overrun { .. } => return None,
        };
        let (execution, exhausted) = self.running.remove(&node)?;
        if exhausted != matches!(step, Move::EndExhausted { .. }) {
            return None;
        }
        let mut tokens = way.tokens.iter().map(|&place| Token(self.place(place), is_value(way, place)));
        let alternative = self.net.node(execution.node).alternatives.start + u16::try_from(way.alternative).unwrap();
        let step = if way.fork {
            Step::All(alternative, tokens.collect())
        } else {
            Step::One(alternative, tokens.next().unwrap())
        };
        Some(self.frontier.complete(execution, step).map(|completed| {
            for stopped in completed.cancelled {
                self.running.remove(&usize::from(stopped.node));
            }
        }))
    }

    fn place(&self, place: usize) -> PlaceIndex {
        self.net.place_named(self.rules.place_name(place)).unwrap()
    }

    /// Whether the frontier's state equals `state`.
    fn shows(&self, state: &State) -> bool {
        let marking: BTreeSet<usize> = self.frontier.marking().collect();
        let expected = (0..EXIT).filter(|place| state.marking() >> place & 1 == 1);
        let running: Set = self.running.keys().fold(0, |set, node| set | 1 << node);
        let exhausted = self.running.iter().filter(|(_, (_, exhausted))| *exhausted);
        marking == expected.map(|place| usize::from(self.place(place))).collect()
            && running == state.running
            && exhausted.fold(0, |set, (node, _)| set | 1 << node) == state.exhausted
            && self.frontier.running() == self.running.len()
            && self.frontier.has_due() == Rules::first_due(state).is_some()
            && self.frontier.stuck().is_some() == (state.running == 0 && Rules::first_due(state).is_none())
    }

    /// Makes `step` from `state` on both, and compares the results; gives the next state, if there is one.
    fn follow(&mut self, state: &State, step: Move) -> Result<Option<State>, String> {
        let moved = self.apply(step);
        let same = match (self.rules.apply(state, step), moved) {
            (Outcome::Next(next), Some(Ok(()))) => {
                if self.shows(&next) {
                    return Ok(Some(next));
                }
                false
            }
            (Outcome::Exit, Some(Ok(()))) => self.frontier.take_exit().is_some(),
            // The driver ends this run: a spent edge without a route has no way on.
            (Outcome::Failed, None) if matches!(step, Move::Spent { .. }) => true,
            // The driver ends this run.
            (Outcome::Failed, Some(Ok(()))) => true,
            (Outcome::DoubleToken { from, place }, Some(Err(Violation::DoubleToken { from: found, place: at }))) => {
                self.rules.nodes[from].name == found && self.rules.place_name(place) == at
            }
            (Outcome::LiveAtExit { from, live }, Some(Err(Violation::LiveAtExit { from: found, live: left }))) => {
                self.rules.nodes[from].name == found && self.rules.names(live) == left
            }
            _ => false,
        };
        if same { Ok(None) } else { Err(format!("{step:?} from {state:?}: the frontier is at {:?}", self.frontier)) }
    }
}

/// Whether the token for a place is a value. A token that skips a branch is a value too: the frontier knows that it
/// does not count.
pub(crate) fn is_value(way: &Way, place: usize) -> bool {
    place == EXIT || way.blank >> place & 1 == 0
}

/// Counts of what was compared.
#[derive(Debug, Default)]
struct Compared {
    tables: usize,
    states: usize,
    moves: usize,
    too_large: usize,
    /// Moves that choose a spent edge.
    spent: usize,
}

/// Compares every move from every state, each after the moves that first led to that state. Then compares some
/// random runs, because two paths to one state may leave the frontier in different states.
fn compare(table: &Table, dice: &mut Dice, compared: &mut Compared) -> Result<(), String> {
    let net = Net::new(table.clone()).unwrap();
    let rules = Rules::new(table, Budgets::Concrete, Starts::InTurn);
    let Some(graph) = Graph::of(&rules, 400) else {
        compared.too_large += 1;
        return Ok(());
    };
    compared.tables += 1;
    compared.states += graph.states.len();
    let mut ways: Vec<Option<Vec<Move>>> = vec![None; graph.states.len()];
    ways[0] = Some(Vec::new());
    let mut todo = std::collections::VecDeque::from([0]);
    while let Some(at) = todo.pop_front() {
        let way = ways[at].clone().unwrap();
        let state = &graph.states[at];
        for step in rules.moves(state) {
            let mut run = Run::new(&net, &rules);
            for &before in &way {
                run.apply(before).unwrap().unwrap();
            }
            run.follow(state, step)?;
            compared.moves += 1;
            compared.spent += usize::from(matches!(step, Move::Spent { .. }));
        }
        for &(step, to) in graph.edges(at).iter().filter(|(_, to)| *to != at) {
            if ways[to].is_none() {
                ways[to] = Some([&way[..], &[step]].concat());
                todo.push_back(to);
            }
        }
    }
    for _ in 0..10 {
        let mut run = Run::new(&net, &rules);
        let mut state = rules.start();
        for _ in 0..40 {
            let moves = rules.moves(&state);
            let Some(next) = (!moves.is_empty()).then(|| run.follow(&state, *dice.pick(&moves))).transpose()?.flatten()
            else {
                break;
            };
            compared.moves += 1;
            state = next;
        }
    }
    Ok(())
}

#[test]
fn on_every_schedule() {
    let compared = on_all((100_000..101_500).map(generate::table));
    assert!(compared.tables >= 1200 && compared.moves >= 100_000, "{compared:?}");
}

#[test]
fn on_every_schedule_with_budgets_on_edges() {
    let compared = on_all((100_000..101_000).map(budgeted));
    assert!(compared.tables >= 600 && compared.moves >= 60_000 && compared.spent >= 2_000, "{compared:?}");
}

#[test]
fn on_every_schedule_with_failures() {
    let compared = on_all((100_000..100_500).map(routed::table));
    assert!(compared.tables >= 350 && compared.moves >= 20_000, "{compared:?}");
}

#[test]
fn on_every_schedule_with_quorums() {
    let compared = on_all((100_000..100_800).map(with_quorums));
    assert!(compared.tables >= 500 && compared.moves >= 40_000, "{compared:?}");
}

fn on_all(tables: impl Iterator<Item = Table>) -> Compared {
    let mut compared = Compared::default();
    let mut dice = Dice::new(1);
    for mut table in tables {
        table.nodes.retain(|row| row.kind != NodeKind::Event);
        let slots = table.nodes.iter_mut().flat_map(|row| &mut row.slots);
        slots.for_each(|slot| slot.sources.retain(|source| source != "event"));
        if let Err(difference) = compare(&table, &mut dice, &mut compared) {
            panic!("{difference}\n{}", serde_json::to_string(&table).unwrap());
        }
    }
    compared
}
