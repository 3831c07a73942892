//! The mutation adversary's findings, and their consequences.

use super::PropertySketch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many survivors a report may have. Each of them is tried.
pub const MOST_SURVIVORS: usize = 20;

/// The mutation adversary's findings (HY-97). The number of survivors is the length of the list. Findings with numbers that cannot be
/// true do not parse (HY-190), nor do more survivors than are tried, so their agent is told and asked again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", try_from = "Unchecked")]
pub struct MutationAdversaryOutput {
    /// How many mutants were considered: at least one, and no fewer than survived.
    pub mutants_tried: u32,
    /// Those no test would catch, at most [`MOST_SURVIVORS`].
    pub survivors: Vec<SurvivingMutant>,
    /// What that says about the tests.
    pub analysis: String,
}

/// The findings as they are read.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Unchecked {
    /// How many mutants were considered: at least one, and no fewer than survived.
    #[serde(alias = "mutMutantsTried")]
    mutants_tried: u32,
    /// Those no test would catch.
    #[serde(alias = "mutSurvivors")]
    #[schemars(length(max = MOST_SURVIVORS))]
    survivors: Vec<SurvivingMutant>,
    /// What that says about the tests.
    #[serde(alias = "mutAnalysis")]
    analysis: String,
}

/// The adversary's numbers cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RefusedCount {
    /// They cannot be true.
    #[error(
        "{survived} of {tried} mutants are said to have survived; count every mutant that was considered, at least one"
    )]
    Implausible {
        /// How many mutants were tried.
        tried: u32,
        /// How many survived.
        survived: usize,
    },
    /// There are more survivors than are tried.
    #[error(
        "{survived} mutants are said to have survived, and at most {MOST_SURVIVORS} are tried; report the most dangerous"
    )]
    TooMany {
        /// How many survived.
        survived: usize,
    },
}

impl TryFrom<Unchecked> for MutationAdversaryOutput {
    type Error = RefusedCount;

    fn try_from(Unchecked { mutants_tried, survivors, analysis }: Unchecked) -> Result<Self, RefusedCount> {
        let (tried, survived) = (mutants_tried, survivors.len());
        let is_plausible = tried > 0 && u32::try_from(survived).is_ok_and(|survived| survived <= tried);
        if !is_plausible {
            Err(RefusedCount::Implausible { tried, survived })
        } else if survived > MOST_SURVIVORS {
            Err(RefusedCount::TooMany { survived })
        } else {
            Ok(Self { mutants_tried, survivors, analysis })
        }
    }
}

/// A change to the implementation that no test notices (HY-96).
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
    /// The change, so that it can be made and the tests run with it. A survivor without one counts as refuted.
    #[serde(alias = "smEdit", default)]
    pub edit: Option<MutantEdit>,
}

impl SurvivingMutant {
    /// Whether both are one change of the code, whatever is said of it.
    pub(crate) fn is_same_change(&self, other: &Self) -> bool {
        (&self.function, &self.edit) == (&other.function, &other.edit)
    }
}

/// A change within the body of the survivor's function. It is made in a scratch checkout, and goes nowhere else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MutantEdit {
    /// What stands in the body, once, as it is written there.
    pub original: String,
    /// What stands there instead.
    pub replacement: String,
}

/// The kinds of mutations (HY-95).
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
    /// Whether a survivor of this kind fails the run even when survivors are otherwise only reported (HY-188).
    pub fn is_critical(&self) -> bool {
        matches!(self, Self::RemovedCheck | Self::ConditionFlip)
    }
}

/// What the survivors say about the tests (HY-131).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum TestSuiteVerdict {
    /// Nothing survived.
    TestSuiteRobust,
    /// Something survived, but no more than half.
    TestSuiteHasGaps,
    /// More than half survived.
    TestSuiteWeak,
}

/// The findings after they were checked, with the derived verdict (HY-130).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MutationAdversaryResult {
    /// What the agent reported.
    #[serde(alias = "marOutput")]
    pub output: MutationAdversaryOutput,
    /// How many survivors of earlier rounds were tried again, besides those that it reports.
    #[serde(alias = "marTriedAgain", default)]
    pub tried_again: u32,
    /// The verdict on the confirmed survivors.
    #[serde(alias = "marVerdict")]
    pub verdict: TestSuiteVerdict,
    /// The agent's survivors, of earlier rounds too, that every test passed with when the program made the change and ran them.
    #[serde(alias = "marSurvivors", default)]
    pub survivors: Vec<SurvivingMutant>,
    /// Its other survivors.
    #[serde(alias = "marRefuted", default)]
    pub refuted: Vec<RefutedSurvivor>,
    /// The results of mutants of the program's own making; `None` if none were wanted. They do not decide the verdict: a mutant
    /// may behave exactly as the original, and neither an agent nor a person has reviewed these.
    #[serde(alias = "marMechanical", default)]
    pub mechanical: Option<MechanicalMutants>,
}

/// Mutants of the program's own making, from the syntax of the implementation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MechanicalMutants {
    /// How many were built and tested.
    pub tried: u32,
    /// For how many a test failed, or the tests did not end.
    pub caught: u32,
    /// The others: place and change, in a line each.
    pub survivors: Vec<String>,
}

/// A survivor that its agent reports and the program has not confirmed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RefutedSurvivor {
    /// The function that was to be changed.
    pub function: String,
    /// What was to be changed, in the agent's words.
    pub description: String,
    /// What happened instead: for example a test that catches it.
    pub reason: String,
}
