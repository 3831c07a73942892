//! What can be wrong with a place that an agent works or worked in.

use std::{fmt, path::PathBuf};

use crate::{
    repository::history::CommitRecord,
    status::{change::Change, diff::FileChange},
    values::{git_error::Listed, id::CommitId, name::BranchName},
};

/// One way in which a [`Place`](crate::Place) differs from what was handed over to the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finding {
    /// The worktree is not registered any more, or its directory is gone. Nothing else was checked.
    Gone {
        /// Where it was.
        path: PathBuf,
    },
    /// Its `.git` was rewritten: git in this directory works on another repository. In a clone, nothing else was
    /// checked.
    LinkRewritten {
        /// The place's directory.
        path: PathBuf,
        /// The contents of `.git`, or what is wrong with it.
        says: String,
    },
    /// Another branch is checked out, or none.
    OtherBranch {
        /// The place's branch; none if its HEAD was detached.
        expected: Option<BranchName>,
        /// What is checked out; none if its HEAD is detached now.
        found: Option<BranchName>,
    },
    /// The place's branch was deleted.
    BranchGone {
        /// The branch.
        branch: BranchName,
    },
    /// HEAD, or the place's branch, is at a commit that does not descend from the one that was handed over.
    HeadMoved {
        /// Where it was.
        expected: CommitId,
        /// Where it is.
        found: Option<CommitId>,
    },
    /// The history was rewritten: it does not contain the commit that the place began at.
    BaseLost {
        /// The commit that it began at.
        base: CommitId,
        /// Where it is.
        head: CommitId,
    },
    /// The agent committed although it was not allowed to. Parents come before children.
    UnexpectedCommits {
        /// The commits.
        commits: Vec<CommitRecord>,
    },
    /// Files differ from the commit in a read-only place.
    Dirty {
        /// The files.
        changes: Vec<Change>,
    },
    /// Files outside the allowed paths were changed, committed or not.
    Outside {
        /// The files; for a renamed file, both names count.
        changes: Vec<FileChange>,
    },
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gone { path } => write!(formatter, "there is no worktree at {} any more", path.display()),
            Self::LinkRewritten { path, says } => {
                write!(formatter, "the `.git` in {} was rewritten: {says:?}", path.display())
            }
            Self::OtherBranch { expected, found } => {
                write!(formatter, "it should be on {}, and is on {}", branch(expected), branch(found))
            }
            Self::BranchGone { branch } => write!(formatter, "its branch {branch} was deleted"),
            Self::HeadMoved { expected, found: Some(found) } => {
                write!(formatter, "its head was moved from {expected} to {found}, which does not descend from it")
            }
            Self::HeadMoved { expected, found: None } => {
                write!(formatter, "its head was moved from {expected} to a branch without a commit")
            }
            Self::BaseLost { base, head } => {
                write!(formatter, "its history was rewritten: {base}, at which it began, is not behind {head}")
            }
            Self::UnexpectedCommits { commits } => {
                let commits: Vec<_> =
                    commits.iter().map(|commit| format!("{} {:?}", commit.id.short(), commit.subject())).collect();
                write!(formatter, "its agent made commits, which it may not do: {}", Listed(&commits))
            }
            Self::Dirty { changes } => {
                write!(formatter, "it is read-only, but files were changed: {}", Listed(changes))
            }
            Self::Outside { changes } => {
                write!(formatter, "files were changed that its agent may not change: {}", Listed(changes))
            }
        }
    }
}

fn branch(name: &Option<BranchName>) -> String {
    name.as_ref().map_or_else(|| "a detached HEAD".to_owned(), |name| format!("the branch {name}"))
}
