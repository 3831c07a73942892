//! Impl: its input, and the possible answers of its agent.

use super::children::ChildFailed;
use super::merge::MergeRejected;
use super::scaffold::InitWorkPayload;
use super::shared::{Critique, MergeComplete};
use super::spec::Spec;
use super::tdd::TestsReadyPayload;
use crate::graph::v3;
use interlocking::prelude::*;
use interlocking::worktree::CommitId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The input of Impl.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ImplInput {
    /// What is to be built.
    pub spec: Spec,
    /// The scaffold.
    pub scaffold: InitWorkPayload,
    /// The tests that are there.
    pub tests_ready: TestsReadyPayload,
    /// The merges of the children: one for each child that succeeded; none if the work was not split.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child_merges: Option<Vec<MergeComplete>>,
    /// The number of the attempt, from 1. The runtime counts attempts: its own count is shown, and decides.
    pub attempt_count: u32,
    /// What a review has found wrong: until another review.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub critique_list: Option<Vec<Critique>>,
    /// The violations of the last attempt that were found mechanically.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<String>,
    /// Why the last attempt did not succeed (CON-16).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_feedback: Option<RequestRetry>,
    /// Why it could not be merged (CON-17).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge_rejection: Option<MergeRejected>,
    /// The children that have failed (CON-37).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child_failures: Option<Vec<ChildFailed>>,
}

/// The result of Impl.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Labels)]
#[labels(node = v3::implement)]
#[serde(deny_unknown_fields)]
pub enum ImplExit {
    /// The tests pass.
    #[label(info, route_hint = v3::review)]
    TestsPassed(ImplResult),
    /// They don't; it tries another way.
    #[label(warn, route_hint = v3::implement)]
    RequestRetry(RequestRetry),
    /// Something that it needs is not there.
    #[label(blocker, route_hint = v3::scaffold)]
    BlockedDependency(BlockedDependency),
    /// The specification contradicts itself.
    #[label(blocker, route_hint = v3::scaffold)]
    SpecAmbiguity(SpecAmbiguity),
    /// It does not know any other way.
    #[label(blocker, route_hint = v3::exit)]
    Stuck(ImplStuck),
}

/// An implementation whose tests pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ImplResult {
    /// The commit: all forty digits.
    #[schemars(with = "String")]
    pub commit_hash: CommitId,
    /// How often it has run the tests, as it says itself (CON-25).
    pub iterations: u32,
    /// The tests that pass, by name.
    pub passed_tests: Vec<String>,
}

/// Why an attempt has not done it, and what the next one does differently.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RequestRetry {
    /// Why.
    pub diagnosis: String,
    /// What it has tried.
    pub strategy_from: String,
    /// What it tries next.
    pub strategy_to: String,
    /// The tests that fail.
    pub failing_tests: Vec<String>,
}

/// What an implementation needs and does not find.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BlockedDependency {
    /// The symbol.
    pub missing_symbol: String,
    /// Where it was expected.
    pub expected_import_path: String,
}

/// Where the specification contradicts itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SpecAmbiguity {
    /// Its sentence.
    pub spec_sentence: String,
    /// What contradicts it.
    pub contradiction_trace: String,
    /// What has to be answered.
    pub question: String,
}

/// Why an implementation cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ImplStuck {
    /// Why.
    pub diagnosis: String,
    /// What a person could do.
    pub recommendation: String,
    /// How often it has tried, as it says itself.
    pub attempts: u32,
}
