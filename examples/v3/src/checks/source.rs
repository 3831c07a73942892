//! Compares the implementation's source with its scaffold: only for Rust files.

use super::Violation;
use interlocking::rust_source::{Change, Denied, PublicApi, StubMarkers, denied_code, denied_dependencies, stubs_in};
use interlocking::workspaces::FilePath;

/// A file at the scaffold, and its current version.
#[derive(Clone, Debug)]
pub struct Versions {
    /// The file.
    pub path: FilePath,
    /// At the scaffold; none if it was not there.
    pub before: Option<String>,
    /// The current version; none if it was removed.
    pub now: Option<String>,
}

/// Whether the interface in a file is unchanged: its signatures, not its bodies (V3-61, V3-80).
pub fn interface_violations(file: &Versions) -> Vec<Violation> {
    let Some(before) = file.before.as_deref().filter(|_| file.path.is_rust()) else { return Vec::new() };
    let Some(now) = &file.now else { return vec![Violation::NoSuchFile { path: file.path.clone() }] };
    let path = file.path.as_str();
    match (PublicApi::of_file(path, before), PublicApi::of_file(path, now)) {
        (Ok(before), Ok(now)) => {
            now.changes_since(&before).iter().map(|change| Violation::Source(change.to_string())).collect()
        }
        (Err(error), _) | (_, Err(error)) => vec![Violation::Source(error.to_string())],
    }
}

/// Remaining stub markers (V3-61), and denied code (V3-62).
pub fn code_violations(file: &Versions, markers: &StubMarkers, denied: &Denied) -> Vec<Violation> {
    let Some(now) = file.now.as_deref().filter(|_| file.path.is_rust()) else { return Vec::new() };
    let path = file.path.as_str();
    let mut found = Vec::new();
    match stubs_in(path, now, markers) {
        Ok(stubs) => found.extend(stubs.iter().map(|stub| Violation::Source(stub.to_string()))),
        Err(error) => found.push(Violation::Source(error.to_string())),
    }
    match denied_code(path, now, denied) {
        Ok(refused) => found.extend(refused.iter().map(|refused| Violation::Source(refused.to_string()))),
        Err(error) => found.push(Violation::Source(error.to_string())),
    }
    found
}

/// The dependencies on denied crates that a manifest has now and had not before (TC-06).
pub fn dependency_violations(manifest: &Versions, denied: &Denied) -> Vec<Violation> {
    let read = |text: &Option<String>| {
        denied_dependencies(manifest.path.as_str(), text.as_deref().unwrap_or_default(), denied)
    };
    let before = read(&manifest.before).unwrap_or_default();
    let is_new = |name: &str| before.iter().all(|found| found.construct != name);
    match read(&manifest.now) {
        Ok(now) => {
            let new = now.iter().filter(|found| is_new(&found.construct));
            new.map(|found| Violation::Source(found.to_string())).collect()
        }
        Err(error) => vec![Violation::Source(error.to_string())],
    }
}

/// The public changes in a file: what is new, removed or different.
pub fn seen_by_others(file: &Versions) -> Vec<Change> {
    if !file.path.is_rust() {
        return Vec::new();
    }
    let read = |text: &Option<String>| PublicApi::of_file(file.path.as_str(), text.as_deref().unwrap_or_default());
    match (read(&file.before), read(&file.now)) {
        (Ok(before), Ok(now)) => now.changes_since(&before).into_iter().map(|change| change.change).collect(),
        _ => Vec::new(),
    }
}
