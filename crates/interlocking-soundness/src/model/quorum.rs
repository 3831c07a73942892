//! Joins that need not wait for all of their slots.

use super::{Clears, EXIT_PLACE, Firing, Model, Role, State};
use interlocking_core::bits::Bits;
use interlocking_core::net::{JoinQuorum, Net, NetNode, PlaceIndex};

/// The quorum of a join, and its bits.
#[derive(Debug)]
pub(crate) struct Quorum {
    values: usize,
    /// The region that it clears when it fires, including its own slots, which are then all marked again.
    pub(crate) clears: Clears,
    /// The bit for whether it has fired and has not completed.
    fired: usize,
    /// By slot: the bit for whether it was filled without a value.
    blank: Vec<usize>,
}

impl Quorum {
    pub(super) fn of(quorum: &JoinQuorum, fired: usize, blank: Vec<usize>) -> Self {
        let [places, marking, budgets] = [(); 3].map(|()| Bits::new(0));
        Self { values: quorum.values.into(), clears: Clears { places, marking, budgets }, fired, blank }
    }

    /// Its bits besides its slots.
    pub(super) fn bits(&self) -> impl Iterator<Item = usize> + '_ {
        self.blank.iter().copied().chain([self.fired])
    }

    pub(super) fn has_fired(&self, state: &State) -> bool {
        state.marking.contains(self.fired)
    }

    /// Removes the "fired" bit once the join has run.
    pub(super) fn is_done(&self, state: &mut State) {
        state.marking.remove(self.fired);
    }
}

/// The joins of a net that have a quorum.
pub(super) fn joins(net: &Net) -> impl Iterator<Item = (&NetNode, &JoinQuorum)> {
    net.quorum_joins().iter().filter_map(|&join| Some((net.node(join), net.node(join).quorum.as_ref()?)))
}

/// The options of a branch: each a place, and whether the place gets no value that counts for a quorum. To an optional
/// slot, a handler sends a value or nothing, and a route, which the run takes instead of the handler, sends nothing. A
/// branch with several targets counts as skipped where it fills a slot.
pub(super) fn options(net: &Net, branch: &[PlaceIndex], is_route: bool) -> Vec<(usize, bool)> {
    let mut options = Vec::with_capacity(branch.len());
    for &target in branch {
        let place = usize::from(target);
        if target == net.exit() {
            options.push((EXIT_PLACE, false));
        } else if net.node(net.place(target).node).quorum.is_none() {
            options.push((place, false));
        } else if branch.len() > 1 {
            options.push((place, true));
        } else if net.place(target).optional {
            options.extend((!is_route).then_some((place, false)).into_iter().chain([(place, true)]));
        } else {
            options.push((place, false));
        }
    }
    options
}

/// Whether one of these options fills a slot with a value that counts for a quorum.
pub(super) fn may_count(net: &Net, options: &[(usize, bool)]) -> bool {
    options.iter().any(|&(place, is_blank)| {
        let place = net.places().get(place).filter(|_| !is_blank && place != EXIT_PLACE);
        place.is_some_and(|place| net.node(place.node).quorum.is_some())
    })
}

impl Model<'_> {
    /// Sets the region of each join with a quorum, once all bits are assigned.
    pub(super) fn clear_at_quorums(&mut self) {
        for at in 0..self.quorums.len() {
            let index = self.quorums[at];
            let Some(quorum) = &self.net.nodes()[index].quorum else { continue };
            let own = self.nodes[index].places.clone();
            let clears = self.clears(quorum.clears.places.iter().chain(own));
            if let Some(quorum) = &mut self.nodes[index].quorum {
                quorum.clears = clears;
            }
        }
    }

    /// The joins with a quorum that may fire because of a firing.
    pub(crate) fn may_complete<'m>(&'m self, firing: &'m Firing) -> impl Iterator<Item = (usize, &'m Quorum)> + 'm {
        let joins = self
            .quorums
            .iter()
            .filter(|&&join| self.fills(firing).any(|place| self.nodes[join].places.contains(&place)));
        joins.filter_map(|&join| Some((join, self.nodes[join].quorum.as_ref()?)))
    }

    /// All regions that a firing may clear.
    pub(crate) fn may_clear<'m>(&'m self, firing: &'m Firing) -> impl Iterator<Item = &'m Clears> + 'm {
        firing.clears.iter().chain(self.may_complete(firing).map(|(_, quorum)| &quorum.clears))
    }

    /// Records that a slot was filled without a value.
    pub(super) fn fill_blank(&self, state: &mut State, place: usize) {
        let node = &self.nodes[self.consumer(place)];
        if let Some(quorum) = &node.quorum {
            state.marking.insert(quorum.blank[place - node.places.start]);
        }
    }

    /// Fires the joins that have reached their quorum, or have every slot filled, after a node has fired in `before`.
    pub(super) fn fire_quorums(&self, state: &mut State, index: usize, before: &State) {
        // A pending immediate choice belongs to the same outcome.
        if self.quorums.is_empty() || self.pending(state, false).is_some() {
            return;
        }
        for &join in &self.quorums {
            let node = &self.nodes[join];
            let Some(quorum) = node.quorum.as_ref().filter(|quorum| !quorum.has_fired(state)) else { continue };
            let filled = node.places.clone().zip(&quorum.blank).filter(|(place, _)| state.marking.contains(*place));
            let blank = filled.clone().filter(|(_, blank)| state.marking.contains(**blank)).count();
            let filled = filled.count();
            if filled - blank < quorum.values && filled < node.places.len() {
                continue;
            }
            self.forget_what_never_started(&quorum.clears, state, |other| {
                (self.nodes[index].role != Role::Event || self.nodes[other].waits) && self.is_enabled(other, before)
            });
            state.marking.subtract(&quorum.clears.marking);
            state.budgets.subtract(&quorum.clears.budgets);
            node.places.clone().for_each(|place| {
                state.marking.insert(place);
            });
            state.marking.insert(quorum.fired);
            if let Some(budget) = &node.budget {
                if budget.visits && state.budgets.contains(budget.entered) {
                    state.budgets.insert(budget.exhaustible);
                }
                state.budgets.insert(budget.entered);
            }
        }
    }
}
