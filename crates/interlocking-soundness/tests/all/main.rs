//! Integration tests of the crate, in one binary. Every file here is a module below (`every_file_is_here` checks it).
//! `tests/evidence` is apart: it takes minutes.

#![expect(clippy::unwrap_used, reason = "a test, also outside its test functions")]

#[path = "../../../interlocking-core/tests/all/protocols.rs"]
mod protocols;

#[path = "../../../../tests/every_file_is_here.rs"]
mod every_file_is_here;
mod verdicts;
mod remedies;
mod agent_calls;
mod example;
