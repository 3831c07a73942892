//! What tests hold the check for soundness and the runtime to: the rules of runs and nothing else, and random tables to try
//! them on.
//!
//! - [`rules`] says what a run may do next, without nets, frontiers or reductions; [`cycles`] and [`writers`] are parts of that
//!   which read a table alone.
//! - [`explore`] finds every state that runs of a table come to, and the rules that they break.
//! - [`generate`] makes a random table from a seed; [`quorums`] makes tables whose joins have quorums, [`edge_budgets`] tables
//!   whose edges have budgets; [`mutate`] changes one thing in a table.
//!
//! Tests alone use it, so its functions panic where a table is not valid.

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
