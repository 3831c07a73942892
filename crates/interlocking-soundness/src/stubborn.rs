//! Which of the enabled nodes need to be tried now, and which can wait: strong stubborn sets.
//!
//! Two nodes depend on each other if the order in which they fire can matter: they send to one place, one sends to a
//! place of the other's input, or one clears what the other takes or sends. Nodes that are never live
//! [together](crate::together) are independent. A set of nodes is stubborn if it contains, for every enabled member,
//! all nodes that depend on the member, and for every other member, all nodes that send to one place that the member
//! lacks. Then a step of the set commutes with all earlier steps of the other nodes. So it is enough to try the enabled
//! nodes of one stubborn set, the smallest.
//!
//! - Going to exit depends on no other node: if something else is live, the rule is broken at once, and stays broken
//!   whatever the other nodes do.
//! - A [total](crate::model::Firing::total) firing depends only on nodes that leave budget bits: its result is the same
//!   marking now or later, and the effects of other nodes before it are cleared. But nothing of the other nodes is left
//!   after it. So a set suffices only if one of its firings is neither total nor to exit, and leads to a state whose
//!   successors are still to be tried: otherwise the other nodes could be put off for ever.
//! - A node that fills a slot of a join with a quorum may complete the quorum. It then clears the join's region and all
//!   of the join's slots, which are marked again.
//! - A region undoes a node's effects if it has all places that the node takes from, sends to and clears: the result is
//!   the same whether the node fired before or not, except that more of a budget may be spent. So the node need not
//!   wait for nodes whose regions all either undo its effects or do not touch them, though these nodes wait for it.
//!   That holds for a set of one enabled node. So branches that a join clears at its quorum, or that clear each other,
//!   advance one after the other as far as they can. Paths are then not the shortest.
//! - A join with an enabled latched slot depends on the nodes that fill the slot: it matters for which round a value
//!   arrives.

use crate::effort::{Effort, words};
use crate::model::{Firing, Model, Node, Role, State};
use crate::together::Together;
use interlocking_core::bits::Bits;

pub(crate) struct Dependencies {
    /// By node: the nodes that depend on it.
    dependent: Vec<Bits>,
    /// The same without the nodes that can only undo the node's effects; `None` if there are no such nodes.
    pressing: Vec<Option<Bits>>,
    /// By place: the nodes that send to it.
    producers: Vec<Vec<usize>>,
}

impl Dependencies {
    /// With `totals_wait` a total firing depends on nothing. That makes sets small, but does not keep the length of
    /// paths: the firing undoes earlier steps, which may have been left out.
    ///
    /// `None` where that exceeds the effort.
    pub(crate) fn of(model: &Model<'_>, together: &Together, effort: &Effort, totals_wait: bool) -> Option<Self> {
        let count = model.nodes.len();
        effort.keep(count * (4 * words(model.places) + words(count)));
        effort.touch(count * count * (1 + words(model.places) / 8));
        if effort.is_spent() {
            return None;
        }
        let mut producers = vec![Vec::new(); model.places];
        for (index, node) in model.nodes.iter().enumerate() {
            for place in node.firings.iter().flat_map(|firing| marks(model, firing)) {
                if producers[place].last() != Some(&index) {
                    producers[place].push(index);
                }
            }
        }
        let effects: Vec<Option<Effects>> =
            model.nodes.iter().map(|node| Effects::of(model, together, node, totals_wait)).collect();
        let mut dependent = vec![Bits::new(count); count];
        let mut undone: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (one, mine) in effects.iter().enumerate() {
            let Some(mine) = mine else { continue };
            for (other, theirs) in effects.iter().enumerate().skip(one + 1) {
                let Some(theirs) = theirs else { continue };
                if mine.may_meet(&model.nodes[other])
                    && theirs.may_meet(&model.nodes[one])
                    && (mine.disturbs(theirs) || theirs.disturbs(mine) || mine.sends.intersects(&theirs.sends))
                {
                    for ((index, effects), (by, its)) in
                        [((one, mine), (other, theirs)), ((other, theirs), (one, mine))]
                    {
                        dependent[index].insert(by);
                        if totals_wait && effects.is_undone_or_kept(its, model, index, by) {
                            undone[index].push(by);
                        }
                    }
                }
            }
        }
        let pressing = dependent.iter().zip(undone).map(|(dependent, undone)| {
            let mut pressing = (!undone.is_empty()).then(|| dependent.clone())?;
            effort.keep(words(count));
            undone.into_iter().for_each(|by| {
                pressing.remove(by);
            });
            Some(pressing)
        });
        let pressing = pressing.collect();
        Some(Self { dependent, pressing, producers })
    }

