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
    check_rules(&directory.join(".gitignore"))
}

/// Checks the rules for the worktree's root: its own, those of the repository, and the files that say where the latter are. Returns
/// the repository's file `info/exclude`, which may not exist; `None` if `root` is not the root of a worktree.
///
/// # Errors
///
/// [`Failure`], with the file's absolute path.
pub(crate) fn check_root(root: &Path) -> Result<Option<PathBuf>, Failure> {
    check(root)?;
    let exclude = common_directory(root)?.map(|directory| directory.join("info/exclude"));
    if let Some(exclude) = &exclude {
        check_rules(exclude)?;
    }
    Ok(exclude)
}

/// The directory of the repository that its worktrees share, found as git finds it: `ignore` itself takes relative paths to be
/// relative to the process's directory, and finds none for a submodule.
fn common_directory(root: &Path) -> Result<Option<PathBuf>, Failure> {
    let git = root.join(".git");
    if git.is_dir() {
        return Ok(Some(git));
    }
    let Some(line) = first_line(&git)? else { return Ok(None) };
    let Some(directory) = line.strip_prefix("gitdir: ").map(|directory| root.join(directory)) else { return Ok(None) };
    // A submodule's directory is not shared, and has no such file.
    let common = first_line(&directory.join("commondir"))?;
    Ok(Some(common.map_or_else(|| directory.clone(), |common| directory.join(common))))
}

fn first_line(path: &Path) -> Result<Option<String>, Failure> {
    check_file(path)?;
    let line = File::open(path).ok().and_then(|file| BufReader::new(file).lines().next());
    Ok(line.and_then(Result::ok))
}

/// Fails if rules are not in a regular file of limited size, or are not UTF-8: `ignore` reads no more of them after that.
fn check_rules(path: &Path) -> Result<(), Failure> {
    check_file(path)?;
    match fs::read(path) {
        Ok(rules) if std::str::from_utf8(&rules).is_err() => {
            let reason = "it is not UTF-8, so not all of git's ignore rules in it can be read, and the files that they are for are not \
                          searched: write it as UTF-8";
            Err(Failure { path: path.to_owned(), reason: reason.to_owned() })
        }
        _ => Ok(()),
    }
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
