//! The command line: in this process with writers, and as a process of its own. One module for each
//! subject.

#![expect(clippy::unwrap_used, reason = "a test: what is wrong shall end it")]

#[macro_use]
#[path = "../../../interlocking-soundness/tests/evidence/tables/held.rs"]
mod held;
#[path = "../../examples/pair/graph.rs"]
mod pair;
#[path = "../../examples/review/graph.rs"]
mod review;
mod support;

mod agents;
mod answers;
mod beginning;
mod cancelling;
mod children;
mod documentation;
mod events;
#[path = "../../../../tests/every_file_is_here.rs"]
mod every_file_is_here;
mod help;
#[path = "../../../../tests/help_is_whole.rs"]
mod help_is_whole;
mod hostile;
mod isolation;
#[cfg(target_os = "linux")]
mod killed;
mod own_commands;
// Elsewhere file names are text.
#[cfg(target_os = "linux")]
mod paths;
mod planted;
mod prepared;
mod processes;
mod refusals;
mod repository;
mod retries;
mod scene;
mod shared;
#[cfg(unix)]
mod stalled;
#[cfg(unix)]
mod terminal;
mod views;