    /// The enabled nodes of a small stubborn set for which `suffices` holds.
    pub(crate) fn choose(
        &self,
        model: &Model<'_>,
        state: &State,
        enabled: &[usize],
        effort: &Effort,
        suffices: impl Fn(&[usize]) -> bool,
    ) -> Option<Vec<usize>> {
        let is_enabled = flags(model, enabled);
        // Nodes that need not wait for nodes that only undo their effects come last.
        let alone = enabled.iter().map(|&seed| (seed, &self.dependent[seed]));
        let undone = enabled.iter().filter_map(|&seed| Some((seed, self.pressing[seed].as_ref()?)));
        for (seed, dependent) in alone.chain(undone) {
            if effort.is_spent() {
                return None;
            }
            if self.is_alone(model, state, &is_enabled, effort, seed, dependent) && suffices(&[seed]) {
                return Some(vec![seed]);
            }
        }
        let mut larger: Vec<Vec<usize>> = Vec::new();
        for &seed in enabled {
            let found = self.close(model, state, &is_enabled, effort, [seed]);
            if effort.is_spent() {
                return None;
            }
            if (2..enabled.len()).contains(&found.len()) && !larger.contains(&found) {
                larger.push(found);
            }
        }
        larger.sort_by_key(Vec::len);
        larger.into_iter().find(|found| suffices(found))
    }

    /// The enabled nodes of the stubborn set around the nodes that a goal needs.
    pub(crate) fn around(
        &self,
        model: &Model<'_>,
        state: &State,
        enabled: &[usize],
        effort: &Effort,
        seeds: Vec<usize>,
    ) -> Vec<usize> {
        self.close(model, state, &flags(model, enabled), effort, seeds)
    }

    /// Whether an enabled node, which depends on `dependent`, is the only enabled node of its stubborn set.
    fn is_alone(
        &self,
        model: &Model<'_>,
        state: &State,
        is_enabled: &Bits,
        effort: &Effort,
        node: usize,
        dependent: &Bits,
    ) -> bool {
        effort.touch(words(model.nodes.len()));
        if dependent.intersects(is_enabled) {
            return false;
        }
        let mut members = dependent.clone();
        members.insert(node);
        let mut open: Vec<usize> = dependent.iter().collect();
        while let Some(index) = open.pop() {
            effort.touch(words(model.nodes.len()));
            if is_enabled.contains(index) {
                return false;
            }
            open.extend(self.enablers(model, state, index).filter(|&other| members.insert(other)));
        }
        true
    }

    /// The enabled nodes of the stubborn set around `seeds`.
    fn close(
        &self,
        model: &Model<'_>,
        state: &State,
        is_enabled: &Bits,
        effort: &Effort,
        seeds: impl IntoIterator<Item = usize>,
    ) -> Vec<usize> {
        let mut members = Bits::new(model.nodes.len());
        let mut open: Vec<usize> = seeds.into_iter().collect();
        open.iter().for_each(|&seed| {
            members.insert(seed);
        });
        // A set with all enabled nodes gains nothing, so the loop stops then.
        while let Some(index) = open.pop().filter(|_| !is_enabled.is_subset(&members)) {
            effort.touch(words(model.nodes.len()));
            if is_enabled.contains(index) {
                let mut more = self.dependent[index].clone();
                more.subtract(&members);
                members.unite(&more);
                open.extend(more.iter());
            } else {
                open.extend(self.enablers(model, state, index).filter(|&other| members.insert(other)));
            }
        }
        members.intersect(is_enabled);
        members.iter().collect()
    }

    /// Nodes of which at least one must fire before a disabled node can be enabled.
    fn enablers<'d>(
        &'d self,
        model: &'d Model<'_>,
        state: &'d State,
        index: usize,
    ) -> impl Iterator<Item = usize> + 'd {
        let node = &model.nodes[index];
        let missing = node.places.clone().find(|&place| !model.has_value(node, place, state));
        let missing = missing.filter(|_| node.role != Role::Event && node.role != Role::Beside);
        let cleared = node.firings.iter().filter(|firing| node.role == Role::Event && !firing.total);
        let cleared = cleared.filter_map(|firing| firing.clears.as_ref()).flat_map(|clears| clears.places.iter());
        let producers = missing.into_iter().chain(cleared).flat_map(|place| self.producers[place].iter().copied());
        // No message is handled while a join with latched slots runs, so an event depends on the running joins. A join
        // that does not run yet can start and end in direct succession, so an event need not depend on it.
        producers.chain(model.running(state).filter(|_| node.role == Role::Event))
    }
}

