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
/// word of its own for where debug information goes; this keeps the dependencies at one word for all.
///
/// # Errors
///
/// Where the file cannot be written.
pub fn share_dependencies(directory: &Path) -> io::Result<()> {
    let cargo = directory.join(".cargo");
    fs::create_dir_all(&cargo)?;
    let same_for_all = "[profile.dev.package.\"*\"]\nsplit-debuginfo = \"off\"\n\n\
                        [profile.release.package.\"*\"]\nsplit-debuginfo = \"off\"\n";
    fs::write(cargo.join("config.toml"), same_for_all)
}

/// A word for where debug information goes, from the path, so that no two runs share one either. The compiler does not know it, so
/// cargo does not pass it on: it is nothing but a part of the names of artefacts.
pub(super) fn own_split_debuginfo(directory: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    directory.hash(&mut hasher);
    format!("of-{:016x}", hasher.finish())
}
