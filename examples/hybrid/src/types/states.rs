//! The payloads between the nodes: each state contains the one before it.

use super::{
    CratePath, FunctionSpec, ImplAgentOutput, PropertySketch, SurvivingMutant, TestsAgentOutput, TrivialTestsFeedback,
    TypeAdversaryResult, TypesAgentOutput, UnderstandingState,
};
use interlocking::agents::{Cost, SessionId};
use interlocking::run_id::RunId;
use interlocking::toolchain::{FailedRound, FailurePattern, StructuredFailure};
use interlocking::worktree::CommitId;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The types as written, with what the agent cannot know (HY-115, HY-168).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TypesResult {
    /// What the agent reported, checked against the disk.
    #[serde(alias = "trOutput")]
    pub output: TypesAgentOutput,
    /// The agent's conversation.
    #[serde(alias = "trSessionId")]
    pub session_id: SessionId,
    /// What it cost.
    #[serde(alias = "trCost")]
    pub cost: Cost,
}

/// Types and stubs that build (HY-116).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SkeletonState {
    /// The types.
    #[serde(alias = "ssTypesResult")]
    pub types_result: TypesResult,
    /// The file that holds types and stubs.
    #[serde(alias = "ssImplPath")]
    pub impl_path: CratePath,
    /// The file that will hold the properties.
    #[serde(alias = "ssTestPath")]
    pub test_path: CratePath,
    /// The skeleton's worktree.
    #[serde(alias = "ssProjectPath")]
    pub project_path: PathBuf,
}

/// A skeleton whose types have passed the adversary (HY-119). It holds no ranking of trust.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GatedState {
    /// The skeleton.
    #[serde(alias = "gsSkeleton")]
    pub skeleton: SkeletonState,
    /// What the adversary found.
    #[serde(alias = "gsTypeAdversary")]
    pub type_adversary: TypeAdversaryResult,
}

/// The tests agent's work, committed (HY-120).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TestsResult {
    /// What the agent reported, with everything that was verified of earlier tests.
    #[serde(alias = "testsOutput")]
    pub output: TestsAgentOutput,
    /// Where the tests are.
    #[serde(alias = "testsWorktree")]
    pub worktree: PathBuf,
    /// The commit that holds them.
    #[serde(alias = "testsCommitHash")]
    pub commit_hash: CommitId,
    /// The agent's conversation.
    #[serde(alias = "testsSessionId")]
    pub session_id: SessionId,
    /// What it cost.
    #[serde(alias = "testsCost")]
    pub cost: Cost,
    /// How the properties failed on the stubs when the handler ran them.
    #[serde(alias = "testsFailureProof")]
    pub failure_proof: Vec<StructuredFailure>,
}

/// The implementation agent's work, committed (HY-121).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImplResult {
    /// What the agent reported.
    #[serde(alias = "implOutput")]
    pub output: ImplAgentOutput,
    /// Where the implementation is.
    #[serde(alias = "implWorktree")]
    pub worktree: PathBuf,
    /// The commit that holds it.
    #[serde(alias = "implCommitHash")]
    pub commit_hash: CommitId,
    /// The agent's conversation.
    #[serde(alias = "implSessionId")]
    pub session_id: SessionId,
    /// What it cost.
    #[serde(alias = "implCost")]
    pub cost: Cost,
}

/// What the two blind agents made (HY-122).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BlindResults {
    /// The tests.
    #[serde(alias = "brTests")]
    pub tests: TestsResult,
    /// The implementation.
    #[serde(rename = "impl", alias = "brImpl")]
    pub implementation: ImplResult,
}

/// The tests are refused (HY-113).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrivialTestsError {
    /// What both sides made; the implementation is kept (CON-52).
    #[serde(alias = "tteBlindResults")]
    pub blind_results: BlindResults,
    /// Why.
    #[serde(alias = "tteMessage")]
    pub message: String,
    /// Which refusal this is, counted from 1.
    #[serde(alias = "tteAttempt")]
    pub attempt: u8,
    /// The feedback for the tests agent.
    #[serde(alias = "tteFeedback")]
    pub feedback: TrivialTestsFeedback,
}

/// Tests that failed on the stubs, and an implementation that builds (HY-124).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VerifiedResults {
    /// Both.
    #[serde(alias = "vrBlindResults")]
    pub blind_results: BlindResults,
    /// Whether the program itself saw the tests fail; always true once here.
    #[serde(alias = "vrExternalVerified")]
    pub external_verified: bool,
}

/// Tests and implementation in one worktree (HY-125).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MergedState {
    /// What was merged.
    #[serde(alias = "msVerifiedResults")]
    pub verified_results: VerifiedResults,
    /// Where.
    #[serde(alias = "msMergeWorktree")]
    pub merge_worktree: PathBuf,
    /// What the fix loop has learnt.
    #[serde(alias = "msUnderstanding")]
    pub understanding: UnderstandingState,
}

