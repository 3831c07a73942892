//! Removes secrets from the output of programs.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use serde_json::Value;

use super::secret::Secret;
use super::unescaped::{LONGEST_ESCAPE, Unescaped};

/// Replaces the values of secrets in texts by [`Secret::REDACTED`].
///
/// A secret is found
///
/// - verbatim;
/// - with any of its characters escaped as in a JSON string (`\"`, `\u0053`) or in a URL (`%53`), in any mix, and escaped twice,
///   as in JSON within a JSON string;
/// - encoded in hexadecimal or base64, alone or with other text before and after it (`user:secret`), if the secret has
///   [twelve bytes](Self::SHORTEST_ENCODED) or more.
///
/// White space around a value is not part of the secret, as programs trim it. If a value has several lines, such as a private key
/// in PEM, each line of [twelve bytes](Self::SHORTEST_ENCODED) or more is also found by itself.
///
/// So secrets that are printed by mistake are found. A program that wants to reveal a secret can do so: a secret is not found
/// reversed, in pieces, or in another encoding. Values of fewer than [eight bytes](Self::SHORTEST) are not redacted: they are
/// often words, such as the key `test` of a server on this machine, and would match everywhere.
#[derive(Clone, Default)]
pub struct Redactor {
    /// `None` if there are no secrets.
    needles: Option<Arc<Needles>>,
}

/// The byte strings to search for: the secrets, their long lines and their encodings.
struct Needles {
    /// The number of secrets.
    secrets: usize,
    /// The length of the longest byte string.
    longest: usize,
    /// Finds the leftmost match, and of several there the longest.
    finder: AhoCorasick,
}

impl Redactor {
    /// The minimum length of a secret that is redacted, in bytes.
    pub const SHORTEST: usize = 8;

    /// The minimum length, in bytes, of a secret that is redacted in base64 and hexadecimal, and of a line that is redacted by
    /// itself.
    pub const SHORTEST_ENCODED: usize = 12;

