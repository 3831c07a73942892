//! What a process is told, and what it reports.

use crate::gazette::Edition;
use crate::room::Room;
use interlocking::agents::Usage;
use interlocking::runtime::Outcome;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What a process is told.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    /// Where everything is: the journal, the log, the places.
    pub directory: PathBuf,
    /// Its number, counted from 0.
    pub process: u32,
    /// The point at which it dies; none if it is left alone, or killed from outside.
    pub dies_at: Option<u64>,
    /// What room the journal has.
    pub room: Room,
    /// Where the people are.
    pub people: Presence,
}

/// Where people are while a process works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    /// They answer at once, in this process.
    Here,
    /// They are away, and the process ends when only they can go on.
    Away,
    /// They are away, and the process awaits them.
    Awaited,
}

/// What a process reports that came to its end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ending {
    /// What came of the run.
    pub outcome: Outcome<Edition>,
    /// How often each node was entered.
    pub visits: Vec<(String, u32)>,
    /// What its agents used up.
    pub usage: Usage,
    /// How many points it came by.
    pub points: u64,
}
