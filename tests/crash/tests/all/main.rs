//! Kills processes, or fills their journal for a while, and compares the outcome of their run with that of an undisturbed one.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "in tests and their helpers a panic is the report")]

#[macro_use]
#[path = "../../../../crates/interlocking-soundness/tests/evidence/tables/held.rs"]
mod held;

mod case;
mod past;
mod verdict;
mod many;

#[path = "../../../every_file_is_here.rs"]
mod every_file_is_here;
#[path = "../../../sample.rs"]
mod sample;

mod undisturbed;
mod every_point;
mod at_random;
mod people_are_away;
mod two_processes;
mod full_disk;
mod race;

held!(interlocking_crash::gazette::Gazette);
