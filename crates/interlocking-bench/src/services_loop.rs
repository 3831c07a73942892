//! The hand-written loop: the same handlers, and the services that a transition has in the executor: cancellation
//! check, panic guard, visit counts, both typed events with a time, a journal hook.

use crate::{Ball, ping_pong};
use interlocking::graph::Graph;
use interlocking::net::Net;
use interlocking::run_id::RunId;
use interlocking::runtime::clock::{CoarseClock, Elapsed};
use interlocking::runtime::event::{Targets, Transition};
use interlocking::runtime::{CancelToken, Clock, EventKind, EventSink, Journal};
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

/// A hand-written state machine.
pub trait State: Sized + Send {
    /// How many states there are, without the end.
    const STATES: usize;

    /// The first state.
    fn start(ball: Ball) -> Self;

    /// The net of the equivalent graph, which has the states' names.
    fn net() -> &'static Net;

    /// The state's position; `None` at the end.
    fn place(&self) -> Option<u16>;

    /// The ball, at the end.
    fn end(self) -> Option<Ball>;

    /// Does the state's work.
    fn step(self) -> impl Future<Output = Self> + Send;
}

/// The two states of the [ping-pong graph](crate::ping_pong).
pub enum PingPong {
    /// Hits the ball.
    Ping(Ball),
    /// Hits it back.
    Pong(Ball),
    /// The end.
    Exit(Ball),
}

async fn ping(mut ball: Ball) -> PingPong {
    ball.hits += 1;
    if ball.hits >= ball.limit { PingPong::Exit(ball) } else { PingPong::Pong(ball) }
}

async fn pong(mut ball: Ball) -> PingPong {
    ball.hits += 1;
    if ball.hits >= ball.limit { PingPong::Exit(ball) } else { PingPong::Ping(ball) }
}

impl State for PingPong {
    const STATES: usize = 2;

    fn start(ball: Ball) -> Self {
        Self::Ping(ball)
    }

    fn net() -> &'static Net {
        ping_pong::PingPong::net()
    }

    fn place(&self) -> Option<u16> {
        match self {
            Self::Ping(_) => Some(0),
            Self::Pong(_) => Some(1),
            Self::Exit(_) => None,
        }
    }

    fn end(self) -> Option<Ball> {
        if let Self::Exit(ball) = self { Some(ball) } else { None }
    }

    async fn step(self) -> Self {
        match self {
            Self::Ping(ball) => ping(ball).await,
            Self::Pong(ball) => pong(ball).await,
            exit @ Self::Exit(_) => exit,
        }
    }
}

/// Plays `ball` to its limit.
pub async fn play<S: State>(
    ball: Ball,
    cancel: CancelToken,
    sink: Arc<dyn EventSink>,
    journal: Option<Arc<dyn Journal>>,
) -> Ball {
    let clock: Arc<dyn Clock> = Arc::new(CoarseClock);
    let started = clock.now();
    let mut state = S::start(ball);
    let mut visits = vec![0_u32; S::STATES];
    let index = state.place().expect("the start is not the end");
    visits[usize::from(index)] = 1;
    let run = RunId::DEFAULT;
    let mut hop = Transition::new(&run, S::net(), index, 1, 1, started, Elapsed::default());
    sink.emit(hop.started());
    loop {
        assert!(!cancel.is_cancelled(), "nobody cancels the benchmark");
        let mut future = pin!(state.step());
        let guarded = poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
            Ok(Poll::Ready(state)) => Poll::Ready(Ok(state)),
            Ok(Poll::Pending) => Poll::Pending,
            Err(panic) => Poll::Ready(Err(panic)),
        });
        state = guarded.await.unwrap_or_else(|panic| resume_unwind(panic));
        if let Some(journal) = &journal {
            journal.load(&"run".parse().expect("a run id")).await.expect("a journal");
        }
        let Some(index) = state.place() else {
            let (at, node) = (clock.now().since(started), hop.to());
            let mut event = hop.finished();
            event.at_ms = at.as_millis();
            if let EventKind::NodeFinished { node: from, to, took_ms, .. } = &mut event.kind {
                (*from, *to, *took_ms) = (node, Targets::One("exit".into()), at.since(hop.at()).as_millis());
            }
            sink.emit(event);
            return state.end().expect("a state without a place is the end");
        };
        let visit = &mut visits[usize::from(index)];
        *visit += 1;
        hop.go(index, *visit, 1, &*clock);
        sink.transition(&hop);
    }
}
