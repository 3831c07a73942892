//! Plays a table with random choices on the frontier, on a second frontier without shortcuts, and on the model.

use super::model::{Model, Started, Way, Wrong, is_nothing};
use super::random_table::{RandomNode, nodes};
use interlocking_core::frontier::{Due, Execution, Frontier, Input, Payload, Violation};
use interlocking_core::net::{Net, PlaceIndex};
use interlocking_core::route::Step;
use interlocking_core::table::Table;
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeSet;

#[derive(Clone, Debug)]
pub(crate) struct Token {
    place: PlaceIndex,
    kept: bool,
    optional: bool,
    value: u32,
}

impl Token {
    fn new(net: &Net, place: PlaceIndex, value: u32) -> Self {
        let row = net.place(place);
        Self { place, kept: row.kept, optional: row.optional, value }
    }
}

impl Payload for Token {
    fn place(&self) -> PlaceIndex {
        self.place
    }

    fn is_value(&self) -> bool {
        !(self.optional && is_nothing(self.value))
    }

    fn copy(&self) -> Option<Self> {
        self.kept.then(|| self.clone())
    }
}

/// How often each kind of event happened, over all runs.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    relays: u32,
    joins_fired: u32,
    remembered_values_used: u32,
    quorums_reached: u32,
    quorums_out_of_reach: u32,
    stopped_by_quorums: u32,
    executions_stopped: u32,
    joins_stopped: u32,
    stale_outcomes: u32,
    malformed_steps: u32,
    exhausted_entries: u32,
    spent_edges: u32,
    routes_of_edges: u32,
    further_attempts: u32,
    double_tokens: u32,
    live_at_exits: u32,
    deadlocks: u32,
    exits: u32,
    abandoned: u32,
}

impl Seen {
    pub(crate) fn counts(&self) -> [(&'static str, u32); 19] {
        [
            ("a relay", self.relays),
            ("a join that fires", self.joins_fired),
            ("a join that fires with a remembered value", self.remembered_values_used),
            ("a join that fires with a part of its slots", self.quorums_reached),
            ("a join that fires without its quorum", self.quorums_out_of_reach),
            ("an execution that is stopped by a quorum", self.stopped_by_quorums),
            ("an execution that is stopped", self.executions_stopped),
            ("a running join that is stopped", self.joins_stopped),
            ("a stale outcome", self.stale_outcomes),
            ("a malformed step", self.malformed_steps),
            ("an exhausted entry", self.exhausted_entries),
            ("a spent edge that is chosen", self.spent_edges),
            ("the route of a spent edge", self.routes_of_edges),
            ("a second attempt", self.further_attempts),
            ("a double token", self.double_tokens),
            ("a live token at exit", self.live_at_exits),
            ("a deadlock", self.deadlocks),
            ("an exit", self.exits),
            ("an abandoned run", self.abandoned),
        ]
    }
}

/// A table, and the choices of a schedule.
pub(crate) fn strategy() -> impl Strategy<Value = (Vec<RandomNode>, Vec<u16>)> {
    (nodes(), vec(any::<u16>(), 1..60))
}

/// Plays until the run ends or the choices are used up; panics if the three disagree.
pub(crate) fn play(table: &Table, choices: &[u16], seen: &mut Seen) {
    let net = Net::new(table.clone()).unwrap();
    let entry = || Token::new(&net, net.entry(), 0);
    let mut run = Run {
        net: &net,
        quick: Frontier::new(&net, entry()),
        slow: Frontier::new(&net, entry()),
        model: Model::new(table, 0),
        flight: Vec::new(),
        over: Vec::new(),
        serial: 1,
    };
    for &choice in choices {
        if !run.step(usize::from(choice), seen) {
            return;
        }
        run.check();
    }
}

struct Run<'n> {
    net: &'n Net,
    /// Relays wherever it can.
    quick: Frontier<'n, Token>,
    /// Never relays.
    slow: Frontier<'n, Token>,
    model: Model<'n>,
    /// The running executions, each with whether it is beyond a bound.
    flight: Vec<(Execution, bool)>,
    /// The executions that ended or were stopped.
    over: Vec<(Execution, Step<Token>)>,
    serial: u32,
}

