//! The states that a search has seen, with fast lookup for any number of budgets.

use crate::model::{Model, State};
use interlocking_core::bits::Bits;
use std::collections::HashMap;

/// How many states of one marking are compared by their budgets. With fewer comparisons a search visits more states,
/// and finds the same.
const MAX_COMPARED: usize = 64;

#[derive(Default)]
pub(crate) struct Known {
    states: HashMap<State, u32>,
    /// By marking, the latest states that no other state covers. Used only where one state can cover another.
    covering: HashMap<Bits, Vec<(Bits, u32)>>,
}

impl Known {
    pub(crate) fn insert(&mut self, model: &Model<'_>, state: &State, at: u32, depth_first: bool) {
        self.states.insert(state.clone(), at);
        if has_cover(model) {
            let others = self.covering.entry(state.marking.clone()).or_default();
            // In a breadth-first search, a covered state may have been reached by fewer executions.
            others.retain(|(budgets, _)| !depth_first || !budgets.is_subset(&state.budgets));
            if others.len() == MAX_COMPARED {
                others.remove(0);
            }
            others.push((state.budgets.clone(), at));
        }
    }

    pub(crate) fn same(&self, state: &State) -> Option<u32> {
        self.states.get(state).copied()
    }

    /// States of the same marking that have at least all behaviour of this state.
    pub(crate) fn covers(&self, model: &Model<'_>, state: &State) -> impl Iterator<Item = u32> {
        let others = if has_cover(model) { self.covering.get(&state.marking) } else { None };
        others.into_iter().flatten().filter(|(budgets, _)| state.budgets.is_subset(budgets)).map(|(_, at)| *at)
    }
}

/// Whether one state can cover others.
fn has_cover(model: &Model<'_>) -> bool {
    !model.exact && model.budget_bits > 0
}
