//! What a mutation adversary finds, and what follows from it. The graph has none: nothing in this file takes part in a run, and a
//! result says so ([`MutationAdversary::NotRun`](super::MutationAdversary)).

use super::PropertySketch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The mutation adversary's findings. The number of survivors is the length of the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MutationAdversaryOutput {
    /// How many mutants were considered.
    #[serde(alias = "mutMutantsTried")]
    pub mutants_tried: u32,
    /// Those no test would catch.
    #[serde(alias = "mutSurvivors")]
    pub survivors: Vec<SurvivingMutant>,
    /// What that says about the tests.
    #[serde(alias = "mutAnalysis")]
    pub analysis: String,
}

/// A change to the implementation that no test notices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SurvivingMutant {
    /// The function that was changed.
    #[serde(alias = "smFunction")]
    pub function: String,
    /// What kind of change it is.
    #[serde(alias = "smMutationType")]
    pub mutation_type: MutationType,
    /// What was changed, in prose.
    #[serde(alias = "smDescription")]
    pub description: String,
    /// What could go wrong in use.
    #[serde(alias = "smWhyDangerous")]
    pub why_dangerous: String,
    /// What a test would have to look at.
    #[serde(alias = "smMissingTest")]
    pub missing_test: String,
    /// A property that would catch it; may go into the next contract.
    #[serde(alias = "smSuggestedProp")]
    pub suggested_prop: PropertySketch,
}

/// The kinds of mutations.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum MutationType {
    /// A limit is moved.
    BoundaryMutation,
    /// A condition is turned round.
    ConditionFlip,
    /// A count is one too many or too few.
    OffByOne,
    /// Two arguments change places.
    SwappedArgs,
    /// A check is dropped.
    RemovedCheck,
    /// An operator is replaced.
    ChangedOperator,
    /// The wrong branch's value is returned.
    ReturnedWrongBranch,
    /// Another kind, named.
    OtherMutation(String),
}

impl MutationType {
    /// Whether a survivor of this kind fails the run even when survivors are otherwise only reported.
    pub fn is_critical(&self) -> bool {
        matches!(self, Self::RemovedCheck | Self::ConditionFlip)
    }
}

/// What the survivors say about the tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum TestSuiteVerdict {
    /// Nothing survived.
    TestSuiteRobust,
    /// Something survived, but no more than half.
    TestSuiteHasGaps,
    /// More than half survived.
    TestSuiteWeak,
}

/// The findings with the derived verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MutationAdversaryResult {
    /// What the agent reported.
    #[serde(alias = "marOutput")]
    pub output: MutationAdversaryOutput,
    /// What that amounts to.
    #[serde(alias = "marVerdict")]
    pub verdict: TestSuiteVerdict,
}