impl Run<'_> {
    /// One step; false when the run is over.
    fn step(&mut self, choice: usize, seen: &mut Seen) -> bool {
        let (what, which) = (choice % 16, choice / 16);
        if what == 0 && !self.over.is_empty() {
            self.report_late(which, seen);
            return true;
        }
        if what == 1 && which % 64 == 0 {
            return self.abandon(seen);
        }
        if self.model.has_due() && (self.flight.is_empty() || what < 10) {
            self.start(seen);
            return true;
        }
        if self.flight.is_empty() {
            self.deadlock(seen);
            return false;
        }
        if what == 15 {
            self.malformed(which, seen);
            return true;
        }
        let Some((at, nth, is_fork, way)) = self.choose(which) else { return self.abandon(seen) };
        self.end(at, nth, is_fork, &way, seen)
    }

    /// Compares the frontiers' state with the model's. A place is marked exactly if a token waits there or its
    /// consumer runs with it, which is how the model defines its marking.
    fn check(&self) {
        let marking: BTreeSet<String> =
            self.quick.marking().map(|place| self.net.places()[place].name.clone()).collect();
        assert_eq!(marking, self.model.marking());
        let running: BTreeSet<&str> = self.flight.iter().map(|&(execution, _)| self.net.name(execution.node)).collect();
        assert_eq!(running, self.model.running().iter().map(String::as_str).collect());
        assert_eq!(self.quick.running(), self.flight.len(), "handed out, less ended and stopped");
        assert_eq!(self.quick.has_due(), self.model.has_due());
        assert!(self.flight.iter().all(|&(execution, _)| self.quick.is_current(execution)));
        assert!(!self.over.iter().any(|&(execution, _)| self.quick.is_current(execution)));
        assert_eq!(format!("{:?}", self.quick), format!("{:?}", self.slow));
    }

    fn start(&mut self, seen: &mut Seen) {
        let before = format!("{:?}", self.quick);
        let plain = self.quick.next_plain().map(|(execution, token)| (execution, token.take().unwrap()));
        let quick = match plain {
            Some((execution, token)) => Due { execution, input: Input::One(token), exhausted: None },
            None => {
                assert_eq!(format!("{:?}", self.quick), before, "not plain, no change");
                let due = self.quick.next_due().unwrap();
                assert!(due.exhausted.is_some() || self.net.node(due.execution.node).is_join, "all others are plain");
                due
            }
        };
        let slow = self.slow.next_due().unwrap();
        assert_eq!(self.started(&quick), self.started(&slow));
        let before = self.model.marking();
        let expected = self.model.start().unwrap();
        assert_eq!(self.started(&quick), expected);
        if let Input::Slots(slots) = &quick.input {
            seen.joins_fired += 1;
            let row = self.net.node(quick.execution.node);
            let values = slots.iter().filter(|token| token.is_value()).count();
            seen.quorums_reached += u32::from(slots.len() < usize::from(row.place_count));
            seen.quorums_out_of_reach +=
                u32::from(row.quorum.as_ref().is_some_and(|quorum| values < usize::from(quorum.values)));
            seen.remembered_values_used +=
                u32::from(slots.iter().any(|token| !before.contains(&self.net.place(token.place).name)));
        }
        seen.exhausted_entries += u32::from(expected.exhausted);
        seen.further_attempts += u32::from(expected.attempt > 1);
        self.flight.push((quick.execution, expected.exhausted));
    }

    fn started(&self, due: &Due<Token>) -> Started {
        let inputs = match &due.input {
            Input::One(token) => vec![token.value],
            Input::Slots(tokens) => tokens.iter().map(|token| token.value).collect(),
        };
        let Execution { node, visit, attempt, .. } = due.execution;
        Started { node: self.net.name(node).into(), visit, attempt, exhausted: due.exhausted.is_some(), inputs }
    }

    /// Chooses which execution ends next, and how: mostly in a way that keeps the run sound, so that runs get
    /// long.
    fn choose(&self, which: usize) -> Option<(usize, usize, bool, Way)> {
        let mut all = Vec::new();
        for (at, &(execution, exhausted)) in self.flight.iter().enumerate() {
            let row = self.net.row(execution.node);
            let last = row.goto.len() + usize::from(row.fork.is_some());
            for (nth, is_fork, way) in self.model.ways(&row.name, self.serial) {
                // The exhausted route is taken beyond a bound, and only then.
                if exhausted == (nth == last) {
                    all.push((at, nth, is_fork, way));
                }
            }
        }
        let (which, careful) = (which / 8, !which.is_multiple_of(8));
        let goes_on = |(at, _, _, way): &&(usize, usize, bool, Way)| {
            let mut model = self.model.clone();
            let ended = model.end(self.net.name(self.flight[*at].0.node), way);
            ended.is_ok() && model.exit.is_none() && (model.has_due() || !model.running().is_empty())
        };
        let sound: Vec<_> = if careful { all.iter().filter(goes_on).cloned().collect() } else { Vec::new() };
        let from = if sound.is_empty() { all } else { sound };
        (!from.is_empty()).then(|| from[which % from.len()].clone())
    }

    fn end(&mut self, at: usize, nth: usize, is_fork: bool, way: &Way, seen: &mut Seen) -> bool {
        let (execution, _) = self.flight.remove(at);
        let name = self.net.name(execution.node);
        self.choose_spent_edges(execution, seen);
        let step = self.spell(execution, nth, is_fork, way);
        let taken = step.alternative().and_then(|way| self.net.alternative(way));
        seen.routes_of_edges += u32::from(taken.is_some_and(|way| way.instead_of.is_some()));
        self.serial += 4;

        let before = format!("{:?}", self.quick);
        let due = self.model.has_due();
        if let Some(moved) = self.quick.relay(execution, &step) {
            seen.relays += 1;
            assert!(!due, "it overtakes nothing");
            assert_eq!(self.slow.complete(execution, step.clone()).unwrap().cancelled, []);
            let next = self.slow.next_due().unwrap();
            assert_eq!((next.execution, next.exhausted), (moved, None));
            assert_eq!(self.model.end(name, way), Ok(BTreeSet::new()));
            let started = self.model.start().unwrap();
            assert_eq!(self.started(&next), started);
            seen.further_attempts += u32::from(started.attempt > 1);
            self.flight.push((moved, false));
            self.over.push((execution, step));
            return true;
        }
        assert_eq!(format!("{:?}", self.quick), before, "no relay, no change");

        let quick = self.quick.complete(execution, step.clone());
        assert_eq!(quick, self.slow.complete(execution, step.clone()));
        match (quick, self.model.end(name, way)) {
            (Ok(completed), Ok(stopped)) => {
                let names: BTreeSet<String> =
                    completed.cancelled.iter().map(|other| self.net.name(other.node).into()).collect();
                assert_eq!((names, completed.cancelled.len()), (stopped.clone(), stopped.len()));
                let joins = self.net.quorum_joins().iter().map(|&join| self.net.name(join));
                let has_fired = joins.into_iter().any(|join| self.model.has_fired(join));
                let own = taken.is_none_or(|way| way.cancels.is_none());
                for stopped in completed.cancelled {
                    seen.stopped_by_quorums += u32::from(has_fired && own);
                    assert!(self.flight.iter().any(|&(other, _)| other == stopped), "only what runs is stopped");
                    self.flight.retain(|&(other, _)| other != stopped);
                    seen.executions_stopped += 1;
                    seen.joins_stopped += u32::from(self.net.node(stopped.node).is_join);
                    if let Some((nth, is_fork, way)) = self.model.ways(self.net.name(stopped.node), 0).first() {
                        self.over.push((stopped, self.spell(stopped, *nth, *is_fork, way)));
                    }
                }
                self.over.push((execution, step));
                if self.model.exit.is_none() {
                    return true;
                }
                assert_eq!(self.quick.take_exit().map(|token| token.value), self.model.exit);
                assert_eq!((self.quick.marking().count(), self.quick.running()), (0, 0));
                assert_eq!((self.quick.has_due(), self.quick.stuck()), (false, None));
                seen.exits += 1;
            }
            (Err(Violation::DoubleToken { from, place }), Err(Wrong::DoubleToken { place: expected })) => {
                assert_eq!((from.as_str(), place), (name, expected));
                seen.double_tokens += 1;
            }
            (Err(Violation::LiveAtExit { from, live }), Err(Wrong::LiveAtExit { live: expected })) => {
                assert_eq!((from.as_str(), live.into_iter().collect()), (name, expected));
                seen.live_at_exits += 1;
            }
            (frontier, model) => panic!("`{name}` took {way:?}: {frontier:?}, but the model says {model:?}"),
        }
        false
    }

    /// Chooses spent edges, as a handler may: the frontier refuses them and nothing changes.
    fn choose_spent_edges(&mut self, execution: Execution, seen: &mut Seen) {
        let name = self.net.name(execution.node);
        let before = format!("{:?}", self.quick);
        for (nth, goto) in self.net.row(execution.node).goto.iter().enumerate() {
            let way = self.net.node(execution.node).alternatives.start + u16::try_from(nth).unwrap();
            assert_eq!(self.quick.is_spent(way), self.model.is_spent(name, nth));
            let place = self.net.alternative(way).unwrap().only[0];
            let step = Step::One(way, Token::new(self.net, place, 0));
            if self.quick.is_spent(way) {
                let refused = self.quick.complete(execution, step);
                let to = self.net.place(place).name.clone();
                let expected = Violation::EdgeSpent { from: name.to_owned(), to, times: goto.times.unwrap() };
                assert_eq!(refused, Err(expected));
                assert_eq!(format!("{:?}", self.quick), before);
                seen.spent_edges += 1;
            }
        }
    }

    fn report_late(&mut self, which: usize, seen: &mut Seen) {
        let (execution, step) = self.over[which % self.over.len()].clone();
        let before = format!("{:?}", self.quick);
        assert_eq!(self.quick.relay(execution, &step), None);
        assert_eq!(self.quick.complete(execution, step), Err(Violation::Stale));
        assert_eq!(format!("{:?}", self.quick), before);
        seen.stale_outcomes += 1;
    }

    /// Tries a step that is valid for another node or place, but not for this node.
    fn malformed(&mut self, which: usize, seen: &mut Seen) {
        let (execution, _) = self.flight[which % self.flight.len()];
        let ways = self.model.ways(self.net.name(execution.node), self.serial);
        // If all edges are spent, no way is left to be modified.
        let Some((nth, is_fork, way)) = ways.first() else { return };
        let own = self.spell(execution, *nth, *is_fork, way);
        let beyond = self.net.node(execution.node).alternatives.end;
        let step = match (which / 8 % 4, own) {
            // Only a node that takes no token may leave the run as it is.
            (3, _) | (_, Step::Stay) => Step::Stay,
            (0, Step::One(_, token)) => Step::One(beyond, token),
            (1, Step::One(alternative, token)) => Step::All(alternative, vec![token.clone(), token]),
            (_, Step::One(alternative, token)) => Step::One(alternative, Token { place: PlaceIndex::MAX, ..token }),
            (_, Step::All(alternative, mut tokens)) => {
                tokens.pop();
                Step::All(alternative, tokens)
            }
        };
        let before = format!("{:?}", self.quick);
        let from = self.net.name(execution.node).to_owned();
        assert_eq!(self.quick.relay(execution, &step), None);
        assert_eq!(self.quick.complete(execution, step), Err(Violation::NotInTable { from }));
        assert_eq!(format!("{:?}", self.quick), before);
        seen.malformed_steps += 1;
    }

    fn deadlock(&mut self, seen: &mut Seen) {
        let (filled, missing) = self.model.deadlock();
        let sorted = |violation| match violation {
            Some(Violation::Deadlock { filled, missing }) => {
                (filled.into_iter().collect::<BTreeSet<_>>(), missing.into_iter().collect::<BTreeSet<_>>())
            }
            other => panic!("a deadlock is none to the frontier: {other:?}"),
        };
        assert_eq!(sorted(self.quick.stuck()), (filled, missing));
        assert!(self.quick.next_due().is_none());
        seen.deadlocks += 1;
    }

    fn abandon(&mut self, seen: &mut Seen) -> bool {
        let stopped = self.quick.abandon();
        let number = |execution: &Execution| (execution.node, execution.visit, execution.attempt);
        let mut expected: Vec<_> = self.flight.iter().map(|(execution, _)| number(execution)).collect();
        expected.sort_unstable();
        assert_eq!(stopped.iter().map(number).collect::<Vec<_>>(), expected);
        assert_eq!((self.quick.running(), self.quick.marking().count(), self.quick.has_due()), (0, 0, false));
        assert!(self.quick.next_due().is_none() && self.quick.stuck().is_none() && self.quick.take_exit().is_none());
        seen.abandoned += 1;
        false
    }

    fn spell(&self, execution: Execution, nth: usize, is_fork: bool, way: &Way) -> Step<Token> {
        let alternative = self.net.node(execution.node).alternatives.start + u16::try_from(nth).unwrap();
        let mut tokens =
            way.tokens.iter().map(|(place, value)| Token::new(self.net, self.net.place_named(place).unwrap(), *value));
        if is_fork { Step::All(alternative, tokens.collect()) } else { Step::One(alternative, tokens.next().unwrap()) }
    }
}
