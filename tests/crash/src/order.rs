//! The instructions of a process, and its report.

use crate::gazette::Edition;
use crate::room::Room;
use interlocking::agents::Usage;
use interlocking::runtime::Outcome;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The instructions of a process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    /// The directory of the journal, the log and the places.
    pub directory: PathBuf,
    /// The number of the process, from 0.
    pub process: u32,
    /// The point at which the process dies; `None` if it is not killed, or is killed from outside.
    pub dies_at: Option<u64>,
    /// How much room the journal has.
    pub room: Room,
    /// Whether people are there to answer.
    pub people: Presence,
}

/// Whether people are there while a process works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    /// People answer at once, in this process.
    Here,
    /// People are away; the process ends when the run waits only for them.
    Away,
    /// People are away; the process waits for them.
    Awaited,
}

/// The report of a process that was not killed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ending {
    /// The outcome of the run.
    pub outcome: Outcome<Edition>,
    /// How often each node was entered.
    pub visits: Vec<(String, u32)>,
    /// The usage of the run's agents.
    pub usage: Usage,
    /// The number of points that the process passed.
    pub points: u64,
}
