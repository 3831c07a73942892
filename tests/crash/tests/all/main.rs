//! Kills processes, and holds what becomes of their run against an undisturbed one.

#![expect(clippy::unwrap_used, reason = "in tests and their helpers a panic is the report")]

#[macro_use]
#[path = "../../../../crates/interlocking-soundness/tests/evidence/tables/held.rs"]
mod held;

mod case;
mod many;
mod verdict;

mod undisturbed;
mod every_point;

held!(interlocking_crash::gazette::Gazette);
