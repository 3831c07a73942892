//! How many agent calls a run can make at worst.

use serde::{Deserialize, Serialize};

/// The worst-case number of agent calls of a run, computed from the graph's table before any run.
///
/// A call is one turn that a node begins: each start of an LLM node or of an event node with an agent, each spawn of an
/// advisory node with an agent, which a handler may do as often as that node's `visits` allow, and the calls of the
/// child that a graph node runs. Correction rounds, which a turn adds when its output does not fit its schema, are not
/// included; a setting of the run bounds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentCalls {
    /// An upper bound for every run. `None` if the table sets no bound: a loop without a budget leads to an agent, an
    /// advisory node with an agent has no `visits`, a map runs a child graph for each of its items, or a graph node has
    /// a `depth`, as graph nodes have that run their own graph. `None` also if the bound is 2^32 or more for the graph
    /// itself, or is not found within the work that a compiler may do.
    pub at_most: Option<u64>,
    /// Whether some run makes exactly that many.
    pub exact: bool,
}

impl AgentCalls {
    /// No bound is known.
    pub const UNKNOWN: Self = Self { at_most: None, exact: false };

    /// Adds the calls of child runs: there are `runs` child runs, and `each` is the number of calls of one.
    ///
    /// It is not known whether one run reaches both maxima, so the sum is exact only where one of them is 0.
    #[must_use]
    pub const fn with_children(self, runs: Self, each: Self) -> Self {
        let (Some(own), Some(count), Some(calls)) = (self.at_most, runs.at_most, each.at_most) else {
            return Self::UNKNOWN;
        };
        let Some(of_children) = count.checked_mul(calls) else { return Self::UNKNOWN };
        let exact = self.exact && (of_children == 0 || own == 0 && runs.exact && each.exact);
        match own.checked_add(of_children) {
            Some(sum) => Self { at_most: Some(sum), exact },
            None => Self::UNKNOWN,
        }
    }
}
