//! A question is answered three times at once, and a judge chooses the best answer.

pub mod graph;
pub mod handlers;
