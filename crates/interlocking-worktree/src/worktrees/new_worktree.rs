//! The checks before a worktree or a clone is made: its place is free and outside the repository, and no worktree has
//! its branch checked out.

use std::path::{Component, Path, PathBuf};

use gix::ObjectId;

use crate::{
    checkout::reset::tree_of,
    clones::settings::is_clone,
    filesystem::own_paths,
    repository::{Repository, create_branch::CreateBranchError},
    values::{
        git_error::{Doing as _, GitError},
        id::CommitId,
        name::BranchName,
    },
    worktrees::register::registered,
};

/// A worktree could not be created. No branch, directory or registration is left behind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CreateError {
    /// There already is a branch of this name, at this commit or another.
    #[error("the branch {branch} exists already, at {at}: choose another name, or delete it")]
    BranchExists {
        /// The branch.
        branch: BranchName,
        /// The commit it is at.
        at: CommitId,
    },
    /// One name is a directory of the other: `agent` and `agent/one` cannot exist together.
    #[error("the branch {branch} cannot exist beside {existing}: choose a name that is not below the other")]
    BranchClash {
        /// The branch asked for.
        branch: BranchName,
        /// The existing branch.
        existing: BranchName,
    },
    /// There is no branch of this name to check out.
    #[error("there is no branch {branch} to create a worktree on: create it, or choose a new one")]
    NoSuchBranch {
        /// The branch asked for.
        branch: BranchName,
    },
    /// A worktree has the branch checked out already, the main one or another, whether or not its directory exists.
    /// With two worktrees on one branch, each would move the branch under the other.
    #[error("{branch} is checked out in {} already: one worktree a branch", place.display())]
    BranchInUse {
        /// The branch asked for.
        branch: BranchName,
        /// The worktree that is on it.
        place: PathBuf,
    },
    /// The branch to check out was moved in the meantime.
    #[error("{branch} moved: expected at {expected}, found at {found}; create the worktree again")]
    BranchMoved {
        /// The branch asked for.
        branch: BranchName,
        /// The commit it was at.
        expected: CommitId,
        /// The commit it is at.
        found: CommitId,
    },
    /// There is no such commit here.
    #[error("{commit} is not a commit of this repository")]
    NoSuchCommit {
        /// The commit asked for.
        commit: CommitId,
    },
    /// The place is not absent or an empty directory.
    #[error("{} is not empty: choose another place", place.display())]
    PlaceOccupied {
        /// The place.
        place: PathBuf,
    },
    /// The place lies inside the repository, or inside another of its worktrees.
    #[error("{} lies inside {}: worktrees live outside the repository", place.display(), inside.display())]
    PlaceInside {
        /// The place.
        place: PathBuf,
        /// What it lies inside.
        inside: PathBuf,
    },
    /// The place has a `..`, a control character (git stores paths as lines) or no last part to name the worktree
    /// after, or its last part begins with a dash or is `.git`.
    #[error("{} cannot be a place for a worktree: give a path without `..` and control characters that ends in a name, which is not `.git` and has no leading dash", place.display())]
    BadPlace {
        /// The place.
        place: PathBuf,
    },
    /// A worktree whose directory is gone is still registered there.
    #[error("a worktree is registered at {} already: remove it first", place.display())]
    PlaceRegistered {
        /// The place.
        place: PathBuf,
    },
    /// Something could not be read or written.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// The HEAD of the new worktree.
pub(crate) enum NewHead {
    /// A branch that is created with the worktree.
    Branch(BranchName),
    /// An existing branch.
    Existing(BranchName),
    Detached,
}

impl From<CreateBranchError> for CreateError {
    fn from(error: CreateBranchError) -> Self {
        match error {
            CreateBranchError::Exists { branch, at } => Self::BranchExists { branch, at },
            CreateBranchError::Clash { branch, existing } => Self::BranchClash { branch, existing },
            CreateBranchError::NoSuchCommit { commit } => Self::NoSuchCommit { commit },
            CreateBranchError::Git(error) => Self::Git(error),
        }
    }
}

impl NewHead {
    /// The branch that the worktree has checked out.
    pub(crate) fn branch(&self) -> Option<&BranchName> {
        match self {
            Self::Branch(branch) | Self::Existing(branch) => Some(branch),
            Self::Detached => None,
        }
    }

    /// The branch that is created with the worktree.
    pub(crate) fn new_branch(&self) -> Option<&BranchName> {
        match self {
            Self::Branch(branch) => Some(branch),
            Self::Existing(_) | Self::Detached => None,
        }
    }
}

impl Repository {
    /// Checks that the branch is still where it was before the lock was taken, and that no worktree has it checked out.
    /// The caller holds the registration lock.
    pub(crate) fn check_free(&self, branch: &BranchName, expected: CommitId) -> Result<(), CreateError> {
        if let Some(place) = self.place_on(branch)? {
            return Err(CreateError::BranchInUse { branch: branch.clone(), place });
        }
        match self.branch_head(branch)? {
            None => Err(CreateError::NoSuchBranch { branch: branch.clone() }),
            Some(found) if found != expected => {
                Err(CreateError::BranchMoved { branch: branch.clone(), expected, found })
            }
            Some(_) => Ok(()),
        }
    }

