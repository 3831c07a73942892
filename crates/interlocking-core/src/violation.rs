//! How a run can violate its table or the rules of runs.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A step that the table does not allow, or that violates a rule of runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Violation {
    /// The execution was cancelled or reported before. Its outcome is discarded; this is not an error of the graph.
    Stale,
    /// A token arrived in a place that already holds one.
    DoubleToken {
        /// The node it came from.
        from: String,
        /// The place.
        place: String,
    },
    /// The run would reach the exit while other work is left.
    LiveAtExit {
        /// The node that went to exit.
        from: String,
        /// The places that still hold a token.
        live: Vec<String>,
    },
    /// No node is due, no node runs, and the run has not ended.
    Deadlock {
        /// The slots that have a value.
        filled: Vec<String>,
        /// The slots of the same joins that have no value.
        missing: Vec<String>,
    },
    /// The outcome is not one of the node's alternatives.
    NotInTable {
        /// The node.
        from: String,
    },
    /// The outcome takes an edge whose budget is spent.
    EdgeSpent {
        /// The node.
        from: String,
        /// The place where the edge leads.
        to: String,
        /// How often it may be taken in a run.
        times: u32,
    },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stale => f.write_str("the outcome of a cancelled execution was discarded"),
            Self::DoubleToken { from, place } => {
                write!(f, "`{from}` sent a second token to `{place}`, which holds one already")
            }
            Self::LiveAtExit { from, live } => {
                write!(f, "`{from}` went to exit while work is left at {}", list(live))
            }
            Self::Deadlock { filled, missing } if filled.is_empty() && missing.is_empty() => {
                f.write_str("nothing is left to do, and the exit was not reached")
            }
            Self::Deadlock { filled, missing } => {
                write!(f, "nothing can run: {} has a value, but nothing will fill {}", list(filled), list(missing))
            }
            Self::NotInTable { from } => write!(f, "`{from}` took a step that is not in its routing table"),
            Self::EdgeSpent { from, to, times } => {
                write!(f, "`{from}` went to `{to}` more often than that edge allows: its table says `times = {times}`")
            }
        }
    }
}

impl std::error::Error for Violation {}

fn list(names: &[String]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
