//! What the tests agent says about the properties it wrote.

use super::PropertyType;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The tests agent's description of the test file it wrote (HY-89). All of it is checked against the disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestsAgentOutput {
    /// The properties, one by one.
    #[serde(alias = "testsProperties")]
    pub properties: Vec<PropertyWritten>,
    /// What the agent believes is covered; recomputed before use.
    #[serde(alias = "testsCoverage")]
    pub coverage: CoverageReport,
    /// Whether the agent ran the tests on the stubs and saw every one fail.
    #[serde(alias = "testsSelfVerified")]
    pub self_verified: bool,
    /// One line for the commit's subject.
    #[serde(alias = "testsCommitMsg")]
    pub commit_msg: String,
    /// How the generators and properties were chosen.
    #[serde(alias = "testsStrategy")]
    pub strategy: String,
    /// What kept the agent from finishing, if something did.
    #[serde(alias = "testsBlocker", default)]
    pub blocker: Option<String>,
}

/// One property test (HY-87).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PropertyWritten {
    /// The test function's name.
    #[serde(alias = "pwName")]
    pub name: String,
    /// The functions of the contract it exercises.
    #[serde(alias = "pwTargetFunctions")]
    pub target_functions: Vec<String>,
    /// What kind of law it checks.
    #[serde(alias = "pwPropertyType")]
    pub property_type: PropertyType,
    /// What it checks.
    #[serde(alias = "pwDescription")]
    pub description: String,
    /// The examples of the contract it includes.
    #[serde(alias = "pwCoversExamples")]
    pub covers_examples: Vec<ExampleRef>,
    /// The sketched property it implements, if it implements one.
    #[serde(alias = "pwCoversSketch", default)]
    pub covers_sketch: Option<String>,
}

/// An example of the contract: indices alone would be ambiguous, they count per function (CON-90).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExampleRef {
    /// The function's name.
    pub function: String,
    /// Which of its examples, counted from 0.
    pub index: u32,
}

/// How much of the contract the properties cover (HY-88).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CoverageReport {
    /// Functions at least one property exercises.
    #[serde(alias = "crFunctionsCovered")]
    pub functions_covered: Vec<String>,
    /// Functions none does.
    #[serde(alias = "crFunctionsUncovered")]
    pub functions_uncovered: Vec<String>,
    /// How many examples some property includes.
    #[serde(alias = "crExamplesCovered")]
    pub examples_covered: u32,
    /// How many examples the contract has.
    #[serde(alias = "crExamplesTotal")]
    pub examples_total: u32,
    /// Sketched properties that were written.
    #[serde(alias = "crSketchesCovered")]
    pub sketches_covered: Vec<String>,
    /// Sketched properties that were not.
    #[serde(alias = "crSketchesUncovered")]
    pub sketches_uncovered: Vec<String>,
    /// What cannot be seen in the test file, each with the reason. None of it counts above. Agents are not asked for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    pub not_verified: Vec<String>,
    /// Who has told what the text of the tests leaves open, if anybody was asked: a language server, or why there was none. Agents are not
    /// asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub told_by: Option<String>,
}
