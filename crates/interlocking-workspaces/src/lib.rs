//! Workspaces of graphs of coding agents, on a git repository.
//!
//! `workspace = "tests"` in a graph's table is enough: before a node that says so begins, the runtime has a worktree made for it, on a
//! branch of its own, or a clone or a sandboxed clone where the table's `isolation` demands that. A handler commits, merges and lands
//! with [`GitContext`], and what it commits is in the journal, so that another process puts each worktree back to where the journal
//! knows it. At the end of the run its worktrees and branches are taken away. What did not land is kept in the archive,
//! unless the run finished and landed something.
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
//! The README of the repository has a graph that does so, and `docs/book/src/workspaces.md` the rules.
//!
//! # Map
//!
//! | what | where |
//! |---|---|
//! | the repository, the directory, what workspaces begin at, what is kept | [`GitWorkspaces`], [`Base`] |
//! | what a handler does in its worktree | [`GitContext::worktree`], [`Checkout`] |
//! | build and test what no agent has been at | [`GitContext::fresh_checkout`], [`Checkout::examine`], [`FreshCheckout`] |
//! | advance the branch that it is all for | [`GitContext::land`]; at a run's exit [`GitWorkspaces::land_from`] |
//! | what a run has landed | [`landings()`] |
//! | what runs have left that nobody works on any more | [`GitWorkspaces::left`], [`GitWorkspaces::left_of`] |
//! | whose files are whose | [`Ownership`], [`Pattern`] |
//! | paths that agents write | [`FilePath`] |
//! | what a handler reads from the repository | [`in_repository`], [`text_at`], [`changed_paths`] |
//! | what goes wrong | [`GitWorkspacesError`] |

#[cfg(doctest)]
#[doc = include_str!("../../../docs/book/src/workspaces.md")]
struct Documentation;

mod error;
mod settings;
mod alive;
mod names;
mod paths;
mod named_branches;
mod lock;
mod place;
mod child;
mod git_run;
mod under_way;
mod git_workspaces;
mod make;
mod retired;
mod again;
mod workspaces;
mod end;
mod left;
mod commit;
mod land;
mod landings;
mod fresh;
mod checkout;
mod context;
mod ownership;
mod file_path;
mod reading;

pub use checkout::Checkout;
pub use child::ChildWorkspace;
pub use context::GitContext;
pub use error::GitWorkspacesError;
pub use file_path::FilePath;
pub use fresh::FreshCheckout;
pub use git_workspaces::GitWorkspaces;
pub use landings::landings;
pub use left::LeftRun;
pub use ownership::{Belonging, Overlap, Ownership, OwnershipViolation, Pattern, PatternError};
pub use reading::{changed_paths, in_repository, text_at, touched_paths};
pub use settings::{Base, WorkspaceScope};
