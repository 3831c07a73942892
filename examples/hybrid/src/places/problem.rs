//! What goes wrong with places.

use interlocking::worktree::{
    ArchiveError, BranchName, CherryPickError, CommitError, CommitId, CreateBranchError, CreateCloneError, CreateError,
    DeleteBranchError, ExportError, FastForwardError, FetchError, GitError, NameError, ObjectIdError,
    OpenWorktreeError, PathError, RemoveCloneError, RemoveError, ResetError, SwitchError, TakeInError, UnlockError,
    WorktreeError,
};
use std::path::PathBuf;

/// What went wrong with a worktree.
#[derive(Debug, Clone, thiserror::Error)]
pub enum PlaceError {
    /// No node has made it yet.
    #[error("the worktree `{place}` does not exist yet")]
    NotOpen {
        /// Its name.
        place: &'static str,
    },
    /// The main branch does not exist.
    #[error("the repository has no branch `{branch}` with a commit: commit something to it first")]
    NoMain {
        /// The branch.
        branch: BranchName,
    },
    /// There is a branch of the run's name: another run's, which goes on or left it.
    #[error(
        "the run's name is taken: there is a branch {branch}, at {at}; choose another name, or delete what is left of that run"
    )]
    RunTaken {
        /// The branch.
        branch: BranchName,
        /// Where it is.
        at: CommitId,
    },
    /// The branch to land on is not where the run began.
    #[error(
        "the run began at {base}, and {branch} {}: what the run makes could not be landed there; have it land on another branch",
        found.map_or_else(|| "is gone".to_owned(), |found| format!("is at {found} now"))
    )]
    CannotLand {
        /// The branch.
        branch: BranchName,
        /// Where the run began.
        base: CommitId,
        /// Where the branch is; none if it is gone.
        found: Option<CommitId>,
    },
    /// A commit that a place stood at is not in the repository.
    #[error(
        "the commit {commit}, which `{place}` stood at, is not in {} any more: whatever kept it, such as a reference below \
         refs/interlocking/archive, was deleted, or git has cleared up what a run that succeeded did not land; bring the commit back from a copy of the repository, or \
         fork the run from before the node that made it",
        repository.display()
    )]
    CommitGone {
        /// The place.
        place: &'static str,
        /// The commit.
        commit: CommitId,
        /// The repository.
        repository: PathBuf,
    },
    /// A branch cannot be made.
    #[error(transparent)]
    CreateBranch(#[from] CreateBranchError),
    /// A name derived from the run's is not a branch name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// It cannot be created.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// It cannot be created as a clone.
    #[error(transparent)]
    CreateClone(#[from] CreateCloneError),
    /// What was committed in a clone cannot be brought back.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// A clone cannot be removed.
    #[error(transparent)]
    RemoveClone(#[from] RemoveCloneError),
    /// It cannot be committed.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// It cannot be reset.
    #[error(transparent)]
    Reset(#[from] ResetError),
    /// A head cannot be kept.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// Commits cannot be picked.
    #[error(transparent)]
    CherryPick(#[from] CherryPickError),
    /// The main branch cannot be advanced.
    #[error(transparent)]
    FastForward(#[from] FastForwardError),
    /// It cannot be read.
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    /// Commits of a clone cannot be read.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// They cannot be taken in.
    #[error(transparent)]
    TakeIn(#[from] TakeInError),
    /// A path is none of a repository's.
    #[error(transparent)]
    Path(#[from] PathError),
    /// What was examined is not what is there now.
    #[error(
        "somebody changed {path} in `{place}` between its examination and its commit; no agent is at work then, so one has left something behind that is"
    )]
    ChangedMeanwhile {
        /// The place.
        place: &'static str,
        /// The first file.
        path: String,
    },
    /// It cannot be removed.
    #[error(transparent)]
    Remove(#[from] RemoveError),
    /// It cannot be opened again.
    #[error(transparent)]
    OpenWorktree(#[from] OpenWorktreeError),
    /// The locks that a process left in it cannot be removed.
    #[error(transparent)]
    Unlock(#[from] UnlockError),
    /// A commit that the run's journal names is none.
    #[error(transparent)]
    Commitless(#[from] ObjectIdError),
    /// What lies where it is to be made cannot be removed.
    #[error("{}: {reason}", path.display())]
    Leftover {
        /// The directory.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// Its branch cannot be deleted.
    #[error(transparent)]
    DeleteBranch(#[from] DeleteBranchError),
    /// The repository cannot be read.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The work was stopped, because the program ends.
    #[error("git work was stopped before it was done")]
    Stopped,
}

impl PlaceError {
    /// Whether a lock of git's keeps `main`'s files from being touched: of a process that is at work there, or was killed.
    pub fn is_a_lock(&self) -> bool {
        let problem = match self {
            Self::FastForward(FastForwardError::CheckedOut { problem, .. }) => problem,
            _ => return false,
        };
        matches!(problem, SwitchError::Worktree(WorktreeError::IndexBusy { .. }))
    }
}
