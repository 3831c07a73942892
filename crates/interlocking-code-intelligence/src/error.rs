//! Errors.

use interlocking_rust_source::SourceError;
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use thiserror::Error;

/// Why no language server is available.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unavailable {
    /// The server is not installed, or does not run.
    #[error("{program} is not installed, or {} does not run: {remedy}", looked_for.display())]
    NotInstalled {
        /// The server's name.
        program: String,
        /// The program that should have been started.
        looked_for: PathBuf,
        /// How to install it.
        remedy: String,
    },
    /// Something that the server needs is missing: without it, the server finds only part of the symbols and calls.
    #[error("{program} lacks {missing}: {remedy}")]
    Incomplete {
        /// The server's name.
        program: String,
        /// What is missing.
        missing: String,
        /// How to install it.
        remedy: String,
    },
    /// The server could not be started, or did not become ready.
    #[error("{program} did not start: {reason}")]
    NotStarted {
        /// The server's name.
        program: String,
        /// Why.
        reason: String,
    },
    /// The server was started, but is not asked any more, because it ended or took too long.
    #[error("{program} is not asked any more: {reason}")]
    GivenUp {
        /// The server's name.
        program: String,
        /// Why.
        reason: String,
    },
}

/// Why a question has no answer.
#[derive(Debug, Error)]
pub enum CodeError {
    /// The path leads out of the project.
    #[error("{} leads out of the project: give a path within it", .0.display())]
    OutsideProject(PathBuf),
    /// The file cannot be read.
    #[error("{} cannot be read: {source}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file cannot be parsed.
    #[error(transparent)]
    Syntax(#[from] SourceError),
    /// The server has ended.
    #[error("{program} has ended: {reason}")]
    Ended {
        /// The server's name.
        program: String,
        /// The server's last standard error, or what broke the protocol.
        reason: String,
    },
    /// The server took too long.
    #[error("{program} did not answer {method} within {} s", after.as_secs())]
    TimedOut {
        /// The server's name.
        program: String,
        /// The method of the request.
        method: &'static str,
        /// The time limit.
        after: Duration,
    },
    /// The server answered with an error.
    #[error("{program} refused {method}: {message}")]
    Refused {
        /// The server's name.
        program: String,
        /// The method of the request.
        method: &'static str,
        /// The server's message.
        message: String,
    },
    /// The server's answer does not follow the protocol.
    #[error("{program} answered {method} with a message that violates its protocol: {reason}")]
    Malformed {
        /// The server's name.
        program: String,
        /// The method of the request.
        method: &'static str,
        /// What is wrong.
        reason: String,
    },
}
