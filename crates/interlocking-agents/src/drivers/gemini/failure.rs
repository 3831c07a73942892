//! Interprets the program's error messages and exit codes.

use super::event::Failure;
use crate::agent::error::AgentErrorKind;
use crate::drivers::json_lines::{self, LeftOut};
use crate::program::Ended;
use crate::sessions::SessionError;
use crate::sessions::session::SessionOp;

/// The exit codes with a known meaning.
mod exit {
    pub(super) const AUTHENTICATION: i32 = 41;
    pub(super) const INPUT: i32 = 42;
    pub(super) const CONFIGURATION: i32 = 52;
    pub(super) const TURN_LIMIT: i32 = 53;
}

/// The kind of failure of a turn. The provider's status is in the message, or else in standard error.
pub(super) fn from_turn(failure: &Failure, stderr: &str) -> AgentErrorKind {
    match &*failure.kind {
        "FatalTurnLimitedError" => return AgentErrorKind::StepLimit,
        "FatalCancellationError" => return AgentErrorKind::Cancelled,
        _ => {}
    }
    let message = failure.message.trim();
    let message = message.strip_prefix("[API Error: ").and_then(|rest| rest.strip_suffix(']')).unwrap_or(message);
    let error = innermost_error(message);
    let reason = error.message.unwrap_or_else(|| message.to_owned());
    let lower = reason.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|words| lower.contains(words));
    if says(&["token count", "exceeds the maximum number of tokens", "context window"]) {
        return AgentErrorKind::PromptTooLong;
    }
    match error.code.or_else(|| status_in(stderr)) {
        Some(429) => return AgentErrorKind::RateLimited { retry_after: None },
        Some(413) => return AgentErrorKind::PromptTooLong,
        Some(408 | 500..) => return AgentErrorKind::Overloaded,
        Some(400..) => return AgentErrorKind::Refused { reason },
        _ => {}
    }
    if says(&["quota", "rate limit", "exhausted your capacity"]) {
        return AgentErrorKind::RateLimited { retry_after: None };
    }
    if says(&["fetch failed", "terminated", "socket", "econn", "etimedout", "enotfound", "other side closed"])
        // Data that was cut off or corrupted on the way.
        || says(&["in json at position", "unexpected token", "unexpected end of json"])
    {
        return AgentErrorKind::Connection { reason };
    }
    AgentErrorKind::Other { message: format!("the Gemini CLI failed: {reason}"), transient: false }
}

/// The kind of failure of a turn that ended with only this complaint.
pub(super) fn from_complaint(complaint: &str) -> AgentErrorKind {
    let lower = complaint.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|words| lower.contains(words));
    if says(&["session turns"]) {
        return AgentErrorKind::StepLimit;
    }
    if says(&["blocked"]) {
        return AgentErrorKind::Refused { reason: complaint.to_owned() };
    }
    if says(&["finish reason", "empty response", "invalid stream", "malformed"]) {
        return AgentErrorKind::Overloaded;
    }
    // An answer that was cut off, thoughts without an answer, or a loop.
    AgentErrorKind::Other { message: format!("the Gemini CLI gave up: {complaint}"), transient: false }
}

/// The kind of failure if the program ended without reporting the turn's outcome.
pub(super) fn from_exit(operation: &SessionOp, ended: &Ended, left_out: Option<LeftOut>) -> AgentErrorKind {
    let reason = LeftOut::explain(left_out, &ended.stderr, "it said nothing");
    match (ended.exit, operation) {
        (Some(exit::INPUT), SessionOp::ContinueFrom(session)) if reason.contains("Error resuming session") => {
            SessionError::Unknown { session: session.clone() }.into()
        }
        (Some(exit::AUTHENTICATION | exit::INPUT | exit::CONFIGURATION), _) => {
            AgentErrorKind::configuration(format!("the Gemini CLI refuses to start: {reason}"))
        }
        (Some(exit::TURN_LIMIT), _) => AgentErrorKind::StepLimit,
        (exit, _) => AgentErrorKind::Crashed { exit, reason },
    }
}

/// A provider's error.
#[derive(Default)]
struct ProviderError {
    code: Option<u64>,
    message: Option<String>,
}

/// The innermost error in a message that is a JSON error, or contains one in its text.
fn innermost_error(message: &str) -> ProviderError {
    let document = message.find('{').and_then(|start| json_lines::value(&message[start..]));
    let Some(document) = document else { return ProviderError::default() };
    let error = document.get("error").unwrap_or(&document);
    let (code, text) = (error["code"].as_u64(), error["message"].as_str());
    let inner = text.map(innermost_error).unwrap_or_default();
    ProviderError { code: inner.code.or(code), message: inner.message.or_else(|| text.map(str::to_owned)) }
}