    /// A redactor of these secrets.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a Secret>) -> Self {
        let mut wholes: Vec<&str> = secrets.into_iter().map(|secret| secret.expose().trim()).collect();
        wholes.retain(|whole| whole.len() >= Self::SHORTEST);
        wholes.sort_unstable();
        wholes.dedup();
        let lines = wholes.iter().flat_map(|whole| whole.lines().map(str::trim));
        let lines = lines.filter(|line| line.len() >= Self::SHORTEST_ENCODED);
        let mut values: Vec<&[u8]> = wholes.iter().copied().chain(lines).map(str::as_bytes).collect();
        values.sort_unstable();
        values.dedup();
        let encoded = values.iter().filter(|value| value.len() >= Self::SHORTEST_ENCODED);
        let mut needles: Vec<Vec<u8>> = encoded.flat_map(|value| encodings(value)).collect();
        needles.extend(values.iter().map(|value| value.to_vec()));
        let longest = needles.iter().map(Vec::len).max().unwrap_or_default();
        let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(needles);
        // Building fails only for some gigabytes of secrets.
        let found = finder.ok().filter(|_| longest > 0);
        Self { needles: found.map(|finder| Arc::new(Needles { secrets: wholes.len(), longest, finder })) }
    }

    /// Whether there are no secrets to redact.
    pub fn is_empty(&self) -> bool {
        self.needles.is_none()
    }

    /// The text, with secrets redacted.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            // Still UTF-8: text was replaced by text.
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    /// The bytes, with secrets redacted.
    pub fn bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        self.after(bytes, 0)
    }

    /// Redacts every string in a JSON value, including the names of fields.
    pub fn value(&self, value: &mut Value) {
        if self.is_empty() {
            return;
        }
        match value {
            Value::String(text) => self.string(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.value(value)),
            Value::Object(fields) => {
                for (mut name, mut value) in std::mem::take(fields) {
                    self.string(&mut name);
                    self.value(&mut value);
                    fields.insert(name, value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Redacts the text in place.
    pub fn string(&self, text: &mut String) {
        if let Cow::Owned(redacted) = self.text(text) {
            *text = redacted;
        }
    }

    /// How many bytes before a position must be known to recognise a secret that continues there, even if each of its characters
    /// is escaped twice.
    pub(crate) fn longest(&self) -> usize {
        self.needles.as_ref().map_or(0, |needles| needles.longest * LONGEST_ESCAPE)
    }

    /// The bytes from `start` on, with secrets redacted. A secret that begins before `start` and extends beyond is redacted, too.
    pub(crate) fn after<'a>(&self, bytes: &'a [u8], start: usize) -> Cow<'a, [u8]> {
        let found = self.needles.as_ref().map_or_else(Vec::new, |needles| needles.find(bytes));
        let mut kept: Option<Vec<u8>> = None;
        let mut copied = start;
        for Range { start: from, end: to } in found.into_iter().filter(|found| found.end > start) {
            let kept = kept.get_or_insert_with(Vec::new);
            kept.extend_from_slice(&bytes[copied..from.max(copied)]);
            kept.extend_from_slice(Secret::REDACTED.as_bytes());
            copied = to;
        }
        match kept {
            None => Cow::Borrowed(&bytes[start..]),
            Some(mut kept) => {
                kept.extend_from_slice(&bytes[copied..]);
                Cow::Owned(kept)
            }
        }
    }
}

impl Needles {
    /// The ranges of the secrets, in order and without overlaps.
    fn find(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = self.finder.find_iter(bytes).map(|found| found.range()).collect();
        for part in Unescaped::parts(bytes, self.longest) {
            let twice = part.unescaped_again();
            for text in std::iter::once(&part).chain(&twice) {
                found.extend(self.finder.find_iter(text.bytes()).map(|found| text.origin(found.range())));
            }
        }
        if found.len() > 1 {
            found.sort_unstable_by_key(|found| (found.start, usize::MAX - found.end));
            found.dedup_by(|next, kept| {
                // Merge ranges that overlap.
                let overlaps = next.start < kept.end;
                if overlaps {
                    kept.end = kept.end.max(next.end);
                }
                overlaps
            });
        }
        found
    }
}

/// A secret in hexadecimal digits, and in base64 for each alignment. Of the base64 text, only the characters that do not depend
/// on the bytes before and after the secret are used.
fn encodings(secret: &[u8]) -> Vec<Vec<u8>> {
    let mut all = vec![
        secret.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect(),
        secret.iter().flat_map(|byte| format!("{byte:02X}").into_bytes()).collect(),
    ];
    for before in 0..3 {
        let shifted = [&[0; 3][..before], secret].concat();
        // A base64 character encodes six bits. `first..end` are the characters that encode bits of the secret only.
        let (first, end) = ((before * 8).div_ceil(6), shifted.len() * 8 / 6);
        for encoded in [STANDARD_NO_PAD.encode(&shifted), URL_SAFE_NO_PAD.encode(&shifted)] {
            all.push(encoded.as_bytes()[first..end].to_vec());
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}

impl fmt::Debug for Redactor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let secrets = self.needles.as_ref().map_or(0, |needles| needles.secrets);
        formatter.debug_struct("Redactor").field("secrets", &secrets).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn redactor(secrets: &[&str]) -> Redactor {
        Redactor::new(&secrets.iter().map(|secret| Secret::new(*secret)).collect::<Vec<_>>())
    }

    #[test]
    fn every_occurrence_is_replaced_and_the_longest_first() {
        let redactor = redactor(&["sk-canary", "sk-canary-more", ""]);
        assert_eq!(redactor.text("sk-canary, sk-canary-more."), "[redacted], [redacted].");
        assert!(matches!(redactor.text("nothing"), Cow::Borrowed("nothing")));
    }

    #[test]
    fn what_is_too_short_to_be_a_secret_is_left_alone() {
        assert!(redactor(&["abcdefg"]).is_empty());
        assert_eq!(
            redactor(&["abcdefgh"]).text("YWJjZGVmZ2g 6162636465666768"),
            "YWJjZGVmZ2g 6162636465666768",
            "it would be found everywhere"
        );
    }

    #[test]
    fn a_secret_is_found_without_the_white_space_around_it() {
        let redactor = redactor(&["sk-canary\n", " \r\n"]);
        assert_eq!(redactor.text("it is sk-canary: no"), "it is [redacted]: no");
        assert!(self::redactor(&["abc\n"]).is_empty(), "it is too short");
    }

    #[test]
    fn each_line_of_a_secret_is_found_by_itself() {
        let pem = "-----BEGIN KEY-----\r\ncanary-first-line\r\ncanary-second-line\r\nAA==\r\n-----END KEY-----\n";
        let redactor = redactor(&[pem]);
        for line in ["canary-first-line", "canary-second-line", &STANDARD_NO_PAD.encode("canary-first-line")] {
            assert!(!redactor.text(&format!("> {line}")).contains(&line[..line.len() - 2]), "{line}");
        }
        assert_eq!(redactor.text("AA=="), "AA==", "it would be found everywhere");
        assert_eq!(redactor.text(&format!("<{}>", pem.trim())), "<[redacted]>");
    }

    #[test]
    fn a_secret_is_found_inside_json_too() {
        let redactor = redactor(&["with\"quote"]);
        let line = json!({ "text": "it is with\"quote" }).to_string();
        assert_eq!(redactor.text(&line), r#"{"text":"it is [redacted]"}"#);
        let twice = json!({ "text": line }).to_string();
        assert_eq!(redactor.text(&twice), r#"{"text":"{\"text\":\"it is [redacted]\"}"}"#);
    }

    #[test]
    fn a_secret_is_found_however_its_characters_are_escaped() {
        let redactor = redactor(&["sk-Canary/π\\x"]);
        for escaped in [
            r"sk-Canary\/π\\x",
            r"s\u006b-\u0043anary\u002f\u03C0\u005cx",
            r"\u0073\u006b\u002d\u0043\u0061\u006e\u0061\u0072\u0079\u002f\u03c0\u005c\u0078",
            "sk-Canary%2F%CF%80%5cx",
            "%73%6b%2d%43%61%6e%61%72%79%2f%cf%80%5c%78",
            r"\\u0073k-Canary\\/π\\\\x",
            r"%5Cu0073k-Canary/π\x",
        ] {
            let text = format!(r#"{{"before":"\\\n","text":"{escaped}","after":"%41\u0041"}}"#);
            assert_eq!(
                redactor.text(&text),
                r#"{"before":"\\\n","text":"[redacted]","after":"%41\u0041"}"#,
                "{escaped}"
            );
        }
        let surrogates = self::redactor(&["key-😀-key"]);
        assert_eq!(surrogates.text(r"a key-\ud83d\ude00-key b"), "a [redacted] b");
        for text in [r"\u00", r"\ud83d", r"\ud83d\u0041", "%", "%4", "%zz", r"\", r"\x", r"\uD83D\"] {
            assert_eq!(redactor.text(text), text, "what is no escape is left as it is");
        }
    }

    #[test]
    fn a_secret_is_found_in_base64_and_in_hexadecimal() {
        let secret = "sk-canary-0123?>";
        let redactor = redactor(&[secret]);
        for (before, after) in [("", ""), ("u", ""), ("us", ":"), ("user:", "\nmore"), ("user", "!!")] {
            let plain = format!("{before}{secret}{after}");
            for encoded in [STANDARD_NO_PAD.encode(&plain), URL_SAFE_NO_PAD.encode(&plain)] {
                let shown = redactor.text(&encoded).into_owned();
                let left = shown.replace(Secret::REDACTED, "");
                assert!(shown.contains(Secret::REDACTED) && left.len() <= encoded.len() - 18, "{plain:?}: {shown}");
            }
        }
        assert_eq!(redactor.text("0x736b2d63616e6172792d303132333f3e."), "0x[redacted].");
        assert_eq!(redactor.text("736B2D63616E6172792D303132333F3E"), "[redacted]");
    }

    /// Also across the boundary between two parts of [`Unescaped::parts`].
    #[test]
    fn a_secret_is_found_at_every_place_of_a_long_text() {
        let redactor = redactor(&["sk-canary-0123456"]);
        let escaped = r"sk-\u0063anary-012345\u0036";
        for before in (65_500..65_580).step_by(3).chain((131_000..131_120).step_by(11)) {
            let text = format!("{}{escaped}{}", r"x\n".repeat(before / 3), "y".repeat(100));
            let found = redactor.text(&text);
            assert!(!found.contains("canary-") && !found.contains(r"\u0063"), "{before}");
            assert_eq!(found.len(), text.len() - escaped.len() + Secret::REDACTED.len(), "{before}");
        }
    }

    /// A search that restarts after each match would look 300,000 times for a secret that does not occur.
    #[test]
    fn a_text_that_is_full_of_one_secret_is_not_looked_through_again_and_again() {
        let redactor = redactor(&["abcdefgh", "canary-that-is-not-there"]);
        let text = "abcdefgh ".repeat(300_000);
        assert_eq!(redactor.text(&text).len(), 300_000 * (Secret::REDACTED.len() + 1));
    }

    #[test]
    fn values_are_redacted_all_through() {
        let mut value = json!({ "a": ["x", { "my canary": 1, "b": "it is my canary!" }] });
        redactor(&["my canary"]).value(&mut value);
        assert_eq!(value, json!({ "a": ["x", { "[redacted]": 1, "b": "it is [redacted]!" }] }));
    }

    #[test]
    fn a_secret_that_is_cut_in_two_leaves_no_half() {
        let redactor = redactor(&["a-canary"]);
        assert_eq!(&*redactor.after(b"xxa-canary--", 5), b"[redacted]--");
        assert_eq!(&*redactor.after(b"a-canary--a-canary", 8), b"--[redacted]");
        assert_eq!(&*redactor.after(br"xxa-\u0063anary--", 5), b"[redacted]--");
    }
}
