//! Interprets the program's result event, case by case.
//!
//! | the program reports | meaning | remedy |
//! |---|---|---|
//! | `success` | an answer; without `structured_output`, an answer without output | |
//! | `success`, `is_error`, 401, 403, 404, billing, 400 | [`Refused`](AgentErrorKind::Refused) | nothing |
//! | `success`, `is_error`, no key | [`Configuration`](AgentErrorKind::Configuration) | nothing |
//! | `success`, `is_error`, 429 | [`RateLimited`](AgentErrorKind::RateLimited) | continue the session later |
//! | `success`, `is_error`, 5xx | [`Overloaded`](AgentErrorKind::Overloaded) | continue the session |
//! | `success`, `is_error`, no status | [`Connection`](AgentErrorKind::Connection) | continue the session |
//! | `prompt_too_long`, `blocking_limit`, `image_error`, 413 | [`PromptTooLong`](AgentErrorKind::PromptTooLong) | nothing |
//! | `error_max_structured_output_retries` | an answer: its last attempt, which is then corrected | |
//! | `error_max_turns` | [`StepLimit`](AgentErrorKind::StepLimit) | continue the session |
//! | `error_max_budget_usd` | [`BudgetLimit`](AgentErrorKind::BudgetLimit) | nothing |
//! | `error_during_execution`, no such session | [`Unknown`](SessionError::Unknown) | nothing |
//! | `error_during_execution`, `aborted_…` | [`Cancelled`](AgentErrorKind::Cancelled) | nothing |
//! | any other error | [`Crashed`](AgentErrorKind::Crashed) | continue the session |
//! | nothing on standard output, exit code from 1 to 127 | [`Configuration`](AgentErrorKind::Configuration) | nothing |
//! | no result | [`Crashed`](AgentErrorKind::Crashed) | continue the session |

use std::time::Duration;

use serde_json::Value;

use super::line::Outcome;
use crate::agent::error::AgentErrorKind;
use crate::drivers::json_lines::LeftOut;
use crate::program::Ended;
use crate::sessions::SessionError;
use crate::sessions::session::SessionId;

/// The meaning of a result.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Verdict {
    /// An answer, which may be invalid.
    Answer,
    /// No answer was valid. The last one is to be corrected.
    Exhausted,
    Failure(AgentErrorKind),
}

/// Information from earlier events, in addition to the result.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Hints {
    /// How long the provider asked to wait.
    pub(super) retry_after: Option<Duration>,
    /// The kind of the last failure, as the program names it.
    pub(super) api_error: Option<String>,
}

/// Interprets a result.
pub(super) fn interpret(result: &Outcome, hints: &Hints, ended: &Ended, asked_for: &SessionId) -> Verdict {
    match result.subtype.as_str() {
        "success" if !result.is_error => Verdict::Answer,
        "success" => Verdict::Failure(provider_failure(result, hints)),
        "error_max_structured_output_retries" => Verdict::Exhausted,
        "error_max_turns" => Verdict::Failure(AgentErrorKind::StepLimit),
        "error_max_budget_usd" => Verdict::Failure(AgentErrorKind::BudgetLimit),
        _ => Verdict::Failure(other_failure(result, ended, asked_for)),
    }
}

/// The kind of failure if there was no result.
pub(super) fn without_result(anything_said: bool, ended: &Ended, left_out: Option<LeftOut>) -> AgentErrorKind {
    let reason = LeftOut::explain(left_out, &ended.stderr, "it gave no reason");
    // If the program rejects its input, it writes only to standard error. From 128 on, the code is that of a signal.
    match (anything_said, ended.exit) {
        (false, Some(1..128)) => AgentErrorKind::Configuration { reason },
        _ => AgentErrorKind::Crashed { exit: ended.exit, reason },
    }
}

/// The kind of a failed request, by the status if the provider sent one.
fn provider_failure(result: &Outcome, hints: &Hints) -> AgentErrorKind {
    let reason = result.result.clone().unwrap_or_else(|| "no reason was given".to_owned());
    let called = hints.api_error.as_deref().or(result.api_error.as_ref().and_then(Value::as_str)).unwrap_or_default();
    let too_long =
        matches!(result.terminal_reason.as_deref(), Some("prompt_too_long" | "image_error" | "blocking_limit"));
    match result.api_error_status {
        _ if too_long => AgentErrorKind::PromptTooLong,
        Some(413) => AgentErrorKind::PromptTooLong,
        Some(429) => AgentErrorKind::RateLimited { retry_after: hints.retry_after },
        Some(408) => AgentErrorKind::Connection { reason },
        Some(500..) => AgentErrorKind::Overloaded,
        Some(_) => AgentErrorKind::Refused { reason },
        None if called == "rate_limit" => AgentErrorKind::RateLimited { retry_after: hints.retry_after },
        None if called == "overloaded" => AgentErrorKind::Overloaded,
        None if called == "billing_error" || called == "model_not_found" => AgentErrorKind::Refused { reason },
        None if called == "authentication_failed" => AgentErrorKind::Configuration {
            reason: format!("{reason} (set the variable that the credential comes from, or log in)"),
        },
        None if called == "invalid_request" || called == "max_output_tokens" => AgentErrorKind::Refused { reason },
        None => AgentErrorKind::Connection { reason },
    }
}

fn other_failure(result: &Outcome, ended: &Ended, asked_for: &SessionId) -> AgentErrorKind {
    let errors: Vec<_> =
        result.errors.iter().map(|error| error.as_str().map_or_else(|| error.to_string(), str::to_owned)).collect();
    let errors = errors.join("; ");
    if errors.contains("No conversation found with session ID") {
        return SessionError::Unknown { session: asked_for.clone() }.into();
    }
    if result.terminal_reason.as_deref().is_some_and(|reason| reason.starts_with("aborted_")) {
        return AgentErrorKind::Cancelled;
    }
    let reason = if errors.is_empty() { format!("the program reports {}", result.subtype) } else { errors };
    AgentErrorKind::Crashed { exit: ended.exit, reason }
}
