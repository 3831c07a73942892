//! The subjects of the benchmarks, each with its baseline: the same work by hand.
//!
//! - [`ping_pong`]: a graph of two nodes; [`services_loop`]: a loop with the same services; [`transitions`] runs either.
//! - [`ring`] writes [`ring100`]: a graph of a hundred nodes, and the same as a hand-written `match`.
//! - [`fan`]: a fork to a thousand branches, and the same with a bare `JoinSet`.
//! - [`many`]: ten thousand runs at once, and as many bare tasks.
//! - [`growing`]: a chain of steps whose state grows.
//! - [`generated`]: crates whose compilation is measured.
//! - [`allocations`]: counts the executor's allocations.
//! - [`sink`]: event sinks; [`rounds`]: the comparison of times.

pub mod allocations;
pub mod fan;
pub mod generated;
pub mod growing;
pub mod many;
pub mod ping_pong;
pub mod ring;
#[rustfmt::skip]
pub mod ring100;
pub mod rounds;
pub mod services_loop;
pub mod sink;
pub mod transitions;

use serde::{Deserialize, Serialize};

/// The payload: a counter and 200 bytes of text.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ball {
    /// How often it was hit.
    pub hits: u64,
    /// After how many hits to stop.
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
