//! Runs whose nodes work in git worktrees and clones. One module per concept.

#![expect(clippy::unwrap_used, reason = "a test: what is wrong shall end it")]

#[macro_use]
#[path = "../../../interlocking-soundness/tests/evidence/tables/held.rs"]
mod held;
mod project;

mod again;
mod branch_names;
mod child_landing;
mod child_view;
mod children;
mod clones;
mod disturbed;
mod ends;
#[path = "../../../../tests/every_file_is_here.rs"]
mod every_file_is_here;
mod fresh;
mod hostile;
mod landing;
mod made_ready;
mod rebasing;
mod reports;
mod reused;
mod shared_branch;
mod work;
