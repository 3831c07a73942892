//! TDD: the inputs of its two nodes, and the possible answers of its agent. Each mode has a node of its own, so an agent in one
//! mode cannot give the other's answers (CON-02).

use super::implementation::ImplResult;
use super::merge::MergeRejected;
use super::rebase::Adaptation;
use super::scaffold::InitWorkPayload;
use super::shared::{CoverageReport, Critique, MergeEvent, PlannedTest};
use super::spec::Spec;
use crate::graph::v3;
use interlocking::prelude::*;
use interlocking::workspaces::FilePath;
use interlocking::worktree::CommitId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The role's mode: derived from the node that runs, and never chosen by an agent (V3-49).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum TddMode {
    /// Writes tests that fail.
    WriteTests,
    /// Reviews an implementation.
    ReviewImpl {
        /// The implementation's own report.
        impl_result: ImplResult,
        /// Its changes since the scaffold.
        diff: String,
    },
}

/// The input of writing tests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WriteTestsInput {
    /// What is to be built.
    pub spec: Spec,
    /// The scaffold.
    pub scaffold: InitWorkPayload,
    /// What a review has asked for (CON-08).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<TestsFeedback>,
    /// What a rebase has adapted since the tests were written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub adaptations: Vec<Adaptation>,
    /// Why the last candidate was rejected: for the implementer, if a rebase came before it heard that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge_rejection: Option<MergeRejected>,
    /// Why the parent's judge has refused it: for the review, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judgement: Option<JudgeRefusal>,
    /// The violations of the last tests that were found mechanically.
    #[serde(default)]
    pub violations: Vec<String>,
}

impl WriteTestsInput {
    /// The mode of this node.
    pub fn mode(&self) -> TddMode {
        TddMode::WriteTests
    }
}

/// What a review has asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TestsFeedback {
    /// What is wrong with the implementation, or with the tests.
    pub critiques: Vec<Critique>,
    /// The tests to write.
    pub additional_tests: Vec<PlannedTest>,
}

/// The result of writing tests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Labels)]
#[labels(node = v3::write_tests)]
#[serde(deny_unknown_fields)]
pub enum WriteTestsExit {
    /// Tests are there, and fail.
    #[label(info, route_hint = v3::barrier_tests)]
    TestsReady(TestsReadyPayload),
    /// The scaffold lacks something.
    #[label(blocker, route_hint = v3::scaffold)]
    InvalidScaffold(InvalidScaffold),
}

/// Tests that are there, and fail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TestsReadyPayload {
    /// The commit that has them: all forty digits.
    #[schemars(with = "String")]
    pub tests_commit: CommitId,
    /// The files that they are in.
    pub test_files: Vec<FilePath>,
    /// The criteria that have a test now that waits for its implementation.
    pub pending_criteria: Vec<String>,
}

/// What the scaffold lacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InvalidScaffold {
    /// The type that is missing.
    pub missing_type: String,
    /// Where it was expected.
    pub expected_location: String,
}

/// The input of a review.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReviewInput {
    /// What is to be built.
    pub spec: Spec,
    /// The scaffold.
    pub scaffold: InitWorkPayload,
    /// The implementation's own report.
    pub impl_result: ImplResult,
    /// Its changes since the scaffold when it was handed over. The reviewer is shown those of the branch, which may have been rebased
    /// since (V3-83).
    pub diff: String,
    /// Why the parent's judge has refused it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judgement: Option<JudgeRefusal>,
}

impl ReviewInput {
    /// The mode of this node.
    pub fn mode(&self) -> TddMode {
        TddMode::ReviewImpl { impl_result: self.impl_result.clone(), diff: self.diff.clone() }
    }
}

/// Why the parent's judge has refused a candidate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct JudgeRefusal {
    /// In a sentence.
    pub reason: String,
    /// What has to be corrected.
    pub critiques: Vec<Critique>,
    /// The tests that have to be added.
    pub additional_tests: Vec<PlannedTest>,
    /// The criteria that are not satisfied.
    pub missing_criteria: Vec<String>,
}

/// The result of a review or of the judge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Labels)]
#[serde(deny_unknown_fields)]
pub enum ReviewExit {
    /// It does what it should.
    #[label(info)]
    Approved(TddApproval),
    /// Tests are missing, or it has to be put right.
    #[label(warn)]
    MoreTests(MoreTests),
    /// It is not worth going on.
    #[label(blocker)]
    Reject(Reject),
}

/// That an implementation does what it should.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TddApproval {
    /// In a sentence.
    pub sign_off: String,
    /// Which criteria have tests.
    pub coverage_report: CoverageReport,
}

/// What has to be done before an implementation can be approved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MoreTests {
    /// What is wrong.
    pub critiques: Vec<Critique>,
    /// The tests that are missing.
    pub additional_tests: Vec<PlannedTest>,
}

/// Why it is not worth going on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Reject {
    /// In a sentence.
    pub reason: String,
    /// The criteria that are not satisfied.
    pub missing_criteria: Vec<String>,
}

/// The input of the judge: a candidate for the parent's branch (V3-163, CON-32).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct JudgeInput {
    /// What the child was to build.
    pub child_spec: Spec,
    /// The parent's criteria that it has to satisfy.
    pub assigned_criteria: Vec<String>,
    /// The candidate's changes to the parent's branch.
    pub diff: String,
    /// What siblings have merged meanwhile.
    pub sibling_changes: Vec<MergeEvent>,
    /// The merge to be judged.
    pub merge: super::shared::MergeComplete,
}
