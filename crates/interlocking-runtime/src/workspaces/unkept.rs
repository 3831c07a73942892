//! A demand of isolation that cannot be kept.

use interlocking_core::table::Isolation;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A node whose isolation demand cannot be kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Unkept {
    /// The node.
    pub node: String,
    /// The node's workspace.
    pub workspace: String,
    /// The isolation that the node demands.
    pub demanded: Isolation,
    /// The nodes that this node must be blind to.
    pub blind_to: Vec<String>,
    /// The isolation that there is.
    pub given: Isolation,
    /// Why there is no stronger isolation.
    pub reason: String,
}

impl fmt::Display for Unkept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { node, workspace, demanded, blind_to, given, reason } = self;
        write!(f, "node `{node}` demands a {demanded} for its workspace `{workspace}`")?;
        if !blind_to.is_empty() {
            let names: Vec<String> = blind_to.iter().map(|name| format!("`{name}`")).collect();
            write!(f, ", being blind to {}", names.join(" and "))?;
        }
        write!(f, ", and there is a {given}: {reason}")
    }
}
