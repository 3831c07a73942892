//! How many agent calls a run can make at worst.

use serde::{Deserialize, Serialize};

/// The worst-case number of agent calls of a run: told from the graph's table, before any run.
///
/// A call is one turn that a node begins: each start of an LLM node or of an event node with an agent, and each advisory node
/// with an agent that is spawned. A turn's correction rounds, which begin when its output does not fit its schema, come on top; how many there may be is a
/// setting of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentCalls {
    /// No run makes more. `None` if the table sets no bound: something goes round without a budget on the way to an agent, or
    /// a map runs a graph of its own for each of its items.
    pub at_most: Option<u64>,
    /// Whether some run makes as many.
    pub exact: bool,
}

impl AgentCalls {
    /// Nothing is known.
    pub const UNKNOWN: Self = Self { at_most: None, exact: false };
}
