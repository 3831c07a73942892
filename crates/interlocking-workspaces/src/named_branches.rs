//! The owners of branches whose names come from the settings.
//!
//! A branch whose name begins with the run's name belongs to the run. A branch of any other name may belong to another
//! program, so a run notes in a file of the repository, one per line, the branches that it is about to create and their
//! workspaces. A branch that is not in the file is not the run's, and is not touched. The file is beside the branches,
//! so that they are found even if the run's directory was deleted.

use crate::error::GitWorkspacesError;
use crate::git_run::GitRun;
use interlocking_sandbox::regular_file::{self, Links};
use interlocking_worktree::{BranchName, CommitId, delete_directory};
use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The directory of the files, in the repository's git directory. Each is called like its root run.
const BRANCHES: &str = "interlocking/branches";

/// A larger file was not written by this crate.
const MAX_BYTES: u64 = 16 << 20;

/// The state of a tree of runs about its named branches.
#[derive(Default)]
pub(crate) struct Named {
    /// Locked while the file is read or written.
    file: Mutex<()>,
    /// The labels of the children that are active in this process.
    active: Mutex<BTreeSet<String>>,
}

impl Named {
    /// Notes that a child is active.
    pub(crate) fn add_active(&self, label: &str) {
        self.active().insert(label.to_owned());
    }

    /// Notes that a child is not active any more.
    pub(crate) fn remove_active(&self, label: &str) {
        self.active().remove(label);
    }

    fn active(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.active.lock().unwrap_or_else(PoisonError::into_inner)
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
    /// Notes that a branch belongs to this workspace, whose lock the caller holds. `head` is the branch's head, if the
    /// branch exists; returns the head after this. Git work.
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
                if run.is_empty() || self.0.tree.named.active().contains(run) {
                    let (branch, owner) = (branch.clone(), owner.place.clone());
                    return Err(GitWorkspacesError::BranchTaken {
                        branch,
                        by: format!("workspace `{owner}` of this run"),
                    });
                }
                // The owner was a child that has ended, and this workspace takes the branch over. The child's worktree
                // may still exist.
                self.clear(&self.tree_directory().join(&owner.place))?;
                owner.place = place;
                self.write_noted(&noted)?;
                if let Some(head) = head {
                    self.archive_and_delete(branch, head)?;
                }
                Ok(None)
            }
            None if is_own => Ok(head),
            None => {
                if let Some(at) = head {
                    return Err(GitWorkspacesError::BranchTaken {
                        branch: branch.clone(),
                        by: format!("a branch that this run did not make, at {at}"),
                    });
                }
                noted.push(Noted { place, branch: branch.clone() });
                self.write_noted(&noted)?;
                Ok(None)
            }
        }
    }

    /// Removes the note that a branch belongs to this run, because another program created the branch. Git work.
    pub(crate) fn leave_branch(&self, branch: &BranchName) -> Result<(), GitWorkspacesError> {
        let _file = self.0.tree.named.file();
        let mut noted = self.noted()?;
        noted.retain(|noted| noted.branch != *branch);
        self.write_noted(&noted)
    }

    /// The branches of the run and its children whose names come from the settings.
    pub(crate) fn named_branches(&self) -> Result<BTreeSet<BranchName>, GitWorkspacesError> {
        Ok(self.noted()?.into_iter().map(|noted| noted.branch).collect())
    }

    /// The branch of the workspace at `place`, if its name comes from the settings.
    pub(crate) fn named_branch_of(&self, place: &str) -> Result<Option<BranchName>, GitWorkspacesError> {
        Ok(self.noted()?.into_iter().find(|noted| noted.place == place).map(|noted| noted.branch))
    }

    /// Deletes the notes of a run that has no branches any more. Git work.
    pub(crate) fn forget_branches(&self) -> Result<(), GitWorkspacesError> {
        // Another run may be about to write its notes beside them.
        Ok(delete_directory(self.noted_path())?)
    }

    fn noted_path(&self) -> PathBuf {
        self.settings().repository.common_directory().join(BRANCHES).join(self.0.names.root.as_str())
    }

    /// The notes. A program that can write to the repository can change them: a line counts only if its place is in the
    /// run's directory, and its branch is none that the run begins at or lands on.
    fn noted(&self) -> Result<Vec<Noted>, GitWorkspacesError> {
        let path = self.noted_path();
        let text = match read_noted(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            text => text.map_err(|error| unusable(path, &error))?,
        };
        let others: Vec<_> = [self.target(), self.landing()].into_iter().flatten().collect();
        let noted = text.lines().filter_map(|line| {
            let (place, branch) = line.split_once(' ')?;
            // The rules for names are those for paths, too.
            BranchName::new(format!("{}{place}", self.tree_prefix())).ok()?;
            let branch = BranchName::new(branch).ok().filter(|branch| !others.contains(branch))?;
            Some(Noted { place: place.to_owned(), branch })
        });
        Ok(noted.collect())
    }

    fn write_noted(&self, noted: &[Noted]) -> Result<(), GitWorkspacesError> {
        let path = self.noted_path();
        // No run's name has a dot.
        let new = path.with_extension("new");
        let text: String = noted.iter().map(|Noted { place, branch }| format!("{place} {branch}\n")).collect();
        let _ = fs::remove_file(&new);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        let file = made.and_then(|()| OpenOptions::new().write(true).create_new(true).open(&new));
        let written = file.and_then(|mut file| file.write_all(text.as_bytes())).and_then(|()| fs::rename(&new, &path));
        written.map_err(|error| unusable(path, &error))
    }
}

fn read_noted(path: &Path) -> io::Result<String> {
    let bytes = regular_file::read(path, Links::Refused, MAX_BYTES)?;
    String::from_utf8(bytes).map_err(io::Error::other)
}

/// The error for a file of the run that cannot be used: an agent can put anything in its place.
pub(crate) fn unusable(path: PathBuf, error: &io::Error) -> GitWorkspacesError {
    let reason = match error.kind() {
        io::ErrorKind::InvalidData => "it is not a file: delete it".to_owned(),
        io::ErrorKind::FileTooLarge => "it is not the file that was written there: delete it".to_owned(),
        _ => error.to_string(),
    };
    GitWorkspacesError::Directory { path, reason }
}
