//! The driver of Claude Code, with the real program and a scripted model server. Every file here is a module below
//! (`every_file_is_here` checks it).

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as tests do")]

mod answers;
mod canary;
mod common;
#[cfg(target_os = "linux")]
mod confined;
#[path = "../../../../tests/every_file_is_here.rs"]
mod every_file_is_here;
mod failures;
mod readiness;
mod schemas;
mod servers;
mod sessions;
#[cfg(target_os = "linux")]
mod stopping;
mod work;
