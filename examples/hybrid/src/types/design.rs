//! What the types agent says about the types it wrote.

use super::FunctionSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The types agent's description of the file it wrote (HY-82). The code is on disk, never in here (HY-09).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TypesAgentOutput {
    /// The main type.
    #[serde(alias = "taoTypeName")]
    pub type_name: String,
    /// Its kind, in words: `struct`, `generic enum over T`, ….
    #[serde(alias = "taoTypeKind")]
    pub type_kind: String,
    /// What a value of it stands for.
    #[serde(alias = "taoTypeDescription")]
    pub type_description: String,
    /// How values are made: names of variants or constructor functions.
    #[serde(alias = "taoConstructors")]
    pub constructors: Vec<String>,
    /// The contract, function by function.
    #[serde(alias = "taoFunctions")]
    pub functions: Vec<FunctionSpec>,
    /// Paths the module needs from elsewhere.
    #[serde(alias = "taoImports")]
    pub imports: Vec<String>,
    /// Why the types are as they are.
    #[serde(alias = "taoDesignNotes")]
    pub design_notes: String,
    /// What kept the agent from finishing, if something did.
    #[serde(alias = "taoBlocker", default)]
    pub blocker: Option<String>,
}
