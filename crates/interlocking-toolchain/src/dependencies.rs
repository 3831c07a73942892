//! Sharing of compiled dependencies, and nothing else, between the builds of several directories.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::Path;

/// Lets all directories below `directory` share compiled dependencies, and nothing else.
///
/// Cargo names the artefacts of a path dependency by its path *inside its workspace*. Two worktrees of one crate that share a
/// target directory would overwrite each other's artefacts, and a worktree whose files are older than the other's build would
/// run the other's tests. The profile is part of the name too, so the [runner](super::Runner) sets `split-debuginfo` to a
/// different word for every directory. This function writes a `.cargo/config.toml` that sets one word for all dependencies.
///
/// # Errors
///
/// If the file cannot be written.
pub fn share_dependencies(directory: &Path) -> io::Result<()> {
    let cargo = directory.join(".cargo");
    fs::create_dir_all(&cargo)?;
    let same_for_all = "[profile.dev.package.\"*\"]\nsplit-debuginfo = \"off\"\n\n\
                        [profile.release.package.\"*\"]\nsplit-debuginfo = \"off\"\n";
    fs::write(cargo.join("config.toml"), same_for_all)
}

/// A value of `split-debuginfo` made from the directory's path, so that no two runs share a value. The compiler does not know the
/// value, so cargo does not pass it on: it only becomes part of the names of artefacts.
pub(super) fn own_split_debuginfo(directory: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    directory.hash(&mut hasher);
    format!("of-{:016x}", hasher.finish())
}