    /// The path of the worktree that has the branch checked out, whether or not its directory exists. The caller holds
    /// the registration lock.
    pub(crate) fn place_on(&self, branch: &BranchName) -> Result<Option<PathBuf>, GitError> {
        if let Some(place) = self.working_tree()
            && self.head()?.branch.as_ref() == Some(branch)
        {
            return Ok(Some(place.to_owned()));
        }
        let linked = self.list()?.into_iter().find(|entry| entry.branch.as_ref() == Some(branch));
        Ok(linked.map(|entry| entry.path))
    }

    /// Checks that the place is outside everything that belongs to the repository.
    pub(crate) fn check_outside(&self, place: &Path) -> Result<(), CreateError> {
        self.check_outside_of(place, registered(self.common_directory())?.into_iter().map(|(_, base)| base))
    }

    fn check_outside_of(&self, place: &Path, worktrees: impl Iterator<Item = PathBuf>) -> Result<(), CreateError> {
        let mut belongings: Vec<PathBuf> = self.working_tree().map(Path::to_owned).into_iter().collect();
        belongings.extend(worktrees);
        // Clones are not in git's list.
        belongings.extend(place.ancestors().skip(1).find(|above| is_clone(above)).map(Path::to_owned));
        let resolved = belongings.into_iter().map(|inside| std::fs::canonicalize(&inside).unwrap_or(inside));
        for inside in std::iter::once(self.common_directory().to_owned()).chain(resolved) {
            if place.starts_with(&inside) {
                return Err(CreateError::PlaceInside { place: place.to_owned(), inside });
            }
        }
        Ok(())
    }

    /// Checks that the place is free, and outside everything that belongs to the repository.
    pub(crate) fn check_place(&self, place: &Path) -> Result<(), CreateError> {
        let doing = || format!("looking at {}", place.display());
        let registered = registered(self.common_directory())?;
        if registered.iter().any(|(_, base)| base == place) {
            let place = place.to_owned();
            return Err(match place.symlink_metadata() {
                Ok(_) => CreateError::PlaceOccupied { place },
                Err(_) => CreateError::PlaceRegistered { place },
            });
        }
        self.check_outside_of(place, registered.into_iter().map(|(_, base)| base))?;
        match std::fs::symlink_metadata(place) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error).doing(doing).map_err(Into::into),
            Ok(metadata) => {
                let is_empty = metadata.is_dir() && own_paths::read_dir(place).doing(doing)?.next().is_none();
                if is_empty { Ok(()) } else { Err(CreateError::PlaceOccupied { place: place.to_owned() }) }
            }
        }
    }
}

/// The tree of the commit that a worktree is to begin at.
pub(crate) fn tree_at(git: &gix::Repository, from: CommitId) -> Result<ObjectId, CreateError> {
    if git.find_commit(from.git()).is_err() {
        return Err(CreateError::NoSuchCommit { commit: from });
    }
    Ok(tree_of(git, from)?)
}

/// An absolute path without symbolic links in the part that exists.
pub(crate) fn resolve(place: &Path) -> Result<PathBuf, CreateError> {
    let bad = || CreateError::BadPlace { place: place.to_owned() };
    if place.components().any(|part| part == Component::ParentDir) {
        return Err(bad());
    }
    let name = place.file_name().ok_or_else(bad)?;
    let plain = name.as_encoded_bytes();
    if plain.starts_with(b"-") || plain.eq_ignore_ascii_case(b".git") {
        return Err(bad());
    }
    let absolute = std::path::absolute(place).doing(|| format!("resolving {}", place.display()))?;
    let parent = absolute.parent().ok_or_else(bad)?;
    // The last part is not resolved: a symbolic link there counts as occupied.
    for existing in parent.ancestors() {
        if let Ok(canonical) = std::fs::canonicalize(existing) {
            let rest = parent.strip_prefix(existing).map_err(|_| bad())?;
            // Joining an empty path would append a separator.
            let parent = if rest.as_os_str().is_empty() { canonical } else { canonical.join(rest) };
            let place = parent.join(name);
            let has_control = place.as_os_str().as_encoded_bytes().iter().any(u8::is_ascii_control);
            return if has_control { Err(bad()) } else { Ok(place) };
        }
    }
    Err(bad())
}

/// The parents of the place that do not exist, outermost first.
pub(crate) fn missing_parents(place: &Path) -> Vec<PathBuf> {
    let mut missing: Vec<PathBuf> =
        place.ancestors().skip(1).take_while(|parent| !parent.exists()).map(Path::to_owned).collect();
    missing.reverse();
    missing
}
