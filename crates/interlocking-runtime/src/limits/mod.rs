//! Limits of runs and their child runs: budgets, and backoff where providers fail.

pub mod allowance;
pub(crate) mod backoff;
pub mod budget;
pub mod provider;
pub(crate) mod shared;
