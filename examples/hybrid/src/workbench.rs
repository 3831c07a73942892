//! What the handlers work with: the run's worktrees and toolchain, and the checks that several of them make.

use crate::paths::{PathViolation, Role, Territory, defines_the_build, steering_paths, violations};
use crate::place_files;
use crate::places::{FreshCheckout, Place, PlaceError, Places};
use crate::prompts::GroundRules;
use crate::types::{CratePath, HybridFailure, MayBeBlocked, StackSpec};
use askama::Template;
use interlocking::rust_source::{
    PublicFunction, RefusedConstruct, Side, SourceError, Sources, StubMarkers, TestFile, UnreadableMarker, build_time,
    library_name, manifest_changes, public_functions, refused_constructs, unseen_functions,
};
use interlocking::toolchain::{Checkout, RunError, Runner, Toolchain};
use interlocking::worktree::CommitId;
use std::io;
use std::path::{Path, PathBuf};

/// The worktrees and the toolchain of one run.
#[derive(Debug)]
pub struct Workbench {
    /// The worktrees.
    pub places: Places,
    /// Builds and tests them.
    pub runner: Runner,
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
    pub fn new(places: Places, runner: Runner) -> Result<Self, UnreadableMarker> {
        let markers = StubMarkers::parse(runner.toolchain().stub_markers.iter().map(String::as_str))?;
        Ok(Self { places, runner, markers })
    }

    /// How the project is built and tested.
    pub fn toolchain(&self) -> &Toolchain {
        self.runner.toolchain()
    }

    /// What every agent is told about its work.
    pub fn ground_rules(&self) -> Option<String> {
        // Two commands in a text: rendering it cannot fail.
        GroundRules::new(self.toolchain()).render().ok()
    }

