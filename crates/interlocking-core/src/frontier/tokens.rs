//! How tokens arrive in their places, wait there, and leave.

use super::marking::{NodeState, Phase};
use super::{Execution, Frontier, Payload};
use crate::bits::Bits;
use crate::net::{Net, NodeIndex, PlaceIndex};
use crate::violation::Violation;
use std::collections::VecDeque;

impl<P: Payload> Frontier<'_, P> {
    #[inline]
    pub(super) fn send(&mut self, from: NodeIndex, token: P) -> Result<(), Violation> {
        if token.place() == self.net.exit() {
            return self.leave(from, token);
        }
        self.put(from, token)
    }

    /// Puts a token into any place but the exit.
    #[inline(always)]
    pub(super) fn put(&mut self, from: NodeIndex, token: P) -> Result<(), Violation> {
        let place = token.place();
        if !self.marking.marked.insert(usize::from(place)) {
            return Err(self.double_token(from, place));
        }
        self.arrive(usize::from(place), token, Some(from));
        Ok(())
    }

    /// Ends the run with the exit's token.
    #[inline(never)]
    pub(super) fn leave(&mut self, from: NodeIndex, token: P) -> Result<(), Violation> {
        if !self.marking.marked.is_empty() {
            let live = names(self.net, &self.marking.marked);
            return Err(Violation::LiveAtExit { from: self.net.name(from).to_owned(), live });
        }
        if self.ended {
            return Err(self.double_token(from, token.place()));
        }
        self.exit = Some(token);
        self.ended = true;
        Ok(())
    }

    #[cold]
    pub(super) fn double_token(&self, from: NodeIndex, place: PlaceIndex) -> Violation {
        let from = self.net.name(from).to_owned();
        Violation::DoubleToken { from, place: self.net.place(place).name.clone() }
    }

    /// Puts a token into a place that is already marked, and makes its consumer due if the consumer then has its input.
    #[inline(always)]
    pub(super) fn arrive(&mut self, place: usize, token: P, from: Option<NodeIndex>) {
        if self.waiting.is_empty() {
            self.allocate_places();
        }
        self.waiting[place] = Some(token);
        let node = self.net.consumer(place).node;
        let row = self.net.intake(node);
        if row.is_join {
            if row.has_quorum {
                return self.count_filled(place, node);
            }
            let mut filled = usize::from(self.marking.nodes[usize::from(node)].filled);
            while filled < row.places().len() && self.has_value(row.places().start + filled) {
                filled += 1;
            }
            self.marking.nodes[usize::from(node)].filled = filled as u16;
            if filled < row.places().len() {
                return;
            }
        }
        let state = &mut self.marking.nodes[usize::from(node)];
        // A join that is due already, because of a remembered value, takes the new value instead.
        if state.phase != Phase::Idle {
            return;
        }
        state.again = row.tries && from == Some(node);
        state.phase = Phase::Due;
        self.due.push_back(node);
    }

    pub(super) fn has_value(&self, place: usize) -> bool {
        self.is_waiting(place)
            || (self.net.consumer(place).latched && self.remembered.get(place).is_some_and(Option::is_some))
    }

    pub(super) fn is_waiting(&self, place: usize) -> bool {
        self.waiting.get(place).is_some_and(Option::is_some)
    }

    /// Takes a slot's value; that of a kept slot stays remembered.
    #[inline]
    pub(super) fn take(&mut self, place: usize) -> Option<P> {
        if !self.net.consumer(place).kept {
            return self.waiting[place].take();
        }
        if let Some(arrived) = self.waiting[place].take() {
            self.remembered[place] = Some(arrived);
        }
        self.remembered[place].as_ref().and_then(Payload::copy)
    }

    /// Consumes the input of a node that has run.
    #[inline]
    pub(super) fn release(&mut self, node: NodeIndex) {
        let row = self.net.intake(node);
        self.marking.nodes[usize::from(node)].phase = Phase::Idle;
        self.running -= 1;
        if !row.is_join {
            // No other token can have arrived while the place was marked, and the place's value is not remembered.
            self.marking.marked.remove(usize::from(row.first_place));
            return;
        }
        for place in row.places() {
            // A token that has arrived since the join fired belongs to the next round.
            if self.waiting[place].is_none() {
                self.marking.marked.remove(place);
            }
            let consumer = self.net.consumer(place);
            // Only a kept place has a remembered value.
            if consumer.kept && !consumer.latched {
                self.remembered[place] = None;
            }
        }
    }

    /// Takes the remembered value of a place.
    pub(super) fn forget(&mut self, place: usize) -> Option<P> {
        self.remembered.get_mut(place)?.take()
    }

    pub(super) fn clear(&mut self, places: &Bits, nodes: &Bits) -> Vec<Execution> {
        for place in places.iter() {
            if let Some(waiting) = self.waiting.get_mut(place) {
                *waiting = None;
            }
            self.forget(place);
        }
        self.marking.marked.subtract(places);
        let mut stopped = Vec::new();
        for index in nodes.iter() {
            stopped.extend(self.discard(index));
            // A join that loses one slot keeps the values of the others, even if it was running with them.
            for place in self.net.nodes()[index].places() {
                let latched = self.net.places()[place].latched;
                if !latched && self.marking.marked.contains(place) && !self.is_waiting(place) {
                    let remembered = self.forget(place);
                    self.waiting[place] = remembered;
                }
            }
        }
        keep_due(&mut self.due, &self.marking.nodes);
        stopped
    }

    /// Makes a node idle; returns its execution if one was running.
    pub(super) fn discard(&mut self, index: usize) -> Option<Execution> {
        let state = &mut self.marking.nodes[index];
        (state.filled, state.values, state.again) = (0, 0, false);
        let ran = state.phase == Phase::Running;
        let execution = self.counts[index].execution(index as NodeIndex);
        state.phase = Phase::Idle;
        self.running -= u32::from(ran);
        ran.then_some(execution)
    }
}

// The functions below do not depend on the payload type, so they are compiled once and not for each graph.

fn names(net: &Net, places: &Bits) -> Vec<String> {
    places.iter().map(|place| net.places()[place].name.clone()).collect()
}

fn keep_due(due: &mut VecDeque<NodeIndex>, states: &[NodeState]) {
    due.retain(|&node| states[usize::from(node)].phase == Phase::Due);
}
