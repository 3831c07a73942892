//! Interprets Codex's error messages. Codex reports no codes: a status or a provider's error becomes an English
//! sentence.

use std::time::Duration;

use crate::agent::error::AgentErrorKind;
use crate::drivers::json_lines;
use crate::sessions::session::{SessionId, SessionOp};
use crate::sessions::{SessionError, SessionUse};

/// The kind of failure that a turn's error message describes. An unknown message is treated as a refusal, because Codex
/// passes on the message of a provider that refuses a request unchanged.
pub(super) fn from_turn(message: &str) -> AgentErrorKind {
    let lower = message.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|words| lower.contains(words));
    if says(&["context window", "exceeds the maximum length", "context_length_exceeded"]) {
        return AgentErrorKind::PromptTooLong;
    }
    if says(&["missing environment variable"]) {
        return AgentErrorKind::Configuration { reason: message.to_owned() };
    }
    if says(&["quota exceeded", "usage limit"]) {
        return AgentErrorKind::Refused { reason: message.to_owned() };
    }
    if says(&["rate limit"]) {
        return AgentErrorKind::RateLimited { retry_after: retry_after(&lower) };
    }
    if says(&["high demand", "at capacity", "overloaded", "internal server error"]) {
        return AgentErrorKind::Overloaded;
    }
    match status(&lower) {
        Some(429) => return AgentErrorKind::RateLimited { retry_after: retry_after(&lower) },
        Some(413) => return AgentErrorKind::PromptTooLong,
        Some(408 | 500..) => return AgentErrorKind::Overloaded,
        Some(_) => return AgentErrorKind::Refused { reason: message.to_owned() },
        None => {}
    }
    if says(&["stream disconnected", "connection failed", "error sending request", "timeout waiting", "timed out"]) {
        return AgentErrorKind::Connection { reason: message.to_owned() };
    }
    AgentErrorKind::Refused { reason: words_of(message) }
}

/// The kind of failure if the program ended without reporting the turn's outcome: the end of its standard error
/// contains the reason.
pub(super) fn from_exit(operation: &SessionOp, started: bool, exit: Option<i32>, stderr: &str) -> AgentErrorKind {
    let session = || match operation {
        SessionOp::StartFresh(_) => None,
        SessionOp::ContinueFrom(session) | SessionOp::ForkFrom { parent: session, .. } => Some(session.clone()),
    };
    let last = stderr.lines().rev().find(|line| line.starts_with("Error")).unwrap_or_default();
    if let Some(session) = session() {
        if last.contains("no rollout found") {
            return SessionError::Unknown { session }.into();
        }
        if last.contains("already has an active writer") {
            return SessionError::Busy { session, used_by: SessionUse::Turn, process: None }.into();
        }
    }
    if last.contains("Input exceeds the maximum length") {
        return AgentErrorKind::PromptTooLong;
    }
    let reason = stderr.trim().to_owned();
    // Processes that share a home wait for each other's database locks, but only for a limited time.
    let passes = stderr.contains("database is locked");
    match exit {
        Some(1 | 2) if !started && !passes => AgentErrorKind::Configuration { reason },
        exit => AgentErrorKind::Crashed { exit, reason },
    }
}

/// Refuses ids that are not UUIDs. Codex treats such an id as a thread's name, and starts a fresh thread if no thread
/// has that name.
pub(super) fn check_id(session: &SessionId) -> Result<(), SessionError> {
    let groups: Vec<&str> = session.as_str().split('-').collect();
    let is_uuid = groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_hexdigit()));
    if is_uuid { Ok(()) } else { Err(SessionError::Unknown { session: session.clone() }) }
}

/// The status in `unexpected status 503 …` or `last status: 429 …`.
fn status(message: &str) -> Option<u16> {
    let (_, rest) = message.split_once("status")?;
    let digits: String = rest.trim_start_matches([':', ' ']).chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|status| (400..600).contains(status))
}

/// The time in `… try again in 1.5s` or `… in 20ms`.
fn retry_after(message: &str) -> Option<Duration> {
    let (_, rest) = message.split_once("try again in ")?;
    let unit_at = rest.find(|character: char| !character.is_ascii_digit() && character != '.')?;
    let (number, unit) = rest.split_at(unit_at);
    let number: f64 = number.parse().ok()?;
    let seconds = match unit.trim_start() {
        unit if unit.starts_with("ms") => number / 1_000.0,
        unit if unit.starts_with("min") || unit.starts_with('m') => number * 60.0,
        unit if unit.starts_with('s') => number,
        _ => return None,
    };
    Duration::try_from_secs_f64(seconds).ok()
}

