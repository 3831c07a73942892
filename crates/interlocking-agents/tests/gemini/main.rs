//! The real Gemini CLI, driven by this crate, against a scripted model server on loopback. Where the program is missing the tests
//! say how to get it, and fail in CI. Every file here is a module below (`runner` checks it).

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as tests do")]

mod answering;
mod confining;
mod failing;
mod place;
mod refusing;
mod runner;
mod secrets;
mod sessions;
mod stopping;
mod structured;
mod working;
