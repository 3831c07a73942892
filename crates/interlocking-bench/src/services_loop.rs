//! The hand-written loop: the same handlers, and the same services a transition has in the executor: cancellation check,
//! panic guard, two typed events with a time, a journal hook.

use crate::Ball;
use interlocking::runtime::clock::{CoarseClock, Elapsed};
use interlocking::runtime::event::{Hop, NodeRef, Onward};
use interlocking::runtime::{Cancel, Clock, Event, EventKind, EventSink, Journal};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

enum State {
    Ping(Ball),
    Pong(Ball),
    Exit(Ball),
}

async fn ping(mut ball: Ball) -> State {
    ball.hits += 1;
    if ball.hits >= ball.limit { State::Exit(ball) } else { State::Pong(ball) }
}

async fn pong(mut ball: Ball) -> State {
    ball.hits += 1;
    if ball.hits >= ball.limit { State::Exit(ball) } else { State::Ping(ball) }
}

async fn step(state: State) -> State {
    match state {
        State::Ping(ball) => ping(ball).await,
        State::Pong(ball) => pong(ball).await,
        State::Exit(ball) => State::Exit(ball),
    }
}

/// Plays `ball` to its limit.
pub async fn play(ball: Ball, cancel: Cancel, sink: Arc<dyn EventSink>, journal: Option<Arc<dyn Journal>>) -> Ball {
    let clock: Arc<dyn Clock> = Arc::new(CoarseClock);
    let started = clock.now();
    let mut visits = [1_u32, 0, 0];
    let mut node = NodeRef { node: "ping", visit: 1, attempt: 1 };
    let mut at = Elapsed::default();
    sink.emit(Event { at, kind: EventKind::NodeStarted(node) });
    let mut state = State::Ping(ball);
    loop {
        assert!(!cancel.is_requested(), "nobody cancels the benchmark");
        let mut future = pin!(step(state));
        let guarded =
            std::future::poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
                Ok(Poll::Ready(state)) => Poll::Ready(Ok(state)),
                Ok(Poll::Pending) => Poll::Pending,
                Err(panic) => Poll::Ready(Err(panic)),
            });
        state = guarded.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let now = clock.now().since(started);
        if let Some(journal) = &journal {
            journal.load(&"run".parse().expect("a run id")).await.expect("a journal");
        }
        let (name, index) = match &state {
            State::Ping(_) => ("ping", 0),
            State::Pong(_) => ("pong", 1),
            State::Exit(_) => ("exit", 2),
        };
        let took = now.since(at);
        at = now;
        if let State::Exit(ball) = state {
            sink.emit(Event { at, kind: EventKind::NodeFinished { node, to: Onward::One("exit"), took } });
            return ball;
        }
        visits[index] += 1;
        let to = NodeRef { node: name, visit: visits[index], attempt: 1 };
        sink.hop(&Hop { at, from: node, took, to });
        node = to;
    }
}
