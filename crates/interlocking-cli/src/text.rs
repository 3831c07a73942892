//! Texts for people: times, sizes, and what others wrote made harmless.

use std::time::{Duration, UNIX_EPOCH};

/// How much of a text that is not ours fits in one line.
pub(crate) const LONGEST_QUOTE: usize = 120;

/// The first line of a text that agents or tools wrote, shortened, harmless on a terminal.
pub fn quoted(text: &str) -> String {
    let first = text.trim().lines().next().unwrap_or_default();
    shortened(&harmless(first), LONGEST_QUOTE)
}

/// Without characters that would move a terminal's cursor, or do worse.
pub fn harmless(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect()
}

pub(crate) fn shortened(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    let kept: String = text.chars().take(longest.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// A time of the wall clock, in UTC.
pub(crate) fn moment(milliseconds: u64) -> String {
    let time = UNIX_EPOCH + Duration::from_millis(milliseconds);
    // Beyond the year 9999 there is no such text.
    let text = humantime::format_rfc3339_seconds(time);
    if milliseconds < 253_402_300_800_000 { text.to_string() } else { format!("{milliseconds} ms") }
}

/// A span of time, in seconds.
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

    #[test]
    fn what_others_wrote_stays_within_its_line() {
        assert_eq!(quoted("error: no\nsecond line"), "error: no");
        assert_eq!(quoted("a\rb\u{7}"), "a\u{fffd}b\u{fffd}");
        assert_eq!(quoted(&"ä".repeat(200)).chars().count(), LONGEST_QUOTE);
    }

    #[test]
    fn moments_are_told_in_utc() {
        assert_eq!(moment(1_700_000_000_999), "2023-11-14T22:13:20Z");
        assert_eq!(moment(u64::MAX), "18446744073709551615 ms");
    }
}
