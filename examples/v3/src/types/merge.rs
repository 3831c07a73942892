//! Merger: what it takes, and what its agent may come to.

use super::shared::{MergeComplete, NodeInfo};
use super::tdd::TddApproval;
use crate::graph::v3;
use interlocking::prelude::*;
use interlocking::workspaces::FilePath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What Merger takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MergerInput {
    /// Whose branch the work is merged into.
    pub parent_node: NodeInfo,
    /// Whose work it is.
    pub child_node: NodeInfo,
    /// That it was approved.
    pub tdd_approval: TddApproval,
    /// The tests that must pass.
    pub contract_suite: FilePath,
}

/// What Merger comes to.
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
