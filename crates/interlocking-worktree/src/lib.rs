//! Isolated git worktrees for agents, built on [gix](https://docs.rs/gix). The crate knows nothing of workflow graphs
//! and needs no git program.
//!
//! Each agent gets a [`Worktree`] of its own, on a branch of its own, outside the repository. The runtime commits what
//! the agent changed, checks which paths it touched, cherry-picks the commits into another worktree and, when all
//! checks pass, moves the main branch forward if it is still at the commit where it was last seen.
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
//! | create, list, open, remove worktrees | [`Repository::create_worktree`], [`Repository::create_worktree_on`] an existing branch, [`Repository::create_detached_worktree`], [`Repository::worktrees`], [`Repository::worktrees_in`] a directory, [`Repository::open_worktree`], [`Repository::remove_worktree`] |
//! | lock, prune and repair entries of git's list of worktrees | [`Repository::lock_worktree`], [`Repository::unlock_worktree`], [`Repository::prune_worktrees`], [`Repository::repair_worktrees`], [`Repository::repair_moved_worktree`] |
//! | a clone with an object store of its own, and importing its commits | [`Repository::create_clone`], [`Repository::open_clone`], [`Repository::fetch_from_clone`] or [`Worktree::export_since`], [`Worktree::export_up_to`] and [`Repository::import`] or [`Repository::import_objects`]; [`delete_directory`] removes it, and checks nothing: commits that were not imported are lost |
//! | list changes | [`Worktree::status`], [`Worktree::diff_since`], [`Repository::diff`], [`Repository::unified_diff`] |
//! | commit | [`Worktree::commit_all`], [`Worktree::commit_paths`], [`Worktree::squash_since`], [`Worktree::commit_empty`]; [`Worktree::propose_since`] makes a commit and moves no reference; trailers with [`Message`] |
//! | read and write a file of a working tree that an agent can write to | [`Worktree::read_file`], [`Worktree::write_file`] |
//! | check what an agent did to its worktree | [`Place::verify`] |
//! | reset | [`Worktree::reset_to`], [`Worktree::reset_to_except`], [`Repository::archive`]; after a git program was killed, [`Worktree::unlock`] first |
//! | reuse worktrees, or write their files ahead of time | [`Pool::create_worktree`], [`Pool::retire`], [`Pool::prepare`]; for clones, [`Repository::recycle_clone`] |
//! | prepare a worktree: run the user's setup command, copy ignored files | [`Setup::run`], [`Repository::copy_ignored`] |
//! | recover after a process that used this crate was killed | every operation does it first; [`Repository::recover`] does only that |
//! | cherry-pick, rebase, merge | [`Worktree::cherry_pick`], [`Worktree::rebase`], [`Worktree::rebase_preferring_onto`], [`Worktree::rebase_until_conflict`], [`Worktree::merge`], [`Worktree::squash_merge`], [`Worktree::pick_for_resolution`] |
//! | the same without a working tree | [`Repository::cherry_pick_onto`], [`Repository::rebase_onto`], [`Repository::merge_onto`], [`Repository::squash_onto`] |
//! | describe a conflict | [`Conflict`], with both sides and the base; [`Conflict::to_prompt`] |
//! | create, move, rename, delete a branch, if it is where the caller last saw it | [`Repository::fast_forward`], [`Repository::move_branch`], [`Repository::create_branch`], [`Repository::rename_branch`], [`Repository::delete_branch`] |
//! | read commits and files | [`Repository::resolve`], [`Repository::commits`], [`Repository::read_file`], [`Repository::is_ancestor`]; whether git [tracks](Repository::tracks) a path |
//!
//! # Guarantees of every operation
//!
//! - **All or nothing.** Each operation has its own error type, whose variants carry the data. A dirty tree, an
//!   existing branch, a branch that moved and a conflict are variants; after each of them, references, index and files
//!   are unchanged.
//! - **Same results as git.** The results are those of git: the same tree ids, a clean `git status`, a clean
//!   `git fsck`.
//! - **One boundary.** Git's own files and objects that an agent can write are read within [`Limits`] and by git's
//!   rules. Reading unsound data fails with [`Refused`], which [`GitError::reason`] returns.
//! - **Confinement.** Names of branches and paths are checked types. Worktrees cannot be created inside the repository,
//!   a worktree whose `.git` file was rewritten is not touched, and no operation follows a symbolic link out of the
//!   worktree.
//! - **Killed processes.** The next operation recovers what a killed process left behind: see
//!   `docs/book/src/worktrees.md`. Locks of other programs are respected.
//! - **Threads.** [`Repository`] and [`Worktree`] are `Send + Sync` and cheap to clone. Worktrees are registered and
//!   removed one at a time, across processes too (a lock file in `.git/interlocking`); files are written in parallel.
//!   Git's `index.lock` excludes two operations on the *same* worktree at once.
//! - **Synchronous.** Asynchronous callers use a blocking thread.
//!
//! # Programs and hooks
//!
//! **No operation needs the git program**, and none starts it. What gix lacks (updating a working tree from one commit
//! to another, rebase, prune, repair, patches that `git apply` takes) is implemented here, on gix. So there is no
//! subprocess interface and no git version to check; the tests run every operation where no program can be found.
//!
//! Programs are started only by a [`Setup`] and by the user's own git configuration: clean, smudge and long-running
//! filters (`filter.<name>.…`, git-lfs for example) when files are read or written, and merge drivers
//! (`merge.<name>.driver`) in merges, picks and rebases, each for the paths to which attributes assign them. With
//! [`Configuration::RepositoryOnly`] the filters and drivers of the user's and the system's configuration are ignored.
//!
//! **Hooks never run**, whatever the operation; `core.hooksPath` and `core.fsmonitor` have no effect either. So a
//! project's hook cannot keep a run from committing, and an agent that writes a hook gains nothing by it. A check that
//! must run belongs in a node of the workflow. Commits are not signed, whatever `commit.gpgSign` says, and signatures
//! of commits that are picked or rebased are dropped.
//!
//! # Where git would do otherwise
//!
//! Hundreds of random histories are compared with git's results, tree for tree. These differences of gix 0.90 are
//! known. In none of them does a merge drop contents that git keeps: they are at another path, or the merge conflicts.
//!
//! - **Renamed directories.** If one side moved a whole directory to a new path, files that the other side adds to it
//!   follow. Git does this with `merge.directoryRenames=true`, which is not its default (it reports a conflict and
//!   asks). If the target path existed before, a new file stays in the old directory, while git moves it or asks; it
//!   may also stay where files were changed or deleted during the move. A rename within a directory that the other side
//!   moved is a conflict for both, with other paths.
//! - **Binary files** that were renamed and changed at once count as deleted and added; so do renamed files in which
//!   only the line endings changed.
//! - **Empty files** that appear in a new directory may count as renamed from an empty file that was deleted: what the
//!   other side writes into the old file then goes to the new one, where git finds a conflict.
//! - **Renames** are detected in merges whatever `merge.renames` and `diff.renames` say, as by default in git 2.47.
//! - **Files and submodules at one path**, and other entries of different kinds, are one conflict at that path
//!   ([`ConflictKind::TypeMismatch`]), where git may move both aside.
//! - Merge attributes are read from the index, not from the working tree. A merge driver that exits with a failure,
//!   which git takes for a conflict, fails the whole operation with a [`GitError`].
//! - **Line ends.** With `extensions.worktreeConfig`, `core.sparseCheckout` or `worktree.useRelativePaths`, gix alone
//!   makes a new worktree, and reads the settings about line ends otherwise than git: write `input`, `lf`, `crlf` and
//!   `warn` in lower case, and no `core.autocrlf`, `core.eol` or `core.safecrlf` without a value.
//!
//! # Limitations
//!
//! Nothing is flushed to disk explicitly, so a power failure can lose the last commits. Submodules are kept as they are
//! and their files are not read: a submodule with another commit checked out is not a change. Not supported, because
//! gix does not: partial clones, the reftable format, sparse indexes, SHA-256.
//!
//! Write `[include]` and `[includeIf …]` exactly so: git follows `[INCLUDE]` too, gix does not, and it is refused. A
//! clone cannot have a filter or a merge driver whose name has a `=`.

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
pub use clones::import::ImportError;
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

// For this crate's own tests.
#[doc(hidden)]
pub use recovery::step::observe_steps;

/// The example in the documentation is compiled.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/book/src/worktrees.md")]
struct Documentation;

/// The example in the README is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
