//! The hand-written loop: the same handlers, and the same services a transition has in the executor: cancellation check,
//! panic guard, visit counts, both typed events with a time, a journal hook.

use crate::Ball;
use interlocking::runtime::clock::{CoarseClock, Elapsed};
use interlocking::runtime::event::{Hop, NodeRef, Onward};
use interlocking::runtime::{Cancel, Clock, Event, EventKind, EventSink, Journal};
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

/// A state machine by hand.
pub trait State: Sized + Send {
    /// How many states there are, the end not counted.
    const STATES: usize;

    /// Where a ball begins.
    fn start(ball: Ball) -> Self;

    /// The state's name and position; `None` at the end.
    fn place(&self) -> Option<(&'static str, usize)>;

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

    fn place(&self) -> Option<(&'static str, usize)> {
        match self {
            Self::Ping(_) => Some(("ping", 0)),
            Self::Pong(_) => Some(("pong", 1)),
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
    cancel: Cancel,
    sink: Arc<dyn EventSink>,
    journal: Option<Arc<dyn Journal>>,
) -> Ball {
    let clock: Arc<dyn Clock> = Arc::new(CoarseClock);
    let started = clock.now();
    let mut state = S::start(ball);
    let mut visits = vec![0_u32; S::STATES];
    let (name, index) = state.place().expect("the start is not the end");
    visits[index] = 1;
    let mut node = NodeRef { node: name, visit: 1, attempt: 1 };
    let mut at = Elapsed::default();
    sink.emit(Event { at, kind: EventKind::NodeStarted(node) });
    loop {
        assert!(!cancel.is_requested(), "nobody cancels the benchmark");
        let mut future = pin!(state.step());
        let guarded = poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
            Ok(Poll::Ready(state)) => Poll::Ready(Ok(state)),
            Ok(Poll::Pending) => Poll::Pending,
            Err(panic) => Poll::Ready(Err(panic)),
        });
        state = guarded.await.unwrap_or_else(|panic| resume_unwind(panic));
        let now = clock.now().since(started);
        if let Some(journal) = &journal {
            journal.load(&"run".parse().expect("a run id")).await.expect("a journal");
        }
        let took = now.since(at);
        at = now;
        let Some((name, index)) = state.place() else {
            sink.emit(Event { at, kind: EventKind::NodeFinished { node, to: Onward::One("exit"), took } });
            return state.end().expect("a state without a place is the end");
        };
        visits[index] += 1;
        let to = NodeRef { node: name, visit: visits[index], attempt: 1 };
        sink.hop(&Hop { at, from: node, took, to });
        node = to;
    }
}
