//! Isolated git worktrees for agents, on [gix](https://docs.rs/gix). It knows no graph and needs no git program.
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
//! | create, list, open, remove worktrees | [`Repository::create_worktree`], [`Repository::create_worktree_on`] a branch that is there, [`Repository::create_detached_worktree`], [`Repository::worktrees`], [`Repository::worktrees_in`] a directory, [`Repository::open_worktree`], [`Repository::remove_worktree`] |
//! | keep the list in order | [`Repository::lock_worktree`], [`Repository::unlock_worktree`], [`Repository::prune_worktrees`], [`Repository::repair_worktrees`], [`Repository::repair_moved_worktree`] |
//! | a place with an object store of its own, and the way back | [`Repository::create_clone`], [`Repository::open_clone`], [`Repository::fetch_from_clone`] or [`Worktree::export_since`], [`Worktree::export_up_to`] and [`Repository::take_in`] or [`Repository::take_in_objects`], [`Repository::remove_clone`] |
//! | what changed | [`Worktree::status`], [`Worktree::diff_since`], [`Repository::diff`], [`Repository::unified_diff`] |
//! | commit | [`Worktree::commit_all`], [`Worktree::commit_paths`], [`Worktree::squash_since`], [`Worktree::commit_empty`]; [`Worktree::propose_since`] makes a commit and moves nothing to it; trailers with [`Message`] |
//! | read and write a file where an agent works | [`Worktree::read_file`], [`Worktree::write_file`] |
//! | see what an agent did to its place | [`Place::verify`] |
//! | start over | [`Worktree::reset_to`], [`Worktree::reset_to_except`], [`Repository::archive`]; after a git program was killed, [`Worktree::unlock`] first |
//! | use worktrees again, or write their files ahead of time | [`Pool::create_worktree`], [`Pool::retire`], [`Pool::prepare`]; of clones, [`Repository::create_clone_again`] |
//! | make ready: the user's own command, and ignored files | [`Setup::run`], [`Repository::copy_ignored`] |
//! | after a process of ours was killed | every operation recovers; [`Repository::recover`] does nothing else |
//! | bring together | [`Worktree::cherry_pick`], [`Worktree::rebase`], [`Worktree::rebase_preferring_onto`], [`Worktree::rebase_until_conflict`], [`Worktree::merge`], [`Worktree::squash_merge`], [`Worktree::pick_for_resolution`] |
//! | the same away from any working tree | [`Repository::cherry_pick_onto`], [`Repository::rebase_onto`], [`Repository::merge_onto`], [`Repository::squash_onto`] |
//! | a conflict | [`Conflict`], with both sides and the base; [`Conflict::to_prompt`] |
//! | move a branch from where it was seen | [`Repository::fast_forward`], [`Repository::move_branch`], [`Repository::create_branch`], [`Repository::rename_branch`], [`Repository::delete_branch`] |
//! | read | [`Repository::resolve`], [`Repository::commits`], [`Repository::read_file`], [`Repository::is_ancestor`] |
//!
//! # What holds for every operation
//!
//! - **All or nothing.** Each operation has an error type of its own whose variants carry the data. A dirty tree, an
//!   existing branch, a branch that moved and a conflict are variants; on each of them references, index and files
//!   are as they were.
//! - **Git agrees.** What is made here is what git makes: the same tree ids, a clean `git status`, a clean `git fsck`.
//! - **One boundary.** Of git's own files and objects, what an agent can write is read with [`Limits`] and by git's rules;
//!   what is not sound is [`Refused`], which [`GitError::reason`] gives.
//! - **Its own place.** Names of branches and paths are checked types. Worktrees cannot be created inside the
//!   repository, a worktree whose `.git` file was rewritten is not touched, symbolic links are not followed out of it.
//! - **Killed processes.** What one leaves is recovered by the next operation: see `docs/book/src/worktrees.md`. Locks of other
//!   programs are respected.
//! - **Threads.** [`Repository`] and [`Worktree`] are `Send + Sync` and cheap to clone. Registering and removing is
//!   done one at a time, across processes too (a lock file in `.git/interlocking`); files are written in parallel.
//!   Two operations on the *same* worktree at once are kept apart by git's `index.lock`.
//! - **Synchronous.** Call it on a blocking thread.
//!
//! # Programs and hooks
//!
//! **No operation needs the git program**, and none starts it: what gix lacks (an update of a working tree from one commit
//! to another, rebase, prune, repair, patches that `git apply` takes) is written here, on gix. So there is no boundary to
//! cross and no version to check; the tests do everything where no program can be found.
//!
//! What does start programs is a [`Setup`], and the user's own git configuration: clean, smudge and long-running filters
//! (`filter.<name>.…`, git-lfs for one) when files are read or written, and merge drivers (`merge.<name>.driver`) in merges,
//! picks and rebases, each where attributes say so. With [`Configuration::RepositoryOnly`] those of the user's own
//! configuration and the system's do not count.
//!
//! **Hooks never run**, whatever the operation, `core.hooksPath` and `core.fsmonitor` included; so a project's hook cannot
//! keep a run from committing, and an agent that writes one gains nothing by it. Who wants a check has it as a node.
//! Commits are not signed, whatever `commit.gpgSign` says, and signatures of commits that are picked or rebased are dropped.
//!
//! # Where git would do otherwise
//!
//! Hundreds of random histories are compared with git's results, tree for tree. These differences of gix 0.90 are known. In
//! none that was found does a merge drop contents that git keeps: it has them at another path, or is a conflict.
//!
//! - **Directories that were renamed.** Where one side moved all of a directory to a place that is new, what the other side
//!   adds to it follows: as with git's `merge.directoryRenames=true`, which is not its default (it asks). Where the place was
//!   there before, a new file stays in the old directory, while git moves it or asks; it may stay too where files were changed
//!   or deleted on the way. A rename within a directory that the other side moved is a conflict for both, with other paths.
//! - **Binary files** that were renamed and changed at once count as deleted and added; so do files whose line ends alone
//!   changed on the way.
//! - **Empty files** that appear in a new directory may count as renamed from one that went: what the other side writes into
//!   the one follows to the other, where git finds a conflict.
//! - **Renames** are looked for in merges whatever `merge.renames` and `diff.renames` say, as git 2.47 does it.
//! - **Files and submodules at one path**, and other things of different kinds, are one conflict at that path
//!   ([`ConflictKind::TypeMismatch`]) where git may put both aside.
//! - Attributes about merging are read from the index, not from the working tree. A merge driver that ends with a failure,
//!   by which git learns of a conflict, fails the operation as a whole, with a [`GitError`].
//!
//! # What it does not do
//!
//! Nothing is flushed to disk explicitly, so a power failure can lose the last commits. Submodules are kept as they are, and
//! their files are not looked at: that another commit is checked out in one is no change. Not supported, because gix does
//! not: partial clones, the reftable format, sparse indexes,
//! SHA-256.

