//! Branches that the settings name: whose they are.
//!
//! A branch of a run's own name is the run's. One of any other name may be anybody's, so a run notes in a file of its directory, one
//! line each, what it is about to make and for which workspace. What is not noted there is somebody else's, and is not touched.

use crate::error::GitWorkspacesError;
use crate::git_run::GitRun;
use interlocking_worktree::{BranchName, CommitId};
use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The file, in the directory of the run that was started.
pub(crate) const BRANCHES: &str = ".branches";

/// A file of so many bytes is none of ours.
const LONGEST: u64 = 16 << 20;

/// What a tree of runs knows of its names.
#[derive(Default)]
pub(crate) struct Named {
    /// Locked while the file is looked at or written.
    file: Mutex<()>,
    /// The children that this process has, by label.
    living: Mutex<BTreeSet<String>>,
}

impl Named {
    /// A child is there.
    pub(crate) fn begins(&self, label: &str) {
        self.living().insert(label.to_owned());
    }

    /// Nobody works for it any more.
    pub(crate) fn ends(&self, label: &str) {
        self.living().remove(label);
    }

    fn living(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.living.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self) -> MutexGuard<'_, ()> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A line of the file.
struct Noted {
    place: String,
    branch: BranchName,
}

impl GitRun {
    /// Notes that a branch is about to be this workspace's, which has its lock. `head` is where it is, if it is there; gives where it is
    /// then. Git work.
    pub(crate) fn take_branch(
        &self,
        name: &str,
        branch: &BranchName,
        head: Option<CommitId>,
    ) -> Result<Option<CommitId>, GitWorkspacesError> {
        let _file = self.0.tree.named.file();
        let mut noted = self.noted()?;
        let place = self.0.names.place(name);
        let owner = noted.iter().position(|noted| noted.branch == *branch);
        let is_own = branch.as_str().starts_with(&self.tree_prefix());
        match owner.and_then(|owner| noted.get_mut(owner)) {
            Some(owner) if owner.place == place => Ok(head),
            Some(owner) => {
                let run = owner.place.split_once('/').map_or("", |(run, _)| run);
                if run.is_empty() || self.0.tree.named.living().contains(run) {
                    let (branch, owner) = (branch.clone(), owner.place.clone());
                    return Err(GitWorkspacesError::BranchTaken {
                        branch,
                        by: format!("workspace `{owner}` of this run"),
                    });
                }
                // Of a child that has ended, which another goes on for. Its worktree may still be there.
                self.clear(&self.tree_directory().join(&owner.place))?;
                owner.place = place;
                self.write_noted(&noted)?;
                if let Some(head) = head {
                    self.set_aside(branch, head)?;
                }
                Ok(None)
            }
            None if is_own => Ok(head),
            None => {
                if let Some(at) = head {
                    return Err(GitWorkspacesError::BranchTaken {
                        branch: branch.clone(),
                        by: format!("somebody else, at {at}"),
                    });
                }
                noted.push(Noted { place, branch: branch.clone() });
                self.write_noted(&noted)?;
                Ok(None)
            }
        }
    }

    /// Notes that a branch did not become this run's after all. Git work.
    pub(crate) fn leave_branch(&self, branch: &BranchName) -> Result<(), GitWorkspacesError> {
        let _file = self.0.tree.named.file();
        let mut noted = self.noted()?;
        noted.retain(|noted| noted.branch != *branch);
        self.write_noted(&noted)
    }

    /// The branches that the run and its children have under other names than their own.
    pub(crate) fn named_branches(&self) -> Result<BTreeSet<BranchName>, GitWorkspacesError> {
        Ok(self.noted()?.into_iter().map(|noted| noted.branch).collect())
    }

    fn noted(&self) -> Result<Vec<Noted>, GitWorkspacesError> {
        let path = self.tree_directory().join(BRANCHES);
        let is_ours = |found: &fs::Metadata| found.is_file() && found.len() <= LONGEST;
        let text = match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Ok(found) if !is_ours(&found) => Err(io::Error::other("it is not the file that was written there")),
            Ok(_) => fs::read_to_string(&path),
            Err(error) => Err(error),
        };
        let text = text.map_err(|error| unusable(path, &error))?;
        let noted = text.lines().filter_map(|line| {
            let (place, branch) = line.split_once(' ')?;
            Some(Noted { place: place.to_owned(), branch: BranchName::new(branch).ok()? })
        });
        Ok(noted.collect())
    }

    fn write_noted(&self, noted: &[Noted]) -> Result<(), GitWorkspacesError> {
        let path = self.tree_directory().join(BRANCHES);
        let new = path.with_extension("new");
        let text: String = noted.iter().map(|Noted { place, branch }| format!("{place} {branch}\n")).collect();
        let _ = fs::remove_file(&new);
        let file = OpenOptions::new().write(true).create_new(true).open(&new);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes())).and_then(|()| fs::rename(&new, &path));
        written.map_err(|error| unusable(path, &error))
    }
}

fn unusable(path: PathBuf, error: &io::Error) -> GitWorkspacesError {
    GitWorkspacesError::Directory { path, reason: error.to_string() }
}
