//! Running programs, and what becomes of what they leave behind.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "the helpers of tests")]

mod calls;
mod common;
mod confined;
mod environment;
mod lines;
mod logging;
mod trees;
