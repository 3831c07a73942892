//! The protocol, its document, and whole runs: scripted agents whose work is really written, built, tested and merged.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as tests do")]

#[macro_use]
#[path = "../../../../crates/interlocking-soundness/tests/evidence/tables/held.rs"]
mod held;
#[path = "../../../../tests/every_file_is_here.rs"]
mod every_file_is_here;
#[path = "../../../../tests/help_is_whole.rs"]
mod help_is_whole;
#[path = "../../../../tests/without_confinement.rs"]
mod without_confinement;

mod project;
mod test_run;
mod small;

mod table;
mod states;
mod suitability;
mod ownership;
mod reports;
mod reconciled;
mod append_only;
mod documents;
mod prompts;
mod isolation;
mod wave_worktrees;
mod stopped;
mod commands;
mod quick;
mod bootstrap;
mod edited;
mod blocked;
mod unblocked;
mod moved_target;
mod descoped;
mod solo;
mod deviations;
mod stale;
mod recovered;
mod uncommitted;
mod guarantees;
mod merge_order;
mod killed;
mod resumed;
mod happy_path;
mod readme;
mod program;
mod real_agents;
