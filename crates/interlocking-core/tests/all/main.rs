//! Integration tests of the crate, in one binary. Every file here is a module below (`every_file_is_here` checks it).

#![expect(clippy::unwrap_used, reason = "a test, also outside its test functions")]

mod protocols;

#[path = "../../../../tests/every_file_is_here.rs"]
mod every_file_is_here;
mod naming;
mod table;
mod lines;
mod draw;
mod net;
mod bits;
mod frontier;
mod frontier_properties;
pub mod hand_written;
mod run_id;
mod agent_calls;
