//! A node's position in the tree: what a run begins with beside its specification (CON-138).

use super::shared::NodeInfo;
use interlocking::prelude::SessionId;
use interlocking::workspaces::FilePath;
use interlocking::worktree::CommitId;
use serde::{Deserialize, Serialize};

/// A node's position in the tree. The root's is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Lineage {
    /// The parent; none for the root.
    pub parent: Option<NodeInfo>,
    /// The session of the parent's scaffold: the judge forks it, and this node's own agents know it (CON-139).
    pub session: Option<SessionId>,
    /// The files of the interfaces that the nodes above have defined: no node below may change them.
    pub interface_files: Vec<FilePath>,
    /// The contracts of the nodes above, and the test files of their other children: no node below may change them.
    #[serde(default)]
    pub tests_of_others: Vec<FilePath>,
    /// What it has to improve, if its parent has sent it back (CON-144).
    pub sent_back: Option<SentBack>,
}

/// Why a child is sent back: what it has merged is not good enough.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SentBack {
    /// The commit that it had merged.
    pub merge_commit: CommitId,
    /// The contract's tests that fail.
    pub failing_tests: Vec<String>,
    /// What they say.
    pub details: String,
}

/// What a child receives from its parent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ParentContext {
    /// The text of the parent's interface definitions.
    pub interface: String,
    /// The ids of the parent's criteria that the child has to satisfy (CON-35).
    pub assigned_criteria: Vec<String>,
}
