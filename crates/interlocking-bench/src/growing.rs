//! A chain of steps whose state grows by 270 bytes per step: the cost of a journal of whole states is quadratic in the
//! number of steps.

use interlocking::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A node that repeats until there are enough entries.
#[derive(Graph)]
#[graph(output = usize)]
pub struct Growing {
    #[node(entry, input = Grown, goto(step, exit), visits = 10_000)]
    step: LogicNode<Step>,
}

/// Adds an entry.
pub struct Step;

/// What travels.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Grown {
    /// How many entries there are to be.
    pub limit: usize,
    /// The entries so far.
    pub entries: Vec<String>,
}

impl LogicHandler<growing::step> for Step {
    async fn run(&self, mut grown: Grown, cx: &mut Cx<'_, growing::step>) -> Route<growing::step> {
        if grown.entries.len() == grown.limit {
            return goto!(cx, growing::exit, grown.entries.len());
        }
        grown.entries.push(entry(grown.entries.len() as u64));
        goto!(cx, self, grown)
    }
}

/// The graph.
pub fn growing() -> Growing {
    Growing { step: LogicNode(Step) }
}

/// A text without repetitions that takes 270 bytes in a list.
fn entry(step: u64) -> String {
    const ALPHABET: &[u8] = b"abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ.0123456789";
    let mut noise = step.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let letter = |_| {
        noise ^= noise << 13;
        noise ^= noise >> 7;
        noise ^= noise << 17;
        char::from(ALPHABET[(noise >> 32) as usize % ALPHABET.len()])
    };
    (0..267).map(letter).collect()
}
