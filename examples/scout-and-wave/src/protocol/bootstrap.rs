//! Bootstrap mode: a project without code, whose first wave is one agent that makes the types the others share (SAW-95, SAW-96).

use super::plan::{Plan, PlannedAgent, PlannedWave};
use interlocking::workspaces::FilePath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The number of the wave that makes the shared types.
pub const TYPES_WAVE: u32 = 0;

/// What the architect returns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BootstrapPlan {
    /// What the project and its packages are to be.
    pub architecture: Architecture,
    /// The only agent of wave 0. It creates the shared types, and what else has to be there before others can begin.
    pub types: PlannedAgent,
    /// All else. Its first wave begins when wave 0 is verified.
    pub plan: Plan,
}

/// What a project is to be, before there is any code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Architecture {
    /// What the project must do, one requirement a line; what was assumed is marked as such.
    pub requirements: Vec<String>,
    /// The packages, and what each is for.
    pub packages: Vec<Package>,
}

/// A package of a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Package {
    /// Its directory, or its file.
    pub path: FilePath,
    /// What it is for, and what it may know of the others.
    pub purpose: String,
}

/// The error for a bootstrap of a project that has code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a bootstrap is for a project without code, and there is `{file}`: plan the task with `run` or `scout`")]
pub struct NotEmpty {
    /// A file of it.
    pub file: String,
}

/// Checks that a project has no code: nothing but files at its root that begin with a dot, have no extension, or are prose.
///
/// # Errors
///
/// [`NotEmpty`] with the first other file.
pub fn refuse_code<'f>(files: impl IntoIterator<Item = &'f String>) -> Result<(), NotEmpty> {
    let is_code = |file: &&String| {
        let is_at_root = !file.contains('/');
        let is_prose = match file.rsplit_once('.') {
            None | Some(("", _)) => true,
            Some((_, extension)) => ["md", "txt", "adoc", "rst"].contains(&extension),
        };
        !(is_at_root && is_prose)
    };
    match files.into_iter().find(is_code) {
        Some(file) => Err(NotEmpty { file: file.clone() }),
        None => Ok(()),
    }
}

impl BootstrapPlan {
    /// The plan with wave 0 before the others, and the architecture.
    pub fn into_parts(self) -> (Plan, Architecture) {
        let Self { architecture, types, mut plan } = self;
        plan.first_wave = TYPES_WAVE;
        plan.waves.insert(0, PlannedWave { agents: vec![types] });
        (plan, architecture)
    }
}
