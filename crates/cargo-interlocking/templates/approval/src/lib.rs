//! A text is written by an agent, and goes out once a person has approved it.

pub mod graph;
pub mod handlers;
