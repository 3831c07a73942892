//! What the builds of several directories share: compiled dependencies, and nothing else.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::Path;

/// Lets all directories below `directory` share compiled dependencies, and nothing else.
///
/// Cargo names artefacts of a path dependency by its path *inside its workspace*: two worktrees of one crate that share a
/// target directory would overwrite each other's, and a worktree whose files are older than the other's build would be
/// given the other's tests. The profile is part of the name too, so the [runner](super::Runner) gives every directory a
/// number of codegen units of its own; this keeps the dependencies at one number for all.
///
/// # Errors
///
/// Where the file cannot be written.
pub fn share_dependencies(directory: &Path) -> io::Result<()> {
    let cargo = directory.join(".cargo");
    fs::create_dir_all(&cargo)?;
    let same_for_all = "[profile.dev.package.\"*\"]\ncodegen-units = 256\n\n\
                        [profile.release.package.\"*\"]\ncodegen-units = 16\n";
    fs::write(cargo.join("config.toml"), same_for_all)
}

/// More than any crate has modules, so that it is only a name; from the path, so that no two runs share one either.
pub(super) fn own_codegen_units(directory: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    directory.hash(&mut hasher);
    format!("{}", 1_000_000 + hasher.finish() % 1_000_000_000)
}
