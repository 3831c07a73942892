//! Files that decide how everything is built: agents may not change them, except for dependencies on registries.

use super::Violation;
use interlocking::prelude::NodeError;
use interlocking::rust_source::{RefusedConstruct, build_time, manifest_changes};
use interlocking::workspaces::Pattern;
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
    let definitions = Pattern::build_definitions();
    let mut refused = Vec::new();
    for path in repository.diff(before, now)?.iter().flat_map(|change| change.touched()) {
        let text = path.to_text();
        let is_definition = definitions.iter().any(|pattern| pattern.matches(&text));
        let (construct, reason) = match text.rsplit('/').next().unwrap_or_default() {
            // Every build may write it.
            "Cargo.lock" => continue,
            "Cargo.toml" => match text_at(repository, now, path)? {
                Some(manifest) => {
                    let was = text_at(repository, before, path)?;
                    refused.extend(manifest_changes(&text, was.as_deref(), &manifest, allowed));
                    continue;
                }
                None => (&*text, "a person has to remove it"),
            },
            _ if is_definition => (&*text, "it decides how everything is built; a person has to change it"),
            _ if text.ends_with(".rs") && runs_at_build_time(repository, before, &text)? => {
                ("build script", "it runs while everything is built; a person has to change it")
            }
            _ => continue,
        };
        if !allowed.iter().any(|allowed| allowed == construct) {
            let (path, construct, reason) = (text.to_string(), construct.to_owned(), reason.to_owned());
            refused.push(RefusedConstruct { path, line: 1, column: 1, construct, reason });
        }
    }
    Ok(refused.iter().map(|refused| Violation::Source(refused.to_string())).collect())
}

/// Whether a file is its package's build script, or belongs to a package of procedural macros.
fn runs_at_build_time(repository: &Repository, commit: CommitId, path: &str) -> Result<bool, NodeError> {
    let mut directory = path;
    while !directory.is_empty() {
        directory = directory.rsplit_once('/').map_or("", |(directory, _)| directory);
        let manifest = if directory.is_empty() { "Cargo.toml".to_owned() } else { format!("{directory}/Cargo.toml") };
        // A path that is not a valid repository path was not made through it.
        let Ok(manifest) = manifest.parse() else { return Ok(true) };
        if let Some(manifest) = text_at(repository, commit, &manifest)? {
            let found = build_time(directory, &manifest);
            return Ok(found.is_procedural || found.script.as_deref() == Some(path));
        }
    }
    Ok(false)
}

fn text_at(repository: &Repository, commit: CommitId, path: &RepositoryPath) -> Result<Option<String>, NodeError> {
    Ok(repository.read_file(commit, path)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}
