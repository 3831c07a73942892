//! The command of a run, and the brief of its scout.

use crate::protocol::bootstrap::Architecture;
use crate::protocol::plan::Plan;
use crate::protocol::quick::QuickPlan;
use interlocking::prelude::RunId;
use interlocking::workspaces::FilePath;
use serde::{Deserialize, Serialize};

/// The entry value of a run: a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Judges whether a task is suitable for the protocol, and writes nothing (SAW-19).
    Check {
        /// What is to be built.
        task: String,
    },
    /// Plans, writes the document, and ends there (SAW-20).
    Scout {
        /// What is to be built.
        task: String,
        /// The path for the document: `docs/IMPL-NAME.md`.
        document: FilePath,
    },
    /// Plans, has a person approve, and goes through the waves.
    Feature {
        /// What is to be built.
        task: String,
        /// The path for the document.
        document: FilePath,
    },
    /// The same for a project without code (SAW-95).
    Bootstrap {
        /// What the project is to be.
        task: String,
        /// The path for the document.
        document: FilePath,
    },
    /// Goes on with the next wave of an existing document (SAW-23, CON-99).
    Wave {
        /// The document's path.
        document: FilePath,
    },
    /// The same, if a run has begun that wave and its journal is lost: continues from what that run has left in git (SAW-105).
    Recover {
        /// The document's path.
        document: FilePath,
        /// That run.
        run: RunId,
    },
    /// Two or three agents without a document (SAW-91).
    Quick {
        /// The ownership of files, tasks and the gate.
        plan: QuickPlan,
    },
}

/// The run's command has no document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this command has no document")]
pub struct NoDocument;

/// The brief of a scout or an architect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Brief {
    /// What is to be built.
    pub task: String,
    /// A person's remarks on each earlier plan, in their order.
    pub remarks: Vec<String>,
}

/// What a scout or an architect proposes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// The plan.
    pub plan: Plan,
    /// The description of the project, if it does not exist yet.
    pub architecture: Option<Architecture>,
    /// The scout's brief.
    pub brief: Brief,
}

impl Request {
    /// The path of the run's document.
    ///
    /// # Errors
    ///
    /// [`NoDocument`] if it has none.
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
    /// A task without remarks.
    pub fn new(task: String) -> Self {
        Self { task, remarks: Vec::new() }
    }
}
