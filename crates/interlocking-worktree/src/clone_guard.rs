//! Whether a clone's git directory still is one of its own.
//!
//! Whom a clone was made for may write to its `.git`. What is done there from outside must not lead anywhere else: a
//! symbolic link in the place of `objects`, `refs` or a log would make us write to somebody else's, and a pipe would
//! make us wait.

use std::path::{Path, PathBuf};

use crate::{
    git_error::{Doing as _, GitError},
    worktree::WorktreeError,
};

/// Files by which a git directory leads to another one, or to objects elsewhere.
const LEADING_ELSEWHERE: [&str; 4] =
    ["commondir", "config.worktree", "objects/info/alternates", "objects/info/http-alternates"];

/// Refuses a git directory that is a link or leads elsewhere.
pub(crate) fn check(root: &Path) -> Result<(), WorktreeError> {
    let directory = root.join(".git");
    let diverted = |what: String| WorktreeError::Diverted { path: root.to_owned(), found: what };
    match std::fs::symlink_metadata(&directory) {
        Ok(metadata) if metadata.is_dir() => {}
        Ok(_) => return Err(diverted("it is not a directory any more".to_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(WorktreeError::Gone { path: root.to_owned() });
        }
        Err(error) => return Err(error).doing(|| format!("looking at {}", directory.display()))?,
    }
    for name in LEADING_ELSEWHERE {
        if std::fs::symlink_metadata(directory.join(name)).is_ok() {
            return Err(diverted(format!("there is a `{name}` in it")));
        }
    }
    if let Some(found) = first_special(&directory)? {
        return Err(diverted(format!("{} is neither a file nor a directory", found.display())));
    }
    let configuration = directory.join("config");
    let text = std::fs::read(&configuration).doing(|| format!("reading {}", configuration.display()))?;
    // Also `includeIf`; git has no blank space before the name.
    if String::from_utf8_lossy(&text).to_ascii_lowercase().contains("[include") {
        return Err(diverted("its configuration includes other files".to_owned()));
    }
    Ok(())
}

fn first_special(directory: &Path) -> Result<Option<PathBuf>, GitError> {
    let mut waiting = vec![directory.to_owned()];
    while let Some(directory) = waiting.pop() {
        let doing = || format!("looking through {}", directory.display());
        for entry in std::fs::read_dir(&directory).doing(doing)? {
            let entry = entry.doing(doing)?;
            let kind = entry.file_type().doing(doing)?;
            if kind.is_dir() {
                waiting.push(entry.path());
            } else if !kind.is_file() {
                return Ok(Some(entry.path()));
            }
        }
    }
    Ok(None)
}
