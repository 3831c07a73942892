//! Integration tests of the crate, in one binary. Every file here is a module below (`runner` checks it).

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as tests do")]

#[macro_use]
#[path = "../../../interlocking-soundness/tests/evidence/tables/held.rs"]
mod held;

mod every_kind;
mod misses;
mod newsroom;
mod real_time;
mod runner;
