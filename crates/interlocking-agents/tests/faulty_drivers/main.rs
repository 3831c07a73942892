//! Agents that drive a broken program: no panic, a typed error, bounded memory, nothing left running. Every file here
//! is a module below (`every_file_is_here` checks it).

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as tests do")]

mod bench;
mod claude;
mod codex;
#[path = "../../../../tests/every_file_is_here.rs"]
mod every_file_is_here;
