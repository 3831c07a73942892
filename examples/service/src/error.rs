//! Refusals of requests, and their status codes.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use interlocking::runtime::journal::JournalError;
use interlocking::runtime::journal::answer::AnswerError;
use interlocking::runtime::service::ServiceError;
use serde_json::json;
use std::fmt;

pub(crate) enum Refused {
    /// No executor in this process has the run.
    NotExecutedHere,
    Service(ServiceError),
    Answer(AnswerError),
    Journal(JournalError),
    Encoding(serde_json::Error),
}

impl Refused {
    fn status(&self) -> StatusCode {
        match self {
            Self::NotExecutedHere | Self::Journal(JournalError::NoRun { .. }) => StatusCode::NOT_FOUND,
            Self::Answer(AnswerError::NoRun { .. } | AnswerError::NoQuestion { .. }) => StatusCode::NOT_FOUND,
            Self::Answer(AnswerError::Unfit { .. }) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Answer(AnswerError::Answered { .. } | AnswerError::Closed { .. }) => StatusCode::CONFLICT,
            Self::Service(ServiceError::Taken { .. }) => StatusCode::CONFLICT,
            Self::Service(ServiceError::Draining { .. }) => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        (self.status(), Json(json!({ "error": self.to_string() }))).into_response()
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotExecutedHere => f.write_str("this service is not executing that run"),
            Self::Service(error) => error.fmt(f),
            Self::Answer(error) => error.fmt(f),
            Self::Journal(error) => error.fmt(f),
            Self::Encoding(error) => error.fmt(f),
        }
    }
}

/// Converts each operation's errors to refusals.
macro_rules! refused {
    ($($error:ty => $variant:ident),+) => {
        $(impl From<$error> for Refused {
            fn from(error: $error) -> Self {
                Self::$variant(error)
            }
        })+
    };
}

refused!(ServiceError => Service, AnswerError => Answer, JournalError => Journal, serde_json::Error => Encoding);
