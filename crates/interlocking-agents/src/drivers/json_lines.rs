//! Reads the lines of a program that writes JSON, within limits: a line that is too long, or has more values than any
//! message of an agent, is left out before it is parsed into memory. An event that cannot be understood is left out, too.

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::program::{Invocation, Line};

/// The maximum number of values in a line, including names of fields. Each value takes some hundred bytes of memory,
/// however short it is.
const MOST_VALUES: usize = 100_000;

/// Reads the lines of one call, and keeps track of the lines that were left out.
#[derive(Debug, Default)]
pub(crate) struct JsonLines {
    left_out: Option<LeftOut>,
}

/// The first line that was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LeftOut {
    bytes: u64,
    reason: Reason,
    /// How many lines were left out in total.
    lines: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    TooLong,
    TooManyValues,
    NotUnderstood,
}

/// What a line is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Read<T> {
    Event(T),
    /// It is not an event, such as the output of a tool.
    Other,
    /// It was left out. It may have been any event.
    LeftOut,
}

impl JsonLines {
    /// Reads a line with `parse` if it is within the limits. An event that contains half of a surrogate pair, as programs
    /// print that cut a text in the middle of a character, is read with U+FFFD in its place.
    pub(crate) fn read<T>(&mut self, line: Line<'_>, parse: impl Fn(&[u8]) -> Option<T>) -> Read<T> {
        let (bytes, reason) = match line {
            Line::TooLong { bytes } => (bytes, Reason::TooLong),
            Line::Whole(line) if !has_at_most(MOST_VALUES, line) => (line.len() as u64, Reason::TooManyValues),
            Line::Whole(line) => {
                let whole_pairs = || without_lone_surrogates(line).and_then(|line| parse(&line));
                if let Some(event) = parse(line).or_else(whole_pairs) {
                    return Read::Event(event);
                }
                if !may_be_event(line) {
                    return Read::Other;
                }
                (line.len() as u64, Reason::NotUnderstood)
            }
        };
        let left_out = self.left_out.get_or_insert(LeftOut { bytes, reason, lines: 0 });
        left_out.lines += 1;
        if left_out.lines == 1 {
            tracing::warn!(bytes, ?reason, "a line that the program wrote was left out");
        }
        Read::LeftOut
    }

    /// What was left out, which may be the reason for a missing answer.
    pub(crate) fn left_out(&self) -> Option<LeftOut> {
        self.left_out
    }
}

/// Parses a line; none if it is something else, such as the output of a tool.
pub(crate) fn read<T: DeserializeOwned>(line: &[u8]) -> Option<T> {
    let read = serde_json::from_slice(line);
    if let Err(error) = &read {
        tracing::debug!(bytes = line.len(), place = error.column(), "a line of the program that is not understood");
    }
    read.ok()
}

/// Parses JSON that a model wrote; none if it is not JSON, or has more values than an answer may have.
pub(crate) fn value(text: &str) -> Option<Value> {
    has_at_most(MOST_VALUES, text.as_bytes()).then(|| serde_json::from_str(text).ok()).flatten()
}

impl LeftOut {
    /// The program's last message, or else `silence`, with what was left out.
    pub(crate) fn explain(left_out: Option<Self>, said: &str, silence: &str) -> String {
        match (said, left_out) {
            ("", Some(left_out)) => left_out.to_string(),
            ("", None) => silence.to_owned(),
            (said, Some(left_out)) => format!("{said}\n({left_out})"),
            (said, None) => said.to_owned(),
        }
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, reason, lines } = self;
        write!(formatter, "of its output a line of {bytes} bytes was left out: ")?;
        match reason {
            Reason::TooLong => write!(formatter, "it is longer than {} bytes", Invocation::LONGEST_LINE)?,
            Reason::TooManyValues => write!(formatter, "it has more than {MOST_VALUES} JSON values")?,
            Reason::NotUnderstood => formatter.write_str("it is no event that is understood")?,
        }
        match lines - 1 {
            0 => Ok(()),
            more => write!(formatter, "; and {more} more"),
        }
    }
}

