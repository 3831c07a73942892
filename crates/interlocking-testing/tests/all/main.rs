//! Integration tests of the crate, in one binary. Every file here is a module below (`runner` checks it).

#[macro_use]
#[path = "../../../interlocking-soundness/tests/evidence/tables/held.rs"]
mod held;

mod every_kind;
mod misses;
mod newsroom;
mod real_time;
mod runner;