fn flags(model: &Model<'_>, enabled: &[usize]) -> Bits {
    let mut flags = Bits::new(model.nodes.len());
    enabled.iter().for_each(|&index| {
        flags.insert(index);
    });
    flags
}

/// The places that a firing may mark: a value for one slot of a join with a quorum may complete the quorum, and then
/// all slots are marked.
fn marks<'m>(model: &'m Model<'_>, firing: &'m Firing) -> impl Iterator<Item = usize> + 'm {
    let slots = model.may_complete(firing).flat_map(|(join, _)| model.nodes[join].places.clone());
    firing.produces.iter().copied().chain(slots)
}

/// The places that a node takes from, sends to and clears, over all its firings that are not total. Without
/// `totals_wait`, total firings that do not go to exit count too.
struct Effects {
    takes: Bits,
    sends: Bits,
    clears: Bits,
    /// The places that may be live beside it.
    beside: Bits,
    /// Whether it has a total firing, which undoes the effects of other nodes, but not their budget bits.
    is_total: bool,
    /// Whether it is an event whose result depends on what else is live.
    is_partial_event: bool,
    /// Whether it has effects that a total firing does not undo: it sends to a node whose budget is kept, or takes an
    /// edge whose budget is kept.
    leaves_traces: bool,
}

impl Effects {
    /// `None` for a node that never fires.
    fn of(model: &Model<'_>, together: &Together, node: &Node, totals_wait: bool) -> Option<Self> {
        if node.role == Role::Beside {
            return None;
        }
        let beside = together.beside(model, node)?;
        let empty = || Bits::new(model.places);
        let mut effects = Self {
            takes: empty(),
            sends: empty(),
            clears: model.no_places(),
            beside,
            is_total: false,
            is_partial_event: node.role == Role::Event && node.firings.iter().any(|firing| !firing.total),
            leaves_traces: false,
        };
        if node.role != Role::Event {
            node.places.clone().for_each(|place| {
                effects.takes.insert(place);
            });
        }
        for firing in &node.firings {
            let has_budget = |place: usize| model.nodes[model.consumer(place)].budget.is_some();
            effects.leaves_traces |= model.fills(firing).any(has_budget) || firing.leaves_taken().is_some();
            if firing.total && (totals_wait || firing.exits > 0) {
                // Budgets do not matter after the end of the run.
                effects.is_total |= firing.exits == 0;
                continue;
            }
            model.fills(firing).for_each(|place| {
                effects.sends.insert(place);
            });
            model.may_clear(firing).for_each(|clears| {
                effects.clears.unite(&clears.places);
            });
        }
        Some(effects)
    }

    /// Whether `other` may fire while this node can.
    fn may_meet(&self, other: &Node) -> bool {
        other.role == Role::Event || other.needs().all(|place| self.beside.contains(place))
    }

    /// Whether node `by`, with the effects `its`, can only undo the effects of node `index`, which are `self`, or does
    /// not touch them.
    fn is_undone_or_kept(&self, its: &Self, model: &Model<'_>, index: usize, by: usize) -> bool {
        let node = &model.nodes[index];
        let meets = self.sends.intersects(&its.takes)
            || self.clears.intersects(&its.takes)
            || self.clears.intersects(&its.sends)
            || its.sends.intersects(&self.takes)
            || its.sends.intersects(&self.sends)
            || (self.is_total && its.leaves_traces);
        // Where states are compared exactly, it matters to the budgets whether node `index` fired before.
        let is_told_apart = model.exact && (self.leaves_traces || node.budget.is_some() || !self.clears.is_empty());
        // No message is handled while a join with latched slots runs.
        let stops_messages = !node.latched.is_empty() && !model.events.is_empty();
        if meets || is_told_apart || node.role == Role::Event || stops_messages {
            return false;
        }
        let mut places = self.clears.clone();
        places.unite(&self.takes);
        places.unite(&self.sends);
        let firings = model.nodes[by].firings.iter().filter(|firing| !firing.total);
        let mut regions = firings.flat_map(|firing| model.may_clear(firing)).map(|clears| &clears.places);
        regions.all(|region| places.is_subset(region) || !places.intersects(region))
    }

    /// Whether this node's effects change what `other` can do or has done.
    fn disturbs(&self, other: &Self) -> bool {
        self.sends.intersects(&other.takes)
            || self.clears.intersects(&other.takes)
            || self.clears.intersects(&other.sends)
            // A message can redirect only from a region that holds a token.
            || (other.is_partial_event && self.clears.intersects(&other.clears))
            || (self.is_total && other.leaves_traces)
    }
}
