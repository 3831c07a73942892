//! Where a node stands in the tree: what a run begins with beside its specification (CON-138).

use super::shared::NodeInfo;
use interlocking::prelude::SessionId;
use interlocking::workspaces::FilePath;
use interlocking::worktree::CommitId;
use serde::{Deserialize, Serialize};

/// Where a node stands in the tree. The root's is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Lineage {
    /// The parent; none of the root.
    pub parent: Option<NodeInfo>,
    /// The session of the parent's scaffold: what the judge goes by, and what this node's own agents know of (CON-139).
    pub session: Option<SessionId>,
    /// The files of the interfaces that the nodes above have defined: nobody below changes them.
    pub interface_files: Vec<FilePath>,
    /// What it has to do better, if its parent has sent it back (CON-144).
    pub sent_back: Option<SentBack>,
}

/// A child that is sent back, because what it has merged does not do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SentBack {
    /// What it had merged.
    pub merge_commit: CommitId,
    /// The contract's tests that fail.
    pub failing_tests: Vec<String>,
    /// What they say.
    pub details: String,
}

/// What a child is given of its parent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ParentContext {
    /// The text of the parent's interface definitions.
    pub interface: String,
    /// The ids of the parent's criteria that the child has to satisfy (CON-35).
    pub assigned_criteria: Vec<String>,
}
