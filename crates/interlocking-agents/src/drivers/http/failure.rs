//! Converts a provider's errors.

use std::time::Duration;

use genai::{Error, webc};
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::agent::error::AgentErrorKind;
use crate::drivers::json_lines;
use crate::program::Redactor;

/// How much is shown of a body that is not in the provider's error format, in characters.
const SHOWN: usize = 300;

/// A failed call.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) kind: AgentErrorKind,
    pub(super) spent: Spent,
    /// Whether the provider refuses what it was asked, not the key, the account or the model.
    is_of_prompt: bool,
}

/// What a failed call used up.
#[derive(Debug)]
pub(super) enum Spent {
    /// The provider did not accept the request.
    Nothing,
    /// The model may have started.
    Unknown,
    /// The provider has reported the usage.
    Counted(Box<genai::chat::Usage>),
}

impl Failure {
    fn refused(kind: AgentErrorKind) -> Self {
        Self { kind, spent: Spent::Nothing, is_of_prompt: false }
    }

    /// A failure of a call that may have to be paid for.
    pub(super) fn begun(kind: AgentErrorKind) -> Self {
        Self { kind, spent: Spent::Unknown, is_of_prompt: false }
    }

    /// The same; `is_of_prompt` says whether it is the prompt that is refused.
    fn of_prompt(self, is_of_prompt: bool) -> Self {
        Self { is_of_prompt, ..self }
    }

    /// Whether the prompt is refused, so that every later prompt of its session would be refused with it.
    pub(super) fn refuses_prompt(&self) -> bool {
        self.is_of_prompt || matches!(self.kind, AgentErrorKind::PromptTooLong)
    }

    /// The same, after an answer whose usage the provider has reported.
    pub(super) fn counted(self, usage: Option<genai::chat::Usage>) -> Self {
        Self { spent: usage.map_or(self.spent, |usage| Spent::Counted(Box::new(usage))), ..self }
    }
}

/// Converts an error of the HTTP crate. Its message is not used, because it contains whole requests and answers. The
/// key is removed before the text is cut.
pub(super) fn failure(error: &Error, redactor: &Redactor) -> Failure {
    let first_line = |text: &str| shortened(text.lines().next().unwrap_or_default(), redactor);
    let refused = |status: StatusCode, body: &str, headers: &HeaderMap| {
        let is_of_prompt = matches!(status.as_u16(), 400 | 413 | 422);
        Failure::refused(status_kind(status, body, headers, redactor)).of_prompt(is_of_prompt)
    };
    match error {
        Error::WebStream { error, .. } => match (error.downcast_ref::<Error>(), error.downcast_ref::<reqwest::Error>())
        {
            (Some(inner), _) => failure(inner, redactor),
            (None, Some(broken)) => transport(broken),
            (None, None) => malformed(&error.to_string()),
        },
        Error::HttpError { status, body, headers, .. } => refused(*status, body, headers),
        Error::WebModelCall { webc_error, .. } | Error::WebAdapterCall { webc_error, .. } => match webc_error {
            webc::Error::ResponseFailedStatus { status, body, headers } => refused(*status, body, headers),
            webc::Error::Reqwest(broken) => transport(broken),
            other => malformed(&first_line(&other.to_string())),
        },
        Error::ChatResponse { body, .. } => in_the_stream(body, redactor),
        Error::StreamParse { serde_error, .. } => malformed(&serde_error.to_string()),
        Error::JsonValueExt(error) => malformed(&first_line(&error.to_string())),
        Error::SerdeJson(error) => malformed(&error.to_string()),
        Error::InvalidJsonResponseElement { info } => malformed(info),
        Error::ChatResponseGeneration { cause, .. } => malformed(&first_line(cause)),
        other => Failure::refused(AgentErrorKind::configuration(first_line(&other.to_string()))),
    }
}

