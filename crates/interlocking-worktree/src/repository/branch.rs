//! Branches and archive references: reading, advancing, keeping, deleting.

use std::{path::PathBuf, time::Duration};

use crate::{
    checkout::{
        reset::tree_of,
        switch::{Switch, SwitchError, Uncommitted},
    },
    repository::{
        Repository,
        correct_configuration::correct_configuration,
        history::is_ancestor,
        references::{self, Move, MoveError, Named},
    },
    untrusted::{git_directory, program, tree},
    values::{
        git_error::{Doing as _, GitError},
        id::{CommitId, at},
        name::{ArchiveName, BranchName},
        signature::Signature,
    },
    worktrees::head_file::HeadFile,
};

/// A branch could not be advanced. The branch was not moved. The files are unchanged, unless [`SwitchError::Files`]
/// says that they could not be restored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FastForwardError {
    /// The branch is not where the caller expected it: checks against the old commit may be stale.
    #[error("{branch} moved: expected at {expected}, found {}; check again against where it is now", at(*found, "gone"))]
    Moved {
        /// The branch.
        branch: BranchName,
        /// Where the caller expected it.
        expected: CommitId,
        /// Where it is; none if it does not exist.
        found: Option<CommitId>,
    },
    /// The new commit does not descend from the branch, which would lose commits.
    #[error("{to} does not descend from {branch}, which is at {from}: rebase or merge first")]
    NotFastForward {
        /// The branch.
        branch: BranchName,
        /// Where it is.
        from: CommitId,
        /// Where it was to go.
        to: CommitId,
    },
    /// The branch is checked out in more than one worktree, of which only one could be updated.
    #[error("{branch} is checked out in {}: leave it in all but one", places.iter().map(|place| place.display().to_string()).collect::<Vec<_>>().join(" and "))]
    CheckedOutTwice {
        /// The branch.
        branch: BranchName,
        /// The worktrees.
        places: Vec<PathBuf>,
    },
    /// The branch is checked out in a worktree that could not be updated, for example because of uncommitted changes.
    #[error("{branch} is checked out: {problem}")]
    CheckedOut {
        /// The branch.
        branch: BranchName,
        /// Why its files could not be updated.
        problem: SwitchError,
    },
    /// Something could not be read or written.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// A branch could not be deleted. It is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeleteBranchError {
    /// The branch is not where the caller expected it.
    #[error("{branch} moved: expected at {expected}, found {}; look at it again before deleting it", at(*found, "gone"))]
    Moved {
        /// The branch.
        branch: BranchName,
        /// Where the caller expected it.
        expected: CommitId,
        /// Where it is; none if it does not exist.
        found: Option<CommitId>,
    },
    /// A worktree has it checked out.
    #[error("{branch} is checked out in {}: switch to another branch there, or remove it if it is a linked worktree", place.display())]
    CheckedOut {
        /// The branch.
        branch: BranchName,
        /// The worktree.
        place: PathBuf,
    },
    /// Something could not be read or written.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// A commit could not be archived.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveError {
    /// The name is taken by another commit.
    #[error("the archive name {name} is taken, by {found}")]
    Taken {
        /// The name.
        name: ArchiveName,
        /// The commit that has it.
        found: CommitId,
    },
    /// There is no such commit here.
    #[error("{commit} is not a commit of this repository")]
    NoSuchCommit {
        /// The commit asked for.
        commit: CommitId,
    },
    /// Something could not be read or written.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl Repository {
    /// The local branches and their commits, ordered by name. Whether a commit is readable is not checked. As in git's own
    /// list, a symbolic reference that leads nowhere is not included.
    ///
    /// # Errors
    ///
    /// [`GitError`] if any branch cannot be read.
    pub fn branches(&self) -> Result<Vec<(BranchName, CommitId)>, GitError> {
        self.named("refs/heads/", BranchName::from_git)
    }

    /// Like [`branches`](Self::branches), of the branches whose names begin with `folder` and a slash. The others are not
    /// read.
    ///
    /// # Errors
    ///
    /// [`GitError`] if one of these branches cannot be read.
    pub fn branches_below(&self, folder: &BranchName) -> Result<Vec<(BranchName, CommitId)>, GitError> {
        self.named(&format!("{}/", folder.full_name()), BranchName::from_git)
    }

    /// The commit of a branch; none if the branch does not exist.
    pub fn branch_head(&self, branch: &BranchName) -> Result<Option<CommitId>, GitError> {
        Ok(references::read(&self.git(), &branch.full_name())?.map(CommitId::from_git))
    }

    /// Moves a branch forward to `to` if it is still at `expected` (compare and swap).
    ///
    /// If the branch is checked out, in the main working tree or a linked one, the files there are updated; untracked
    /// files that are not in the way stay.
    ///
    /// # Errors
    ///
    /// See [`FastForwardError`], which says what is unchanged.
    pub fn fast_forward(&self, branch: &BranchName, to: CommitId, expected: CommitId) -> Result<(), FastForwardError> {
        let git = self.git();
        // No worktree may check out the branch in the meantime.
        let _registration = self.lock_registration()?;
        let found = self.branch_head(branch)?;
        if found != Some(expected) {
            return Err(FastForwardError::Moved { branch: branch.clone(), expected, found });
        }
        if !is_ancestor(&git, expected, to)? {
            return Err(FastForwardError::NotFastForward { branch: branch.clone(), from: expected, to });
        }
        if to == expected {
            return Ok(());
        }
        // Every commit between the two becomes part of the branch.
        let before = tree_of(&git, expected)?;
        for commit in self.commits(expected..to)? {
            tree::check_successor(&git, before, tree_of(&git, commit.id)?)?;
        }
        let by = Signature::runtime();
        let reason = format!("merge {to}: Fast-forward");
        let mut places = self.checked_out_in(branch)?;
        match places.len() {
            0 => {
                let name = branch.full_name();
                let moved =
                    Move { name: Named::Reference(&name), expected: Some(expected.git()), to: to.git(), reason };
                let prepared = moved.prepare(&git).map_err(|error| match error {
                    MoveError::Moved { found } => FastForwardError::Moved {
                        branch: branch.clone(),
                        expected,
                        found: found.map(CommitId::from_git),
                    },
                    MoveError::Git(error) => error.into(),
                })?;
                prepared.commit(&by)?;
                Ok(())
            }
            1 => {
                let (place, checkout) = places.remove(0);
                let is_linked = checkout.kind() == gix::repository::Kind::LinkedWorkTree;
                if is_linked {
                    program::check(&checkout, &place)?;
                }
                let tree = tree_of(&git, to)?;
                Switch::prepare(&checkout, is_linked, tree, Uncommitted::Refuse)
                    .and_then(|switch| switch.run(Some(branch), expected, to, &by, reason))
                    .map_err(|problem| match problem {
                        SwitchError::Moved { expected, found } => {
                            FastForwardError::Moved { branch: branch.clone(), expected, found }
                        }
                        problem => FastForwardError::CheckedOut { branch: branch.clone(), problem },
                    })
            }
            _ => Err(FastForwardError::CheckedOutTwice {
                branch: branch.clone(),
                places: places.into_iter().map(|(place, _)| place).collect(),
            }),
        }
    }

    /// Deletes a branch that is still at `expected` and that no worktree has checked out. As for git, a worktree counts
    /// whose directory is missing: its disk may not be there now.
    pub fn delete_branch(&self, branch: &BranchName, expected: CommitId) -> Result<(), DeleteBranchError> {
        let _registration = self.lock_registration()?;
        self.delete_under_lock(branch, expected)
    }

    /// [`Repository::delete_branch`] for a caller that holds the registration lock.
    pub(crate) fn delete_under_lock(&self, branch: &BranchName, expected: CommitId) -> Result<(), DeleteBranchError> {
        if let Some(place) = self.place_on(branch)? {
            return Err(DeleteBranchError::CheckedOut { branch: branch.clone(), place });
        }
        references::delete(&self.git(), &branch.full_name(), expected.git()).map_err(|error| match error {
            MoveError::Moved { found } => {
                DeleteBranchError::Moved { branch: branch.clone(), expected, found: found.map(CommitId::from_git) }
            }
            MoveError::Git(error) => error.into(),
        })
    }

    /// Keeps a commit reachable under `refs/interlocking/archive/`, where no branch list shows it. Archiving the same
    /// commit under the same name again does nothing.
    pub fn archive(&self, name: &ArchiveName, commit: CommitId) -> Result<(), ArchiveError> {
        let git = self.git();
        if git.find_commit(commit.git()).is_err() {
            return Err(ArchiveError::NoSuchCommit { commit });
        }
        let reference = name.reference();
        let new = Move {
            name: Named::Reference(&reference),
            expected: None,
            to: commit.git(),
            reason: "archived".to_owned(),
        };
        match new.create(&git, &Signature::runtime()) {
            Ok(()) => Ok(()),
            Err(MoveError::Moved { found }) if found == Some(commit.git()) => Ok(()),
            Err(MoveError::Moved { found }) => {
                Err(ArchiveError::Taken { name: name.clone(), found: found.map_or(commit, CommitId::from_git) })
            }
            Err(MoveError::Git(error)) => Err(error.into()),
        }
    }

    /// The archived commits, ordered by name.
    pub fn archived(&self) -> Result<Vec<(ArchiveName, CommitId)>, GitError> {
        self.named(ArchiveName::PREFIX, ArchiveName::from_git)
    }

    fn named<T: Ord>(
        &self,
        prefix: &str,
        name: impl Fn(&gix::refs::FullNameRef) -> Option<T>,
    ) -> Result<Vec<(T, CommitId)>, GitError> {
        let doing = || format!("listing {prefix}");
        git_directory::check(self.common_directory(), self.limits())?;
        git_directory::check_references(self.common_directory(), prefix)?;
        let git = self.git();
        let references = git.references().doing(doing)?;
        let mut named = Vec::new();
        for reference in references.prefixed(prefix).doing(doing)? {
            let mut reference = reference.doing(doing).map_err(|error| {
                let cause = format!("{}; delete that reference if it stays unreadable", error.cause());
                GitError::new(doing(), cause)
            })?;
            let Some(name) = name(reference.name()) else { continue };
            let is_symbolic = matches!(reference.target(), gix::refs::TargetRef::Symbolic(_));
            match reference.follow_to_object().doing(doing) {
                Ok(id) => named.push((name, CommitId::from_git(id.detach()))),
                // Its target was deleted, or it leads back to itself.
                Err(_) if is_symbolic => {}
                Err(error) => return Err(error),
            }
        }
        named.sort();
        Ok(named)
    }

    /// The working trees with files that have the branch checked out. The caller holds the registration lock.
    pub(crate) fn checked_out_in(&self, branch: &BranchName) -> Result<Vec<(PathBuf, gix::Repository)>, GitError> {
        let doing = || format!("looking for worktrees on {branch}");
        git_directory::check_list(self.common_directory(), self.limits())?;
        let mut found = Vec::new();
        if let Some(place) = self.working_tree()
            && self.head()?.branch.as_ref() == Some(branch)
        {
            found.push((place.to_owned(), self.git_of_main_worktree()?));
        }
        let git = self.git();
        for proxy in git.worktrees().doing(doing)? {
            // A worktree without its directory has no files to update.
            let Ok(place) = proxy.base() else { continue };
            let is_elsewhere = match HeadFile::read(proxy.git_dir()) {
                Some(HeadFile::Branch(other)) => other != *branch,
                Some(_) => true,
                // HEAD may be half written.
                None => false,
            };
            if is_elsewhere || !place.is_dir() {
                continue;
            }
            let Some((mut checkout, head)) = open_settled(&proxy).doing(doing)? else { continue };
            correct_configuration(&mut checkout)?;
            if head.as_ref().and_then(|name| BranchName::from_git(name.as_ref())).as_ref() == Some(branch) {
                found.push((place, checkout));
            }
        }
        Ok(found)
    }
}

/// Opens a worktree and reads the name in its HEAD. None if it has no HEAD: git does not take the registration lock, so
/// it may be in the middle of writing or removing the entry.
fn open_settled(
    proxy: &gix::worktree::Proxy<'_>,
) -> gix::Result<Option<(gix::Repository, Option<gix::refs::FullName>)>> {
    const ATTEMPTS: u32 = 5;
    let mut attempt = 1;
    loop {
        let opened = proxy.clone().into_repo_with_possibly_inaccessible_worktree();
        let read = opened.and_then(|git| git.head_name().map(|head| (git.clone(), head)));
        match read {
            Ok(read) => return Ok(Some(read)),
            Err(_) if !proxy.git_dir().join("HEAD").is_file() => return Ok(None),
            Err(error) if attempt == ATTEMPTS => return Err(error),
            Err(_) => {
                std::thread::sleep(Duration::from_millis(20) * attempt);
                attempt += 1;
            }
        }
    }
}
