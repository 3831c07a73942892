//! Why a cassette cannot be recorded or played.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The environment variable that says whether [`record_or_replay`](super::record_or_replay) records.
pub const RECORD: &str = "INTERLOCKING_CASSETTES";

/// Why a cassette cannot be recorded or played.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CassetteError {
    /// A file of the cassette cannot be read or written.
    #[error("{}: {reason}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// The system's words.
        reason: String,
    },
    /// There is no cassette.
    #[error("there is no cassette {}; {}", cassette.display(), how_to_record())]
    Missing {
        /// Where it was looked for.
        cassette: PathBuf,
    },
    /// The directory holds something else. It is not touched.
    #[error("{} holds something else than a cassette; choose another place, or empty it", cassette.display())]
    NotACassette {
        /// The directory.
        cassette: PathBuf,
    },
    /// Another recorder writes to it.
    #[error("the cassette {} is being recorded by somebody else", cassette.display())]
    Busy {
        /// The cassette.
        cassette: PathBuf,
    },
    /// It was written by another version of this crate.
    #[error("{} is of format {found}, and this plays format {known}; {}", file.display(), how_to_record())]
    Format {
        /// The file that says so.
        file: PathBuf,
        /// What it says.
        found: String,
        /// What can be played.
        known: u32,
    },
    /// A file of the cassette does not say what it should.
    #[error("{}: {reason}; {}", file.display(), how_to_record())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The cassette has other calls for this turn, or none any more: what the agent is asked has changed.
    #[error("{0}")]
    Drifted(Box<Drift>),
    /// A recorded text has a placeholder that this player was given no value for.
    #[error("{}: no value for the placeholder `{placeholder}`; give the player one", file.display())]
    NoValue {
        /// The file of the call.
        file: PathBuf,
        /// The placeholder's name.
        placeholder: String,
    },
    /// The workspace could not be looked through, or a recorded change not be made in it.
    #[error("{}: {reason}", path.display())]
    Workspace {
        /// The file or directory.
        path: PathBuf,
        /// What went wrong.
        reason: String,
    },
    /// A call changed more than a cassette takes.
    #[error(
        "one call changed {bytes} bytes of files, and a cassette takes {limit}; the largest is {}: leave it out, or raise the \
         limit",
        largest.display()
    )]
    TooLarge {
        /// The size of all changed files.
        bytes: u64,
        /// The limit.
        limit: u64,
        /// The largest file, in the workspace.
        largest: PathBuf,
    },
    /// The variable that says whether to record says something else.
    #[error("{variable} is `{found}`; say `record` or `replay`, or leave it out")]
    Mode {
        /// Its name.
        variable: String,
        /// What it says.
        found: String,
    },
}

/// What an agent is asked is not what was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
#[error(
    "{}; {}{}",
    self.summary(), how_to_record(), if diff.is_empty() { String::new() } else { format!("\n{diff}") }
)]
pub struct Drift {
    /// The cassette.
    pub cassette: PathBuf,
    /// The turn that was asked for: its role and session operation.
    pub asked: String,
    /// The recorded call that comes nearest, of those that were not played yet: its number, from 1. None: all were played.
    pub call: Option<usize>,
    /// What differs, as unified diffs from what was recorded to what is asked.
    pub diff: String,
}

impl Drift {
    fn summary(&self) -> String {
        let cassette = self.cassette.display();
        match self.call {
            Some(call) => format!("{cassette} has no call for this turn ({}); call {call} comes nearest", self.asked),
            None => format!("{cassette} has no call for this turn ({}): all were played", self.asked),
        }
    }
}

fn how_to_record() -> String {
    format!("record it with {RECORD}=record, where `record_or_replay` is used, or with a `Recorder`")
}

pub(super) fn of_file(file: &Path, error: &std::io::Error) -> CassetteError {
    CassetteError::File { file: file.to_owned(), reason: error.to_string() }
}

pub(super) fn of_workspace(path: &Path, reason: impl ToString) -> CassetteError {
    CassetteError::Workspace { path: path.to_owned(), reason: reason.to_string() }
}
