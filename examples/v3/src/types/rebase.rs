//! Rebaser: its message, its agent's input, and the possible answers of the agent.

use super::shared::{MergeEvent, NodeInfo};
use crate::graph::v3;
use interlocking::prelude::*;
use interlocking::workspaces::FilePath;
use interlocking::worktree::CommitId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The message that the parent's branch has moved, because a sibling was merged, or the parent itself was rebased (CON-147).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ParentMoved {
    /// The parent's branch.
    pub parent_branch: String,
    /// Its new head.
    pub new_parent_head: CommitId,
    /// The merge that moved it.
    pub merge_event: MergeEvent,
}

/// The input of Rebaser's agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RebaserInput {
    /// The node that is rebased.
    pub node: NodeInfo,
    /// The parent's branch.
    pub parent_branch: String,
    /// Its new head.
    pub new_parent_head: CommitId,
    /// The merge that moved it.
    pub merge_event: MergeEvent,
}

/// The result of Rebaser.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Labels)]
#[labels(node = v3::rebaser)]
#[serde(deny_unknown_fields)]
pub enum RebaserExit {
    /// Nothing had to be changed.
    #[label(info)]
    RebaseClean(RebaseClean),
    /// The branch was adapted, mechanically.
    #[label(info, route_hint = v3::write_tests)]
    RebaseAdapted(RebaseAdapted),
    /// Logic would have to change.
    #[label(blocker, route_hint = v3::scaffold)]
    RebaseConflict(RebaseConflict),
}

/// A rebase for which nothing had to be changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RebaseClean {
    /// What the branch stands on: all forty digits.
    #[schemars(with = "String")]
    pub new_base: CommitId,
}

/// A rebase for which the branch was adapted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RebaseAdapted {
    /// What the branch stands on: all forty digits.
    #[schemars(with = "String")]
    pub new_base: CommitId,
    /// What was adapted.
    pub adaptations: Vec<Adaptation>,
}

/// A mechanical change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Adaptation {
    /// The symbol.
    pub symbol: String,
    /// What was done.
    pub change: String,
    /// Why.
    pub reason: String,
}

/// A rebase that needs more than mechanical changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RebaseConflict {
    /// The file.
    pub conflict_file: FilePath,
    /// What this branch does there.
    pub our_change: String,
    /// What the other one does.
    pub their_change: String,
    /// Why both cannot be.
    pub why_unresolvable: String,
}
