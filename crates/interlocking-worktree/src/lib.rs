//! Isolated git worktrees for agents, on [gix](https://docs.rs/gix). It knows no graph and starts no program.
//!
//! An agent gets a [`Worktree`] of its own, on a branch of its own, outside the repository. The runtime commits what
//! the agent did, checks which paths it touched, picks the commits together in another worktree and, when everything
//! holds, moves the main branch forward if it is still where it was.
//!
//! ```
//! use interlocking_worktree::{BranchName, Force, Repository, Signature};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let place = tempfile::tempdir()?;
//! let runtime = Signature::new("Runtime", "runtime@example.org")?;
//!
//! // A new project with a first commit.
//! let repository = Repository::init(place.path().join("project"))?;
//! let user = repository.main_worktree()?.expect("it is not bare");
//! std::fs::write(user.path().join("README.md"), "# Project\n")?;
//! let start = user.commit_all(&runtime, "Begin")?.expect("a file is new");
//!
//! // An agent's worktree, outside the repository.
//! let tests = repository.create_worktree(place.path().join("run/tests-r1"), BranchName::new("tests-r1")?, start)?;
//! std::fs::write(tests.path().join("properties.rs"), "// forall x\n")?;
//! let head = tests.commit_all(&runtime, "tests: one property")?.expect("a file is new");
//! assert!(tests.is_clean()?);
//! let touched = repository.diff(start, head)?;
//! assert_eq!(touched[0].path, "properties.rs");
//!
//! // Into a fresh worktree, and from there to the main branch, if that has not moved.
//! let merge = repository.create_worktree(place.path().join("run/merge-r1"), BranchName::new("merge-r1")?, start)?;
//! let picked = merge.cherry_pick(start..head, &runtime)?;
//! let main = BranchName::new("main")?;
//! repository.fast_forward(&main, picked[0], start)?;
//! assert!(user.path().join("properties.rs").exists());
//!
//! for worktree in [tests, merge] {
//!     let at = worktree.head()?;
//!     repository.remove_worktree(&worktree, Force::No)?.delete()?;
//!     repository.delete_branch(worktree.branch().expect("it is on one"), at)?;
//! }
//! assert_eq!(repository.branches()?.len(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! # Map
//!
//! | what | where |
//! |---|---|
//! | open, create, find a repository | [`Repository::open`], [`Repository::init`], [`Repository::discover`] |
//! | create, list, open, remove worktrees | [`Repository::create_worktree`], [`Repository::create_detached_worktree`], [`Repository::worktrees`], [`Repository::open_worktree`], [`Repository::remove_worktree`] |
//! | a place with an object store of its own, and the way back | [`Repository::create_clone`], [`Repository::open_clone`], [`Repository::fetch_from_clone`] or [`Worktree::export_since`] and [`Repository::take_in`], [`Repository::remove_clone`] |
//! | what changed | [`Worktree::status`], [`Worktree::diff_since`], [`Repository::diff`] |
//! | commit | [`Worktree::commit_all`], [`Worktree::commit_paths`], [`Worktree::squash_since`], [`Worktree::commit_empty`] |
//! | start over | [`Worktree::reset_to`], [`Repository::archive`]; after a process was killed, [`Worktree::unlock`] first |
//! | see what an agent did to its place | [`Place::verify`] |
//! | bring together | [`Worktree::cherry_pick`], [`Worktree::pick_for_resolution`], [`Worktree::merge`], [`Worktree::squash_merge`] |
//! | advance a branch | [`Repository::fast_forward`] |
//! | read | [`Repository::resolve`], [`Repository::commits`], [`Repository::read_file`], [`Repository::is_ancestor`] |
//!
//! # What holds for every operation
//!
//! - **All or nothing.** Each operation has an error type of its own whose variants carry the data. A dirty tree, an
//!   existing branch, a branch that moved and a conflict are variants; on each of them references, index and files
//!   are as they were.
//! - **Git agrees.** What is made here is what git makes: the same tree ids, a clean `git status`, a clean `git fsck`.
//! - **Its own place.** Names of branches and paths are checked types. Worktrees cannot be created inside the
//!   repository, a worktree whose `.git` file was rewritten is not touched, symbolic links are not followed out of it.
//! - **Threads.** [`Repository`] and [`Worktree`] are `Send + Sync` and cheap to clone. Registering and removing is
//!   done one at a time, across processes too (a lock file in `.git/interlocking`); files are written in parallel.
//!   Two operations on the *same* worktree at once are kept apart by git's `index.lock`.
//! - **Synchronous.** Call it on a blocking thread.
//!
//! # What it does not do
//!
//! Hooks of the user's never run, and commits are never signed. Filters such as git-lfs and merge drivers do run, as
//! configured: that is the one way in which other programs come in; see [`Configuration::RepositoryOnly`]. Nothing is flushed to disk
//! explicitly, so a power failure can lose the last commits. Submodules are kept as they are, and their files are not
//! looked at. Not supported, because gix does not: partial clones, the reftable format, sparse indexes, SHA-256.

mod git_error;
mod id;
mod name;
mod path;
mod signature;

mod registration;
mod repository;
mod worktree;

mod create;
mod list;
mod remove;

mod change;
mod index;
mod survey;
mod examine;
mod snapshot;
mod commit;

mod references;
mod files;
mod switch;
mod reset;
mod unlock;
mod branch;

mod finding;
mod place;

mod conflict;
mod integrate;

mod pack;
mod clone_settings;
mod clone_guard;
mod clone_making;
mod clone;
mod export;
mod take_in;
mod remove_clone;

mod diff;
mod history;
mod unified;

pub use branch::{ArchiveError, DeleteBranchError, FastForwardError};
pub use change::{Change, ChangeKind};
pub use clone::{CreateCloneError, OpenCloneError};
pub use commit::{CommitError, MessageError};
pub use conflict::{Conflict, ConflictKind};
pub use create::CreateError;
pub use diff::{FileChange, FileChangeKind};
pub use export::{ClonedCommits, ExportError, FetchError};
pub use finding::Finding;
pub use git_error::GitError;
pub use history::{CommitRecord, Person, ResolveError};
pub use id::{BlobId, CommitId, ObjectIdError};
pub use integrate::{CherryPickError, MergeError};
pub use list::{OpenWorktreeError, WorktreeEntry};
pub use name::{ArchiveName, BranchName, NameError, NameRule};
pub use path::{PathError, PathRule, RepositoryPath};
pub use place::Place;
pub use remove::{Discarded, Force, RemoveError};
pub use remove_clone::RemoveCloneError;
pub use repository::{Configuration, Head, InitError, OpenError, Repository};
pub use reset::ResetError;
pub use signature::{Signature, SignatureError};
pub use switch::SwitchError;
pub use take_in::TakeInError;
pub use unlock::UnlockError;
pub use worktree::{Worktree, WorktreeError};

/// The example in the README is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