/// The last status that an error on standard error mentions: `  status: 429`, or `  code: 404`.
fn status_in(stderr: &str) -> Option<u64> {
    stderr.lines().rev().find_map(|line| {
        let line = line.trim().trim_end_matches(',');
        let number = line.strip_prefix("status: ").or_else(|| line.strip_prefix("code: "))?;
        number.parse().ok().filter(|status| (400..600).contains(status))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sessions::session::{SessionId, Slug};

    fn turn(message: &str, stderr: &str) -> AgentErrorKind {
        from_turn(&Failure { kind: "unknown".to_owned(), message: message.to_owned() }, stderr)
    }

    #[test]
    fn the_status_decides_wherever_it_stands() {
        let status =
            |code: u16| turn(&format!(r#"[API Error: {{"error":{{"code":{code},"message":"m","status":"S"}}}}]"#), "");
        let refused = AgentErrorKind::Refused { reason: "m".to_owned() };
        for code in [400, 401, 403, 404] {
            assert_eq!(status(code), refused, "{code}");
        }
        assert_eq!(status(413), AgentErrorKind::PromptTooLong);
        assert_eq!(status(429), AgentErrorKind::RateLimited { retry_after: None });
        for code in [500, 502, 503, 504] {
            assert_eq!(status(code), AgentErrorKind::Overloaded, "{code}");
        }
        let not_found = AgentErrorKind::Refused { reason: "no such model".to_owned() };
        assert_eq!(
            turn("[API Error: no such model]", "ModelNotFoundError: no such model\n  at x {\n  code: 404\n}"),
            not_found
        );
        let nested =
            r#"[API Error: {"error":{"message":"{\"error\":{\"code\":429,\"message\":\"slow\"}}","code":500}}]"#;
        assert_eq!(turn(nested, ""), AgentErrorKind::RateLimited { retry_after: None });
    }

    #[test]
    fn words_decide_where_there_is_no_status() {
        let too_long = r#"[API Error: {"error":{"code":400,"message":"The input token count (9) exceeds the maximum number of tokens allowed (8)."}}]"#;
        assert_eq!(turn(too_long, ""), AgentErrorKind::PromptTooLong);
        assert!(matches!(turn("[API Error: terminated]", ""), AgentErrorKind::Connection { .. }));
        let fetch = "[API Error: exception TypeError: fetch failed sending request]";
        assert!(matches!(turn(fetch, ""), AgentErrorKind::Connection { .. }));
        let spoiled = "[API Error: Unterminated string in JSON at position 30]";
        assert!(matches!(turn(spoiled, ""), AgentErrorKind::Connection { .. }));
        assert!(matches!(turn("out of luck", ""), AgentErrorKind::Other { transient: false, .. }));
        let limit = Failure { kind: "FatalTurnLimitedError".to_owned(), message: String::new() };
        assert_eq!(from_turn(&limit, ""), AgentErrorKind::StepLimit);
    }

    #[test]
    fn a_complaint_says_why_a_turn_came_to_nothing() {
        assert_eq!(from_complaint("Model stream ended without a finish reason."), AgentErrorKind::Overloaded);
        let blocked = "The model response was blocked due to safety settings.";
        assert_eq!(from_complaint(blocked), AgentErrorKind::Refused { reason: blocked.to_owned() });
        assert_eq!(from_complaint("Maximum session turns exceeded"), AgentErrorKind::StepLimit);
        assert!(matches!(from_complaint("Loop detected, stopping execution"), AgentErrorKind::Other { .. }));
    }

    #[test]
    fn an_end_without_a_result_is_told_by_its_code() {
        let ended = |exit, stderr: &str| Ended { exit, signal: None, stderr: stderr.to_owned(), survivors: 0 };
        let fresh = SessionOp::StartFresh(Slug::new("a").unwrap());
        let session = SessionId::new("s").unwrap();
        let unknown = ended(Some(42), "Error resuming session: Invalid session identifier \"s\".");
        assert_eq!(
            from_exit(&SessionOp::ContinueFrom(session.clone()), &unknown, None),
            SessionError::Unknown { session }.into()
        );
        assert!(matches!(from_exit(&fresh, &ended(Some(41), "no key"), None), AgentErrorKind::Configuration { .. }));
        assert_eq!(from_exit(&fresh, &ended(Some(53), ""), None), AgentErrorKind::StepLimit);
        let crashed = AgentErrorKind::Crashed { exit: None, reason: "it said nothing".to_owned() };
        assert_eq!(from_exit(&fresh, &ended(None, ""), None), crashed);
    }
}