/// The message inside a provider's JSON error, if it was passed on unchanged.
fn words_of(message: &str) -> String {
    let error = json_lines::value(message);
    let words = error.as_ref().and_then(|error| error.pointer("/error/message")?.as_str());
    words.unwrap_or(message).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::error::{AgentError, Disposition};
    use crate::sessions::session::Slug;

    /// Messages that Codex 0.169.0 was observed to write, by their causes.
    #[test]
    fn what_codex_says_is_understood() {
        let refused = |reason: &str| AgentErrorKind::Refused { reason: reason.to_owned() };
        let connection = |reason: &str| AgentErrorKind::Connection { reason: reason.to_owned() };
        let limited =
            |millis: Option<u64>| AgentErrorKind::RateLimited { retry_after: millis.map(Duration::from_millis) };
        let unauthorized = "unexpected status 401 Unauthorized: no, url: http://127.0.0.1:1/v1/responses";
        let unavailable = "unexpected status 503 Service Unavailable: no, url: http://127.0.0.1:1/v1/responses";
        let dropped = "stream disconnected before completion: stream closed before response.completed";
        let silent = "stream disconnected before completion: idle timeout waiting for SSE";
        let unreachable = "Connection failed: error sending request";
        for (message, kind) in [
            (unauthorized, refused(unauthorized)),
            ("The model `gpt-x` does not exist", refused("The model `gpt-x` does not exist")),
            (r#"{"error":{"message":"bad schema","type":"invalid_request_error"}}"#, refused("bad schema")),
            (
                "Quota exceeded. Check your plan and billing details.",
                refused("Quota exceeded. Check your plan and billing details."),
            ),
            ("exceeded retry limit, last status: 429 Too Many Requests", limited(None)),
            ("rate limit exceeded: Rate limit reached for m. Please try again in 1.5s.", limited(Some(1_500))),
            ("rate limit exceeded: Please try again in 20ms.", limited(Some(20))),
            ("We’re currently experiencing high demand, which may cause temporary errors.", AgentErrorKind::Overloaded),
            ("Selected model is at capacity. Please try a different model.", AgentErrorKind::Overloaded),
            (unavailable, AgentErrorKind::Overloaded),
            (dropped, connection(dropped)),
            (silent, connection(silent)),
            (unreachable, connection(unreachable)),
            (
                "Codex ran out of room in the model's context window. Start a new thread or clear earlier history before retrying.",
                AgentErrorKind::PromptTooLong,
            ),
            ("unexpected status 413 Payload Too Large: no", AgentErrorKind::PromptTooLong),
        ] {
            assert_eq!(from_turn(message), kind, "{message}");
        }
    }

    #[test]
    fn an_end_without_a_word_is_told_by_standard_error() {
        let id = SessionId::new("01a203a3-ab4b-74b1-9e3e-e1d88a5e1064").unwrap();
        let fresh = SessionOp::StartFresh(Slug::new("x").unwrap());
        let resume = SessionOp::ContinueFrom(id.clone());
        let unknown = "warning: Untrusted\nError: thread/resume: thread/resume failed: no rollout found for thread id 01 (code -32600)";
        assert_eq!(from_exit(&resume, false, Some(1), unknown), SessionError::Unknown { session: id }.into());
        let bad_flag = from_exit(&fresh, false, Some(2), "error: unexpected argument '--nope' found");
        assert!(matches!(bad_flag, AgentErrorKind::Configuration { .. }), "{bad_flag:?}");
        assert_eq!(AgentError::new(bad_flag).disposition(), Disposition::GiveUp);
        let locked = from_exit(&fresh, false, Some(1), "Error: failed to open state db: database is locked");
        assert!(matches!(locked, AgentErrorKind::Crashed { exit: Some(1), .. }), "{locked:?}");
        let killed = from_exit(&fresh, true, None, "");
        assert_eq!(killed, AgentErrorKind::Crashed { exit: None, reason: String::new() });
        assert_eq!(AgentError::new(killed).disposition(), Disposition::Retry { after: None });
    }

    #[test]
    fn only_an_id_is_an_id() {
        assert!(check_id(&SessionId::new("01a203a3-ab4b-74b1-9e3e-e1d88a5e1064").unwrap()).is_ok());
        for bad in ["01a203a3-ab4b-74b1-9e3e-e1d88a5e106", "nonsense", "01a203a3ab4b74b19e3ee1d88a5e1064"] {
            assert!(check_id(&SessionId::new(bad).unwrap()).is_err(), "{bad}");
        }
    }
}
