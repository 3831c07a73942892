//! Which budgets can still matter, depending on where the tokens are.
//!
//! A bit of a budget is read when a token reaches the budget's node, when the node fires, and when an edge is chosen.
//! If no path leads there from any token, nor from a place where a message may redirect the run to, nothing that can
//! still happen depends on the bit. States that differ only in such bits have the same behaviour, so the bits are
//! dropped. This keeps the bits of consecutive loops from multiplying the number of states.

use super::{Model, Node, Role, State};
use crate::effort::words;
use interlocking_core::bits::Bits;

/// The most words kept for this analysis; beyond that, every bit is assumed to matter.
const MAX_WORDS: usize = 1 << 20;

/// The most rounds of the fixed-point iteration.
const MAX_ROUNDS: usize = 64;

#[derive(Debug)]
pub(super) struct Ahead {
    /// By node: the bits that can matter while one of its places holds a token.
    rows: Vec<Bits>,
    /// The bits that messages may make matter at any time.
    always: Bits,
}

impl Ahead {
    /// `None` where there are no budgets, or too many.
    pub(super) fn of(model: &Model<'_>) -> Option<Self> {
        if model.budget_bits == 0 || model.nodes.len().saturating_mul(words(model.budget_bits)) > MAX_WORDS {
            return None;
        }
        let mut rows: Vec<Bits> = model.nodes.iter().map(|node| own(model, node)).collect();
        let order = model.post_order();
        let mut rounds = 0;
        let mut is_changed = true;
        // In post-order, each level of nested loops takes one more round.
        while std::mem::take(&mut is_changed) {
            rounds += 1;
            if rounds > MAX_ROUNDS {
                return None;
            }
            for &index in &order {
                for next in leads_to(model, &model.nodes[index]) {
                    let mut row = rows[next].clone();
                    model.nodes[next].budget.iter().for_each(|budget| {
                        row.insert(budget.entered);
                    });
                    is_changed |= rows[index].unite(&row);
                }
            }
        }
        let mut always = Bits::new(model.budget_bits);
        for &event in &model.events {
            always.unite(&rows[event]);
        }
        Some(Self { rows, always })
    }
}

/// The nodes to which a node sends.
fn leads_to<'m>(model: &'m Model<'_>, node: &'m Node) -> impl Iterator<Item = usize> + 'm {
    node.firings.iter().flat_map(|firing| &firing.produces).map(|&place| model.consumer(place))
}

/// The bits that matter when a node fires. A join with a quorum may be entered after one of its slots was filled, and
/// an event at any time, so their "entered before" bit matters too.
fn own(model: &Model<'_>, node: &Node) -> Bits {
    let is_entered_later = node.quorum.is_some() || node.role == Role::Event;
    let entered = node.budget.iter().filter(|_| is_entered_later).map(|budget| budget.entered);
    let taken = node.firings.iter().filter_map(|firing| firing.edge?.taken);
    let mut own = Bits::new(model.budget_bits);
    node.budget.iter().map(|budget| budget.exhaustible).chain(entered).chain(taken).for_each(|bit| {
        own.insert(bit);
    });
    own
}

impl Model<'_> {
    /// Removes the bits from a state that can no longer matter.
    pub(super) fn forget_budgets(&self, state: &mut State) {
        let Some(ahead) = self.ahead.as_ref().filter(|_| !state.budgets.is_empty()) else { return };
        let mut matter = ahead.always.clone();
        for place in state.marking.iter().take_while(|&place| place < self.places) {
            matter.unite(&ahead.rows[self.consumer(place)]);
        }
        state.budgets.intersect(&matter);
    }
}
