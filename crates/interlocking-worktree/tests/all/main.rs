//! Every operation, checked against the git program, in one binary.

#![expect(clippy::unwrap_used, reason = "in tests and their helpers a panic is the report")]
#![expect(clippy::disallowed_methods, reason = "tests read what they have written")]

mod judge;

#[path = "../forgeries/index_file.rs"]
mod index_file;

#[path = "../../../../tests/every_file_is_here.rs"]
mod every_file_is_here;
#[path = "../../../../tests/sample.rs"]
mod sample;

mod clones;
mod commits;
mod concurrency;
mod create_and_list;
mod differences;
mod diffs;
mod environment;
mod equality;
mod existing_branches;
mod fast_forward;
mod fast_import;
mod filters;
mod hidden_files;
mod history;
mod hooks;
mod hostile;
mod hostile_clones;
mod hostile_commits;
mod hostile_files;
mod hostile_indexes;
mod hostile_repositories;
mod housekeeping;
mod in_the_database;
mod kills;
mod large;
mod looks;
mod merges;
mod names;
mod on_disk;
mod oracle;
mod picks;
mod places;
mod preparation;
mod processes;
mod random_history;
mod rebases;
mod recycling;
mod references;
mod removal;
mod resets;
mod users_work;
mod without_git;
mod working_files;
