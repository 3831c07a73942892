//! The type adversary's findings, and their consequences.

use super::TypesAgentOutput;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The type adversary's findings (HY-86). It holds no verdict: the verdict is derived from the holes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TypeAdversaryOutput {
    /// What was found; empty if nothing was.
    #[serde(alias = "taoHoles")]
    pub holes: Vec<TypeHole>,
    /// What was tried and why it did or did not work.
    #[serde(alias = "taoAnalysis")]
    pub analysis: String,
    /// Whether the agent thinks it looked everywhere. Plain information: nothing depends on it.
    #[serde(alias = "taoConfident")]
    pub confident: bool,
}

/// One way to break the types (HY-83).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TypeHole {
    /// What class of hole it is.
    #[serde(alias = "thHoleType")]
    pub hole_type: HoleType,
    /// What is wrong.
    #[serde(alias = "thDescription")]
    pub description: String,
    /// Which promise it breaks.
    #[serde(alias = "thInvariantBroken")]
    pub invariant_broken: String,
    /// How one would make use of it, in prose.
    #[serde(alias = "thExploitSketch")]
    pub exploit_sketch: String,
    /// How bad it is.
    #[serde(alias = "thSeverity")]
    pub severity: Severity,
    /// What would close it.
    #[serde(alias = "thSuggestedFix")]
    pub suggested_fix: String,
}

/// The classes of holes (HY-84).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum HoleType {
    /// A value that must not exist can be made.
    RepresentableInvalid,
    /// Inner state can be reached or relied on from outside.
    LeakyAbstraction,
    /// A function has no answer for some input its type allows.
    PartialFunction,
    /// One type stands for two meanings that must not be mixed.
    TypeConfusion,
}

/// How bad a hole is (HY-85), worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Severity {
    /// The types are unsound.
    Critical,
    /// A promise of the contract can be broken.
    Major,
    /// Inconvenient or surprising, but no promise is broken.
    Minor,
    /// Worth knowing.
    Informational,
}

impl Severity {
    /// Whether a hole this bad stops the run until it is closed (CON-48).
    pub fn blocks(self) -> bool {
        matches!(self, Self::Critical | Self::Major)
    }
}

/// The verdict on the holes (HY-118).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum TypeSystemVerdict {
    /// No hole at all.
    TypeSystemSound,
    /// Only minor or informational holes: good enough to go on.
    TypeSystemMinorHoles,
    /// At least one critical or major hole.
    TypeSystemHasHoles,
}

/// The findings with the derived verdict (HY-117).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TypeAdversaryResult {
    /// What the agent reported.
    #[serde(alias = "tarOutput")]
    pub output: TypeAdversaryOutput,
    /// The verdict on that.
    #[serde(alias = "tarVerdict")]
    pub verdict: TypeSystemVerdict,
}

/// The types need another round (HY-111).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TypeHolesFound {
    /// The current types.
    #[serde(alias = "thfOriginalTypes")]
    pub original_types: TypesAgentOutput,
    /// What is wrong with them.
    #[serde(alias = "thfHoles")]
    pub holes: Vec<TypeHole>,
    /// Which repair this is, counted from 1.
    #[serde(alias = "thfAttempt")]
    pub attempt: u8,
    /// How many repairs are allowed: the task's `maxFixAttempts` (HY-112).
    #[serde(alias = "thfMaxAttempts")]
    pub max_attempts: u8,
    /// What the earlier repairs were about.
    #[serde(alias = "thfPriorFixes")]
    pub prior_fixes: Vec<PriorTypeFix>,
}

/// One earlier round of repairs to the types: the holes it was given and what the agent says it did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PriorTypeFix {
    /// Which repair it was, counted from 1.
    pub attempt: u8,
    /// The holes it had to close.
    pub holes: Vec<TypeHole>,
    /// The agent's notes after it.
    pub design_notes: String,
}
