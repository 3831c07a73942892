//! What the types agent says about the types it wrote.

use super::FunctionSpec;
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeSet;

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
    // Each of them once: which of two is meant by a name could not be decided.
    #[serde(alias = "taoFunctions", deserialize_with = "each_once")]
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

/// A contract that specifies no function twice. Another one does not parse, so its agent is asked again.
fn each_once<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<FunctionSpec>, D::Error> {
    let functions = Vec::<FunctionSpec>::deserialize(deserializer)?;
    let mut names = BTreeSet::new();
    match functions.iter().find(|function| !names.insert(&function.name)) {
        Some(FunctionSpec { name, .. }) => {
            Err(D::Error::custom(format!("`{name}` is listed twice; specify each function once")))
        }
        None => Ok(functions),
    }
}
