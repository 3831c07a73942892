//! The rules of runs: which steps a state allows, and their results.

use super::{Budget, Clears, Firing, Model, Node, Role};
use interlocking_core::bits::Bits;

/// A state of a run, as far as the rules of soundness distinguish states.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    /// Tokens, remembered values, running joins.
    pub(crate) marking: Bits,
    /// Which nodes were entered before, which edges were taken before, and which tokens' entries may be exhausted.
    pub(crate) budgets: Bits,
}

/// The result of a firing.
pub(crate) enum Outcome {
    /// The run continues.
    State(State),
    /// The run ends, at the exit or by a failure.
    End {
        at_exit: bool,
    },
    DoubleToken {
        place: usize,
    },
    LiveAtExit {
        live: Bits,
    },
}

impl Model<'_> {
    /// The state at the start of a run.
    pub(crate) fn start(&self) -> State {
        let mut state = State { marking: Bits::new(self.marking_bits), budgets: Bits::new(self.budget_bits) };
        self.arrive(&mut state, usize::from(self.net.entry()), None);
        self.forget_budgets(&mut state);
        state
    }

    /// The nodes that can do their next step, in the order of the table.
    pub(crate) fn enabled(&self, state: &State) -> Vec<usize> {
        let marked = state.marking.iter().take_while(|&place| place < self.places);
        let mut nodes: Vec<usize> =
            marked.map(|place| self.consumer(place)).chain(self.events.iter().copied()).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes.retain(|&index| self.is_enabled(index, state));
        nodes
    }

    /// Whether a node can do its next step.
    pub(crate) fn is_enabled(&self, index: usize, state: &State) -> bool {
        let node = &self.nodes[index];
        match node.role {
            Role::Plain => state.marking.contains(node.places.start),
            Role::Join => match &node.quorum {
                Some(quorum) => quorum.has_fired(state),
                None => node.places.clone().all(|place| self.has_value(node, place, state)),
            },
            Role::Event => {
                self.takes_messages(state)
                    && (node.firings.iter().any(|way| self.may_redirect(way, state))
                        || self.counts_resuming(node, state))
            }
            Role::Beside => false,
        }
    }

    /// Whether messages are handled: no join with latched slots is running.
    fn takes_messages(&self, state: &State) -> bool {
        !self.latching.iter().any(|&bit| state.marking.contains(bit))
    }

    /// Whether the run can end here by a failure: an entry beyond a budget that has no route.
    pub(crate) fn may_fail(&self, enabled: &[usize], state: &State) -> bool {
        let messages = self.events.iter().filter(|_| self.takes_messages(state));
        let mut entries = enabled.iter().filter(|&&index| !self.is_event(index)).chain(messages);
        entries.any(|&index| {
            let firings = &self.nodes[index].firings;
            let has_route = firings.iter().any(|way| way.exhausted && way.edge.is_none());
            (!has_route && self.may_be_exhausted(index, state))
                || firings.iter().any(|way| self.may_be_spent(way, state))
        })
    }

    /// Whether a slot has a value, for this round of its join.
    pub(crate) fn has_value(&self, node: &Node, place: usize, state: &State) -> bool {
        state.marking.contains(place)
            || node.latched.iter().any(|slot| slot.place == place && state.marking.contains(slot.remembered))
    }

    fn may_redirect(&self, firing: &Firing, state: &State) -> bool {
        firing.clears.as_ref().is_some_and(|clears| clears.places.intersects(&state.marking))
    }

    /// Starts a join with latched slots, if that is the node's next step. The start is not a firing.
    pub(crate) fn started(&self, index: usize, state: &State) -> Option<State> {
        let node = &self.nodes[index];
        let running = node.running.filter(|&bit| !state.marking.contains(bit))?;
        let mut state = state.clone();
        state.marking.insert(running);
        for slot in &node.latched {
            if state.marking.contains(slot.place) {
                state.marking.insert(slot.remembered);
            }
        }
        Some(state)
    }

    /// The state after an event that leaves the run as it is: this counts as a visit, if visits are counted.
    pub(crate) fn resumed(&self, index: usize, state: &State) -> Option<State> {
        let node = &self.nodes[index];
        let entered =
            node.budget.as_ref().map(|budget| budget.entered).filter(|_| self.counts_resuming(node, state))?;
        let mut state = state.clone();
        state.budgets.insert(entered);
        Some(state)
    }

    /// Whether the event's first visit can be a message that leaves the run as it is.
    fn counts_resuming(&self, node: &Node, state: &State) -> bool {
        let is_first = |budget: &Budget| !state.budgets.contains(budget.entered);
        node.role == Role::Event
            && node.budget.as_ref().is_some_and(is_first)
            && (node.resumes || node.firings.iter().any(|way| !way.exhausted && !self.may_redirect(way, state)))
    }

    /// Whether the entry of an enabled node may be exhausted, according to the bits that are kept.
    pub(crate) fn may_be_exhausted(&self, index: usize, state: &State) -> bool {
        let node = &self.nodes[index];
        node.budget.as_ref().is_some_and(|budget| {
            state.budgets.contains(if node.role == Role::Event { budget.entered } else { budget.exhaustible })
        })
    }

    /// Whether the choice of an edge may exceed a budget that has no exhausted route.
    fn may_be_spent(&self, firing: &Firing, state: &State) -> bool {
        let without_route = firing.edge.filter(|edge| edge.is_taken && !edge.has_route);
        without_route.and_then(|edge| edge.taken).is_some_and(|taken| state.budgets.contains(taken))
    }

    /// Whether an enabled node (started, if it is a join with latched slots) may take a firing.
    pub(crate) fn may_fire(&self, index: usize, firing: &Firing, state: &State) -> bool {
        let is_due = match firing.edge {
            Some(edge) if !edge.is_taken => edge.taken.is_some_and(|taken| state.budgets.contains(taken)),
            Some(_) => true,
            None => !firing.exhausted || self.may_be_exhausted(index, state),
        };
        is_due && (self.nodes[index].role != Role::Event || self.may_redirect(firing, state))
    }

    /// Applies a firing: removes the input, clears the region, adds the tokens.
    pub(crate) fn fire(&self, index: usize, firing: &Firing, before: &State) -> Outcome {
        let node = &self.nodes[index];
        let mut state = before.clone();
        if let Some(taken) = firing.leaves_taken() {
            state.budgets.insert(taken);
        }
        if node.role == Role::Event {
            if let Some(budget) = &node.budget {
                state.budgets.insert(budget.entered);
            }
            if let Some(clears) = &firing.clears {
                self.forget_what_never_started(clears, &mut state, |other| self.nodes[other].waits);
            }
        } else {
            for place in node.places.clone() {
                let slot = node.latched.iter().find(|slot| slot.place == place);
                // A value that arrived while the join ran belongs to the next round.
                if slot.is_none_or(|slot| !state.marking.remove(slot.next)) {
                    state.marking.remove(place);
                }
            }
            if let Some(running) = node.running {
                state.marking.remove(running);
            }
            node.quorum.iter().for_each(|quorum| quorum.is_done(&mut state));
            if let Some(budget) = &node.budget {
                state.budgets.remove(budget.exhaustible);
            }
        }
        if let Some(clears) = &firing.clears {
            state.marking.subtract(&clears.marking);
            state.budgets.subtract(&clears.budgets);
        }
        for &place in &firing.produces {
            if state.marking.contains(place) {
                return Outcome::DoubleToken { place };
            }
            self.arrive(&mut state, place, Some(self.table_node(index)));
            if firing.blank.contains(&place) {
                self.fill_blank(&mut state, place);
            }
        }
        if firing.exits > 0 {
            state.marking.intersect(&self.all_places);
            return match state.marking.is_empty() {
                false => Outcome::LiveAtExit { live: state.marking },
                true if firing.exits > 1 => Outcome::DoubleToken { place: self.exit() },
                true => Outcome::End { at_exit: true },
            };
        }
        self.fire_quorums(&mut state, index, before);
        self.forget_budgets(&mut state);
        Outcome::State(state)
    }

    /// Puts a token into an empty place.
    fn arrive(&self, state: &mut State, place: usize, from: Option<usize>) {
        let index = self.consumer(place);
        let node = &self.nodes[index];
        let due_already = node.budget.is_some() && node.role == Role::Join && self.is_enabled(index, state);
        state.marking.insert(place);
        if let Some(running) = node.running
            && state.marking.contains(running)
        {
            if let Some(slot) = node.latched.iter().find(|slot| slot.place == place) {
                state.marking.insert(slot.next);
            }
            return;
        }
        if let Some(budget) = &node.budget
            && !due_already
            && self.is_enabled(index, state)
        {
            let again = budget.attempts && from == Some(index);
            if again || (budget.visits && state.budgets.contains(budget.entered)) {
                state.budgets.insert(budget.exhaustible);
            }
            if !again {
                state.budgets.insert(budget.entered);
            }
        }
    }

    /// Removes the entries of cleared nodes that never started. An event is handled while only nodes run that wait for
    /// a person or for children, so any other node that it clears has not started. The same holds for a token that
    /// arrived with the very outcome that clears it. Nodes for which `may_have_started` holds are kept.
    pub(super) fn forget_what_never_started(
        &self,
        clears: &Clears,
        state: &mut State,
        may_have_started: impl Fn(usize) -> bool,
    ) {
        for (index, node) in self.nodes.iter().enumerate() {
            if let Some(budget) = &node.budget
                && node.role != Role::Event
                && node.places.clone().any(|place| clears.places.contains(place))
                && self.is_enabled(index, state)
                && !state.budgets.contains(budget.exhaustible)
                && !may_have_started(index)
            {
                state.budgets.remove(budget.entered);
            }
        }
    }
}
