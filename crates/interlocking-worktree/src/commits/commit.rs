//! Committing the changes in a worktree.

use gix::{
    ObjectId,
    bstr::{BStr, ByteSlice as _},
    state::InProgress,
};

use crate::{
    recovery::intent_log::Intent,
    repository::{
        history::is_ancestor,
        references::{Move, MoveError, Named},
    },
    status::index_lock,
    status::{
        index,
        snapshot::{Keeping, Snapshot},
        survey::{Survey, head_tree},
    },
    values::{
        git_error::{Doing as _, GitError, Listed},
        id::{CommitId, at},
        path::RepositoryPath,
        signature::Signature,
        worktree_error::WorktreeError,
    },
    worktrees::worktree::Worktree,
};

/// The changes could not be committed. Branch, index and files are unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// The message is not valid.
    #[error(transparent)]
    Message(#[from] MessageError),
    /// A merge left paths unresolved in the index.
    #[error("unresolved after a merge: {}; resolve them with `git add`", Listed(paths))]
    Unmerged {
        /// The paths.
        paths: Vec<RepositoryPath>,
    },
    /// There are repositories inside the worktree: git would record only a commit id, and their files would be lost.
    #[error("git repositories inside the worktree: {}; delete their `.git`, or ignore them", Listed(paths))]
    NestedRepository {
        /// Their directories.
        paths: Vec<RepositoryPath>,
    },
    /// A merge, rebase or the like is unfinished in the worktree.
    #[error("a {operation} was begun in {} and not ended: end or abort it", path.display())]
    OperationInProgress {
        /// The worktree.
        path: std::path::PathBuf,
        /// The operation.
        operation: String,
    },
    /// The branch was moved in the meantime.
    #[error("the branch moved while it was being committed to: expected {}, found {}", at(*expected, "absent"), at(*found, "gone"))]
    Moved {
        /// The commit it was at.
        expected: Option<CommitId>,
        /// The commit it is at.
        found: Option<CommitId>,
    },
    /// The commit to squash onto is not an ancestor of the branch: the branch was rewritten.
    #[error("{base} is not an ancestor of {head}: the branch was rewritten, so there is nothing to squash")]
    NotAnAncestor {
        /// The commit given.
        base: CommitId,
        /// The commit the worktree is at.
        head: CommitId,
    },
    /// The worktree is not as it was when it was created or opened.
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    /// Something could not be read or written.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// A text is not valid as a commit's message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// It has no text.
    #[error("a commit needs a message")]
    Empty,
    /// It has a NUL byte, which git refuses.
    #[error("the commit's message contains a NUL byte")]
    Nul,
}

/// The parent of the new commit, and whether the branch moves to it.
enum Onto {
    Head,
    /// The worktree's head; the new commit has the same files.
    HeadUnchanged,
    Base(CommitId),
    /// This commit, without moving the branch.
    BaseUnmoved(CommitId),
}

impl Worktree {
    /// Commits everything that `git add --all && git commit` would: changed, new and deleted files, symbolic links and
    /// executable bits, but nothing that is ignored.
    ///
    /// None if nothing differs. No hooks run and nothing is signed. Blank lines before the message and blank space
    /// after it are removed, and it ends in one line break.
    ///
    /// # Errors
    ///
    /// See [`CommitError`]. The first commit of a new repository is made with this, too, on its main worktree.
    pub fn commit_all(&self, author: &Signature, message: &str) -> Result<Option<CommitId>, CommitError> {
        self.record(author, message, &Onto::Head, |_| true)
    }

    /// Like [`Worktree::commit_all`], for these files and directories only; other changes stay uncommitted.
    pub fn commit_paths(
        &self,
        paths: &[RepositoryPath],
        author: &Signature,
        message: &str,
    ) -> Result<Option<CommitId>, CommitError> {
        self.record(author, message, &Onto::Head, |path| {
            let path = RepositoryPath::from_git(path);
            paths.iter().any(|selected| path.is_in(selected))
        })
    }

    /// Makes one commit on top of `base` with all changes since: those of the commits after it and uncommitted ones.
    ///
    /// For agents that commit although the runtime does it for them: their commits are folded in. None if the files are
    /// those of `base`; the branch is then at `base`.
    ///
    /// # Errors
    ///
    /// [`CommitError::NotAnAncestor`] if the branch does not descend from `base`.
    pub fn squash_since(
        &self,
        base: CommitId,
        author: &Signature,
        message: &str,
    ) -> Result<Option<CommitId>, CommitError> {
        self.record(author, message, &Onto::Base(base), |_| true)
    }

    /// Makes the commit that [`squash_since`](Self::squash_since) would, without moving the branch: branch, index and
    /// files are unchanged. None if the files are those of `base`. As long as no reference keeps the commit, git may
    /// collect it as garbage.
    ///
    /// # Errors
    ///
    /// As [`squash_since`](Self::squash_since).
    pub fn propose_since(
        &self,
        base: CommitId,
        author: &Signature,
        message: &str,
    ) -> Result<Option<CommitId>, CommitError> {
        self.record(author, message, &Onto::BaseUnmoved(base), |_| true)
    }

    /// Makes a commit that changes no file, as `git commit --allow-empty` does, to comment on the ones before it.
    /// Uncommitted changes stay uncommitted.
    ///
    /// # Errors
    ///
    /// See [`CommitError`].
    pub fn commit_empty(&self, author: &Signature, message: &str) -> Result<CommitId, CommitError> {
        let made = self.record(author, message, &Onto::HeadUnchanged, |_| false)?;
        made.ok_or_else(|| WorktreeError::NoCommitYet { path: self.path().to_owned() }.into())
    }

