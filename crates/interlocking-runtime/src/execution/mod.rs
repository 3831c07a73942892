//! How a node is executed: guarded against panics, timeouts and cancellation, in a task of its own or as part of a chain.

pub(crate) mod completions;
pub(crate) mod interruption;
pub(crate) mod shared;
pub(crate) mod chain;
pub(crate) mod chain_run;
pub(crate) mod guard;
pub(crate) mod perform;
pub(crate) mod stops;
pub(crate) mod task;
pub(crate) mod tasks;
pub(crate) mod background;
