//! Every operation against the git program as the judge, in one binary.

#![expect(clippy::unwrap_used, reason = "in tests and their helpers a panic is the report")]

mod judge;

#[path = "../../../../tests/every_file_is_here.rs"]
mod every_file_is_here;

mod clones;
mod commits;
mod concurrency;
mod create_and_list;
mod diffs;
mod environment;
mod fast_forward;
mod filters;
mod history;
mod hostile;
mod hostile_clones;
mod looks;
mod merges;
mod oracle;
mod picks;
mod places;
mod references;
mod removal;
mod resets;
