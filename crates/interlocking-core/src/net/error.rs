//! Why a table cannot be compiled to a net.

use std::fmt;

/// Why a table cannot be compiled to a net.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NetError {
    /// No node, or more than one, is the entry.
    Entry {
        /// The nodes that are marked as the entry.
        found: Vec<String>,
    },
    /// Two nodes, or two slots of one join, have one name.
    Duplicate {
        /// The name.
        name: String,
    },
    /// A name is not in the table.
    Unknown {
        /// The node whose row uses it.
        node: String,
        /// The name.
        name: String,
    },
    /// A target is a join, and none of its slots names the source.
    NoSlot {
        /// The source.
        node: String,
        /// The join.
        join: String,
    },
    /// A join has no slots, or another kind of node has some.
    Slots {
        /// The node.
        node: String,
    },
    /// A node's row has an attribute that its kind does not allow.
    Unfit {
        /// The node.
        node: String,
        /// What is wrong and what to do.
        reason: String,
    },
    /// More places or alternatives than an index can hold.
    TooLarge {
        /// How many.
        count: usize,
    },
}

impl fmt::Display for NetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entry { found } if found.is_empty() => f.write_str("no node is the entry: mark one"),
            Self::Entry { found } => write!(f, "{} nodes are the entry ({}): keep one", found.len(), found.join(", ")),
            Self::Duplicate { name } => write!(f, "`{name}` stands for two things: rename one"),
            Self::Unknown { node, name } => {
                write!(f, "node `{node}` names `{name}`, which is not in the table")
            }
            Self::NoSlot { node, join } => {
                write!(f, "node `{node}` goes to join `{join}`, none of whose slots names it as a source")
            }
            Self::Slots { node } => {
                write!(f, "node `{node}`: a join has at least one slot, and no other node has any")
            }
            Self::Unfit { node, reason } => write!(f, "node `{node}`: {reason}"),
            Self::TooLarge { count } => write!(f, "{count} places or alternatives: at most 65,535 fit one table"),
        }
    }
}

impl std::error::Error for NetError {}
