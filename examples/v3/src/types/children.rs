//! The results of children.

use super::lineage::SentBack;
use super::node_id::NodeId;
use super::outcome::V3Outcome;
use super::scaffold::ForkInput;
use super::shared::MergeComplete;
use interlocking::prelude::RunId;
use serde::{Deserialize, Serialize};

/// The input of the children node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChildrenInput {
    /// The scaffold, which lists them.
    pub fork: ForkInput,
    /// The children that were sent back, on this scaffold or an earlier one: their runs, and why.
    #[serde(default)]
    pub sent_back: Vec<ChildSentBack>,
    /// Whether the scaffold is new: then the children of earlier ones that were not merged run again.
    #[serde(default)]
    pub is_new: bool,
}

/// A child that is sent back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChildSentBack {
    /// Its id.
    pub node_id: NodeId,
    /// The run whose work is not good enough.
    pub run: RunId,
    /// Why.
    pub why: SentBack,
}

/// The results of all children.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct IntegrateInput {
    /// The scaffold, which lists them.
    pub fork: ForkInput,
    /// Each child, in the scaffold's order.
    pub children: Vec<ChildEnded>,
    /// The children that were sent back before, on this scaffold or an earlier one.
    pub sent_back: Vec<ChildSentBack>,
}

/// A child that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChildEnded {
    /// Its id.
    pub node_id: NodeId,
    /// Its run.
    pub run: RunId,
    /// Its outcome.
    pub outcome: V3Outcome,
}

/// The children's results for the barrier: none if the work was not split.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Merges {
    /// Whether the work was split at all.
    pub is_split: bool,
    /// The children that were merged.
    pub merged: Vec<MergeComplete>,
    /// The children that were not merged.
    pub failed: Vec<ChildFailed>,
}

/// A child that was not merged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChildFailed {
    /// Its id.
    pub node_id: NodeId,
    /// Why, in a sentence.
    pub why: String,
}
