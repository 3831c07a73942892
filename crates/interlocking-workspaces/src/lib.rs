//! Workspaces of graphs of coding agents, on a git repository.
//!
//! To use a workspace, write `workspace = "tests"` in a graph's table. Before a node with this entry begins, the
//! runtime has a worktree made for it on a branch of its own, or a clone or a sandboxed clone if the table's
//! `isolation` demands one. A handler commits, merges and lands with [`GitContext`]. The journal records its commits,
//! so that another process can restore each worktree to the commit that the journal records. At the end of the run its
//! worktrees and branches are removed. Commits that did not land are kept in the archive, unless the run finished and
//! landed something after it had made them.
//!
//! ```no_run
//! # use interlocking_workspaces::GitWorkspaces;
//! # use interlocking_worktree::Repository;
//! # fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let workspaces = GitWorkspaces::new(Repository::discover(".")?, "../runs");
//! // let report = Run::new(graph).with_workspaces(std::sync::Arc::new(workspaces)).start(task).await?;
//! # Ok(())
//! # }
//! ```
//!
//! The README of the repository has such a graph, and `docs/book/src/workspaces.md` has the rules.
//!
//! # Map
//!
//! | what | where |
//! |---|---|
//! | choose the repository, the directory, the base of workspaces, what is kept | [`GitWorkspaces`], [`Base`] |
//! | commit, merge and rebase in a handler's worktree | [`GitContext::worktree`], [`Checkout`] |
//! | build and test a commit in a directory that no agent has access to | [`GitContext::fresh_checkout`], [`Checkout::examine`], [`FreshCheckout`] |
//! | land: advance the target branch | [`GitContext::land`]; at a run's exit [`GitWorkspaces::land_from`] |
//! | list what a run has landed | [`landings()`] |
//! | find what runs have left behind | [`GitWorkspaces::leftover_runs`], [`GitWorkspaces::leftover_of`] |
//! | assign files to owners | [`Ownership`], [`Pattern`] |
//! | check paths that agents write | [`FilePath`] |
//! | read from the repository in a handler | [`in_repository`], [`text_at`], [`changed_paths`], [`is_ancestor`], [`diverged`] |
//! | read a file that an agent has written, as text | [`FreshCheckout::text`], [`Checkout::text`], [`NotText`] |
//! | errors | [`GitWorkspacesError`] |

#[cfg(doctest)]
#[doc = include_str!("../../../docs/book/src/workspaces.md")]
struct Documentation;

mod error;
mod settings;
mod alive;
mod blocking;
mod names;
mod paths;
mod named_branches;
mod lock;
mod place;
mod child;
mod git_run;
mod active_runs;
mod git_workspaces;
mod make;
mod preparing;
mod set_up;
mod retired;
mod unrecorded_commits;
mod reopen;
mod workspaces;
mod end;
mod leftover_runs;
mod commit;
mod land;
mod reserved_directories;
mod landings;
mod fresh;
mod checkout;
mod integrate;
mod context;
mod ownership;
mod file_path;
mod reading;
mod text;

pub use checkout::Checkout;
pub use child::ChildWorkspace;
pub use context::GitContext;
pub use error::GitWorkspacesError;
pub use file_path::FilePath;
pub use fresh::FreshCheckout;
pub use git_workspaces::GitWorkspaces;
pub use landings::{Landings, landings};
pub use leftover_runs::LeftoverRun;
pub use ownership::{Overlap, Ownership, OwnershipViolation, PathOwnership, Pattern, PatternError};
pub use reading::{changed_paths, diverged, in_repository, is_ancestor, text_at, touched_paths};
pub use settings::{Base, WorkspaceScope};
pub use text::NotText;
