//! Registering a worktree: its entry is completed beside git's list and moved into the list in one step.
//!
//! gix can add entries too, but it opens every other worktree to do so, which makes the two hundredth slower than the
//! first, and it writes the entry where the git program may read it half written. Rare cases are left to gix: see
//! [`is_ordinary`].

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
};

use gix::{ObjectId, bstr::ByteSlice as _};

use crate::{
    filesystem::{deletion::delete_tree, own_paths},
    recovery::{intent_log::unique_name, step},
    repository::registration_lock::private_directory,
    untrusted::file::{self, Kind},
    values::git_error::{Doing as _, GitError},
};

/// The contents of a new entry.
pub(crate) struct Entry<'a> {
    /// The root of the files.
    pub(crate) place: &'a Path,
    /// Where the files are now, if they are moved to the place later.
    pub(crate) files: &'a Path,
    /// The full name of the branch; none for a detached HEAD.
    pub(crate) branch: Option<&'a str>,
    pub(crate) commit: ObjectId,
    pub(crate) by: &'a gix::actor::Signature,
}

/// Whether new worktrees of this repository need only the files that [`register`] writes. Worktrees with their own
/// configuration, sparse checkouts and relative links are left to gix.
pub(crate) fn is_ordinary(git: &gix::Repository) -> bool {
    let configuration = git.config_snapshot();
    ["extensions.worktreeConfig", "core.sparseCheckout", "worktree.useRelativePaths"]
        .iter()
        .all(|name| configuration.boolean(*name) != Some(true))
}

/// The name in git's list that a worktree at `place` gets, unless it is taken in the meantime.
pub(crate) fn free_name(common_directory: &Path, place: &Path) -> Result<String, GitError> {
    let doing = || format!("naming a worktree at {}", place.display());
    let name = place.file_name().ok_or_else(|| GitError::new(doing(), "it has no last part"))?;
    let name = gix::path::os_str_into_bstr(name).map_err(std::io::Error::other).doing(doing)?;
    let name = gix::validate::reference::name_partial_or_sanitize(name);
    let name = name.to_str().map_err(std::io::Error::other).doing(doing)?.to_owned();
    let list = common_directory.join("worktrees");
    let numbered = (1_u32..).map(|number| format!("{name}{number}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    names
        .find(|name| std::fs::symlink_metadata(list.join(name)).is_err())
        .ok_or_else(|| GitError::new(doing(), "there are too many of its name"))
}

/// Writes the `.git` file into the place, which exists, and the entry into git's list. The entry is locked, with git's
/// reason for half-made worktrees, until [`finish`]. The caller holds the registration lock.
pub(crate) fn register(git: &gix::Repository, git_directory: &Path, entry: &Entry<'_>) -> Result<(), GitError> {
    let common = git_directory.parent().and_then(Path::parent).unwrap_or(git_directory);
    let doing = || format!("registering {}", entry.place.display());
    let draft = private_directory(common).join(format!("{}.entry", unique_name()));
    write_entry(git, &draft, entry)
        .and_then(|()| {
            step::reached("an entry is written");
            let link = [b"gitdir: ", bytes(git_directory).as_slice(), b"\n"].concat();
            file::write_anew(entry.files.join(".git"), link)?;
            step::reached("a link is written");
            move_into_list(&draft, git_directory)
        })
        .inspect_err(|_| drop(delete_tree(&draft)))
        .doing(doing)?;
    step::reached("an entry is in git's list");
    Ok(())
}

/// Unlocks the entry: the worktree is complete.
pub(crate) fn finish(git_directory: &Path) -> Result<(), GitError> {
    let lock = git_directory.join("locked");
    own_paths::remove_file(&lock).doing(|| format!("deleting {}", lock.display()))
}

fn write_entry(git: &gix::Repository, draft: &Path, entry: &Entry<'_>) -> std::io::Result<()> {
    own_paths::create_dir_all(draft)?;
    file::write_anew(draft.join("locked"), "initializing\n")?;
    file::write_anew(draft.join("commondir"), "../..\n")?;
    file::write_anew(draft.join("gitdir"), [bytes(&entry.place.join(".git")).as_slice(), b"\n"].concat())?;
    let head = match entry.branch {
        Some(branch) => format!("ref: {branch}\n"),
        None => format!("{}\n", entry.commit),
    };
    file::write_anew(draft.join("HEAD"), head)?;
    if git.config_snapshot().boolean("core.logAllRefUpdates") != Some(false) {
        let mut line = format!("{} {} ", ObjectId::null(entry.commit.kind()), entry.commit).into_bytes();
        entry.by.write_to(&mut line)?;
        line.push(b'\n');
        own_paths::create_dir(draft.join("logs"))?;
        file::write_anew(draft.join("logs/HEAD"), line)?;
    }
    Ok(())
}

/// Retries if the list is missing: the git program deletes it with its last entry, without taking the registration
/// lock.
fn move_into_list(draft: &Path, git_directory: &Path) -> std::io::Result<()> {
    const ATTEMPTS: u32 = 10;
    let mut attempt = 1;
    loop {
        if let Some(list) = git_directory.parent() {
            own_paths::create_dir_all(list)?;
        }
        match move_without_replacing(draft, git_directory) {
            Err(error) if error.kind() == ErrorKind::NotFound && attempt < ATTEMPTS => attempt += 1,
            moved => return moved,
        }
    }
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn move_without_replacing(from: &Path, to: &Path) -> std::io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // Not every file system supports the flag.
        Err(error) if [rustix::io::Errno::INVAL, rustix::io::Errno::NOSYS].contains(&error) => move_if_free(from, to),
        result => Ok(result?),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn move_without_replacing(from: &Path, to: &Path) -> std::io::Result<()> {
    move_if_free(from, to)
}

/// A rename does not replace a directory that is not empty. Git's entries are empty only for a moment after git has
/// made one.
fn move_if_free(from: &Path, to: &Path) -> std::io::Result<()> {
    if std::fs::symlink_metadata(to).is_ok() {
        return Err(ErrorKind::AlreadyExists.into());
    }
    own_paths::rename(from, to)
}

fn bytes(path: &Path) -> Vec<u8> {
    let path = gix::bstr::BStr::new(path.as_os_str().as_encoded_bytes());
    gix::path::to_unix_separators_on_windows(path).into_owned().into()
}

/// The entries of all registered worktrees and their roots, read without opening a worktree.
pub(crate) fn registered(common_directory: &Path) -> Result<Vec<(PathBuf, PathBuf)>, GitError> {
    let list = common_directory.join("worktrees");
    let doing = || format!("reading {}", list.display());
    let entries = match own_paths::read_dir(&list) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.doing(doing)?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let git_directory = entry.doing(doing)?.path();
        // Git writes an entry in several steps, without taking the registration lock.
        let Some(link) = file::read(&git_directory.join("gitdir"), Kind::Link)? else { continue };
        let Ok(link) = gix::path::from_byte_slice(link.bytes.trim_end()) else { continue };
        let link = if link.is_absolute() { link.to_owned() } else { git_directory.join(link) };
        if let Some(root) = link.parent() {
            found.push((git_directory, root.to_owned()));
        }
    }
    Ok(found)
}