#![cfg_attr(test, expect(clippy::disallowed_methods, reason = "tests read what they have written"))]
#[cfg(not(unix))]
compile_error!("files of a working tree are reached through directory descriptors, which this crate has on Unix alone");

mod values;
mod filesystem;
mod repository;
mod status;
mod commits;
mod checkout;
mod recovery;
mod worktrees;
mod merges;
mod clones;
mod pool;
mod preparation;
mod untrusted;

pub use checkout::reset::ResetError;
pub use checkout::switch::SwitchError;
pub use checkout::unlock::UnlockError;
pub use clones::clone::{CreateCloneError, OpenCloneError, WrittenFiles};
pub use clones::export::{ClonedCommits, ExportError, FetchError};
pub use clones::import::TakeInError;
pub use clones::remove::RemoveCloneError;
pub use commits::commit::{CommitError, MessageError};
pub use commits::message::{Message, TrailerError};
pub use merges::conflict::{Conflict, ConflictKind, ConflictSide, FileKind, Renamed};
pub use merges::integrate::{CherryPickError, MergeError};
pub use merges::rebase::{CommitConflicts, RebaseError, Rebased};
pub use pool::{Pool, PoolError, Retired};
pub use preparation::copied_files::CopyError;
pub use preparation::setup::{Setup, SetupError};
pub use repository::branch::{ArchiveError, DeleteBranchError, FastForwardError};
pub use repository::create_branch::{CreateBranchError, MoveBranchError};
pub use repository::history::{CommitRecord, Person, ResolveError};
pub use repository::rename_branch::RenameBranchError;
pub use repository::{Configuration, Head, InitError, OpenError, Repository};
pub use status::change::{Change, ChangeKind};
pub use status::diff::{FileChange, FileChangeKind};
pub use untrusted::{Limits, Refused};
pub use values::git_error::GitError;
pub use values::id::{BlobId, CommitId, ObjectIdError};
pub use values::name::{ArchiveName, BranchName, NameError, NameRule};
pub use values::path::{PathError, PathRule, RepositoryPath};
pub use values::signature::{Signature, SignatureError};
pub use values::worktree_error::{LargeFile, WorktreeError};
pub use worktrees::files::FileError;
pub use worktrees::finding::Finding;
pub use worktrees::keep::Keep;
pub use worktrees::list::{OpenWorktreeError, WorktreeEntry};
pub use worktrees::lock::LockError;
pub use worktrees::new_worktree::CreateError;
pub use worktrees::place::Place;
pub use worktrees::prune::{PruneError, Pruned};
pub use worktrees::remove::{Discarded, Force, RemoveError, delete_directory};
pub use worktrees::repair::{RepairError, Repaired, WrongLink};
pub use worktrees::worktree::Worktree;

#[cfg(feature = "steps")]
#[doc(hidden)]
pub use recovery::step::{kill_at, reached_steps};

/// The example in the documentation is compiled.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/book/src/worktrees.md")]
struct Documentation;

/// The example in the README is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
