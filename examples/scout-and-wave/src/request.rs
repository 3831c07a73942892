//! What a run is to do, and what its scout is told.

use crate::protocol::bootstrap::Architecture;
use crate::protocol::plan::Plan;
use crate::protocol::quick::QuickPlan;
use interlocking::prelude::RunId;
use interlocking::workspaces::FilePath;
use serde::{Deserialize, Serialize};

/// What a run begins with: a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Says whether a task is one for the protocol, and writes nothing (SAW-19).
    Check {
        /// What is to be built.
        task: String,
    },
    /// Plans, writes the document, and ends there (SAW-20).
    Scout {
        /// What is to be built.
        task: String,
        /// Where the document is to be: `docs/IMPL-NAME.md`.
        document: FilePath,
    },
    /// Plans, has a person approve, and goes through the waves.
    Feature {
        /// What is to be built.
        task: String,
        /// Where the document is to be.
        document: FilePath,
    },
    /// The same for a project without code (SAW-95).
    Bootstrap {
        /// What the project is to be.
        task: String,
        /// Where the document is to be.
        document: FilePath,
    },
    /// Goes on with the next wave of a document that is there (SAW-23, CON-99).
    Wave {
        /// Where it is.
        document: FilePath,
    },
    /// The same, where a run has begun that wave and its journal is lost: by what that has left in git (SAW-105).
    Recover {
        /// Where it is.
        document: FilePath,
        /// That run.
        run: RunId,
    },
    /// Two or three agents without a document (SAW-91).
    Quick {
        /// Who owns what.
        plan: QuickPlan,
    },
}

/// The run's command has no document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this command has no document")]
pub struct NoDocument;

/// What a scout or an architect is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Brief {
    /// What is to be built.
    pub task: String,
    /// What a person said of each plan before, in their order.
    pub remarks: Vec<String>,
}

/// What a scout or an architect proposes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// The plan.
    pub plan: Plan,
    /// What the project is to be, where there is none yet.
    pub architecture: Option<Architecture>,
    /// What the scout was told.
    pub brief: Brief,
}

impl Request {
    /// Where the run's document is.
    ///
    /// # Errors
    ///
    /// [`NoDocument`] where it has none.
    pub fn document(&self) -> Result<&FilePath, NoDocument> {
        match self {
            Self::Scout { document, .. }
            | Self::Feature { document, .. }
            | Self::Bootstrap { document, .. }
            | Self::Wave { document }
            | Self::Recover { document, .. } => Ok(document),
            Self::Check { .. } | Self::Quick { .. } => Err(NoDocument),
        }
    }
}

impl Brief {
    /// A task of which nobody has said anything yet.
    pub fn new(task: String) -> Self {
        Self { task, remarks: Vec::new() }
    }
}