/// The connection broke or could not be made.
pub(super) fn transport(error: &reqwest::Error) -> Failure {
    // The outermost error names the URL, the innermost error says what happened.
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    let broken = AgentErrorKind::Connection { reason: innermost.to_string() };
    if error.is_builder() {
        Failure::refused(AgentErrorKind::configuration(format!("no request can be made: {innermost}")))
    } else if error.is_connect() {
        Failure::refused(broken)
    } else {
        Failure::begun(broken)
    }
}

/// The kind of error by the status and, if that is not enough, by the provider's message.
fn status_kind(status: StatusCode, body: &str, headers: &HeaderMap, redactor: &Redactor) -> AgentErrorKind {
    let error = ProviderError::of(body, redactor);
    let refused = || AgentErrorKind::Refused { reason: format!("{}: {}", status.as_u16(), error.message) };
    match status.as_u16() {
        413 => AgentErrorKind::PromptTooLong,
        400 | 422 if error.is_too_long() => AgentErrorKind::PromptTooLong,
        408 => AgentErrorKind::Connection { reason: format!("408: {}", error.message) },
        // The account has no money left, so waiting does not help.
        429 if error.kind == "insufficient_quota" || error.code == "insufficient_quota" => refused(),
        429 => AgentErrorKind::RateLimited { retry_after: retry_after(headers).or(error.retry_delay) },
        500.. => AgentErrorKind::Overloaded,
        300..400 => AgentErrorKind::configuration(format!(
            "the provider answers with a redirect ({}), which is not followed: set `base_url` to where the API is",
            status.as_u16()
        )),
        _ => refused(),
    }
}

/// An error that arrived after the model had started.
pub(super) fn in_the_stream(body: &Value, redactor: &Redactor) -> Failure {
    let error = ProviderError::of_value(body, redactor);
    let message = || error.message.clone();
    let is_of_prompt = matches!(&*error.kind, "invalid_request_error" | "INVALID_ARGUMENT");
    let kind = match (&*error.kind, &*error.code) {
        ("rate_limit_error" | "rate_limit_exceeded" | "RESOURCE_EXHAUSTED", _) | (_, "rate_limit_exceeded" | "429") => {
            AgentErrorKind::RateLimited { retry_after: error.retry_delay }
        }
        ("invalid_request_error" | "INVALID_ARGUMENT", _) if error.is_too_long() => AgentErrorKind::PromptTooLong,
        (
            "invalid_request_error"
            | "authentication_error"
            | "permission_error"
            | "not_found_error"
            | "billing_error"
            | "INVALID_ARGUMENT"
            | "PERMISSION_DENIED"
            | "UNAUTHENTICATED"
            | "NOT_FOUND",
            _,
        ) => AgentErrorKind::Refused { reason: message() },
        // The provider is overloaded or broken; nothing else can happen in the middle of an answer.
        _ => AgentErrorKind::Overloaded,
    };
    let is_of_prompt = is_of_prompt && matches!(kind, AgentErrorKind::Refused { .. });
    Failure::begun(kind).of_prompt(is_of_prompt)
}

/// The answer is malformed. Another attempt may succeed.
pub(super) fn malformed(reason: &str) -> Failure {
    let message = format!("the provider's answer cannot be understood: {reason}; ask again");
    Failure::begun(AgentErrorKind::Other { message, transient: true })
}

/// The stream ended before the answer was complete.
pub(super) fn broken_off() -> Failure {
    Failure::begun(AgentErrorKind::Connection { reason: "the answer broke off".to_owned() })
}

/// The answer was cut off by the limit of its length.
pub(super) fn cut_off(max_tokens: Option<u32>) -> Failure {
    let limit = match max_tokens {
        Some(max_tokens) => format!("`max_tokens` = {max_tokens}"),
        None => "the provider's limit; set `max_tokens`".to_owned(),
    };
    let message = format!("the model's answer was cut off by {limit}: raise it, or ask for less");
    Failure::begun(AgentErrorKind::Other { message, transient: false })
}