    /// What an agent did that its role does not allow: it says that it is blocked, or it changed files that are not its
    /// own (HY-34, HY-98, HY-191), those included that git was told to ignore and that would steer a build.
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
        let mut violations = violations(role, touched.iter().map(String::as_str), spec);
        // What git does not show is in no commit, and nothing is built with it. It is said all the same.
        for path in self.places.unseen(place, since, steering_paths(spec)).await? {
            if !touched.contains(&path) {
                violations.push(PathViolation { role, path, territory: Territory::BuildDefinition });
            }
        }
        Ok((!violations.is_empty()).then_some(HybridFailure::BarrierBroken { violations }))
    }

    /// What a checkout contains, of what agents of this run wrote on that side, that its tests could not be believed with.
    ///
    /// # Errors
    ///
    /// [`WorkError`] where it cannot be read; the inner error where a file is not Rust, and so was not looked through: it is to be
    /// taken for one that does not build.
    pub async fn refused(
        &self,
        checked_out: &FreshCheckout,
        side: Side,
        spec: &StackSpec,
    ) -> Result<Result<Vec<RefusedConstruct>, SourceError>, WorkError> {
        let checkout = checked_out.checkout();
        let changed = self.places.changed(self.places.base(), checked_out.commit()).await?;
        let allowed = &self.toolchain().allow;
        let mut refused = Vec::new();
        let script = self.build_time(&changed, spec).await?;
        for path in &changed {
            let territory = Territory::of(path, spec);
            if (territory == Territory::Tests) != (side == Side::Tests) {
                continue;
            }
            let mut refuse = |construct: &str, reason: &str| {
                let (construct, reason) = (construct.to_owned(), reason.to_owned());
                if !allowed.contains(&construct) {
                    refused.push(RefusedConstruct { path: path.clone(), line: 1, column: 1, construct, reason });
                }
            };
            let Ok(inside) = CratePath::new(path.clone()) else {
                refuse(path, "it is no path inside the crate");
                continue;
            };
            if script.as_ref().is_some_and(|script| script == path) {
                refuse("build script", "it runs while the package is built; a person has to change it");
            }
            let text = match place_files::read(checkout.path(), &inside) {
                Ok(Some(text)) => text,
                // Deleted.
                Ok(None) => continue,
                // No text, but no link either, by which other files would be code.
                Err(_) if is_regular(&inside.below(checkout.path())) && !is_source(path) => continue,
                Err(error) => {
                    refuse(path, &error.to_string());
                    continue;
                }
            };
            if path.ends_with("Cargo.toml") {
                let before = self.places.file_at_base(path).await?;
                let before = before.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
                refused.extend(manifest_changes(path, before.as_deref(), &text, allowed));
            } else if territory == Territory::BuildDefinition
                || defines_the_build(&inside) && !path.ends_with("Cargo.lock")
            {
                refuse(path, "it decides how everything is built; a person has to change it");
            } else if path.ends_with(".rs") {
                match refused_constructs(path, &text, side, allowed) {
                    Ok(found) => refused.extend(found),
                    Err(error) => return Ok(Err(error)),
                }
            }
        }
        Ok(Ok(refused))
    }

    /// The build script of the package that is worked on, as the run found it. One of procedural macros has all of its code for one.
    async fn build_time(&self, changed: &[String], spec: &StackSpec) -> Result<Option<String>, WorkError> {
        for directory in Path::new(spec.impl_path.as_str()).ancestors().skip(1) {
            let manifest = directory.join("Cargo.toml");
            let Some(bytes) = self.places.file_at_base(&manifest.to_string_lossy()).await? else { continue };
            let found = build_time(&String::from_utf8_lossy(&bytes));
            let own = |path: &&String| Path::new(path.as_str()).starts_with(directory) && path.ends_with(".rs");
            if found.is_procedural {
                return Ok(changed
                    .iter()
                    .find(|path| own(path) && Territory::of(path, spec) != Territory::Tests)
                    .cloned());
            }
            return Ok(found.script.map(|script| directory.join(script).to_string_lossy().into_owned()));
        }
        Ok(None)
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
        self.functions_at(&self.places.path(place)?, spec).await
    }

    /// The public functions of the implementation file in a checkout.
    ///
    /// # Errors
    ///
    /// [`WorkError`] where the file cannot be read; the inner error where it is not Rust.
    pub async fn functions_in(
        &self,
        checkout: &Checkout,
        spec: &StackSpec,
    ) -> Result<Result<Vec<PublicFunction>, SourceError>, WorkError> {
        self.functions_at(checkout.path(), spec).await
    }

    /// What of the implementation file in a checkout can make functions out of sight.
    ///
    /// # Errors
    ///
    /// [`WorkError`] where the file cannot be read; the inner error where it is not Rust.
    pub async fn unseen_in(
        &self,
        checkout: &Checkout,
        spec: &StackSpec,
    ) -> Result<Result<Vec<RefusedConstruct>, SourceError>, WorkError> {
        let text = read(checkout.path(), &spec.impl_path).await?.unwrap_or_default();
        Ok(unseen_functions(spec.impl_path.as_str(), &text, &self.markers, &self.toolchain().allow))
    }

    async fn functions_at(
        &self,
        root: &Path,
        spec: &StackSpec,
    ) -> Result<Result<Vec<PublicFunction>, SourceError>, WorkError> {
        let text = read(root, &spec.impl_path).await?.unwrap_or_default();
        Ok(public_functions(spec.impl_path.as_str(), &text, &self.markers))
    }

    /// The properties of the test file in a checkout, and what of the implementation they call.
    ///
    /// # Errors
    ///
    /// [`WorkError`] where a file cannot be read; the inner error where it is not Rust.
    pub async fn test_file(
        &self,
        checkout: &Checkout,
        spec: &StackSpec,
    ) -> Result<Result<TestFile, SourceError>, WorkError> {
        let root = checkout.path();
        let implementation = read(root, &spec.impl_path).await?.unwrap_or_default();
        let tests = read(root, &spec.test_path).await?.unwrap_or_default();
        Ok(TestFile::read(Sources {
            library: &library_of(root, spec).await?,
            implementation: (spec.impl_path.as_str(), &implementation),
            tests: (spec.test_path.as_str(), &tests),
            prefix: &self.toolchain().property_prefix,
        }))
    }

    /// Writes a file of a place that is not there yet.
    ///
    /// # Errors
    ///
    /// [`WorkError`] where it cannot be written.
    pub async fn write_if_absent(&self, place: Place, path: &CratePath, text: &str) -> Result<(), WorkError> {
        let root = self.places.path(place)?;
        match read(&root, path).await? {
            Some(_) => Ok(()),
            None => write(&root, path, text).await,
        }
    }

    /// Puts the lock file that a build has left in a checkout into the place that it was made of. Whether it differs.
    ///
    /// # Errors
    ///
    /// [`WorkError`] where it cannot be read or written.
    pub async fn take_over_lock(&self, place: Place, checkout: &Checkout) -> Result<bool, WorkError> {
        let root = self.places.path(place)?;
        let Ok(path) = CratePath::new("Cargo.lock") else { return Ok(false) };
        let (made, before) = (read(checkout.path(), &path).await?, read(&root, &path).await?);
        match made {
            Some(made) if Some(&made) != before.as_ref() => write(&root, &path, &made).await.map(|()| true),
            _ => Ok(false),
        }
    }
}

/// The name that tests import the implementation by: its package's, or the one in the task where there is no package.
async fn library_of(root: &Path, spec: &StackSpec) -> Result<String, WorkError> {
    for directory in Path::new(spec.impl_path.as_str()).ancestors().skip(1) {
        let Ok(path) = CratePath::new(directory.join("Cargo.toml").to_string_lossy()) else { continue };
        if let Some(name) = read(root, &path).await?.and_then(|manifest| library_name(&manifest)) {
            return Ok(name);
        }
    }
    Ok(spec.module_name.split("::").next().unwrap_or_default().to_owned())
}

fn is_regular(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_file())
}

/// Whether what stands there is read by the compiler or by cargo.
fn is_source(path: &str) -> bool {
    path.ends_with(".rs") || path.ends_with(".toml")
}

async fn read(root: &Path, path: &CratePath) -> Result<Option<String>, WorkError> {
    let (at, wanted) = (root.to_owned(), path.clone());
    let reading = tokio::task::spawn_blocking(move || place_files::read(&at, &wanted)).await;
    let read = reading.unwrap_or_else(|panic| Err(io::Error::other(panic)));
    read.map_err(|reason| WorkError::File { path: path.below(root), reason })
}

async fn write(root: &Path, path: &CratePath, text: &str) -> Result<(), WorkError> {
    let (at, wanted, text) = (root.to_owned(), path.clone(), text.to_owned());
    let writing = tokio::task::spawn_blocking(move || place_files::write(&at, &wanted, &text)).await;
    let written = writing.unwrap_or_else(|panic| Err(io::Error::other(panic)));
    written.map_err(|reason| WorkError::File { path: path.below(root), reason })
}
