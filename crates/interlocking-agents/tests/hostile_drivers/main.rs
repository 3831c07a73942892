//! Programs with output that is as expensive as possible: how much of it a driver holds in memory, how much of it the
//! event receiver gets, and how the turn ends.
//!
//! Memory is counted on the reading thread, by allocations, so the numbers do not depend on load. The tests take about
//! 20 s of processor time without optimizations, most of it in the programs.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "the helpers of tests")]

mod bench;
mod claude;
mod codex;
mod gemini;
