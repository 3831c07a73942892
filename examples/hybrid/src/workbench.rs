//! What the handlers work with: the run's worktrees and toolchain, and the checks that several of them make.

use crate::paths::{Role, violations};
use crate::places::{Place, PlaceError, Places};
use crate::prompts::GroundRules;
use crate::source::{
    PropertyTest, PublicFunction, SourceError, StubMarkers, UnreadableMarker, property_tests, public_functions,
};
use crate::toolchain::{RunError, Toolchain, Workshop};
use crate::types::{CratePath, HybridFailure, MayBeBlocked, StackSpec};
use askama::Template;
use interlocking::worktree::CommitId;
use std::io;
use std::path::{Path, PathBuf};

/// The worktrees and the toolchain of one run.
#[derive(Debug)]
pub struct Workbench {
    /// The worktrees.
    pub places: Places,
    /// Builds and tests them.
    pub workshop: Workshop,
    markers: StubMarkers,
}

/// What keeps a handler from doing its work: not the protocol's business, but the operator's.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// Git.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// A command could not be run at all.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A file could not be read or written.
    #[error("{}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: io::Error,
    },
    /// The state that an earlier node should have left is not there.
    #[error("the run's memory lacks {what}, which an earlier node should have left there")]
    Missing {
        /// What is missing.
        what: &'static str,
    },
}

impl Workbench {
    /// A workbench for one run.
    ///
    /// # Errors
    ///
    /// [`UnreadableMarker`] where a configured stub marker is no Rust expression.
    pub fn new(
        places: Places,
        toolchain: Toolchain,
        target_directory: impl Into<PathBuf>,
    ) -> Result<Self, UnreadableMarker> {
        let markers = StubMarkers::parse(toolchain.stub_markers.iter().map(String::as_str))?;
        Ok(Self { places, workshop: Workshop::new(toolchain, target_directory), markers })
    }

    /// How the project is built and tested.
    pub fn toolchain(&self) -> &Toolchain {
        self.workshop.toolchain()
    }

    /// What every agent is told about its work.
    pub fn ground_rules(&self) -> Option<String> {
        // Two commands in a text: rendering it cannot fail.
        GroundRules::new(self.toolchain()).render().ok()
    }

    /// What an agent did that its role does not allow: it says that it is blocked, or it changed files that are not its
    /// own (HY-34, HY-98, HY-191).
    ///
    /// # Errors
    ///
    /// [`WorkError`] where the worktree cannot be read.
    pub async fn misconduct(
        &self,
        node: &str,
        role: Role,
        place: Place,
        since: CommitId,
        output: &impl MayBeBlocked,
        spec: &StackSpec,
    ) -> Result<Option<HybridFailure>, WorkError> {
        if let Some(text) = output.blocked_by() {
            return Ok(Some(HybridFailure::AgentBlocked { node: node.to_owned(), text: text.to_owned() }));
        }
        let touched = self.places.touched(place, since).await?;
        let violations = violations(role, touched.iter().map(String::as_str), spec);
        Ok((!violations.is_empty()).then_some(HybridFailure::BarrierBroken { violations }))
    }

    /// The public functions of the implementation file in a place.
    ///
    /// # Errors
    ///
    /// [`WorkError`] where the file cannot be read; the inner error where it is not Rust.
    pub async fn functions(
        &self,
        place: Place,
        spec: &StackSpec,
    ) -> Result<Result<Vec<PublicFunction>, SourceError>, WorkError> {
        let text = self.read(place, &spec.impl_path).await?;
        Ok(public_functions(spec.impl_path.as_str(), &text, &self.markers))
    }

    /// The properties of the test file in a place.
    ///
    /// # Errors
    ///
    /// [`WorkError`] where the file cannot be read; the inner error where it is not Rust.
    pub async fn properties(
        &self,
        place: Place,
        spec: &StackSpec,
    ) -> Result<Result<Vec<PropertyTest>, SourceError>, WorkError> {
        let text = self.read(place, &spec.test_path).await?;
        Ok(property_tests(spec.test_path.as_str(), &text, &self.toolchain().property_prefix))
    }

    /// A file of a place; empty if it is not there.
    async fn read(&self, place: Place, path: &CratePath) -> Result<String, WorkError> {
        let path = path.below(&self.places.path(place)?);
        match tokio::fs::read_to_string(&path).await {
            Ok(text) => Ok(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            Err(reason) => Err(WorkError::File { path, reason }),
        }
    }

    /// Writes a file that is not there yet.
    ///
    /// # Errors
    ///
    /// [`WorkError`] where it cannot be written.
    pub async fn write_if_absent(&self, path: &Path, text: &str) -> Result<(), WorkError> {
        let failed = |reason| WorkError::File { path: path.to_owned(), reason };
        if tokio::fs::try_exists(path).await.map_err(failed)? {
            return Ok(());
        }
        if let Some(parent) = path.parent() {
            tokio::fs::create_dir_all(parent).await.map_err(failed)?;
        }
        tokio::fs::write(path, text).await.map_err(failed)
    }
}
