//! The contexts of prompts. None of these has a schema, and none contains a worktree path, a session or a cost (HY-106).

use super::{CratePath, FunctionSpec, Identifier, MutationFixTarget, UnderstandingState};
use interlocking::toolchain::StructuredFailure;
use serde::{Deserialize, Serialize};

/// The context of the tests agent (HY-103).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TestsTemplateCtx {
    /// The main type.
    #[serde(alias = "ttcTypeName")]
    pub type_name: String,
    /// How its values are made.
    #[serde(alias = "ttcConstructors")]
    pub constructors: Vec<String>,
    /// The contract; the same list the implementation agent gets (HY-81).
    #[serde(alias = "ttcFunctions")]
    pub functions: Vec<FunctionSpec>,
    /// The file to write, relative to the crate.
    #[serde(alias = "ttcTestPath")]
    pub test_path: CratePath,
    /// Why the previous tests were refused, if they were.
    #[serde(alias = "ttcPriorFeedback", default)]
    pub prior_feedback: Option<TrivialTestsFeedback>,
    /// Names the other side has published, if it has.
    #[serde(alias = "ttcEchoes", default)]
    pub echoes: Option<EchoChannel>,
    /// What the adversaries found.
    #[serde(alias = "ttcHardeningHints")]
    pub hardening_hints: Vec<HardeningHint>,
}

/// The context of the implementation agent (HY-104).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImplTemplateCtx {
    /// The main type.
    #[serde(alias = "itcTypeName")]
    pub type_name: String,
    /// How its values are made.
    #[serde(alias = "itcConstructors")]
    pub constructors: Vec<String>,
    /// The contract; the same list the tests agent gets (HY-81).
    #[serde(alias = "itcFunctions")]
    pub functions: Vec<FunctionSpec>,
    /// The file to write, relative to the crate.
    #[serde(alias = "itcImplPath")]
    pub impl_path: CratePath,
    /// Names the other side has published, if it has.
    #[serde(alias = "itcEchoes", default)]
    pub echoes: Option<EchoChannel>,
    /// What the adversaries found.
    #[serde(alias = "itcHardeningHints")]
    pub hardening_hints: Vec<HardeningHint>,
}

/// The context of the mutation adversary (HY-105); it reads the files itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MutationTemplateCtx {
    /// The implementation, relative to the crate.
    #[serde(alias = "mtcImplPath")]
    pub impl_path: CratePath,
    /// The tests, relative to the crate.
    #[serde(alias = "mtcTestPath")]
    pub test_path: CratePath,
    /// The contract.
    #[serde(alias = "mtcFunctions")]
    pub functions: Vec<FunctionSpec>,
    /// The functions of the implementation, private ones too, as its symbols have them (HY-164).
    #[serde(alias = "mtcTargets", default)]
    pub targets: Vec<String>,
    /// The source of those: a language server, or the syntax alone and why.
    #[serde(alias = "mtcTargetsBy", default)]
    pub targets_by: String,
}

/// The context of the agent that strengthens the tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MutationFixTemplateCtx {
    /// What to add.
    pub fix_targets: Vec<MutationFixTarget>,
    /// The contract.
    pub functions: Vec<FunctionSpec>,
    /// The file to extend, relative to the crate.
    pub test_path: CratePath,
    /// Which round this is, counted from 1.
    pub attempt: u8,
    /// How many rounds are allowed.
    pub max_attempts: u8,
}

/// The context of the fix agent (CON-62).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FixTemplateCtx {
    /// What fails now.
    pub failures: Vec<StructuredFailure>,
    /// What the earlier rounds have taught.
    pub understanding: UnderstandingState,
    /// The contract.
    pub functions: Vec<FunctionSpec>,
    /// The file to repair, relative to the crate.
    pub impl_path: CratePath,
}

/// The feedback for the tests agent after its tests were refused (HY-114).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrivialTestsFeedback {
    /// What was wrong.
    #[serde(alias = "ttfWhyRejected")]
    pub why_rejected: String,
    /// The names of the properties that were refused.
    #[serde(alias = "ttfPropertiesWrote")]
    pub properties_wrote: Vec<String>,
    /// What to do instead.
    #[serde(alias = "ttfSuggestion")]
    pub suggestion: String,
}

/// What an adversary found, passed on to the builders (HY-102).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HardeningHint {
    /// What was found.
    #[serde(alias = "hhContext")]
    pub context: String,
    /// What to do about it.
    #[serde(alias = "hhGuidance")]
    pub guidance: String,
    /// The finder: `typeAdversary` or `mutationAdversary`.
    #[serde(alias = "hhSource")]
    pub source: String,
}

/// Names that one blind side publishes to the other: only names, no code and no prose (HY-11, HY-101).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EchoChannel {
    /// Functions the implementation agent works on.
    #[serde(alias = "ecFromImpl")]
    pub from_impl: Vec<Identifier>,
    /// Properties the tests agent asserts.
    #[serde(alias = "ecFromTests")]
    pub from_tests: Vec<Identifier>,
}
