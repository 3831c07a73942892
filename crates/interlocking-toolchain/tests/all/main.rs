//! Commands that are run on real files.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

#[path = "../../../../tests/every_file_is_here.rs"]
mod every_file_is_here;
mod dependencies;
mod forged;
#[cfg(target_os = "linux")]
mod left_behind;
mod mutants;
mod named;
mod real_harnesses;
mod runner;
