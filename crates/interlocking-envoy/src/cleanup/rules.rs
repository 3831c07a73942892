//! Checks the files with git's ignore rules before `ignore` reads them.
//!
//! An agent can write these files. `ignore` would wait for a pipe without an end, and reads a device or a file of any size to its
//! end. A link is refused, too: it may lead to either, and git follows none at `.gitignore`.

use crate::cleanup::report::Failure;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// The most bytes of a file with ignore rules.
const LARGEST: u64 = 1 << 20;

/// Checks the rules for a directory within the worktree.
///
/// # Errors
///
/// [`Failure`], with the file's absolute path.
pub(crate) fn check(directory: &Path) -> Result<(), Failure> {
    check_file(&directory.join(".gitignore"))
}

/// Checks the rules for the worktree's root: its own, those of the repository, and the files that say where the latter are.
///
/// # Errors
///
/// [`Failure`], with the file's absolute path.
pub(crate) fn check_root(root: &Path) -> Result<(), Failure> {
    check(root)?;
    match directory_of_exclude(root)? {
        Some(directory) => check_file(&directory.join("info/exclude")),
        None => Ok(()),
    }
}

/// The directory whose `info/exclude` `ignore` reads, which it finds as this function does; `None` if it finds none.
fn directory_of_exclude(root: &Path) -> Result<Option<PathBuf>, Failure> {
    let git = root.join(".git");
    if git.is_dir() {
        return Ok(Some(git));
    }
    let Some(line) = first_line(&git)? else { return Ok(None) };
    let Some(directory) = line.strip_prefix("gitdir: ").map(Path::new) else { return Ok(None) };
    let common = first_line(&directory.join("commondir"))?;
    Ok(common.map(|common| if common.starts_with('.') { directory.join(common) } else { common.into() }))
}

fn first_line(path: &Path) -> Result<Option<String>, Failure> {
    check_file(path)?;
    let line = File::open(path).ok().and_then(|file| BufReader::new(file).lines().next());
    Ok(line.and_then(Result::ok))
}

/// Fails if something is at the path that is not a regular file of limited size.
fn check_file(path: &Path) -> Result<(), Failure> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() || found.len() > LARGEST => {
            let reason = format!(
                "it is not a regular file of at most {LARGEST} bytes, so git's ignore rules are not read, and the files that they \
                 are for are not searched: replace it"
            );
            Err(Failure { path: path.to_owned(), reason })
        }
        // What does not exist or cannot be accessed has no rules.
        _ => Ok(()),
    }
}
