//! What the implementation agent says about the code it wrote.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The implementation agent's description of its work (HY-91).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImplAgentOutput {
    /// The functions, one by one.
    #[serde(alias = "implFunctions")]
    pub functions: Vec<FunctionImplemented>,
    /// How the data is held.
    #[serde(alias = "implDataRepr")]
    pub data_repr: String,
    /// Decisions worth knowing.
    #[serde(alias = "implDesignNotes")]
    pub design_notes: String,
    /// Whether the agent saw the build pass. A claim: the build is run again (CON-80).
    #[serde(alias = "implBuildPassed")]
    pub build_passed: bool,
    /// One line for the commit's subject.
    #[serde(alias = "implCommitMsg")]
    pub commit_msg: String,
    /// What kept the agent from finishing, if something did.
    #[serde(alias = "implBlocker", default)]
    pub blocker: Option<String>,
}

/// One implemented function (HY-90).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FunctionImplemented {
    /// The function's name.
    #[serde(alias = "fiName")]
    pub name: String,
    /// How it works, in prose.
    #[serde(alias = "fiApproach")]
    pub approach: String,
    /// Its cost, if it is worth saying.
    #[serde(alias = "fiComplexity", default)]
    pub complexity: Option<String>,
    /// The edge cases it takes care of.
    #[serde(alias = "fiHandlesEdges")]
    pub handles_edges: Vec<String>,
}

/// What the conflict agent says it did in the merge worktree (HY-251).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConflictResolveOutput {
    /// The files it resolved.
    pub files_resolved: Vec<String>,
    /// How, and why so.
    pub resolution_notes: String,
    /// What kept the agent from finishing, if something did.
    #[serde(default)]
    pub blocker: Option<String>,
}
