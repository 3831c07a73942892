//! Reads the lines of a program that writes JSON, within limits: a line that is too long, or has more values than any
//! message of an agent, is left out before it is parsed into memory.

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
}

impl JsonLines {
    /// The bytes of a line if it is within the limits.
    pub(crate) fn take<'l>(&mut self, line: Line<'l>) -> Option<&'l [u8]> {
        let (bytes, reason) = match line {
            Line::Whole(line) if has_at_most(MOST_VALUES, line) => return Some(line),
            Line::Whole(line) => (line.len() as u64, Reason::TooManyValues),
            Line::TooLong { bytes } => (bytes, Reason::TooLong),
        };
        let left_out = self.left_out.get_or_insert(LeftOut { bytes, reason, lines: 0 });
        left_out.lines += 1;
        if left_out.lines == 1 {
            tracing::warn!(bytes, ?reason, "a line of the program's output was left out");
        }
        None
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

/// The longest text, in bytes, in which JSON between words is searched for.
pub(crate) const LONGEST_PROSE: usize = 1 << 20;

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
        }
        match lines - 1 {
            0 => Ok(()),
            more => write!(formatter, "; and {more} more"),
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(lines.take(Line::Whole(b"{}")), Some(&b"{}"[..]));
        assert_eq!(LeftOut::explain(lines.left_out(), "", "nothing"), "nothing");
        let many = "[],".repeat(MOST_VALUES);
        assert_eq!(lines.take(Line::Whole(many.as_bytes())), None);
        assert_eq!(lines.take(Line::TooLong { bytes: 17 << 20 }), None);
        let told = "of its output a line of 300000 bytes was left out: it has more than 100000 JSON values; and 1 more";
        assert_eq!(LeftOut::explain(lines.left_out(), "", "nothing"), told);
        assert_eq!(LeftOut::explain(lines.left_out(), "killed", "nothing"), format!("killed\n({told})"));
    }
}
