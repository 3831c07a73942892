//! The witness's account.

use serde::{Deserialize, Serialize};

/// What one node did (HY-132).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeObservation {
    /// The node.
    #[serde(alias = "noNode")]
    pub node: String,
    /// What stage the run was in.
    #[serde(alias = "noPhase")]
    pub phase: String,
    /// What the node did.
    #[serde(alias = "noProgress")]
    pub progress: String,
    /// What looked wrong.
    #[serde(alias = "noConcerns")]
    pub concerns: Vec<String>,
}

/// The coherent account of a run (HY-133).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WitnessReport {
    /// Node by node, in order.
    #[serde(alias = "wrObservations")]
    pub observations: Vec<NodeObservation>,
    /// The run as a story.
    #[serde(alias = "wrNarrative")]
    pub narrative: String,
    /// What looked wrong.
    #[serde(alias = "wrConcerns")]
    pub concerns: Vec<String>,
    /// What a future run might do differently.
    #[serde(alias = "wrSuggestions")]
    pub suggestions: Vec<String>,
}
