//! The protocol, and whole runs: scripted agents whose work is really written, built, tested and merged.

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
mod watched;
mod test_run;
mod small;

mod table;
mod types;
mod fields;
mod happy_path;
mod attempts;
mod loops;
mod lies;
mod lies_of_tests;
mod ways_back;
mod tree;
mod sent_back;
mod rebases;
mod both_sides;
mod unfinished;
mod heard;
mod concurrency;
mod commands;
mod remembered;
mod sources;
mod prompts;
mod sessions;
mod reminders;
mod killed;
mod stored;
mod program;
mod real_agents;
