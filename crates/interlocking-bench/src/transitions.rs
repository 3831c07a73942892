//! Runs a number of transitions and nothing else, for callgrind and for timing.

use crate::ring100::{Ring, Ring100};
use crate::services_loop::{self, PingPong};
use crate::sink::{Counter, OneByOne};
use crate::{Ball, ping_pong};
use interlocking::graph::Graph;
use interlocking::runtime::{CancelToken, EventSink, Journal, MemoryJournal, Run};
use std::sync::Arc;
use tokio::runtime::Builder;

/// The subjects that can be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The graph of two nodes.
    Graph,
    /// The same, with a journal in memory.
    Journaled,
    /// The same, with an event sink that takes each event separately.
    GraphOneByOne,
    /// The hand-written loop over two states.
    Loop,
    /// The same, with an event sink that takes each event separately.
    LoopOneByOne,
    /// The graph of a hundred nodes.
    Ring,
    /// The hand-written loop over a hundred states.
    Match,
}

impl What {
    /// The subject called `name`.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "graph" => Self::Graph,
            "journaled" => Self::Journaled,
            "graph-one-by-one" => Self::GraphOneByOne,
            "loop" => Self::Loop,
            "loop-one-by-one" => Self::LoopOneByOne,
            "ring" => Self::Ring,
            "match" => Self::Match,
            _ => return None,
        })
    }
}

/// Runs `count` transitions on a runtime of this thread.
///
/// # Panics
///
/// If the number of transitions is wrong, or there are not two events for each.
pub fn run(what: What, count: u64) {
    let (counter, one_by_one) = (Arc::new(Counter::default()), Arc::new(OneByOne::default()));
    let sink: Arc<dyn EventSink> = match what {
        What::GraphOneByOne | What::LoopOneByOne => one_by_one.clone(),
        _ => counter.clone(),
    };
    let (ball, cancel) = (Ball::new(count), CancelToken::new());
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    let ball = match what {
        What::Graph | What::GraphOneByOne => runtime.block_on(play(ping_pong::graph(), ball, cancel, sink, None)),
        What::Journaled => {
            let journal = Arc::new(MemoryJournal::new());
            runtime.block_on(play(ping_pong::graph(), ball, cancel, sink, Some(journal)))
        }
        What::Loop | What::LoopOneByOne => runtime.block_on(services_loop::play::<PingPong>(ball, cancel, sink, None)),
        What::Ring => runtime.block_on(play(Ring::default(), ball, cancel, sink, None)),
        What::Match => runtime.block_on(services_loop::play::<Ring100>(ball, cancel, sink, None)),
    };
    assert_eq!(ball.hits, count, "every hit is a transition");
    assert!(counter.count() + one_by_one.count() >= 2 * count, "every transition makes two events");
}

/// Plays `ball` to its limit in `graph`, with a cancellation flag, a panic guard and an event sink.
async fn play<G: Graph<Entry = Ball, Output = Ball>>(
    graph: G,
    ball: Ball,
    cancel: CancelToken,
    sink: Arc<dyn EventSink>,
    journal: Option<Arc<dyn Journal>>,
) -> Ball {
    let run = Run::new(graph).with_cancel(cancel).with_events(sink);
    let run = match journal {
        Some(journal) => run.with_journal(journal),
        None => run.without_journal(),
    };
    let report = run.start(ball).await.expect("nothing is missing");
    report.outcome.finished().expect("the ball stops at its limit")
}
