//! Integration tests of the crate, in one binary. Every file here is a module below (`every_file_is_here` checks it).

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as tests do")]

mod actions;
mod call_gate;
mod agents_document;
mod backends;
mod bad_scripts;
mod cancelling;
mod cassettes;
mod commits;
mod common;
mod correction;
mod deciding;
mod decision_tools;
mod events;
#[path = "../../../../tests/every_file_is_here.rs"]
mod every_file_is_here;
mod failures;
mod homes;
mod faults;
#[cfg(unix)]
mod faulty_program;
mod logging;
mod lost_sessions;
mod matching;
mod memory;
mod nudging;
mod own_agent;
mod processes;
mod readme;
mod sessions;
mod switch;
