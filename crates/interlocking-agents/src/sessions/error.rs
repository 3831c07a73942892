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
    /// A turn runs in it. Two turns at once are a mistake of the caller, so trying again does not help.
    Turn,
    /// A fork of it is starting, which takes only a moment.
    Fork,
}

/// Why a session cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionError {
    /// The session is in use.
    #[error("session `{session}` is busy: {used_by}{}; two turns at once would mangle its history", by(*process))]
    Busy {
        /// The requested session (the parent, for a fork).
        session: SessionId,
        /// What the session is used for.
        used_by: SessionUse,
        /// The process that uses the session, if known; if several fork it, one of them.
        #[serde(default)]
        process: Option<u32>,
    },
    /// The session began in another workspace.
    #[error(
        "session `{session}` began {}, it cannot be continued {}; fork it, or start a fresh one",
        place(began_in.as_deref()), place(asked_for.as_deref())
    )]
    WrongWorkspace {
        /// The requested session.
        session: SessionId,
        /// The workspace that the session began in.
        began_in: Option<PathBuf>,
        /// The workspace of the refused turn.
        asked_for: Option<PathBuf>,
    },
    /// The backend does not know the session: it is lost. [`LostSession`](crate::LostSession) says what happens then.
    #[error("there is no session `{session}`")]
    Unknown {
        /// The requested session.
        session: SessionId,
    },
    /// The backend was asked to fork the session, but continued the parent.
    #[error("asked to fork session `{session}`, the agent continued it instead")]
    NotForked {
        /// The parent.
        session: SessionId,
    },
    /// The files that the processes share about this session cannot be used, so it is unknown whether the session is
    /// free.
    #[error("cannot determine whether session `{session}` is free: {}: {reason}", file.display())]
    Unreadable {
        /// The requested session.
        session: SessionId,
        /// The file.
        file: PathBuf,
        /// The error message of the operating system, or what is wrong with the file.
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
