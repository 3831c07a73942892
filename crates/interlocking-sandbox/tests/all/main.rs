//! Tests of the sandbox with real programs, in one binary.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "in tests and their helpers a panic is the report")]

#[path = "../../../../tests/every_file_is_here.rs"]
mod every_file_is_here;

mod attempts;
mod attempts_as_root;
mod attempts_by_sockets;
mod attempts_on_files;
mod attempts_on_programs;
mod attempts_with_git;
mod scene;
mod scripts;

mod confinement;
mod red_team;
mod system_calls;
mod tools;