/// The merge left conflicts, with markers in the files of the merge worktree (HY-251).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConflictState {
    /// What was to be merged.
    pub verified_results: VerifiedResults,
    /// Where.
    pub merge_worktree: PathBuf,
    /// The files concerned.
    pub conflicted_files: Vec<CratePath>,
    /// What the tests side wanted, in prose.
    pub tests_context: String,
    /// What the implementation side wanted, in prose.
    pub impl_context: String,
    /// The ranges that remain to be picked: the first ends with the commit that conflicts.
    #[serde(default)]
    pub remaining: Vec<Commits>,
}

/// The commits after one up to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Commits {
    /// The last commit before the range.
    pub since: CommitId,
    /// The last commit of the range.
    pub until: CommitId,
}

/// Merged tests fail (HY-128).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ValidationFailure {
    /// What was run.
    #[serde(alias = "vfMergedState")]
    pub merged_state: MergedState,
    /// What fails now.
    #[serde(alias = "vfFailures")]
    pub failures: Vec<StructuredFailure>,
    /// The patterns of this run.
    #[serde(alias = "vfNewPatterns")]
    pub new_patterns: Vec<FailurePattern>,
}

/// Every merged test passes (HY-129).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ValidatedState {
    /// What was run.
    #[serde(alias = "vsMergedState")]
    pub merged_state: MergedState,
    /// How many tests passed.
    #[serde(alias = "vsTestsPassed")]
    pub tests_passed: u32,
}

/// Survivors that keep the run from succeeding (HY-145).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MutationFixInput {
    /// What they survived.
    pub validated: ValidatedState,
    /// The survivors.
    pub survivors: Vec<SurvivingMutant>,
    /// What to add to the tests.
    pub fix_targets: Vec<MutationFixTarget>,
}

/// A property to add because of a survivor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MutationFixTarget {
    /// The function it is about.
    pub function: String,
    /// The property that would have caught the mutant.
    pub property: PropertySketch,
    /// What the mutant did, and why that matters.
    pub reason: String,
}

/// An agent's conversation, and the run that has it. A fork has the other run's memory, and conversations of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Conversation {
    /// The run.
    pub run: RunId,
    /// The conversation.
    pub session: SessionId,
}

impl Conversation {
    /// The session to continue in `run`, if the conversation belongs to that run.
    pub fn of(self, run: &RunId) -> Option<SessionId> {
        (self.run == *run).then_some(self.session)
    }
}

/// What a run keeps besides its tokens. Never part of a schema.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HybridMemory {
    /// The contract, once the types are written.
    pub functions: Vec<FunctionSpec>,
    /// The state the blind agents started from.
    #[serde(default)]
    pub gated: Option<GatedState>,
    /// How many repairs of the types were asked for.
    pub type_fix_attempt: u8,
    /// What they were about.
    pub prior_type_fixes: Vec<super::PriorTypeFix>,
    /// How often the tests were refused.
    pub trivial_tests_attempt: u8,
    /// Why they were refused the last time.
    #[serde(default)]
    pub trivial_feedback: Option<TrivialTestsFeedback>,
    /// How many rounds of fixing there were.
    pub fix_attempt: u8,
    /// The last failed validation, if no validation has passed since.
    #[serde(default)]
    pub last_round: Option<FailedRound>,
    /// What the type adversary found, the last time it looked.
    pub type_adversary: Option<TypeAdversaryResult>,
    /// What the verified tests cover.
    pub coverage: Option<super::CoverageReport>,
    /// What the fix loop has learnt.
    pub understanding: UnderstandingState,
    /// The results of the checks so far.
    pub checks: std::collections::BTreeMap<super::Check, super::CheckOutcome>,
    /// What the mutation adversary found, the last time it looked.
    pub mutation_adversary: Option<super::MutationAdversaryResult>,
    /// Every mutant that was confirmed to survive, in whichever round: a later round tries it again, whether its adversary
    /// reports it or not.
    #[serde(default)]
    pub survived: Vec<super::SurvivingMutant>,
    /// The sources of the facts that the checks and prompts rest on.
    pub ground_truth: super::GroundTruth,
    /// How many rounds of strengthening the tests there were.
    pub mutation_fix_attempt: u8,
    /// The last repair of the implementation.
    pub last_fix: Option<super::FixAgentOutput>,
    /// The types agent's conversation, continued by repairs of the types.
    pub types_session: Option<Conversation>,
    /// The tests agent's conversation, continued when its tests were refused.
    pub tests_session: Option<Conversation>,
    /// The fix agent's conversation, continued round by round.
    pub fix_session: Option<Conversation>,
    /// The commit that both blind sides start from.
    pub skeleton_commit: Option<CommitId>,
    /// The tests that passed the red check last: a refusal of later tests resets to them.
    pub verified_tests: Option<CommitId>,
    /// The properties of those tests, with everything that was verified of them: later tests go on to check it.
    pub verified_properties: Vec<super::PropertyWritten>,
    /// The tests that are in the merge.
    pub merged_tests: Option<CommitId>,
    /// The files with both versions of a conflict that is being resolved, as a commit that is on no branch.
    pub marked_conflict: Option<CommitId>,
    /// The merged code, the last repair included.
    pub merge_commit: Option<CommitId>,
}
