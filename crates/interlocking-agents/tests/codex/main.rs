//! The real Codex, driven by this crate, against a scripted model server on loopback. If the program is missing, the
//! tests say how to get it, and fail in CI. Every file here is a module below (`every_file_is_here` checks it); the
//! tests that look for processes do so in `/proc`.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as tests do")]

mod answering;
mod confining;
#[cfg(target_os = "linux")]
mod ends;
#[path = "../../../../tests/every_file_is_here.rs"]
mod every_file_is_here;
mod failing;
mod place;
mod refusing;
mod secrets;
mod sessions;
#[cfg(target_os = "linux")]
#[path = "../sleepers/mod.rs"]
mod sleepers;
#[cfg(target_os = "linux")]
mod stopping;
mod structured;
mod working;
