//! Files that decide how everything is built: agents may not change them, except for dependencies on registries.

use super::Violation;
use interlocking::prelude::NodeError;
use interlocking::rust_source::{Version, build_changes};
use interlocking::worktree::{CommitId, Repository, RepositoryPath};

/// The forbidden changes between two commits to files that run while tests are built, or decide how tests are built: such files
/// could fake the results (V3-80). `allowed` names what a person permits, as a refusal names it. Git work.
///
/// # Errors
///
/// If the repository cannot be read.
pub fn build_violations(
    repository: &Repository,
    (before, now): (CommitId, CommitId),
    allowed: &[String],
) -> Result<Vec<Violation>, NodeError> {
    let text = |version, path: &str| {
        let commit = if version == Version::Before { before } else { now };
        // What has no valid path is refused as such.
        let Ok(path) = path.parse::<RepositoryPath>() else { return Ok(None) };
        let bytes = repository.read_file(commit, &path)?;
        Ok::<_, NodeError>(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    };
    let mut violations = Vec::new();
    for path in repository.diff(before, now)?.iter().flat_map(|change| change.touched()) {
        let refused = build_changes(&path.to_text(), allowed, text)?;
        violations.extend(refused.iter().map(|refused| Violation::Source(refused.to_string())));
    }
    Ok(violations)
}
