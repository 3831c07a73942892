//! Forbidden conduct of agents: changing files of other roles, and writing constructs that could fake the tests' results.

use super::python::too_long;
use super::{Workbench, aside};
use crate::paths::{PathViolation, Role, Territory, steering_paths, violations};
use crate::types::{CratePath, HybridFailure, MayBeBlocked, StackSpec};
use interlocking::prelude::NodeError;
use interlocking::rust_source::{
    RefusedConstruct, Side, SourceError, Version, build_changes, defines_the_build, refused_constructs,
};
use interlocking::workspaces::{self, FreshCheckout, in_repository};
use interlocking::worktree::{CommitId, RepositoryPath};
use std::collections::BTreeSet;
use std::path::Path;

impl Workbench {
    /// The forbidden conduct of an agent: it reports that it is blocked, or it changed files that are not its own (HY-34, HY-98,
    /// HY-191), including files that git was told to ignore and that would influence a build.
    ///
    /// # Errors
    ///
    /// If the worktree cannot be read.
    pub async fn misconduct(
        &self,
        node: &str,
        role: Role,
        worktree: &workspaces::Checkout<'_>,
        output: &impl MayBeBlocked,
        spec: &StackSpec,
    ) -> Result<Option<HybridFailure>, NodeError> {
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
    /// If it cannot be read; the inner error if a file is not Rust, or is longer than what is read, and so was not
    /// examined: treat it as one that does not build.
    pub async fn refused(
        &self,
        checked_out: &FreshCheckout,
        side: Side,
        spec: &StackSpec,
    ) -> Result<Result<Vec<RefusedConstruct>, SourceError>, NodeError> {
        let changed = self.changed(self.run.base, checked_out.commit()).await?;
        let allowed = &self.toolchain().source.allow;
        let mut refused = Vec::new();
        let of_build = self.build_changes(changed.clone(), checked_out.commit()).await?;
        for path in &changed {
            let territory = Territory::of(path, spec);
            if (territory == Territory::Tests) != (side == Side::Tests) {
                continue;
            }
            let is_of_build = |refused: &&RefusedConstruct| refused.path == *path;
            refused.extend(of_build.iter().filter(is_of_build).cloned());
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
            let text = match checked_out.text(inside.in_repository()).await? {
                Ok(text) => text,
                // A binary file that is no link: a link could make other files part of the code.
                Err(_) if is_regular(&inside.below(checked_out.path())) && !is_source(path) => continue,
                Err(error) => {
                    refuse(path, &error.to_string());
                    continue;
                }
            };
            // None if it was deleted.
            let Some(text) = text.filter(|_| !defines_the_build(path)) else { continue };
            if path.ends_with(".rs") {
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

    /// The changes of the run up to a commit that decide how everything is built, or run while it is.
    async fn build_changes(
        &self,
        changed: BTreeSet<String>,
        now: CommitId,
    ) -> Result<Vec<RefusedConstruct>, NodeError> {
        let (base, allowed) = (self.run.base, self.toolchain().source.allow.clone());
        in_repository(self.repository.clone(), move |repository| {
            let text = |version, path: &str| {
                let commit = if version == Version::Before { base } else { now };
                let Ok(path) = path.parse::<RepositoryPath>() else { return Ok(None) };
                let bytes = repository.read_file(commit, &path)?;
                Ok::<_, NodeError>(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
            };
            let refused = changed.iter().map(|path| build_changes(path, &allowed, text));
            Ok(refused.collect::<Result<Vec<_>, _>>()?.concat())
        })
        .await
    }
}

fn is_regular(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_file())
}

/// Whether a compiler, an interpreter or cargo reads the file.
fn is_source(path: &str) -> bool {
    [".rs", ".py", ".toml"].iter().any(|ending| path.ends_with(ending))
}
