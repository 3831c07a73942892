//! The demonstration, and what happens where the protocol is broken. One module a subject.

#![expect(clippy::unwrap_used, reason = "a test: what is wrong shall end it")]

mod demonstration;
#[path = "../../../../tests/every_file_is_here.rs"]
mod every_file_is_here;
