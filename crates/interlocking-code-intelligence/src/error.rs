//! What can go wrong.

use interlocking_rust_source::SourceError;
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use thiserror::Error;

/// Why no language server answers.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unavailable {
    /// It is not installed.
    #[error("{program} is not installed, or {} does not run: {remedy}", looked_for.display())]
    NotInstalled {
        /// The server.
        program: String,
        /// What was to be started.
        looked_for: PathBuf,
        /// How to install it.
        remedy: String,
    },
    /// What it needs beside itself is missing: without that it finds less than there is.
    #[error("{program} lacks {missing}: {remedy}")]
    Incomplete {
        /// The server.
        program: String,
        /// What is missing.
        missing: String,
        /// How to install it.
        remedy: String,
    },
    /// It could not be started, or did not become ready.
    #[error("{program} did not start: {reason}")]
    NotStarted {
        /// The server.
        program: String,
        /// Why.
        reason: String,
    },
}

/// A question without an answer.
#[derive(Debug, Error)]
pub enum CodeError {
    /// The path leads out of the project.
    #[error("{} leads out of the project: give a path within it", .0.display())]
    OutsideProject(PathBuf),
    /// The file cannot be read.
    #[error("{} cannot be read: {source}", file.display())]
    Unreadable {
        /// Which.
        file: PathBuf,
        /// The system's words.
        source: io::Error,
    },
    /// The file is no source code of its language.
    #[error(transparent)]
    Syntax(#[from] SourceError),
    /// The server has ended.
    #[error("{program} has ended: {reason}")]
    Ended {
        /// The server.
        program: String,
        /// How, and its last words.
        reason: String,
    },
    /// The server took too long.
    #[error("{program} did not answer {method} within {} s", after.as_secs())]
    TimedOut {
        /// The server.
        program: String,
        /// What it was asked.
        method: &'static str,
        /// How long it had.
        after: Duration,
    },
    /// The server refused.
    #[error("{program} refused {method}: {message}")]
    Refused {
        /// The server.
        program: String,
        /// What it was asked.
        method: &'static str,
        /// Its words.
        message: String,
    },
    /// What the server said is not in the protocol.
    #[error("{program} answered {method} with what is not in its protocol: {reason}")]
    Malformed {
        /// The server.
        program: String,
        /// What it was asked.
        method: &'static str,
        /// What is wrong.
        reason: String,
    },
}
