//! Forbidden conduct of agents: changing files of other roles, and writing constructs that could fake the tests' results.

use super::python::too_long;
use super::{WorkError, Workbench, aside, read};
use crate::paths::{PathViolation, Role, Territory, defines_the_build, steering_paths, violations};
use crate::types::{CratePath, HybridFailure, MayBeBlocked, StackSpec};
use interlocking::rust_source::{
    RefusedConstruct, Side, SourceError, build_time, manifest_changes, refused_constructs,
};
use interlocking::workspaces::{self, FreshCheckout};
use std::path::Path;

impl Workbench {
    /// The forbidden conduct of an agent: it reports that it is blocked, or it changed files that are not its own (HY-34, HY-98,
    /// HY-191), including files that git was told to ignore and that would influence a build.
    ///
    /// # Errors
    ///
    /// [`WorkError`] if the worktree cannot be read.
    pub async fn misconduct(
        &self,
        node: &str,
        role: Role,
        worktree: &workspaces::Checkout<'_>,
        output: &impl MayBeBlocked,
        spec: &StackSpec,
    ) -> Result<Option<HybridFailure>, WorkError> {
        if let Some(text) = output.blocked_by() {
            return Ok(Some(HybridFailure::AgentBlocked { node: node.to_owned(), text: text.to_owned() }));
        }
        let since = worktree.head();
        let changes = worktree.diff_since(since).await?;
        let touched: Vec<_> =
            changes.iter().flat_map(|change| change.touched().map(|path| path.to_text().into_owned())).collect();
        let mut violations = violations(role, touched.iter().map(String::as_str), spec);
        // Files that git does not show are in no commit, and nothing is built with them. They are reported all the same.
        for path in steering_paths(spec) {
            let is_unseen = worktree.path().join(&path).symlink_metadata().is_ok()
                && !touched.contains(&path)
                && self.file_at(since, &path).await?.is_none();
            if is_unseen {
                violations.push(PathViolation { role, path, territory: Territory::BuildDefinition });
            }
        }
        Ok((!violations.is_empty()).then_some(HybridFailure::BarrierBroken { violations }))
    }

    /// The constructs in a checkout, among what agents of this run wrote on that side, that could fake its tests' results.
    ///
    /// # Errors
    ///
    /// [`WorkError`] if it cannot be read; the inner error if a file is not Rust, or is longer than what is read, and so was not
    /// examined: treat it as one that does not build.
    pub async fn refused(
        &self,
        checked_out: &FreshCheckout,
        side: Side,
        spec: &StackSpec,
    ) -> Result<Result<Vec<RefusedConstruct>, SourceError>, WorkError> {
        let changed = self.changed(self.run.base, checked_out.commit()).await?;
        let allowed = &self.toolchain().source.allow;
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
            let text = match read(checked_out, &inside).await {
                Ok(Some(text)) => text,
                // Deleted.
                Ok(None) => continue,
                // A binary file that is no link: a link could make other files part of the code.
                Err(_) if is_regular(&inside.below(checked_out.path())) && !is_source(path) => continue,
                Err(error) => {
                    refuse(path, &error.to_string());
                    continue;
                }
            };
            if path.ends_with("Cargo.toml") {
                let before = self.file_at(self.run.base, path).await?;
                let before = before.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
                refused.extend(manifest_changes(path, before.as_deref(), &text, allowed));
            } else if territory == Territory::BuildDefinition
                || defines_the_build(&inside) && !path.ends_with("Cargo.lock")
            {
                refuse(path, "it decides how everything is built; a person has to change it");
            } else if path.ends_with(".rs") {
                let (path, allowed) = (path.clone(), allowed.clone());
                match aside(move || refused_constructs(&path, &text, side, &allowed)).await? {
                    Ok(found) => refused.extend(found),
                    Err(error) => return Ok(Err(error)),
                }
            } else if path.ends_with(".py")
                && let Some(error) = too_long(&inside, &text)
            {
                return Ok(Err(error));
            }
        }
        Ok(Ok(refused))
    }

    /// The build script of the package that is worked on, as the run found it. For a package of procedural macros, all of its
    /// code counts as one.
    async fn build_time(&self, changed: &[String], spec: &StackSpec) -> Result<Option<String>, WorkError> {
        for directory in Path::new(spec.impl_path.as_str()).ancestors().skip(1) {
            let manifest = directory.join("Cargo.toml");
            let Some(bytes) = self.file_at(self.run.base, &manifest.to_string_lossy()).await? else { continue };
            let found = build_time(&directory.to_string_lossy(), &String::from_utf8_lossy(&bytes));
            let own = |path: &&String| Path::new(path.as_str()).starts_with(directory) && path.ends_with(".rs");
            if found.is_procedural {
                return Ok(changed
                    .iter()
                    .find(|path| own(path) && Territory::of(path, spec) != Territory::Tests)
                    .cloned());
            }
            return Ok(found.script);
        }
        Ok(None)
    }
}

fn is_regular(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_file())
}

/// Whether a compiler, an interpreter or cargo reads the file.
fn is_source(path: &str) -> bool {
    [".rs", ".py", ".toml"].iter().any(|ending| path.ends_with(ending))
}
