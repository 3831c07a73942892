//! Running programs, and what happens to the processes that they leave behind.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "the helpers of tests")]

mod as_another_user;
mod calls;
mod common;
mod confined;
mod environment;
mod fugitives;
mod inspection;
mod killed_runner;
mod lines;
mod logging;
mod trees;
