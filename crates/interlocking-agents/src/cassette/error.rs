//! Errors of recording and replaying cassettes.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The environment variable that says whether [`record_or_replay`](super::record_or_replay) records.
pub const RECORD: &str = "INTERLOCKING_CASSETTES";

/// Why a cassette cannot be recorded or replayed.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CassetteError {
    /// A file of the cassette cannot be read or written.
    #[error("{}: {reason}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// The error message of the operating system.
        reason: String,
    },
    /// There is no cassette.
    #[error("there is no cassette {}; {}", cassette.display(), how_to_record())]
    Missing {
        /// Where the cassette was expected.
        cassette: PathBuf,
    },
    /// The directory contains something other than a cassette. It is left untouched.
    #[error("{} contains something other than a cassette; choose another place, or empty it", cassette.display())]
    NotACassette {
        /// The directory.
        cassette: PathBuf,
    },
    /// Another recorder is writing to the cassette.
    #[error("the cassette {} is being recorded by another recorder: wait until it ends, or choose another place", cassette.display())]
    Busy {
        /// The cassette.
        cassette: PathBuf,
    },
    /// The cassette has another format version, written by another version of this crate.
    #[error("{} has format {found}, but this version plays format {known}; {}", file.display(), how_to_record())]
    Format {
        /// The file that contains the format version.
        file: PathBuf,
        /// The version found in the file.
        found: String,
        /// The version that can be replayed.
        known: u32,
    },
    /// The contents of a file of the cassette are invalid.
    #[error("{}: {reason}; {}", file.display(), how_to_record())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// No unplayed call of the cassette matches this turn: what the agent is asked has changed.
    #[error("{0}")]
    Drifted(Box<Drift>),
    /// A recorded text contains a placeholder for which the player was given no value.
    #[error("{}: no value for the placeholder `{placeholder}`; give the player one", file.display())]
    NoValue {
        /// The file of the call.
        file: PathBuf,
        /// The placeholder's name.
        placeholder: String,
    },
    /// The workspace could not be scanned, or a recorded change could not be applied to it.
    #[error("{}: {reason}", path.display())]
    Workspace {
        /// The file or directory.
        path: PathBuf,
        /// What went wrong.
        reason: String,
    },
    /// A call changed more than the recorder allows.
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
        /// The largest file, relative to the workspace.
        largest: PathBuf,
    },
    /// The environment variable that chooses between recording and replaying has an unknown value.
    #[error("{variable} is `{found}`; say `record` or `replay`, or leave it out")]
    Mode {
        /// The variable's name.
        variable: String,
        /// The variable's value.
        found: String,
    },
}

/// The difference between what an agent is asked and what was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
#[error(
    "{}; {}{}",
    self.summary(), how_to_record(), if diff.is_empty() { String::new() } else { format!("\n{diff}") }
)]
pub struct Drift {
    /// The cassette.
    pub cassette: PathBuf,
    /// The requested turn: its role and session operation.
    pub asked: String,
    /// The number, from 1, of the most similar recorded call that was not played yet. None if all calls were played.
    pub call: Option<usize>,
    /// The differences, as unified diffs from the recorded turn to the requested turn.
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