    fn record(
        &self,
        author: &Signature,
        message: &str,
        onto: &Onto,
        selected: impl Fn(&BStr) -> bool,
    ) -> Result<Option<CommitId>, CommitError> {
        let message = normalize_message(message)?;
        let (git, head) = self.open()?;
        let head = head.commit;
        let parent = match (onto, head) {
            (Onto::Head | Onto::HeadUnchanged, head) => head,
            (Onto::Base(base) | Onto::BaseUnmoved(base), Some(head)) => {
                if !is_ancestor(&git, *base, head)? {
                    return Err(CommitError::NotAnAncestor { base: *base, head });
                }
                Some(*base)
            }
            (Onto::Base(_) | Onto::BaseUnmoved(_), None) => {
                return Err(WorktreeError::NoCommitYet { path: self.path().to_owned() }.into());
            }
        };

        let doing = || format!("committing {}", self.path().display());
        let lock = index_lock::lock(&git)?;
        // If no file changes, the index is only locked.
        let (tree, staged) = if matches!(onto, Onto::HeadUnchanged) {
            let index = index::read(&git, false)?;
            self.check_recordable(&git, index::conflicted(&index), Vec::new())?;
            (head_tree(&git)?, Err(lock))
        } else {
            let survey = Survey::of(&git, !self.is_main())?;
            let nested = survey.nested.iter().map(|path| path.as_bstr()).filter(|path| selected(path));
            let nested = nested.map(RepositoryPath::from_git).collect();
            self.check_recordable(&git, survey.conflicted(), nested)?;
            let Snapshot { tree, index, is_all } = Snapshot::of(&git, survey, selected, Keeping::InRepository)?;
            (tree, Ok(index_lock::stage(lock, &index, is_all.then_some(tree))?))
        };

        let parent_tree = match parent {
            None => ObjectId::empty_tree(git.object_hash()),
            Some(parent) => git.find_commit(parent.git()).doing(doing)?.tree_id().doing(doing)?.detach(),
        };
        let signature = author.git();
        let new = if tree == parent_tree && !matches!(onto, Onto::HeadUnchanged) {
            None
        } else {
            let commit = gix::objs::Commit {
                tree,
                parents: parent.iter().map(|parent| parent.git()).collect(),
                author: signature.clone(),
                committer: signature.clone(),
                encoding: None,
                message: message.as_str().into(),
                extra_headers: Vec::new(),
            };
            Some(CommitId::from_git(git.write_object(&commit).doing(doing)?.detach()))
        };
        if matches!(onto, Onto::BaseUnmoved(_)) {
            return Ok(new);
        }
        let target = new.or(parent);
        if let Some(target) = target.filter(|target| head != Some(*target)) {
            let moved = Move {
                name: Named::Head(self.branch()),
                expected: head.map(CommitId::git),
                to: target.git(),
                reason: format!("commit: {message}"),
            };
            let prepared = moved.prepare(&git).map_err(|error| moved_error(error, head))?;
            if let Ok(staged) = &staged {
                let git_directory = staged.git_directory.clone();
                staged.announce(&Intent::Moving { git_directory, to: target.git() })?;
            }
            prepared.commit(&signature)?;
        }
        if let Ok(staged) = staged {
            index_lock::replace(staged)?;
        }
        Ok(new)
    }

    /// Checks that nothing would be lost by a commit.
    fn check_recordable(
        &self,
        git: &gix::Repository,
        conflicted: Vec<RepositoryPath>,
        nested: Vec<RepositoryPath>,
    ) -> Result<(), CommitError> {
        if !conflicted.is_empty() {
            return Err(CommitError::Unmerged { paths: conflicted });
        }
        if let Some(operation) = git.state() {
            return Err(CommitError::OperationInProgress {
                path: self.path().to_owned(),
                operation: name_of(&operation).to_owned(),
            });
        }
        if !nested.is_empty() {
            return Err(CommitError::NestedRepository { paths: nested });
        }
        Ok(())
    }
}

fn name_of(operation: &InProgress) -> &'static str {
    match operation {
        InProgress::ApplyMailbox | InProgress::ApplyMailboxRebase => "run of `git am`",
        InProgress::Bisect => "bisection",
        InProgress::CherryPick | InProgress::CherryPickSequence => "cherry-pick",
        InProgress::Merge => "merge",
        InProgress::Rebase | InProgress::RebaseInteractive => "rebase",
        InProgress::Revert | InProgress::RevertSequence => "revert",
    }
}

fn moved_error(error: MoveError, expected: Option<CommitId>) -> CommitError {
    match error {
        MoveError::Moved { found } => CommitError::Moved { expected, found: found.map(CommitId::from_git) },
        MoveError::Git(error) => error.into(),
    }
}

/// Removes blank lines before a message and blank space after it, and ends it with one line break.
pub(crate) fn normalize_message(message: &str) -> Result<String, MessageError> {
    let begin = message.find(|character: char| !character.is_whitespace()).ok_or(MessageError::Empty)?;
    let line = message[..begin].rfind(['\n', '\r']).map_or(0, |end| end + 1);
    let message = message[line..].trim_end();
    if message.contains('\0') {
        return Err(MessageError::Nul);
    }
    Ok(format!("{message}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_ends_in_one_line_break_and_is_not_empty() {
        assert_eq!(normalize_message("\ntypes: a\n\nbody\n\n").unwrap(), "types: a\n\nbody\n");
        assert_eq!(normalize_message(" \n\r\n  a").unwrap(), "  a\n");
        assert_eq!(normalize_message(" \n"), Err(MessageError::Empty));
        assert_eq!(normalize_message("a\0b"), Err(MessageError::Nul));
    }
}
