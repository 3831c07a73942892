//! What becomes of children.

use super::lineage::SentBack;
use super::node_id::NodeId;
use super::outcome::V3Outcome;
use super::scaffold::ForkInput;
use super::shared::MergeComplete;
use interlocking::prelude::RunId;
use serde::{Deserialize, Serialize};

/// What the children node takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChildrenInput {
    /// The scaffold, which says who they are.
    pub fork: ForkInput,
    /// Those that are sent back: their runs, and why.
    #[serde(default)]
    pub sent_back: Vec<ChildSentBack>,
}

/// A child that is sent back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChildSentBack {
    /// Who it is.
    pub node_id: NodeId,
    /// The run that has done what does not do.
    pub run: RunId,
    /// Why.
    pub why: SentBack,
}

/// What all children have come to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct IntegrateInput {
    /// The scaffold, which says who they are.
    pub fork: ForkInput,
    /// Each child, in the scaffold's order.
    pub children: Vec<ChildEnded>,
    /// Those that were sent back before.
    pub sent_back: Vec<ChildSentBack>,
}

/// A child that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChildEnded {
    /// Who it is.
    pub node_id: NodeId,
    /// Its run.
    pub run: RunId,
    /// What it has come to.
    pub outcome: V3Outcome,
}

/// What the barrier is told of the children: none where the work was not split.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Merges {
    /// Whether the work was split at all.
    pub is_split: bool,
    /// The children that were merged.
    pub merged: Vec<MergeComplete>,
    /// Those that were not.
    pub failed: Vec<ChildFailed>,
}

/// A child that was not merged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChildFailed {
    /// Who it is.
    pub node_id: NodeId,
    /// Why, in a sentence.
    pub why: String,
}
