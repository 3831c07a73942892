//! The reference for tests of the soundness check and of the runtime: a direct implementation of the rules of runs, and random
//! tables to test with.
//!
//! - [`rules`]: what a run may do next, without nets, frontiers or reductions; [`cycles`] and [`writers`]: the rules that need
//!   only the table.
//! - [`explore`]: every state that runs of a table reach, and the rules that they break.
//! - [`generate`]: a random table from a seed; [`quorums`]: tables whose joins have quorums; [`edge_budgets`]: tables whose
//!   edges have budgets; [`mutate`]: changes of one thing in a table.
//!
//! Only tests use this crate, so its functions panic on invalid tables.

#![expect(clippy::unwrap_used, reason = "tests alone use it")]

pub mod rules;
mod names;
pub mod cycles;
pub mod writers;
pub mod explore;
pub mod generate;
pub mod quorums;
pub mod edge_budgets;
pub mod mutate;
