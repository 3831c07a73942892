//! The demonstration, and whole runs of the protocol: scripted agents whose work is really written, built, tested and merged.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

#[macro_use]
#[path = "../../../../crates/interlocking-soundness/tests/evidence/tables/held.rs"]
mod held;
mod artefacts;
mod demonstration;
mod slot;
mod agent_script;
mod watched;
mod trace;
mod stage;

mod table;
mod another_graph;
mod happy_path;
mod longest_way;
mod isolation;
mod types_loop;
mod design_violations;
mod red_loop;
mod coverage;
mod barrier;
mod fix_loop;
mod mutation;
mod conflict;
mod blocked;
mod landing;
mod taken_up;
mod again;
mod forgery;
mod planted;
