//! Agents outline a text, draft it, and draft it again until the reviewer finds no fault.

pub mod graph;
pub mod handlers;
