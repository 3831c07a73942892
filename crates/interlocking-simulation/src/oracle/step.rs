//! How tokens move: into nodes that are due, and out of nodes that have ended.

use super::{ExecutionKey, Oracle, Token, key};
use crate::numbers::{NOTHING, along_route, exhausted};
use interlocking_core::frontier::{Execution, Limit};
use interlocking_core::net::NodeIndex;
use interlocking_core::table::NodeKind;
use interlocking_reference_model::rules::{EXIT, Move, Outcome as Came, Rules, Set};
use std::collections::BTreeSet;

/// A step of a node: the region that it clears, and its tokens with place and number.
pub(super) struct NodeStep<'g> {
    pub(super) step: Move,
    pub(super) execution: Execution,
    /// The executions that led to it.
    pub(super) past: &'g BTreeSet<ExecutionKey>,
    pub(super) clears: Set,
    /// The slots that are filled without counting for a quorum.
    pub(super) blank: Set,
    pub(super) tokens: &'g [(usize, u64)],
}

impl Oracle<'_> {
    /// Starts every node that is due, in order, unless a message waits.
    pub(super) fn start_due(&mut self, sequence: u64) -> Result<(), String> {
        while self.mailbox.is_empty() && self.fatal_limit.is_none() && self.exit.is_none() && self.ended.is_none() {
            let Some(node) = Rules::first_due(&self.state) else { break };
            let beyond = self.rules.moves(&self.state).into_iter().find_map(|step| match step {
                Move::Start { node: started, exhausted } if started == node => Some(exhausted),
                _ => None,
            });
            let beyond = beyond.ok_or("the node that is due cannot start")?;
            let (execution, limit) = self.enter_node(node);
            if limit.is_some() != beyond {
                return Err(format!("{execution:?} is beyond its bounds by one count, and not by the other"));
            }
            let taken = self.take_tokens(node)?;
            self.executions.insert(key(execution), taken.iter().map(|token| token.number).collect());
            match (self.rules.apply(&self.state, Move::Start { node, exhausted: beyond }), limit) {
                (Came::Next(state), None) => {
                    self.state = state;
                    self.running.insert(node, (execution, taken));
                    self.starts.push((sequence, execution));
                }
                (Came::Next(state), Some(_)) => {
                    self.seen.exhausted += 1;
                    self.state = state;
                    self.leave_exhausted(execution, &taken)?;
                }
                (_, None) => return Err("a start ended the run".to_owned()),
                (_, Some(limit)) => {
                    self.seen.exhausted += 1;
                    self.races(&past(&taken), Some(execution), "a bound ended the run");
                    self.fatal_limit = Some((execution, limit));
                }
            }
        }
        Ok(())
    }

    /// Counts an entry, and returns the bound that it exceeds, if any.
    fn enter_node(&mut self, node: usize) -> (Execution, Option<Limit>) {
        let row = self.net.node(node as NodeIndex);
        let is_join = self.rules.nodes[node].kind == NodeKind::Join;
        let first = places_of(self.rules.nodes[node].places).first().and_then(|at| self.tokens.waiting[*at].as_ref());
        let again = !is_join && row.attempts.is_some() && first.is_some_and(|token| token.from == Some(node));
        let count = &mut self.counts[node];
        *count = if again { (count.0, count.1 + 1) } else { (count.0 + 1, 1) };
        let limit = match again {
            true => row.attempts.filter(|limit| count.1 > *limit).map(Limit::Attempts),
            false => Some(row.visits).filter(|limit| count.0 > *limit).map(Limit::Visits),
        };
        (Execution { node: node as NodeIndex, visit: count.0, attempt: count.1 }, limit)
    }

    /// Takes the tokens that wait for a node, and the remembered values of its latched slots.
    fn take_tokens(&mut self, node: usize) -> Result<Vec<Token>, String> {
        if let Some(quorum) = &self.net.node(node as NodeIndex).quorum {
            return self.take_some(node, usize::from(quorum.values));
        }
        let mut taken = Vec::new();
        let mut from_memory = false;
        for place in places_of(self.rules.nodes[node].places) {
            let Some(token) = self.tokens.waiting[place].take() else {
                from_memory = true;
                taken.push(self.tokens.remembered[place].clone().ok_or("a slot has no value")?);
                continue;
            };
            let latched = |index| self.net.place(index).latched;
            if self.net.place_named(self.rules.place_name(place)).is_some_and(latched) {
                self.tokens.remembered[place] = Some(token.clone());
            }
            self.tokens.held[place] = Some(token.clone());
            taken.push(token);
        }
        if from_memory {
            self.seen.remembered += 1;
            self.races(&past(&taken), None, "a remembered value was used");
        }
        Ok(taken)
    }

    /// Takes the tokens that have arrived at a join with a quorum, which does not wait for the rest.
    fn take_some(&mut self, node: usize, quorum: usize) -> Result<Vec<Token>, String> {
        let places = places_of(self.rules.nodes[node].places);
        let came: Vec<Option<Token>> = places.iter().map(|place| self.tokens.waiting[*place].take()).collect();
        let values = came.iter().flatten().filter(|token| token.counts).count();
        let missing = came.iter().filter(|token| token.is_none()).count();
        if values < quorum && missing > 0 {
            return Err(format!("a join of {quorum} slots starts with {values}, and waits for {missing}"));
        }
        self.seen.quorums_met += usize::from(values >= quorum);
        self.seen.quorums_missed += usize::from(values < quorum);
        self.seen.slots_missing += missing;
        if values >= quorum {
            // It is unknown which other tokens would have arrived in time.
            self.raced.get_or_insert_with(|| "a join had its quorum".to_owned());
        }
        let nothing = || Token { number: NOTHING, past: BTreeSet::new(), from: None, counts: false };
        for (place, token) in places.into_iter().zip(&came) {
            self.tokens.held[place].clone_from(token);
        }
        Ok(came.into_iter().map(|token| token.unwrap_or_else(nothing)).collect())
    }

    /// Takes the exhausted route, for which there is no record.
    fn leave_exhausted(&mut self, execution: Execution, taken: &[Token]) -> Result<(), String> {
        let node = usize::from(execution.node);
        let numbers: Vec<u64> = taken.iter().map(|token| token.number).collect();
        let way = self.rules.nodes[node].exhausted.as_ref().ok_or("there is no exhausted route")?;
        let (place, clears, blank) = (way.tokens[0], way.clears, way.blank);
        let tokens = [(place, along_route(blank != 0, exhausted(execution.node, &numbers)))];
        let (step, past) = (Move::EndExhausted { node }, past(taken));
        self.go(NodeStep { step, execution, past: &past, clears, blank, tokens: &tokens })
    }

    /// Takes a step.
    pub(super) fn go(&mut self, node_step: NodeStep<'_>) -> Result<(), String> {
        let NodeStep { step, execution, past, clears, blank, tokens } = node_step;
        let node = usize::from(execution.node);
        for place in places_of(self.rules.nodes[node].places) {
            self.tokens.held[place] = None;
        }
        if clears != 0 {
            self.races(past, Some(execution), "what was cancelled might have been done");
        }
        self.clear(node, clears);
        let mut past = past.clone();
        past.insert(key(execution));
        for &(place, number) in tokens {
            if place == EXIT {
                self.exit = Some(number);
                continue;
            }
            if self.tokens.remembered[place].is_some() {
                self.races(&past, Some(execution), "a remembered value was replaced");
            }
            let counts = blank >> place & 1 == 0;
            self.tokens.waiting[place] = Some(Token { number, past: past.clone(), from: Some(node), counts });
        }
        match self.rules.apply(&self.state, step) {
            Came::Next(state) if self.exit.is_none() => {
                self.state = state;
                self.lose();
            }
            Came::Exit if self.exit.is_some() => {}
            other => return Err(format!("{step:?} comes to {other:?}")),
        }
        Ok(())
    }

    /// Stops the executions that have a token in the region; their tokens from other places wait again.
    fn clear(&mut self, by: usize, region: Set) {
        for at in 0..self.rules.nodes.len() {
            let places = self.rules.nodes[at].places;
            if places & region == 0 {
                continue;
            }
            if at != by && self.running.remove(&at).is_some() {
                self.seen.cancelled += 1;
            }
            for place in places_of(places) {
                if let Some(token) = self.tokens.held[place].take() {
                    self.tokens.waiting[place] = Some(token);
                }
            }
        }
        for place in places_of(region) {
            self.tokens.waiting[place] = None;
            self.tokens.remembered[place] = None;
        }
    }

    /// Stops the executions that were cleared by joins that reached their quorum in the last step.
    fn lose(&mut self) {
        let (running, marking) = (self.state.running, self.state.marking());
        let lost: Vec<usize> = self.running.keys().copied().filter(|node| running >> node & 1 == 0).collect();
        for node in lost {
            self.losers.extend(self.running.remove(&node).map(|(execution, _)| key(execution)));
            for place in places_of(self.rules.nodes[node].places) {
                self.tokens.waiting[place] = self.tokens.held[place].take();
            }
        }
        for place in 0..self.rules.places.len() {
            if marking >> place & 1 == 0 {
                (self.tokens.waiting[place], self.tokens.held[place]) = (None, None);
            }
            if self.state.remembered >> place & 1 == 0 {
                self.tokens.remembered[place] = None;
            }
        }
    }

    /// Notes that the result may depend on the order of concurrent steps, unless every execution so far led to this
    /// point.
    pub(super) fn races(&mut self, past: &BTreeSet<ExecutionKey>, by: Option<Execution>, what: &str) {
        let mut others = self.executions.keys().filter(|other| !past.contains(*other) && by.map(key) != Some(**other));
        if self.raced.is_none() && others.next().is_some() {
            self.raced = Some(what.to_owned());
        }
    }
}

/// All executions that led to these tokens.
pub(super) fn past(taken: &[Token]) -> BTreeSet<ExecutionKey> {
    taken.iter().flat_map(|token| token.past.iter().copied()).collect()
}

fn places_of(set: Set) -> Vec<usize> {
    (0..EXIT).filter(|place| set >> place & 1 == 1).collect()
}
