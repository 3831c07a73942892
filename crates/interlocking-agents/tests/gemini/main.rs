//! The real Gemini CLI, driven by this crate, against a scripted model server on loopback. If the program is missing,
//! the tests say how to get it, and fail in CI. Every file here is a module below (`every_file_is_here` checks it).

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as tests do")]

mod answering;
mod confining;
#[path = "../../../../tests/every_file_is_here.rs"]
mod every_file_is_here;
mod failing;
mod place;
mod refusing;
mod secrets;
mod sessions;
#[path = "../sleepers/mod.rs"]
mod sleepers;
mod stopping;
mod structured;
mod without_a_workspace;
mod working;
