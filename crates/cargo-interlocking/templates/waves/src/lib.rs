//! A goal is planned as waves of tasks. The tasks of a wave are done side by side, each in a worktree of its own; what they come to is
//! merged before the next wave begins, and lands at the end.

pub mod graph;
pub mod handlers;
