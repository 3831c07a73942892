//! The sources of a run's facts.

use serde::{Deserialize, Serialize};

/// The sources of the facts that the checks and the prompts of a run rest on (HY-166): each is a language server with its
/// version, or the syntax alone with the reason. `None` if the question was not asked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GroundTruth {
    /// What the data types are, for the type adversary (HY-165).
    pub type_constraints: Option<String>,
    /// Which functions the implementation has (HY-159).
    pub implementation: Option<String>,
    /// What the properties call, where their text leaves it open (HY-157).
    pub calls: Option<String>,
    /// Which functions mutants may change (HY-164).
    pub mutation_targets: Option<String>,
}
