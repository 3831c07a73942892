//! How much room the journal has.

use interlocking::runtime::journal::JournalError;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering};

/// How much room the journal has while a process works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Room {
    /// Enough for everything.
    #[default]
    Enough,
    /// A limit of so many bytes for the database: the database itself refuses to grow beyond it.
    Bytes(u64),
    /// No room for the write with this number, counted from 1, nor for later writes.
    Before(u64),
    /// No room for the write with this number; enough for all others.
    ButFor(u64),
}

/// Counts the writes of one process and refuses those for which there is no room.
#[derive(Debug, Default)]
pub struct WriteLimit {
    room: Room,
    writes: AtomicU64,
}

impl WriteLimit {
    /// A limit for this room.
    pub fn new(room: Room) -> Self {
        Self { room, writes: AtomicU64::new(0) }
    }

    /// Admits a write.
    ///
    /// # Errors
    ///
    /// If there is no room for the write.
    pub fn admit(&self) -> Result<(), JournalError> {
        let number = self.writes.fetch_add(1, Ordering::SeqCst) + 1;
        let is_refused = match self.room {
            Room::Enough | Room::Bytes(_) => false,
            Room::Before(first) => number >= first,
            Room::ButFor(only) => number == only,
        };
        if is_refused { Err(JournalError::Full { place: "the disk".to_owned() }) } else { Ok(()) }
    }
}
