//! Programs that print whatever costs most to hear: what a driver holds of it in memory, how much of it reaches whoever listens,
//! and what becomes of the turn.
//!
//! Memory is counted on the thread that reads, by allocations, so the numbers do not depend on load. All of it takes about 20 s of
//! processor time without optimizations, most of it in the programs.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "the helpers of tests")]

mod bench;
mod claude;
mod codex;
mod gemini;
