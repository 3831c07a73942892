//! The demonstration, and what happens where the protocol is broken. One module a subject.

#![expect(clippy::unwrap_used, reason = "a test: what is wrong shall end it")]

#[macro_use]
#[path = "../../../../crates/interlocking-soundness/tests/evidence/tables/held.rs"]
mod held;

mod demonstration;
#[path = "../../../../tests/every_file_is_here.rs"]
mod every_file_is_here;
