//! Event sinks.

use interlocking::runtime::event::{Event, EventSink, Transition};
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts events.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// How many events there were.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl EventSink for Counter {
    #[inline]
    fn emit(&self, _: Event) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    #[inline]
    fn transition(&self, _: &Transition<'_>) {
        self.0.fetch_add(2, Ordering::Relaxed);
    }
}

/// Counts events and takes each by itself, as a listener does that leaves [`EventSink::transition`] as it is.
#[derive(Debug, Default)]
pub struct OneByOne(AtomicU64);

impl OneByOne {
    /// How many events there were.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl EventSink for OneByOne {
    fn emit(&self, _: Event) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
