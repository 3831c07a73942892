//! A run without the types of its graph: what the driver works on, so that the driver is compiled once, and not for each graph.
//!
//! A token is boxed when it reaches the driver, and an execution leaves its outcome's token in the box in which its input came.
//! Chains of executions ([`chain`](crate::execution::chain)) and runs that are only one chain
//! ([`chain_run`](crate::execution::chain_run)) keep their types, and box nothing.

pub(crate) mod done;
pub(crate) mod graph_type;
pub(crate) mod read;
pub(crate) mod shared;
pub(crate) mod token;
