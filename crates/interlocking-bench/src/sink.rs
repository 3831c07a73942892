//! What listens to the events.

use interlocking::runtime::event::{Event, EventSink, Hop};
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts events.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// How many there were.
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
    fn hop(&self, _: &Hop) {
        self.0.fetch_add(2, Ordering::Relaxed);
    }
}
