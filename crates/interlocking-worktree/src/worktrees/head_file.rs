//! The HEAD file of a linked worktree, read from the worktree's directory below `.git/worktrees` without opening the
//! worktree as a repository.

use std::path::Path;

use gix::{ObjectId, bstr::ByteSlice as _, refs::FullName};

use crate::{
    repository::{Head, head_of, reference_file::follow},
    untrusted::file::{self, Kind},
    values::{id::CommitId, name::BranchName},
};

/// The contents of a HEAD file.
pub(crate) enum HeadFile {
    /// It points to a branch, which may not exist.
    Branch(BranchName),
    /// It points to another reference, which may be the worktree's own.
    Other,
    /// It holds a commit.
    Detached(ObjectId),
}

impl HeadFile {
    /// None if there is no HEAD file, or it holds nothing that git would have written: git writes an entry in several
    /// steps.
    pub(crate) fn read(private_directory: &Path) -> Option<Self> {
        let contents = file::read(&private_directory.join("HEAD"), Kind::Link).ok()??.bytes;
        let text = contents.trim_ascii_end();
        match text.strip_prefix(b"ref: ") {
            Some(name) => {
                let name = FullName::try_from(name.trim_ascii().as_bstr()).ok()?;
                Some(BranchName::from_git(name.as_ref()).map_or(Self::Other, Self::Branch))
            }
            None => ObjectId::from_hex(text).ok().map(Self::Detached),
        }
    }
}

/// The branch and the commit of a worktree's HEAD. None if it cannot be read.
pub(crate) fn head_of_entry(git: &gix::Repository, proxy: gix::worktree::Proxy<'_>) -> Option<Head> {
    match HeadFile::read(proxy.git_dir())? {
        HeadFile::Branch(branch) => {
            let (_, commit) = follow(git, &branch.full_name()).ok()?;
            Some(Head { branch: Some(branch), commit: commit.map(CommitId::from_git) })
        }
        HeadFile::Detached(commit) => Some(Head { branch: None, commit: Some(CommitId::from_git(commit)) }),
        HeadFile::Other => head_of(&proxy.into_repo_with_possibly_inaccessible_worktree().ok()?).ok(),
    }
}
