//! Events as a stream with a bounded queue.

use super::{Event, EventKind, EventSink};
use crate::mutex::Mutex;
use futures_core::Stream;
use interlocking_agents::AgentEvent;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, MutexGuard};
use std::task::{Context, Poll, Waker, ready};
use tokio::task::coop;

/// The events of a run, in order, as a stream.
///
/// A run does not wait for the listener. So that a slow listener does not fill the memory, at most [`Events::MAX_QUEUED`]
/// events with together [`Events::MAX_QUEUED_BYTES`] wait in the queue. Events of agents and notes of handlers may be numerous,
/// so they take at most half of both limits: events of the run itself, and the ends of agent calls, are left out last. An
/// [`EventKind::LeftOut`] with their number replaces events that are left out.
#[derive(Debug)]
pub struct Events(Arc<Mutex<Queue>>);

/// The sink that feeds an [`Events`] stream.
#[derive(Debug)]
struct Feed(Arc<Mutex<Queue>>);

/// The events that wait for the listener.
#[derive(Debug, Default)]
struct Queue {
    /// Each event with its size in bytes.
    waiting: VecDeque<(Event, usize)>,
    /// The total size of the waiting events.
    bytes: usize,
    /// Whether the sink is dropped, so that no more events come.
    is_over: bool,
    /// Whether the stream is dropped, so that events are discarded.
    is_closed: bool,
    listener: Option<Waker>,
}

/// A sink, and the stream that it feeds. The stream ends when the run and its settings are dropped.
pub fn channel() -> (Arc<dyn EventSink>, Events) {
    let queue = Arc::<Mutex<Queue>>::default();
    (Arc::new(Feed(queue.clone())), Events(queue))
}

/// Sends each event to all current listeners. Each listener has its own stream, which starts with the next event, and ends when
/// this is closed or dropped.
#[derive(Debug, Default)]
pub(crate) struct Broadcast(Mutex<Vec<Feed>>);

impl Broadcast {
    /// A stream for one more listener.
    pub(crate) fn subscribe(&self) -> Events {
        let queue = Arc::<Mutex<Queue>>::default();
        let mut feeds = self.0.lock();
        // Removes listeners that are gone, in case no event was sent since.
        feeds.retain(Feed::has_listener);
        feeds.push(Feed(queue.clone()));
        Events(queue)
    }

    /// Ends all streams. Events that come later are lost.
    pub(crate) fn close(&self) {
        let feeds = std::mem::take(&mut *self.0.lock());
        // Outside the lock, because this wakes the listeners.
        drop(feeds);
    }
}

impl EventSink for Broadcast {
    fn emit(&self, event: Event) {
        let mut feeds = self.0.lock();
        feeds.retain(Feed::has_listener);
        let Some((last, others)) = feeds.split_last() else { return };
        others.iter().for_each(|feed| feed.emit(event.clone()));
        last.emit(event);
    }
}

impl Events {
    /// The maximum number of waiting events, not counting a final [`EventKind::LeftOut`].
    pub const MAX_QUEUED: usize = 100_000;

    /// The maximum size of these events in memory: 64 MiB.
    pub const MAX_QUEUED_BYTES: usize = 64 << 20;

    /// Waits for the next event; `None` once no more events will come.
    pub async fn next(&mut self) -> Option<Event> {
        poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }

    /// The next event, if there is one already.
    pub fn try_next(&mut self) -> Option<Event> {
        self.0.lock().take()
    }
}

impl Stream for Events {
    type Item = Event;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Event>> {
        // Cooperative scheduling: a run that sends events without pause must not starve other futures of the same task.
        let turn = ready!(coop::poll_proceed(context));
        let mut queue = self.0.lock();
        let event = queue.take();
        if event.is_none() && !queue.is_over {
            let before = queue.listener.replace(context.waker().clone());
            // The old waker is dropped outside the lock: it may drop a task that has the sink, which takes the lock.
            drop(queue);
            drop(before);
            return Poll::Pending;
        }
        turn.made_progress();
        Poll::Ready(event)
    }
}

impl Feed {
    fn has_listener(&self) -> bool {
        !self.0.lock().is_closed
    }
}

impl EventSink for Feed {
    fn emit(&self, event: Event) {
        let mut queue = self.0.lock();
        queue.put(event);
        wake(queue);
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        let mut queue = self.0.lock();
        queue.is_closed = true;
        let waiting = std::mem::take(&mut queue.waiting);
        drop(queue);
        drop(waiting);
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        let mut queue = self.0.lock();
        queue.is_over = true;
        wake(queue);
    }
}

impl Queue {
    /// Adds an event to the queue, or leaves it out.
    fn put(&mut self, event: Event) {
        // A run goes on without a listener.
        if self.is_closed {
            return;
        }
        let (bytes, share) = (event.size(), if is_dispensable(&event.kind) { 2 } else { 1 });
        let has_room = self.waiting.len() < Events::MAX_QUEUED / share
            && self.bytes.saturating_add(bytes) <= Events::MAX_QUEUED_BYTES / share;
        match self.waiting.back_mut() {
            _ if has_room => self.push(event, bytes),
            Some((Event { kind: EventKind::LeftOut { events }, .. }, _)) => *events += 1,
            _ => {
                let left_out = Event { kind: EventKind::LeftOut { events: 1 }, ..event };
                let bytes = left_out.size();
                self.push(left_out, bytes);
            }
        }
    }

    fn push(&mut self, event: Event, bytes: usize) {
        self.waiting.push_back((event, bytes));
        self.bytes += bytes;
    }

    fn take(&mut self) -> Option<Event> {
        let (event, bytes) = self.waiting.pop_front()?;
        self.bytes -= bytes;
        Some(event)
    }
}

