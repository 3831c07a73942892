//! Graphs of coding agents whose routes the compiler checks.

pub use interlocking_core::{bits, context, draw, failure, fork, frontier, goto, graph, kind, net, route, run_id, table};
pub use interlocking_macros::Graph;

#[cfg(feature = "runtime")]
pub use interlocking_agents as agents;
#[cfg(feature = "runtime")]
pub use interlocking_runtime as runtime;
#[cfg(feature = "worktree")]
pub use interlocking_worktree as worktree;

pub mod prelude;

/// What derived code names. Not part of the public interface.
#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