pub(super) fn filtered(reason: &str) -> Failure {
    let reason = format!("the model gives no answer to this ({reason})");
    Failure::begun(AgentErrorKind::Refused { reason }).of_prompt(true)
}

/// A provider's error message. All providers put it into an object `error`, or send such an object.
struct ProviderError {
    kind: String,
    code: String,
    message: String,
    /// How long to wait, which Google says in the error and not in a header.
    retry_delay: Option<Duration>,
}

impl ProviderError {
    fn of(body: &str, redactor: &Redactor) -> Self {
        match json_lines::value(body) {
            Some(value) => Self::of_value(&value, redactor),
            None => {
                let message = shortened(body, redactor);
                Self { kind: String::new(), code: String::new(), message, retry_delay: None }
            }
        }
    }

    fn of_value(body: &Value, redactor: &Redactor) -> Self {
        // Google's compatible servers put the error into a list.
        let body = body.get(0).unwrap_or(body);
        let error = body.get("error").unwrap_or(body);
        let text = |key: &str| match &error[key] {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => String::new(),
        };
        let kind = if error["type"].is_string() { text("type") } else { text("status") };
        let message = match error["message"].as_str().or(error.as_str()) {
            Some(message) => shortened(message, redactor),
            None => shortened(&error.to_string(), redactor),
        };
        let mut details = error["details"].as_array().into_iter().flatten();
        let retry_delay = details.find_map(|detail| seconds(detail["retryDelay"].as_str()?));
        Self { kind, code: text("code"), message, retry_delay }
    }

    /// Whether the error is about the length of the prompt. Only OpenAI has a code for that; the others have sentences:
    /// "prompt is too long: 210000 tokens > 200000 maximum", "The input token count (…) exceeds the maximum number of
    /// tokens".
    fn is_too_long(&self) -> bool {
        let message = self.message.to_lowercase();
        self.code == "context_length_exceeded"
            || message.contains("prompt is too long")
            || message.contains("maximum context length")
            || message.contains("context window")
            || message.contains("exceed context limit")
            || (message.contains("input token count") && message.contains("exceeds"))
    }
}

/// The wait in seconds, or in milliseconds in the header that OpenAI and Anthropic use for it. A date is not supported.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    let seconds = match number("retry-after-ms") {
        Some(milliseconds) => milliseconds / 1000.0,
        None => number("retry-after")?,
    };
    Duration::try_from_secs_f64(seconds).ok()
}

/// Seconds in Google's notation: `34.5s`.
fn seconds(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.strip_suffix('s')?.parse().ok()?).ok()
}

fn shortened(text: &str, redactor: &Redactor) -> String {
    let text = redactor.text(text.trim());
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn google_says_in_the_error_how_long_to_wait() {
        let body = |delay: &str| {
            let details = serde_json::json!([
                { "@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [] },
                { "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay },
            ]);
            serde_json::json!({ "error": { "code": 429, "status": "RESOURCE_EXHAUSTED", "details": details } })
        };
        let (none, redactor) = (HeaderMap::new(), Redactor::default());
        let limited =
            |body: &Value, headers| status_kind(StatusCode::TOO_MANY_REQUESTS, &body.to_string(), headers, &redactor);
        for (delay, wait) in [("34.5s", Some(34_500)), ("7s", Some(7_000)), ("-1s", None), ("soon", None)] {
            let expected = AgentErrorKind::RateLimited { retry_after: wait.map(Duration::from_millis) };
            assert_eq!(limited(&body(delay), &none), expected, "{delay}");
            assert_eq!(in_the_stream(&body(delay), &redactor).kind, expected, "{delay}");
        }
        let mut headers = HeaderMap::new();
        headers.insert("retry-after", reqwest::header::HeaderValue::from_static("9"));
        let expected = AgentErrorKind::RateLimited { retry_after: Some(Duration::from_secs(9)) };
        assert_eq!(limited(&body("7s"), &headers), expected);
    }
}
