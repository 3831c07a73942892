//! Checks an outcome: its execution, the tokens that it sends, and its step.

use super::step::{NodeStep, past};
use super::{ExecutionKey, Facts, Oracle, carried, key, number, same};
use crate::asking::heard;
use crate::choice::{Choice, Fate};
use crate::numbers::{NOTHING, along_route, exhausted, failed, gathered, items, sent, spent};
use crate::world::LogEvent;
use interlocking_core::failure::{Failure, FailureKind};
use interlocking_core::frontier::Execution;
use interlocking_core::net::{AlternativeIndex, NodeIndex};
use interlocking_core::table::{NodeKind, Visits};
use interlocking_reference_model::rules::{EXIT, Move, Outcome as Came, Set, Way};
use interlocking_runtime::journal::{By, NodeOutcome};
use std::collections::BTreeSet;

/// The data of an execution before its outcome.
struct ExecutionInput {
    input: Vec<u64>,
    past: BTreeSet<ExecutionKey>,
    /// Whether it is an event node's execution beyond its bound, for which no handler runs.
    beyond: bool,
}

impl Oracle<'_> {
    pub(super) fn outcome(&mut self, sequence: u64, outcome: &NodeOutcome, facts: &Facts<'_>) -> Result<(), String> {
        let by = By { node: outcome.node.clone(), visit: outcome.visit, attempt: outcome.attempt };
        if self.fatal_limit.is_some() || self.exit.is_some() {
            return Err(format!("{by} comes to an end when the run has"));
        }
        let execution = self.execution(&by)?;
        let choice = self.choice(execution);
        let consumed = match self.net.row(execution.node).kind {
            NodeKind::Event => self.handled(execution)?,
            _ => self.ran(&by, execution)?,
        };
        self.executions.insert(key(execution), consumed.input.clone());
        let expected = match &outcome.failed {
            Some(failure) => self.routed(&by, execution, failure, outcome, facts)?,
            None if !consumed.beyond && choice.fate != Fate::Well => {
                return Err(format!("{by} was to fail: {:?}", choice.fate));
            }
            None => self.expected(&by, execution, &choice, &consumed, facts)?,
        };
        let adds = choice.adds_items.as_ref().filter(|_| !consumed.beyond && outcome.failed.is_none());
        self.adds(sequence, &by, adds, outcome, facts)?;
        let found = outcome.tokens.iter().map(|token| Ok((token.place.clone(), carried(&token.payload)?)));
        let found: Vec<(String, u64)> = found.collect::<Result<_, String>>()?;
        same(&format!("what {by} sends"), &found, &expected)?;
        if !consumed.beyond && outcome.failed.is_none() {
            self.effects(sequence, &by, execution, &choice, outcome)?;
        }
        let place = |name: &str| self.rules.places.iter().position(|known| known == name).unwrap_or(EXIT);
        let tokens: Vec<(usize, u64)> = found.iter().map(|(name, number)| (place(name), *number)).collect();
        self.leave(&by, execution, &consumed, outcome, &tokens)?;
        self.seen.outcomes += 1;
        if self.outcomes.insert(key(execution), outcome.tokens.clone()).is_some() {
            return Err(format!("{by} comes to an end twice"));
        }
        self.show(outcome);
        Ok(())
    }

    /// Checks the items that an event node adds: a map takes them as long as it runs and has not closed, and they go to
    /// its running execution.
    fn adds(
        &mut self,
        sequence: u64,
        by: &By,
        adds: Option<&(NodeIndex, Vec<u64>)>,
        outcome: &NodeOutcome,
        facts: &Facts<'_>,
    ) -> Result<(), String> {
        match (adds, &outcome.added) {
            (None, None) => Ok(()),
            (None, Some(added)) => Err(format!("{by} adds {added:?}")),
            (Some((map, _)), None) => {
                let running = self.running.get(&usize::from(*map)).map(|(execution, _)| *execution);
                if let Some(running) = running.filter(|running| !self.may_have_closed(*running, sequence, facts)) {
                    return Err(format!("the items of {by} are refused, and {running:?} takes items"));
                }
                self.seen.items_refused += 1;
                Ok(())
            }
            (Some((map, items)), Some(added)) => {
                let found = added.items.iter().map(|item| number(&item.entry)).collect::<Result<Vec<_>, _>>()?;
                same("what is added", &found, items)?;
                same("the map", self.execution(&added.to)?.node, *map)?;
                if let Some((running, _)) = self.running.get(&usize::from(*map)) {
                    same("the map's execution", self.execution(&added.to)?, *running)?;
                } else if self.executions.contains_key(&key(self.execution(&added.to)?)) {
                    return Err(format!("{by} adds to {}, which has ended", added.to));
                }
                self.seen.items_added += items.len();
                self.added.entry(added.to.clone()).or_default().extend(items);
                Ok(())
            }
        }
    }

    /// Whether a map's execution may have stopped taking items before this record was written: it had given its handler
    /// all children. With a quorum it stops a moment before it records its decision, and if it times out, a moment
    /// before it records that.
    fn may_have_closed(&self, map: Execution, sequence: u64, facts: &Facts<'_>) -> bool {
        if self.net.row(map.node).quorum.is_some() || self.choice(map).fate == Fate::TimesOut {
            return true;
        }
        let (of, name) = ((map.visit, map.attempt), self.net.name(map.node));
        let before = facts.log.iter().take_while(|line| match &line.what {
            LogEvent::Kept { run, sequence: kept } => (run, *kept) != (&self.run, sequence),
            _ => true,
        });
        let mut gathered = before.filter_map(|line| match &line.what {
            LogEvent::Gathered { run, by, .. } if *run == self.run && by.node == name => Some((by.visit, by.attempt)),
            _ => None,
        });
        gathered.any(|by| by == of)
    }

    /// The data of an execution that took tokens.
    fn ran(&mut self, by: &By, execution: Execution) -> Result<ExecutionInput, String> {
        let running = self.running.remove(&usize::from(execution.node));
        let (running, taken) = running.ok_or_else(|| format!("{by} does not run"))?;
        same("the execution", running, execution)?;
        let input = taken.iter().map(|token| token.number).collect();
        Ok(ExecutionInput { input, past: past(&taken), beyond: false })
    }

    /// Checks that nothing runs that keeps a message waiting.
    pub(super) fn may_handle_messages(&self) -> Result<(), String> {
        match self.rules.busy(&self.state) {
            0 => Ok(()),
            busy => {
                let busy = &self.rules.nodes[busy.trailing_zeros() as usize].name;
                Err(format!("a message is handled while {busy} runs"))
            }
        }
    }

    /// The data of an event node's execution.
    fn handled(&mut self, execution: Execution) -> Result<ExecutionInput, String> {
        let node = usize::from(execution.node);
        let (to, message) = self.mailbox.pop_front().ok_or("an event node handles a message that nobody sent")?;
        same("the event node", to, node)?;
        self.may_handle_messages()?;
        self.seen.messages += 1;
        let count = &mut self.counts[node];
        *count = (count.0 + 1, 1);
        same("the event node's visit", (execution.visit, execution.attempt), *count)?;
        let visits = self.net.row(execution.node).visits;
        let beyond = matches!(visits, Some(Visits::AtMost(limit)) if execution.visit > limit);
        self.raced.get_or_insert_with(|| "a message was handled".to_owned());
        Ok(ExecutionInput { input: vec![message], past: BTreeSet::new(), beyond })
    }

    /// The tokens that an execution must send: place and number.
    fn expected(
        &self,
        by: &By,
        execution: Execution,
        choice: &Choice,
        consumed: &ExecutionInput,
        facts: &Facts<'_>,
    ) -> Result<Vec<(String, u64)>, String> {
        let extra = self.extra(by, execution, choice, &consumed.input, facts)?;
        if consumed.beyond {
            let way = self.rules.nodes[usize::from(execution.node)].exhausted.as_ref();
            let way = way.ok_or("a bound without a route ended the run")?;
            let number = along_route(way.blank != 0, exhausted(execution.node, &consumed.input));
            return Ok(vec![(self.rules.place_name(way.tokens[0]).to_owned(), number)]);
        }
        if let Some((edge, way)) = self.spent_edge(execution, choice) {
            let instead = way.instead.as_ref().ok_or("an edge that is spent and has no route did not end the run")?;
            let place = self.rules.place_name(instead.tokens[0]).to_owned();
            let number = spent(edge, sent(choice, &consumed.input, extra, 0));
            return Ok(vec![(place, along_route(instead.blank != 0, number))]);
        }
        let places = choice.way.iter().flat_map(|way| &way.places).enumerate();
        let token = |(branch, place): (usize, &u16)| {
            (self.net.place(*place).name.clone(), sent(choice, &consumed.input, extra, branch))
        };
        Ok(places.map(token).collect())
    }

    /// The edge that an execution chooses, if the edge's budget is spent.
    pub(super) fn spent_edge(&self, execution: Execution, choice: &Choice) -> Option<(AlternativeIndex, &Way)> {
        let edge = choice.way.as_ref()?.alternative;
        let nth = usize::from(edge - self.net.node(execution.node).alternatives.start);
        let ways = &self.rules.nodes[usize::from(execution.node)].ways;
        let way = ways.iter().find(|way| way.alternative == nth)?;
        self.is_spent(way).then_some((edge, way))
    }

    /// Whether an edge has been taken as often as it may be.
    fn is_spent(&self, way: &Way) -> bool {
        self.rules.choices(&self.state, way).1
    }

    /// The token that a failed execution must send, along the table's route for the failure. Nothing else of the
    /// execution counts.
    fn routed(
        &mut self,
        by: &By,
        execution: Execution,
        failure: &Failure,
        outcome: &NodeOutcome,
        facts: &Facts<'_>,
    ) -> Result<Vec<(String, u64)>, String> {
        self.may_fail(by, execution, failure, facts)?;
        let route = self.route_of(execution, &failure.kind);
        let route = route.ok_or_else(|| format!("{by} goes on, and has no route for that: {failure}"))?;
        same("the failure's route", outcome.alternative, Some(route))?;
        let is_bare = outcome.memory.is_none() && outcome.spawned.is_empty() && outcome.posted.is_empty();
        if !is_bare || outcome.label.is_some() || !outcome.commits.is_empty() {
            return Err(format!("{by} failed, and something of it counts"));
        }
        self.seen.routed += 1;
        self.seen.timed_out += usize::from(matches!(failure.kind, FailureKind::Timeout { .. }));
        let alternative = self.net.alternative(route).ok_or("there is no such alternative")?;
        let place = self.net.place(alternative.branches[0][0]).name.clone();
        let number = along_route(self.rules.is_optional(&place), failed(route, failure));
        Ok(vec![(place, number)])
    }

    /// The table's route for a failure of this kind.
    pub(super) fn route_of(&self, execution: Execution, kind: &FailureKind) -> Option<AlternativeIndex> {
        let node = self.net.node(execution.node);
        match kind {
            FailureKind::Timeout { .. } => node.timed_out.or(node.failed),
            FailureKind::Handler | FailureKind::Panic | FailureKind::Agent | FailureKind::Child(_) => node.failed,
            _ => None,
        }
    }

    /// The value that an execution's tokens depend on besides its input.
    fn extra(
        &self,
        by: &By,
        execution: Execution,
        choice: &Choice,
        input: &[u64],
        facts: &Facts<'_>,
    ) -> Result<u64, String> {
        match self.net.row(execution.node).kind {
            NodeKind::Human => match self.asked.get(by) {
                Some(Some(answer)) => Ok(*answer),
                other => Err(format!("{by} goes on, and its question is {other:?}")),
            },
            NodeKind::Map => {
                let all = facts.gathered.get(&(self.run.clone(), by.clone()));
                let last = all.and_then(|all| all.last()).ok_or_else(|| format!("{by} has gathered nothing"))?;
                let added = self.added.get(by).into_iter().flatten().copied();
                let expected: Vec<u64> = items(choice, self.level).into_iter().chain(added).collect();
                same("the children's items", last.iter().map(|child| child.item).collect::<Vec<_>>(), expected)?;
                Ok(gathered(last))
            }
            NodeKind::Graph => {
                let given = facts.children.0.get(&(self.run.clone(), by.clone()));
                given.copied().ok_or_else(|| format!("{by} goes on, and its child has not finished"))
            }
            _ => Ok(heard(self.world, choice, input)),
        }
    }

    /// Takes the step of the outcome.
    fn leave(
        &mut self,
        by: &By,
        execution: Execution,
        consumed: &ExecutionInput,
        outcome: &NodeOutcome,
        tokens: &[(usize, u64)],
    ) -> Result<(), String> {
        let node = usize::from(execution.node);
        let row = &self.rules.nodes[node];
        let first = self.net.node(execution.node).alternatives.start;
        let alternative = outcome.alternative.map(|at| usize::from(at - first));
        let nothing = tokens.iter().filter(|(_, number)| *number == NOTHING);
        let nothing: Set = nothing.fold(0, |places, (place, _)| places | 1 << place);
        let is_taken = |way: &Way| {
            let places = tokens.iter().map(|(place, _)| place);
            Some(way.alternative) == alternative && way.tokens.iter().eq(places) && nothing & !way.blank == 0
        };
        // If a slot has a value, there is also a way that sends no value: take the way with the fewest slots without a
        // value.
        let ways = row.ways.iter().enumerate().filter(|(_, way)| is_taken(way));
        let taken = ways.min_by_key(|(_, way)| way.blank.count_ones()).map(|(at, _)| at);
        let instead = row.ways.iter().position(|way| {
            way.instead.as_ref().is_some_and(|route| Some(route.alternative) == alternative) && self.is_spent(way)
        });
        let of = |way: &Way| (way.clears, way.blank);
        let (step, (clears, blank)) = match (row.kind, consumed.beyond, taken) {
            (NodeKind::Event, true, _) => (Move::Overrun { node }, row.exhausted.as_ref().map(of).unwrap_or_default()),
            (_, false, None) if instead.is_some() => {
                let way = instead.unwrap_or_default();
                self.seen.spent_edges += 1;
                let route = row.ways[way].instead.as_deref().map(of);
                (Move::Spent { node, way }, route.unwrap_or_default())
            }
            (_, _, Some(way)) if self.is_spent(&row.ways[way]) => {
                return Err(format!("{by} takes an edge that is spent"));
            }
            (NodeKind::Event, false, Some(way)) => (Move::Redirect { node, way }, of(&row.ways[way])),
            (NodeKind::Event, false, None) => (Move::Resume { node }, (0, 0)),
            (_, _, Some(way)) => (Move::End { node, way }, of(&row.ways[way])),
            (_, _, None) => return Err(format!("{by} has no such way")),
        };
        // A redirect from a region without a token changes nothing.
        let is_redirect = row.kind == NodeKind::Event && clears & self.state.marking() != 0;
        let step = if row.kind == NodeKind::Event && !is_redirect { Move::Resume { node } } else { step };
        if !self.rules.moves(&self.state).contains(&step) {
            return Err(format!("{by} takes a step that is not possible now: {step:?}"));
        }
        if step == (Move::Resume { node }) {
            let Came::Next(state) = self.rules.apply(&self.state, step) else {
                return Err("a message that changes nothing ended the run".to_owned());
            };
            self.state = state;
            return Ok(());
        }
        self.seen.redirects += usize::from(is_redirect);
        self.go(NodeStep { step, execution, past: &consumed.past, clears, blank, tokens })
    }
}
