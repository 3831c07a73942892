//! Why a session cannot be used.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::sessions::session::SessionId;

/// What keeps a session busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionUse {
    /// A turn runs in it. Two turns at once are a mistake in whoever asks, so trying again is no remedy.
    Turn,
    /// A fork of it is starting, which is over in a moment.
    Fork,
}

/// Why a session cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionError {
    /// Somebody else uses it right now.
    #[error("session `{session}` is busy: {used_by}{}; two turns at once would mangle its history", by(*process))]
    Busy {
        /// The session asked for (the parent, for a fork).
        session: SessionId,
        /// What it is used for.
        used_by: SessionUse,
        /// The process that uses it, where that is known; of several that fork it, one.
        #[serde(default)]
        process: Option<u32>,
    },
    /// It began in another workspace.
    #[error(
        "session `{session}` began {}, it cannot be continued {}; fork it, or start a fresh one",
        place(began_in.as_deref()), place(asked_for.as_deref())
    )]
    WrongWorkspace {
        /// The session asked for.
        session: SessionId,
        /// Where it began.
        began_in: Option<PathBuf>,
        /// The workspace of the refused turn.
        asked_for: Option<PathBuf>,
    },
    /// The backend has no such session: it is lost; [`LostSession`](crate::LostSession) says what then.
    #[error("there is no session `{session}`")]
    Unknown {
        /// The session asked for.
        session: SessionId,
    },
    /// The backend was asked to fork and went on in the parent instead.
    #[error("asked to fork session `{session}`, the agent continued it instead")]
    NotForked {
        /// The parent.
        session: SessionId,
    },
    /// What the processes that share the sessions write down about this one cannot be used, so nobody knows whether it is
    /// free.
    #[error("whether session `{session}` is free cannot be known: {}: {reason}", file.display())]
    Unreadable {
        /// The session asked for.
        session: SessionId,
        /// The file.
        file: PathBuf,
        /// The system's words, or what is wrong with the file.
        reason: String,
    },
}

impl fmt::Display for SessionUse {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Turn => "a turn runs in it",
            Self::Fork => "a fork of it is starting",
        })
    }
}

fn by(process: Option<u32>) -> String {
    match process {
        Some(process) => format!(" (process {process})"),
        None => String::new(),
    }
}

fn place(workspace: Option<&Path>) -> String {
    match workspace {
        Some(path) => format!("in {}", path.display()),
        None => "without a workspace".to_owned(),
    }
}
