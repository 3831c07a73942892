//! Limits how many events of a call are reported.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::agent::event::AgentEvent;

/// Admits the events of one call up to a limit, and counts the others.
#[derive(Debug, Default)]
pub(crate) struct EventMeter {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    events: u64,
    bytes: usize,
    left_out: u64,
}

impl EventMeter {
    /// Whether this event is to be reported.
    pub(crate) fn admits(&self, event: &AgentEvent) -> bool {
        let bytes = event.size();
        let mut state = self.state();
        if state.events < AgentEvent::MAX_EVENTS_PER_CALL
            && state.bytes.saturating_add(bytes) <= AgentEvent::MAX_EVENT_BYTES_PER_CALL
        {
            state.events += 1;
            state.bytes += bytes;
            true
        } else {
            state.left_out += 1;
            false
        }
    }

    /// How many events were left out.
    pub(crate) fn left_out(&self) -> u64 {
        self.state().left_out
    }

    /// The state is consistent after every statement, so a poisoned lock can be used.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_large_events_count_as_much_as_many_small_ones() {
        let text = |bytes: usize| AgentEvent::Text { text: "x".repeat(bytes) };
        let large = EventMeter::default();
        let admitted = (0..10).filter(|_| large.admits(&text(AgentEvent::MAX_EVENT_BYTES_PER_CALL / 4))).count();
        assert_eq!((admitted, large.left_out()), (3, 7), "the event itself has a size, too");
        assert!(large.admits(&text(1)), "a small one still fits");
        let small = EventMeter::default();
        let admitted = (0..AgentEvent::MAX_EVENTS_PER_CALL + 10).filter(|_| small.admits(&text(1))).count();
        assert_eq!((admitted as u64, small.left_out()), (AgentEvent::MAX_EVENTS_PER_CALL, 10));
    }
}
