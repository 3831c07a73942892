//! An agent writes a letter, which goes out once a person has approved it.

pub mod graph;
pub mod handlers;
