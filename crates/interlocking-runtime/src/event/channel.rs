//! Events as a stream, of which only so many wait.

use super::{Event, EventKind, EventSink};
use interlocking_agents::AgentEvent;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use tokio::sync::mpsc;

/// The events of a run, in order, as a stream.
///
/// A run does not wait for whoever listens. So that one who is slow, or never looks, does not fill the memory, no more than
/// [`Events::MOST_WAITING`] events wait that agents and handlers may make any number of: what an agent did, and notes. The others are
/// left out, and an [`EventKind::LeftOut`] stands in their place with their number. What the run itself does is never left out,
/// nor is the end of an agent's call.
#[derive(Debug)]
pub struct Events {
    received: mpsc::UnboundedReceiver<Waiting>,
    queue: Arc<Queue>,
}

/// An event that waits.
#[derive(Debug)]
struct Waiting {
    event: Event,
    /// How much of the [`Queue`] it takes; none where it must not be left out.
    bytes: Option<usize>,
}

/// What waits of that which may be left out.
#[derive(Debug, Default)]
struct Queue {
    events: AtomicUsize,
    bytes: AtomicUsize,
    /// Since the last event that was not.
    left_out: AtomicU64,
}

/// A sink, and the stream that it feeds. The stream ends when the run and its settings are gone.
pub fn channel() -> (Arc<dyn EventSink>, Events) {
    let (sender, received) = mpsc::unbounded_channel();
    let queue = Arc::new(Queue::default());
    let events = Events { received, queue: queue.clone() };
    let sink = move |event: Event| {
        let bytes = dispensable(&event.kind);
        if !bytes.is_none_or(|bytes| queue.admits(bytes)) {
            queue.left_out.fetch_add(1, Ordering::Relaxed);
            return;
        }
        // Nobody listening is no reason to stop a run.
        if let events @ 1.. = queue.left_out.swap(0, Ordering::Relaxed) {
            let event = Event { at: event.at, kind: EventKind::LeftOut { events } };
            let _ = sender.send(Waiting { event, bytes: None });
        }
        let _ = sender.send(Waiting { event, bytes });
    };
    (Arc::new(sink), events)
}

impl Events {
    /// How many events of agents and handlers wait at most.
    pub const MOST_WAITING: usize = 10_000;

    /// How many bytes of memory those take at most: 64 MiB.
    pub const MOST_WAITING_BYTES: usize = 64 << 20;

    /// The next event; `None` once there will be no more.
    pub async fn next(&mut self) -> Option<Event> {
        let waiting = self.received.recv().await?;
        Some(self.taken(waiting))
    }

    /// The next event, if there is one already.
    pub fn try_next(&mut self) -> Option<Event> {
        let waiting = self.received.try_recv().ok()?;
        Some(self.taken(waiting))
    }

    fn taken(&self, Waiting { event, bytes }: Waiting) -> Event {
        if let Some(bytes) = bytes {
            self.queue.events.fetch_sub(1, Ordering::Relaxed);
            self.queue.bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
        event
    }
}

impl Queue {
    /// Takes the room for an event, if there is some.
    fn admits(&self, bytes: usize) -> bool {
        let take = |counter: &AtomicUsize, amount: usize, most: usize| {
            let taken = |now: usize| now.checked_add(amount).filter(|then| *then <= most);
            counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken).is_ok()
        };
        if !take(&self.events, 1, Events::MOST_WAITING) {
            return false;
        }
        let fits = take(&self.bytes, bytes, Events::MOST_WAITING_BYTES);
        if !fits {
            self.events.fetch_sub(1, Ordering::Relaxed);
        }
        fits
    }
}

/// How many bytes an event takes that may be left out; none if it may not.
fn dispensable(kind: &EventKind) -> Option<usize> {
    match kind {
        EventKind::Agent { agent, .. } => match &**agent {
            AgentEvent::Finished { .. } | AgentEvent::LeftOut { .. } => None,
            agent => Some(agent.size()),
        },
        EventKind::Note { text, .. } => Some(text.len()),
        EventKind::Child { what, .. } => dispensable(what),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Elapsed;
    use crate::event::NodeRef;
    use interlocking_agents::Usage;

    const NODE: NodeRef = NodeRef { node: "write", visit: 1, attempt: 1 };

    fn said(text: String) -> Event {
        let agent = Box::new(AgentEvent::Text { text });
        Event { at: Elapsed::from_nanos(0), kind: EventKind::Agent { node: NODE, agent } }
    }

    fn started() -> Event {
        Event { at: Elapsed::from_nanos(0), kind: EventKind::NodeStarted(NODE) }
    }

    /// How many events of each kind there are, and how many were left out.
    fn drained(events: &mut Events) -> (usize, usize, u64) {
        let (mut said, mut others, mut left_out) = (0, 0, 0);
        while let Some(event) = events.try_next() {
            match event.kind {
                EventKind::Agent { .. } => said += 1,
                EventKind::LeftOut { events } => left_out += events,
                _ => others += 1,
            }
        }
        (said, others, left_out)
    }

    #[test]
    fn a_listener_that_never_looks_holds_no_more_than_so_many_events() {
        let (sink, mut events) = channel();
        for _ in 0..100_000 {
            sink.emit(said("x".to_owned()));
            sink.emit(started());
        }
        assert_eq!(drained(&mut events), (Events::MOST_WAITING, 100_000, 100_000 - Events::MOST_WAITING as u64));
        sink.emit(said("after".to_owned()));
        assert_eq!(drained(&mut events), (1, 0, 0), "there is room again");
    }

    #[test]
    fn large_events_take_more_room() {
        let (sink, mut events) = channel();
        let large = "x".repeat(1 << 20);
        (0..100).for_each(|_| sink.emit(said(large.clone())));
        let note = EventKind::Note { node: NODE, text: large };
        let in_child = EventKind::Child { run: "child".parse().unwrap(), what: Box::new(note) };
        sink.emit(Event { at: Elapsed::from_nanos(0), kind: in_child });
        assert_eq!(events.queue.events.load(Ordering::Relaxed), 63, "each has a size beside its text");
        sink.emit(started());
        assert_eq!(drained(&mut events), (63, 1, 38));
        assert_eq!(events.queue.bytes.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn what_a_call_has_cost_is_never_left_out() {
        let (sink, mut events) = channel();
        (0..2 * Events::MOST_WAITING).for_each(|_| sink.emit(said(String::new())));
        let agent = Box::new(AgentEvent::Finished { session: None, usage: Usage::default() });
        sink.emit(Event { at: Elapsed::from_nanos(0), kind: EventKind::Agent { node: NODE, agent } });
        assert_eq!(drained(&mut events), (Events::MOST_WAITING + 1, 0, Events::MOST_WAITING as u64));
    }
}
