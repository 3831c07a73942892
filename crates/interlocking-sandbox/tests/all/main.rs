//! The sandbox with real programs in it, in one binary.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "in tests and their helpers a panic is the report")]

#[path = "../../../../tests/every_file_is_here.rs"]
mod every_file_is_here;

mod attempts;
mod scene;

mod confinement;
mod red_team;
mod tools;
