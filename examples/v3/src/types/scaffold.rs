//! Scaffold: its input, and the possible answers of its agent.

use super::lineage::{Lineage, ParentContext};
use super::shared::{InterfaceFile, PlannedTest};
use super::spec::{ChildSpec, Spec};
use crate::graph::v3;
use interlocking::prelude::*;
use interlocking::workspaces::FilePath;
use interlocking::worktree::CommitId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The input of Scaffold, and of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScaffoldInput {
    /// What is to be built.
    pub spec: Spec,
    /// What a child receives from its parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_context: Option<ParentContext>,
    /// Why it is asked again, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clarification: Option<Clarification>,
    /// The violations of its last scaffold that were found mechanically.
    #[serde(default)]
    pub violations: Vec<String>,
    /// The node's position in the tree.
    #[serde(default)]
    pub lineage: Lineage,
}

impl From<Spec> for ScaffoldInput {
    fn from(spec: Spec) -> Self {
        Self { spec, parent_context: None, clarification: None, violations: Vec::new(), lineage: Lineage::default() }
    }
}

impl ScaffoldInput {
    /// The input for which Scaffold is asked again: its last scaffold had no violations.
    pub(crate) fn asked_again(self, why: Clarification) -> Self {
        Self { clarification: Some(why), violations: Vec::new(), ..self }
    }
}

/// Why Scaffold is asked again (CON-10): the exit that led there, with its fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Clarification {
    /// Tests cannot be written.
    InvalidScaffold {
        /// The type that is missing.
        missing_type: String,
        /// Where it was expected.
        expected_location: String,
    },
    /// The implementation needs a symbol that does not exist.
    BlockedDependency {
        /// The symbol.
        missing_symbol: String,
        /// Where it was expected.
        expected_import_path: String,
    },
    /// The specification contradicts itself.
    SpecAmbiguity {
        /// Its sentence.
        spec_sentence: String,
        /// What contradicts it.
        contradiction_trace: String,
        /// What has to be answered.
        question: String,
    },
    /// The branch cannot be rebased.
    RebaseConflict {
        /// The file; empty if no line clashes.
        conflict_file: String,
        /// What this branch does there.
        our_change: String,
        /// What the other one does.
        their_change: String,
        /// Why both cannot be.
        why_unresolvable: String,
    },
}

/// The result of Scaffold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Labels)]
#[labels(node = v3::scaffold)]
#[serde(deny_unknown_fields)]
pub enum ScaffoldExit {
    /// The work can begin.
    #[label(info, route_hint = v3::fork)]
    InitWork(InitWork),
    /// The specification has to be made clear first.
    #[label(blocker, route_hint = v3::exit)]
    ClarificationNeeded(ClarificationNeeded),
}

/// A scaffold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InitWork {
    /// The commit that has it: all forty digits.
    #[schemars(with = "String")]
    pub scaffold_commit: CommitId,
    /// The file with the signatures of what this node builds.
    pub interface_file: FilePath,
    /// The tests that must pass when this node is merged.
    pub contract_suite: FilePath,
    /// The tests that are to be written: at least one a criterion.
    pub test_plan: Vec<PlannedTest>,
    /// The children, if the work is split.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child_specs: Option<Vec<ChildSpec>>,
    /// The files in which the children's interfaces are defined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interfaces: Option<Vec<InterfaceFile>>,
}

impl InitWork {
    /// The children: none where the list is absent, or empty (V3-34).
    pub fn children(&self) -> &[ChildSpec] {
        self.child_specs.as_deref().unwrap_or_default()
    }

    /// Every file that defines an interface.
    pub fn interface_files(&self) -> Vec<FilePath> {
        let mut files = vec![self.interface_file.clone()];
        files.extend(self.interfaces.iter().flatten().map(|interface| interface.path.clone()));
        files.sort();
        files.dedup();
        files
    }
}

/// A question about the specification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClarificationNeeded {
    /// What has to be answered.
    pub question: String,
    /// What is ambiguous.
    pub ambiguity_reference: String,
    /// The sentence of the specification, word for word.
    pub spec_sentence: String,
}

/// The part of the scaffold that tests and implementation receive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InitWorkPayload {
    /// The commit.
    pub scaffold_commit: CommitId,
    /// The file with the signatures.
    pub interface_file: FilePath,
    /// The tests that must pass when the node is merged.
    pub contract_suite: FilePath,
    /// The tests that are to be written.
    pub test_plan: Vec<PlannedTest>,
}

impl From<&InitWork> for InitWorkPayload {
    fn from(work: &InitWork) -> Self {
        let InitWork { scaffold_commit, interface_file, contract_suite, test_plan, .. } = work.clone();
        Self { scaffold_commit, interface_file, contract_suite, test_plan }
    }
}

/// The work that is divided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ForkInput {
    /// What is to be built.
    pub spec: Spec,
    /// The scaffold.
    pub work: InitWork,
    /// The session in which it was made: the sessions of tests and implementation begin as its forks (CON-19).
    pub session: SessionId,
}
