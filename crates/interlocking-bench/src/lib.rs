//! What the benchmarks run: a graph of two nodes, and the same work as a hand-written loop with the same services.

pub mod ping_pong;
pub mod services_loop;
pub mod sink;

use serde::{Deserialize, Serialize};

/// What travels: a counter and 200 bytes of text.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ball {
    /// How often it was hit.
    pub hits: u64,
    /// When to stop.
    pub limit: u64,
    /// The text.
    pub text: String,
}

impl Ball {
    /// A ball that stops after `limit` hits.
    pub fn new(limit: u64) -> Self {
        Self { hits: 0, limit, text: "x".repeat(200) }
    }
}
