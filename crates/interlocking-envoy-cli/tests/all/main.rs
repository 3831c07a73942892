//! The command line, in this process with writers and as a process of its own. One module for each
//! subject.

#![expect(clippy::unwrap_used, reason = "a test: what is wrong shall end it")]

mod support;

mod cleanup;
mod documentation;
#[path = "../../../../tests/every_file_is_here.rs"]
mod every_file_is_here;
mod gate;
#[path = "../../../../tests/help_is_whole.rs"]
mod help_is_whole;
mod hostile;
mod processes;
mod protocol;
mod refusals;
