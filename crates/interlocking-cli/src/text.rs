//! Texts for people: times, counts, and text of agents and tools with control characters made harmless.

use interlocking_document::steers_a_terminal;
use std::borrow::Cow;
use std::time::{Duration, UNIX_EPOCH};

/// The longest quote of another's text in one line, in characters.
pub(crate) const LONGEST_QUOTE: usize = 120;

/// The first line of a text that agents or tools wrote, shortened, with control characters replaced.
pub fn quoted(text: &str) -> String {
    let first = text.trim().lines().next().unwrap_or_default();
    shortened(&sanitized(first), LONGEST_QUOTE)
}

/// The text with each character that could control a terminal or reorder text replaced by U+FFFD.
pub fn sanitized(text: &str) -> String {
    text.chars().map(|c| if steers_a_terminal(c) { '\u{fffd}' } else { c }).collect()
}

/// A text as one word of a shell's command line, quoted if necessary.
pub(crate) fn shell_word(text: &str) -> Cow<'_, str> {
    let is_plain = |character: char| character.is_alphanumeric() || "/._-+,:@%=".contains(character);
    if !text.is_empty() && text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("'{}'", text.replace('\'', r"'\''")))
}

fn shortened(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    let kept: String = text.chars().take(longest.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// A wall-clock time in UTC, given in milliseconds since the Unix epoch.
pub(crate) fn moment(milliseconds: u64) -> String {
    let time = UNIX_EPOCH + Duration::from_millis(milliseconds);
    // RFC 3339 has no text for times after the year 9999.
    let text = humantime::format_rfc3339_seconds(time);
    if milliseconds < 253_402_300_800_000 { text.to_string() } else { format!("{milliseconds} ms") }
}

/// A duration in seconds.
pub(crate) fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

/// `1 record`, `2 records`.
pub(crate) fn count(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use interlocking_document::written_out;

    #[test]
    fn a_word_of_a_shell_is_quoted_where_it_need_be() {
        for (text, word) in
            [("/tmp/a-b.c", "/tmp/a-b.c"), ("my runs", "'my runs'"), ("it's; $HOME", r"'it'\''s; $HOME'"), ("", "''")]
        {
            assert_eq!(shell_word(text), word);
        }
    }

    #[test]
    fn what_others_wrote_stays_within_its_line() {
        assert_eq!(quoted("error: no\nsecond line"), "error: no");
        assert_eq!(quoted("a\rb\u{7}"), "a\u{fffd}b\u{fffd}");
        assert_eq!(quoted(&"ä".repeat(200)).chars().count(), LONGEST_QUOTE);
    }

    #[test]
    fn nothing_that_steers_a_terminal_is_printed_as_it_is() {
        let hostile = "\u{1b}[2J\u{9b}31m\r\u{8}\u{7f}\u{202e}gnp.exe\u{2066}\tok\nnext";
        assert_eq!(written_out(hostile), "\\u001b[2J\\u009b31m\\u000d\\u0008\\u007f\\u202egnp.exe\\u2066\tok\nnext");
        assert!(!sanitized(hostile).chars().any(steers_a_terminal));
        assert!(matches!(written_out("plain ä\t\n"), Cow::Borrowed(_)));
        let value = serde_json::json!({ "text": hostile });
        let printed = serde_json::to_string_pretty(&value).unwrap();
        assert_eq!(serde_json::from_str::<serde_json::Value>(&written_out(&printed)).unwrap(), value);
    }

    #[test]
    fn moments_are_told_in_utc() {
        assert_eq!(moment(1_700_000_000_999), "2023-11-14T22:13:20Z");
        assert_eq!(moment(u64::MAX), "18446744073709551615 ms");
    }
}