/// Whether an event is left out before others, because agents and handlers may send any number of such events.
fn is_dispensable(kind: &EventKind) -> bool {
    match kind {
        EventKind::Agent { agent, .. } => !matches!(**agent, AgentEvent::Finished { .. } | AgentEvent::LeftOut { .. }),
        EventKind::Note { .. } => true,
        _ => false,
    }
}

/// Wakes the listener, after releasing the lock.
fn wake(mut queue: MutexGuard<'_, Queue>) {
    let listener = queue.listener.take();
    drop(queue);
    if let Some(listener) = listener {
        listener.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::NodeRef;
    use interlocking_agents::Usage;
    use interlocking_core::run_id::RunId;
    use std::borrow::Cow;

    const HALF: u64 = Events::MAX_QUEUED as u64 / 2;

    fn node() -> NodeRef {
        NodeRef { node: Cow::Borrowed("write"), visit: 1, attempt: 1 }
    }

    fn event(kind: EventKind) -> Event {
        Event { run: RunId::DEFAULT, at_ms: 0, kind }
    }

    fn said(text: &str) -> Event {
        event(EventKind::Agent { node: node(), agent: Box::new(AgentEvent::Text { text: text.to_owned() }) })
    }

    fn started() -> Event {
        event(EventKind::NodeStarted(node()))
    }

    fn held(events: &Events) -> (usize, usize) {
        let queue = events.0.lock();
        (queue.waiting.len(), queue.bytes)
    }

    /// Takes all events, and returns the number of agents' events, of other events, and of events that were left out.
    fn drained(events: &mut Events) -> (u64, u64, u64) {
        let (mut said, mut others, mut left_out) = (0, 0, 0);
        while let Some(event) = events.try_next() {
            match event.kind {
                EventKind::Agent { .. } => said += 1,
                EventKind::LeftOut { events } => left_out += events,
                _ => others += 1,
            }
        }
        assert_eq!(held(events), (0, 0));
        (said, others, left_out)
    }

    #[test]
    fn a_listener_that_never_looks_holds_no_more_than_so_much() {
        let (sink, events) = channel();
        let large = "x".repeat(1 << 20);
        for round in 0..1_000_000 {
            sink.emit(started());
            if round % 1000 == 0 {
                let message = large.clone();
                sink.emit(event(EventKind::NodeFailed { node: node(), message, to: None, took_ms: 0 }));
            }
            let (waiting, bytes) = held(&events);
            assert!(waiting <= Events::MAX_QUEUED + 1);
            // Only one marker more.
            assert!(bytes <= Events::MAX_QUEUED_BYTES + started().size());
        }
    }

    #[test]
    fn a_listener_that_looks_late_is_told_of_each_event_or_that_it_was_left_out() {
        let (sink, mut events) = channel();
        for _ in 0..1_000_000 {
            sink.emit(said("x"));
            sink.emit(started());
        }
        let (said_so, others, left_out) = drained(&mut events);
        assert_eq!(said_so + others + left_out, 2_000_000);
        assert_eq!(said_so, HALF / 2, "an agent takes half of the room, and shares that");
        assert!(others > said_so, "what the run does is left out last");
        for _ in 0..3 {
            sink.emit(said("after"));
            sink.emit(started());
            assert_eq!(drained(&mut events), (1, 1, 0), "there is room again");
        }
    }

    /// The marker is where the missing events would be.
    #[test]
    fn a_listener_is_told_where_events_are_missing() {
        let (sink, mut events) = channel();
        (0..HALF + 3).for_each(|_| sink.emit(said("x")));
        sink.emit(started());
        (0..2).for_each(|_| sink.emit(said("x")));
        (0..HALF).for_each(|_| assert!(matches!(events.try_next().unwrap().kind, EventKind::Agent { .. })));
        let mut next = || events.try_next().map(|event| event.kind);
        assert_eq!(next(), Some(EventKind::LeftOut { events: 3 }));
        assert_eq!(next(), Some(EventKind::NodeStarted(node())));
        assert_eq!(next(), Some(EventKind::LeftOut { events: 2 }), "though nothing comes after them");
        assert_eq!(next(), None);
    }

    #[test]
    fn large_events_take_more_room() {
        let (sink, mut events) = channel();
        let large = "x".repeat(1 << 20);
        (0..100).for_each(|_| sink.emit(said(&large)));
        assert_eq!(held(&events).0, 31 + 1, "each has a size beside its text");
        sink.emit(event(EventKind::Note { node: node(), text: large }));
        sink.emit(started());
        assert_eq!(drained(&mut events), (31, 1, 70));
    }

    #[test]
    fn what_a_call_has_cost_is_left_out_last() {
        let (sink, mut events) = channel();
        (0..2 * HALF).for_each(|_| sink.emit(said("")));
        let agent = Box::new(AgentEvent::Finished { session: None, usage: Usage::default() });
        sink.emit(event(EventKind::Agent { node: node(), agent }));
        assert_eq!(drained(&mut events), (HALF + 1, 0, HALF));
    }

    #[tokio::test]
    async fn a_stream_ends_with_its_sink_and_goes_on_until_then() {
        let (sink, mut events) = channel();
        let other = sink.clone();
        let listening = tokio::spawn(async move {
            let mut seen = 0;
            while events.next().await.is_some() {
                seen += 1;
            }
            seen
        });
        sink.emit(started());
        drop(sink);
        tokio::task::yield_now().await;
        other.emit(started());
        drop(other);
        assert_eq!(listening.await.unwrap(), 2);
    }

    #[test]
    fn nothing_is_kept_for_a_listener_who_has_gone() {
        let (sink, events) = channel();
        let queue = events.0.clone();
        sink.emit(started());
        drop(events);
        sink.emit(started());
        assert!(queue.lock().waiting.is_empty());
    }
}
