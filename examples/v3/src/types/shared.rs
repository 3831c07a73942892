//! Types that several nodes use.

use super::node_id::NodeId;
use interlocking::workspaces::FilePath;
use interlocking::worktree::CommitId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A test that is to be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlannedTest {
    /// The criterion that it checks.
    pub criterion_id: String,
    /// The test function's name.
    pub planned_test_name: String,
    /// How it checks that.
    pub approach: String,
}

/// What is wrong in a file, and what has to be done about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Critique {
    /// The file.
    pub file: FilePath,
    /// The line, counted from 1; 0 where it is about the whole file.
    pub line: u32,
    /// What is wrong.
    pub issue: String,
    /// What has to be done.
    pub required_fix: String,
}

/// How much a change means to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum ImpactLevel {
    /// Nothing.
    Trivial,
    /// They may use something new.
    Additive,
    /// They have to change.
    Breaking,
}

/// What happened to a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ChangeType {
    /// It has another signature.
    SignatureChange,
    /// It is new.
    NewExport,
    /// It is gone.
    RemovedExport,
    /// It does something else.
    BehaviorChange,
}

/// A change that others see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChangeEntry {
    /// The symbol.
    pub symbol: String,
    /// What happened to it.
    pub change_type: ChangeType,
    /// Why.
    pub reason: String,
}

/// A node of the tree, and where its work is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NodeInfo {
    /// Who it is.
    pub node_id: String,
    /// The branch of its work.
    pub branch: String,
}

/// Which criteria have tests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CoverageReport {
    /// Each criterion that has one, with the test's name.
    pub criteria_with_tests: Vec<(String, String)>,
    /// The criteria that have none.
    pub criteria_missing: Vec<String>,
}

/// That a node's work is merged into its parent's branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MergeComplete {
    /// The commit: all forty digits.
    #[schemars(with = "String")]
    pub merge_commit: CommitId,
    /// Whose work it is.
    pub author: NodeId,
    /// How much it means to others.
    pub impact_level: ImpactLevel,
    /// What others see of it.
    pub changes: Vec<ChangeEntry>,
}

/// What siblings are told about a merge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MergeEvent {
    /// The node whose work was merged.
    pub author: NodeId,
    /// Its impact on other nodes.
    pub impact_level: ImpactLevel,
    /// Its public changes.
    pub changes: Vec<ChangeEntry>,
}

impl From<&MergeComplete> for MergeEvent {
    fn from(merge: &MergeComplete) -> Self {
        let MergeComplete { author, impact_level, changes, .. } = merge.clone();
        Self { author, impact_level, changes }
    }
}

/// A file in which an interface is defined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InterfaceFile {
    /// The file.
    pub path: FilePath,
    /// What it offers.
    pub exports: Vec<String>,
}
