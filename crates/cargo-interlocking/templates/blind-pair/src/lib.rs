//! Two agents write a program and its check in parallel, and cannot read each other's work. A program that passes the
//! check lands on the project's branch.

pub mod graph;
pub mod handlers;
