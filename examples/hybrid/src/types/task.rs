//! What the run is asked to build, and how strict it is to be about it.

use super::CratePath;
use interlocking::toolchain::KnownTests;
use serde::{Deserialize, Serialize};

/// The task: the entry value of the graph (HY-71).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StackSpec {
    /// Name of the module or crate to write, as a path of Rust identifiers (`bounded_stack`, `store::index`).
    #[serde(alias = "specModuleName", alias = "module_name")]
    pub module_name: String,
    /// What the module is for, in a sentence or two.
    #[serde(alias = "specDescription")]
    pub description: String,
    /// What must hold for the work to be accepted; at least one.
    #[serde(alias = "specAcceptanceCriteria", alias = "acceptance_criteria")]
    pub acceptance_criteria: Vec<String>,
    /// The file that holds types, stubs and later the implementation, relative to the crate.
    #[serde(alias = "specImplPath", alias = "impl_path")]
    pub impl_path: CratePath,
    /// The file that holds the properties, relative to the crate.
    #[serde(alias = "specTestPath", alias = "test_path")]
    pub test_path: CratePath,
    /// Documents and data that both sides may write to, such as a changelog. What both change in the same lines is a conflict.
    #[serde(default, alias = "shared_paths", skip_serializing_if = "Vec::is_empty")]
    pub shared_paths: Vec<CratePath>,
    /// How strict this one task is.
    #[serde(alias = "specStrictness")]
    pub strictness: StrictnessConfig,
}

impl StackSpec {
    /// What is known about the tests of this task: these must get a verdict, and none may read the implementation.
    pub fn known_tests<'a>(&'a self, names: &'a [String]) -> KnownTests<'a> {
        KnownTests { names, test_path: self.test_path.as_str(), implementation_path: Some(self.impl_path.as_str()) }
    }
}

/// How strict a task is (HY-72). Carried by the task, so two tasks of one program may differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StrictnessConfig {
    /// Whether a surviving mutant keeps the run from succeeding.
    #[serde(alias = "scMutationBlocking", alias = "mutation_blocking")]
    pub mutation_blocking: bool,
    /// How often each of the loops (types, tests, fix, mutation fix) may repeat; 1 to 10.
    #[serde(alias = "scMaxFixAttempts", alias = "max_fix_attempts")]
    pub max_fix_attempts: u8,
    /// Whether every sketched property must be covered before the merge.
    #[serde(alias = "scRequireCoverage", alias = "require_coverage")]
    pub require_coverage: bool,
}

impl Default for StrictnessConfig {
    /// Survivors are reported, five repairs are allowed, coverage is required (HY-73).
    fn default() -> Self {
        Self { mutation_blocking: false, max_fix_attempts: 5, require_coverage: true }
    }
}

impl StrictnessConfig {
    /// The strict preset: as the default, and not one mutant may survive (HY-74).
    pub fn strict() -> Self {
        Self { mutation_blocking: true, ..Self::default() }
    }
}
