//! Three agents answer a question in parallel, and a judge chooses the best answer.

pub mod graph;
pub mod handlers;
