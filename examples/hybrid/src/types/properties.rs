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

impl TestsAgentOutput {
    /// The report with everything that was verified of earlier tests: stronger tests go on to check it, whether their agent says so
    /// or not (HY-250).
    #[must_use]
    pub fn with_verified(mut self, verified: &[PropertyWritten]) -> Self {
        for earlier in verified {
            match self.properties.iter_mut().find(|property| property.name == earlier.name) {
                Some(property) => property.claim_too(earlier),
                None => self.properties.push(earlier.clone()),
            }
        }
        self
    }
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

impl PropertyWritten {
    /// Adds the claims of an earlier version of the property.
    fn claim_too(&mut self, earlier: &Self) {
        add_missing(&mut self.target_functions, &earlier.target_functions);
        add_missing(&mut self.covers_examples, &earlier.covers_examples);
        if earlier.covers_sketch.is_some() {
            self.covers_sketch.clone_from(&earlier.covers_sketch);
        }
    }
}

fn add_missing<T: Clone + PartialEq>(to: &mut Vec<T>, from: &[T]) {
    for element in from {
        if !to.contains(element) {
            to.push(element.clone());
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn property(name: &str, targets: &[&str], examples: &[u32], sketch: Option<&str>) -> PropertyWritten {
        let examples: Vec<_> = examples.iter().map(|index| json!({"function": "push", "index": index})).collect();
        let written = json!({"name": name, "targetFunctions": targets, "propertyType": "Inverse", "description": "d",
            "coversExamples": examples, "coversSketch": sketch});
        serde_json::from_value(written).unwrap()
    }

    /// HY-250: a later report says no less of a property than was verified, and may say more.
    #[test]
    fn nothing_that_was_verified_is_left_out() {
        let coverage = json!({"functionsCovered": [], "functionsUncovered": [], "examplesCovered": 0, "examplesTotal": 1,
            "sketchesCovered": [], "sketchesUncovered": []});
        let report =
            json!({"properties": [], "coverage": coverage, "selfVerified": true, "commitMsg": "c", "strategy": "s"});
        let report: TestsAgentOutput = serde_json::from_value(report).unwrap();
        let listed = vec![
            property("prop_a", &["pop", "push"], &[1], None),
            property("prop_b", &["pop"], &[], Some("prop_other")),
            property("prop_new", &["push"], &[], Some("prop_new")),
        ];
        let verified = [
            property("prop_b", &["push"], &[0], Some("prop_b")),
            property("prop_a", &["push"], &[1, 0], None),
            property("prop_c", &["pop"], &[2], None),
        ];
        let report = TestsAgentOutput { properties: listed.clone(), ..report };
        let expected = [
            property("prop_a", &["pop", "push"], &[1, 0], None),
            property("prop_b", &["pop", "push"], &[0], Some("prop_b")),
            listed[2].clone(),
            verified[2].clone(),
        ];
        assert_eq!(report.clone().with_verified(&verified).properties, expected);
        assert_eq!(report.with_verified(&[]).properties, listed);
    }
}
