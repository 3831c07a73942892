//! Merger: its input, and the possible answers of its agent.

use super::shared::{MergeComplete, NodeInfo};
use super::tdd::TddApproval;
use crate::graph::v3;
use interlocking::prelude::*;
use interlocking::workspaces::FilePath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The input of Merger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MergerInput {
    /// The node into whose branch the work is merged.
    pub parent_node: NodeInfo,
    /// The node whose work it is.
    pub child_node: NodeInfo,
    /// The approval.
    pub tdd_approval: TddApproval,
    /// The tests that must pass.
    pub contract_suite: FilePath,
}

/// The result of Merger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Labels)]
#[labels(node = v3::merger)]
#[serde(deny_unknown_fields)]
pub enum MergerExit {
    /// It is merged.
    #[label(info, route_hint = v3::judge)]
    MergeComplete(MergeComplete),
    /// It cannot be.
    #[label(warn, route_hint = v3::implement)]
    MergeRejected(MergeRejected),
}

/// Why work cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MergeRejected {
    /// In a word.
    pub reason: RejectionReason,
    /// In detail.
    pub details: String,
    /// The tests that fail.
    pub failing_tests: Vec<String>,
}

/// Why work cannot be merged, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum RejectionReason {
    /// It breaks a contract.
    ContractViolation,
    /// It does not build.
    BuildFailure,
    /// It does not fit what is there.
    IntegrationFailure,
}
