//! Specifications.

use super::node_id::NodeId;
use interlocking::workspaces::FilePath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What one node of the tree is to build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Spec {
    /// The id of its node: unique in the tree.
    pub id: NodeId,
    /// What it is.
    pub description: String,
    /// What must hold of it.
    pub acceptance_criteria: Vec<Criterion>,
    /// The file of its implementation.
    pub target_path: FilePath,
    /// The file of its tests.
    pub test_path: FilePath,
    /// Limits of time and space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complexity_constraints: Option<Constraints>,
}

/// Limits of time and space.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Constraints {
    /// Such as `O(log n)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// Such as `O(1)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub space: Option<String>,
}

/// One thing that must hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Criterion {
    /// What it is called.
    pub id: String,
    /// What must hold.
    pub text: String,
}

/// What a child is to build, as its parent's scaffold says it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChildSpec {
    /// Its id: the parent's, a slash, and a word.
    pub id: NodeId,
    /// What it is.
    pub description: String,
    /// Those of the parent's criteria that it has to satisfy.
    pub acceptance_criteria: Vec<Criterion>,
    /// The file of its implementation.
    pub target_path: FilePath,
    /// The file of its tests.
    pub test_path: FilePath,
}

/// The error for an unusable specification.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// It is not TOML, or lacks a field.
    #[error("the specification cannot be read: {reason}")]
    Unreadable {
        /// The parser's words.
        reason: String,
    },
    /// It has no criteria.
    #[error("`{id}` has no acceptance criteria: give at least one")]
    NoCriteria {
        /// The node.
        id: NodeId,
    },
    /// Two criteria have one id.
    #[error("`{id}` has two criteria `{criterion}`: give each an id of its own")]
    SameCriterion {
        /// The node.
        id: NodeId,
        /// The criterion.
        criterion: String,
    },
    /// Tests and implementation are in one file.
    #[error("`{id}` has its tests in the file of its implementation, {path}: give them a file of their own")]
    OneFile {
        /// The node.
        id: NodeId,
        /// The file.
        path: FilePath,
    },
    /// The implementation is in the directory of the tests, of which every file is a test.
    #[error(
        "`{id}` has the file of its implementation, {target}, in the directory of its tests, {tests}: give the tests a directory of their own"
    )]
    AmongTests {
        /// The node.
        id: NodeId,
        /// The file of the implementation.
        target: FilePath,
        /// The file of the tests.
        tests: FilePath,
    },
}

impl Spec {
    /// Reads a specification that a person wrote, as TOML.
    ///
    /// # Errors
    ///
    /// [`SpecError`] for the first mistake.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let spec: Self = toml::from_str(text).map_err(|error| SpecError::Unreadable { reason: error.to_string() })?;
        spec.check()?;
        Ok(spec)
    }

    /// Checks whether it is usable.
    ///
    /// # Errors
    ///
    /// [`SpecError`] for the first mistake.
    pub fn check(&self) -> Result<(), SpecError> {
        let id = || self.id.clone();
        if self.acceptance_criteria.is_empty() {
            return Err(SpecError::NoCriteria { id: id() });
        }
        let mut seen = BTreeSet::new();
        if let Some(again) = self.acceptance_criteria.iter().find(|criterion| !seen.insert(&criterion.id)) {
            return Err(SpecError::SameCriterion { id: id(), criterion: again.id.clone() });
        }
        if self.target_path == self.test_path {
            return Err(SpecError::OneFile { id: id(), path: self.test_path.clone() });
        }
        if self.is_in_test_directory(self.target_path.as_str()) {
            let (target, tests) = (self.target_path.clone(), self.test_path.clone());
            return Err(SpecError::AmongTests { id: id(), target, tests });
        }
        Ok(())
    }

    /// Whether a file is in the tests' own directory, if they have one. That directory holds nothing but tests.
    pub(crate) fn is_in_test_directory(&self, path: &str) -> bool {
        let directory = self.test_path.as_str().rsplit_once('/').map(|(directory, _)| directory);
        directory.and_then(|directory| path.strip_prefix(directory)).is_some_and(|rest| rest.starts_with('/'))
    }

    /// The ids of its criteria.
    pub fn criteria(&self) -> BTreeSet<&str> {
        self.acceptance_criteria.iter().map(|criterion| criterion.id.as_str()).collect()
    }

    /// All of its texts as one text, which a question about it can quote.
    pub fn text(&self) -> String {
        let criteria = self.acceptance_criteria.iter().map(|criterion| criterion.text.as_str());
        [self.description.as_str()].into_iter().chain(criteria).collect::<Vec<_>>().join("\n")
    }
}

impl ChildSpec {
    /// Converts it to a specification, with its parent's constraints (CON-36).
    pub fn to_spec(&self, parent: &Spec) -> Spec {
        let Self { id, description, acceptance_criteria, target_path, test_path } = self.clone();
        let complexity_constraints = parent.complexity_constraints.clone();
        Spec { id, description, acceptance_criteria, target_path, test_path, complexity_constraints }
    }
}
