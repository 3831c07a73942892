//! Which places may hold tokens at the same time: an over-approximation in polynomial time, without a search.
//!
//! Two places are together if a fork fills both, or if one is filled from a place that was together with the other, and
//! the step does not clear the other. A join fires only from slots that are together. Places that are not together here
//! never hold tokens at the same time in a run that breaks no rule; places that are together here need not be in any
//! run.
//!
//! A join with a quorum fires with the firing that fills one of its slots, and holds all of them from then on.
//!
//! A latched slot counts as filled after its join has fired, until something clears it. This follows from the rules
//! above: the places that a join fills are together with all places that were together with its needed slots, its
//! latched slots included, and so are the places filled from those. So where a slot's value may be remembered, the slot
//! is together with every place that holds a token.

use crate::effort::{Effort, words};
use crate::model::{Firing, Model, Node, Quorum, Role};
use interlocking_core::bits::Bits;
use std::collections::VecDeque;

pub(crate) struct Together {
    /// By place: the places that may hold a token while it does.
    rows: Vec<Bits>,
    /// Places that may hold a token at all.
    reached: Bits,
}

impl Together {
    /// `None` where that exceeds the effort.
    pub(crate) fn of(model: &Model<'_>, effort: &Effort) -> Option<Self> {
        let width = words(model.places);
        effort.keep(model.places * width);
        if effort.is_spent() {
            return None;
        }
        let empty = Bits::new(model.places);
        let mut together = Self { rows: vec![empty.clone(); model.places], reached: empty };
        let entry = usize::from(model.net.entry());
        together.reached.insert(entry);
        let events = &model.events;
        let mut dirty = VecDeque::from([model.consumer(entry)]);
        dirty.extend(events);
        let mut is_dirty = vec![false; model.nodes.len()];
        dirty.iter().for_each(|&index| is_dirty[index] = true);
        while let Some(index) = dirty.pop_front() {
            is_dirty[index] = false;
            let filled: usize = model.nodes[index].firings.iter().map(|firing| 1 + firing.produces.len()).sum();
            effort.touch(filled * (3 * width + model.places / 8));
            if effort.is_spent() {
                return None;
            }
            let changed = together.fire(model, &model.nodes[index]);
            if changed.is_empty() {
                continue;
            }
            let consumers = changed.iter().map(|place| model.consumer(place));
            for next in consumers.chain(events.iter().copied()) {
                if !std::mem::replace(&mut is_dirty[next], true) {
                    dirty.push_back(next);
                }
            }
        }
        Some(together)
    }

    /// The places that may hold a token while `node` can fire; `None` if it never can.
    pub(crate) fn beside(&self, model: &Model<'_>, node: &Node) -> Option<Bits> {
        if node.role == Role::Event {
            return Some(model.all_places.clone());
        }
        if !node.places.clone().all(|place| self.reached.contains(place)) {
            return None;
        }
        let mut needs = node.needs();
        let mut beside = self.rows[needs.next()?].clone();
        for place in node.needs() {
            if node.needs().any(|other| other != place && !self.rows[place].contains(other)) {
                return None;
            }
            beside.intersect(&self.rows[place]);
        }
        Some(beside)
    }

    /// Adds the pairs that the firings of a node create. Returns the places whose row has grown.
    fn fire(&mut self, model: &Model<'_>, node: &Node) -> Bits {
        let mut changed = Bits::new(model.places);
        let Some(beside) = self.beside(model, node) else { return changed };
        for firing in &node.firings {
            let mut stays = beside.clone();
            if node.role == Role::Event {
                let Some(clears) = &firing.clears else { continue };
                stays = Bits::new(model.places);
                for place in clears.places.iter().filter(|&place| self.reached.contains(place)) {
                    stays.unite(&self.rows[place]);
                }
                if !clears.places.iter().any(|place| self.reached.contains(place)) {
                    continue;
                }
            }
            if let Some(clears) = &firing.clears {
                stays.subtract(&clears.places);
            }
            self.mark(&stays, &firing.produces, &mut changed);
            self.fire_quorums(model, firing, stays, &mut changed);
        }
        changed
    }

    /// Adds the pairs that a firing creates by completing the quorum of joins: all slots of the joins are marked, and
    /// their regions are cleared. With several joins, one may clear another, so nothing is assumed to be cleared.
    fn fire_quorums(&mut self, model: &Model<'_>, firing: &Firing, mut stays: Bits, changed: &mut Bits) {
        let joins: Vec<(usize, &Quorum)> = model.may_complete(firing).collect();
        let mut marked = firing.produces.clone();
        if let [(_, quorum)] = joins[..] {
            stays.subtract(&quorum.clears.places);
            marked.retain(|&place| !quorum.clears.places.contains(place));
        }
        let slots = joins.iter().flat_map(|(join, _)| model.nodes[*join].places.clone());
        marked.extend(slots);
        if !joins.is_empty() {
            self.mark(&stays, &marked, changed);
        }
    }

    /// Adds that `places` get tokens while the places in `stays` hold some.
    fn mark(&mut self, stays: &Bits, places: &[usize], changed: &mut Bits) {
        for &place in places {
            let mut row = stays.clone();
            places.iter().for_each(|&other| {
                row.insert(other);
            });
            row.remove(place);
            if self.reached.insert(place) {
                changed.insert(place);
            }
            if row.is_subset(&self.rows[place]) {
                continue;
            }
            for other in row.iter() {
                if self.rows[other].insert(place) {
                    changed.insert(other);
                }
            }
            if self.rows[place].unite(&row) {
                changed.insert(place);
            }
        }
    }
}

/// Marks the firings whose result is one fixed marking: their region has every place that may be live beside their
/// node, including every value that a join may remember then.
pub(crate) fn mark_total(model: &mut Model<'_>, together: &Together) {
    for index in 0..model.nodes.len() {
        let beside = match model.nodes[index].role {
            Role::Event | Role::Beside => Some(model.all_places.clone()),
            Role::Plain | Role::Join => together.beside(model, &model.nodes[index]),
        };
        let Some(beside) = beside else { continue };
        for firing in &mut model.nodes[index].firings {
            let clears_all = firing.clears.as_ref().is_some_and(|clears| beside.is_subset(&clears.places));
            firing.total |= clears_all && firing.produces.len() + firing.exits == 1;
        }
    }
}