/// Whether a line that is not understood may be an event. Every event has a type; a tool may print other JSON.
fn may_be_event(line: &[u8]) -> bool {
    line.trim_ascii_start().starts_with(b"{") && memchr::memmem::find(line, br#""type""#).is_some()
}

/// Whether a text has at most `most` values if it is JSON. Each value but the outermost follows one of `[`, `{`, `,`
/// and `:`.
fn has_at_most(most: usize, text: &[u8]) -> bool {
    // Most lines are too short to have so many values.
    if text.len() <= most {
        return true;
    }
    let (mut at, mut values) = (0, 1);
    while at < text.len() {
        match text[at] {
            b'"' => at = end_of_string(text, at + 1),
            b'[' | b'{' | b',' | b':' => values += 1,
            _ => {}
        }
        if values > most {
            return false;
        }
        at += 1;
    }
    true
}

/// The position of the end of the string that begins here; the end of the text if the string does not end.
fn end_of_string(text: &[u8], mut at: usize) -> usize {
    while let Some(next) = memchr::memchr2(b'"', b'\\', text.get(at..).unwrap_or_default()) {
        at += next;
        if text[at] == b'"' {
            return at;
        }
        at += 2;
    }
    text.len()
}

/// The text with each escape of half a surrogate pair replaced by the escape of U+FFFD; none if there is no such escape.
fn without_lone_surrogates(text: &[u8]) -> Option<Vec<u8>> {
    let mut replaced: Option<Vec<u8>> = None;
    let mut at = 0;
    while let Some(next) = memchr::memchr(b'\\', text.get(at..).unwrap_or_default()) {
        at += next;
        at += match (escaped_unit(text, at), escaped_unit(text, at + UNIT)) {
            (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => 2 * UNIT,
            (Some(0xd800..0xe000), _) => {
                replaced.get_or_insert_with(|| text.to_vec())[at..at + UNIT].copy_from_slice(br"\ufffd");
                UNIT
            }
            // The character after the backslash may be another backslash.
            (_, _) => 2,
        };
    }
    replaced
}

/// The length of the escape of a UTF-16 code unit.
const UNIT: usize = br"\u0000".len();

/// The UTF-16 code unit that is escaped here.
fn escaped_unit(text: &[u8], at: usize) -> Option<u16> {
    let digits = text.get(at..at + UNIT)?.strip_prefix(br"\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn value(line: &[u8]) -> Option<Value> {
        read(line)
    }

    #[test]
    fn values_are_counted_outside_of_strings() {
        for (text, values) in [
            ("1", 1),
            ("[]", 2),
            ("[[],[]]", 5),
            (r#"{"a":1,"b":"[,:{"}"#, 5),
            (r#"["\"[,","\\",","]"#, 4),
            (r#""never ends, [,[,["#, 1),
            (r#""\"#, 1),
        ] {
            // Padded, so that the text is long enough to be counted.
            let text = format!("{text}{}", " ".repeat(20));
            assert!(has_at_most(values, text.as_bytes()), "{text}");
            assert!(values == 1 || !has_at_most(values - 1, text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn what_was_left_out_is_told_once_with_the_first_line() {
        let mut lines = JsonLines::default();
        assert_eq!(lines.read(Line::Whole(b"{}"), value), Read::Event(json!({})));
        for other in ["not JSON", "{", r#"{"reason":"#] {
            assert_eq!(lines.read(Line::Whole(other.as_bytes()), value), Read::Other);
        }
        assert_eq!(LeftOut::explain(lines.left_out(), "", "nothing"), "nothing");
        let many = "[],".repeat(MOST_VALUES);
        assert_eq!(lines.read(Line::Whole(many.as_bytes()), value), Read::LeftOut);
        assert_eq!(lines.read(Line::TooLong { bytes: 17 << 20 }, value), Read::LeftOut);
        assert_eq!(lines.read(Line::Whole(br#" {"type":"half"#), value), Read::LeftOut);
        let told = "of its output a line of 300000 bytes was left out: it has more than 100000 JSON values; and 2 more";
        assert_eq!(LeftOut::explain(lines.left_out(), "", "nothing"), told);
        assert_eq!(LeftOut::explain(lines.left_out(), "killed", "nothing"), format!("killed\n({told})"));
    }

    #[test]
    fn half_a_surrogate_pair_is_replaced() {
        for (escaped, meant) in [
            (r"\ud83d", "\u{fffd}"),
            (r"\ude00\uD83D\n", "\u{fffd}\u{fffd}\n"),
            (r"\ud83d\ud83d\ude00\u0041", "\u{fffd}\u{1f600}A"),
            (r"\\ud83d\\\udfff", "\\ud83d\\\u{fffd}"),
        ] {
            let line = format!(r#"{{"text":"{escaped}"}}"#);
            let read = JsonLines::default().read(Line::Whole(line.as_bytes()), value);
            assert_eq!(read, Read::Event(json!({ "text": meant })), "{escaped}");
        }
        for text in [r"\ud83d\ude00", r"\\ud83d", r"\u12", r"\", ""] {
            assert_eq!(without_lone_surrogates(text.as_bytes()), None, "{text}");
        }
    }
}
