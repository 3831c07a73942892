//! What the fix agent says about its repairs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The fix agent's description of one round (HY-94).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FixAgentOutput {
    /// The repairs, one by one.
    #[serde(alias = "fixChanges")]
    pub changes: Vec<FixApplied>,
    /// Whether the agent saw the build pass. A claim: the build is run again (CON-80).
    #[serde(alias = "fixBuildPassed")]
    pub build_passed: bool,
    /// One line for the commit's subject.
    #[serde(alias = "fixCommitMsg")]
    pub commit_msg: String,
    /// What kept the agent from finishing, if something did.
    #[serde(alias = "fixBlocker", default)]
    pub blocker: Option<String>,
}

/// One repair (HY-92).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FixApplied {
    /// The function that was changed.
    #[serde(alias = "faFunction")]
    pub function: String,
    /// What was changed, in prose.
    #[serde(alias = "faWhatChanged")]
    pub what_changed: String,
    /// The root cause.
    #[serde(alias = "faWhyFailed")]
    pub why_failed: String,
    /// What kind of repair it is.
    #[serde(alias = "faFixType")]
    pub fix_type: FixType,
}

/// The kinds of repairs (HY-93).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum FixType {
    /// A case at the edge had been forgotten.
    EdgeCaseFix,
    /// The logic was wrong.
    LogicFix,
    /// A type was used wrongly.
    TypeFix,
    /// A comparison or limit was off.
    BoundaryFix,
    /// A value started out wrong.
    InitializationFix,
    /// Another kind, named.
    OtherFix(String),
}
