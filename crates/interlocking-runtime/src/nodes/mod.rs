//! The kinds of nodes that need an executor.

pub mod advisory;
pub mod graph;
pub mod human;
pub mod llm;
pub mod map;
pub mod observer;
