//! How much room the journal has.

use interlocking::runtime::journal::JournalError;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering};

/// How much room the journal has while a process works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Room {
    /// Enough.
    #[default]
    Enough,
    /// For a database of so many bytes: the database itself refuses what goes beyond.
    Bytes(u64),
    /// None for the write with this number, counted from 1, nor for any after it.
    Before(u64),
    /// None for the write with this number alone.
    ButFor(u64),
}

/// Refuses the writes of one process for which there is no room.
#[derive(Debug, Default)]
pub struct Doorkeeper {
    room: Room,
    writes: AtomicU64,
}

impl Doorkeeper {
    /// One for this room.
    pub fn new(room: Room) -> Self {
        Self { room, writes: AtomicU64::new(0) }
    }

    /// A write.
    ///
    /// # Errors
    ///
    /// That there is no room for it.
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
