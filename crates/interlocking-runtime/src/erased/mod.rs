//! A run without the types of its graph: what the driver works on, so that it is compiled once and not for each graph.
//!
//! A token is boxed where it reaches the driver; an execution leaves its outcome's token in the box that its input came in. Chains of
//! executions ([`chain`](crate::execution::chain)) and runs that are no more than one ([`lone`](crate::execution::lone)) keep their types, and
//! box nothing.

pub(crate) mod done;
pub(crate) mod graph_type;
pub(crate) mod shared;
pub(crate) mod token;
