//! An agent plans a goal as waves of tasks. Agents do the tasks of a wave in parallel, each in its own worktree; their commits
//! are merged before the next wave begins, and land at the end.

pub mod graph;
pub mod handlers;
