//! Taking secrets out of what a program printed.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use memchr::memmem::Finder;
use serde_json::Value;

use super::secret::Secret;

/// Replaces the values of secrets, wherever they stand, by [`Secret::REDACTED`].
///
/// A secret is found as it is and as it looks within a JSON string. It is not found encoded in another way (base64, in pieces).
/// Values of fewer than [four bytes](Self::SHORTEST) are left alone: they would be found everywhere, and they hide nothing.
#[derive(Clone, Default)]
pub struct Redactor {
    /// The longest first, so that one that begins with another is found as a whole.
    finders: Arc<[Finder<'static>]>,
}

impl Redactor {
    /// The length in bytes from which on a secret is looked for.
    pub const SHORTEST: usize = 4;

    /// Of these secrets.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a Secret>) -> Self {
        let mut needles: Vec<String> = Vec::new();
        for secret in secrets {
            let value = secret.expose();
            let quoted = Value::String(value.to_owned()).to_string();
            needles.push(quoted[1..quoted.len() - 1].to_owned());
            needles.push(value.to_owned());
        }
        needles.retain(|needle| needle.len() >= Self::SHORTEST);
        needles.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        needles.dedup();
        Self { finders: needles.iter().map(|needle| Finder::new(needle.as_bytes()).into_owned()).collect() }
    }

    /// Whether there is anything to look for.
    pub fn is_empty(&self) -> bool {
        self.finders.is_empty()
    }

    /// The text without secrets.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            // Whole needles, which are text, were replaced by text.
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    /// The bytes without secrets.
    pub fn bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        self.after(bytes, 0)
    }

    /// Every text in a value without secrets, names of fields included.
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

    /// The text without secrets, in its place.
    pub fn string(&self, text: &mut String) {
        if let Cow::Owned(redacted) = self.text(text) {
            *text = redacted;
        }
    }

    /// The length of the longest thing that is looked for.
    pub(crate) fn longest(&self) -> usize {
        self.finders.first().map_or(0, |finder| finder.needle().len())
    }

    /// The bytes from `start` on without secrets. One that begins before `start` and reaches beyond leaves nothing of itself.
    pub(crate) fn after<'a>(&self, bytes: &'a [u8], start: usize) -> Cow<'a, [u8]> {
        let mut kept: Option<Vec<u8>> = None;
        let (mut searched, mut copied) = (0, start);
        while let Some((at, length)) = self.first(&bytes[searched..]) {
            let (from, to) = (searched + at, searched + at + length);
            searched = to;
            if to <= start {
                continue;
            }
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

    /// Where the first one begins, and how long it is; the longest where several begin.
    fn first(&self, bytes: &[u8]) -> Option<(usize, usize)> {
        let found = self.finders.iter().filter_map(|finder| Some((finder.find(bytes)?, finder.needle().len())));
        found.min_by_key(|(at, length)| (*at, usize::MAX - length))
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Redactor").field("secrets", &self.finders.len()).finish()
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
        let redactor = redactor(&["sk-one", "sk-one-more", ""]);
        assert_eq!(redactor.text("sk-one, sk-one-more."), "[redacted], [redacted].");
        assert!(matches!(redactor.text("nothing"), Cow::Borrowed("nothing")));
    }

    #[test]
    fn what_is_too_short_to_be_a_secret_is_left_alone() {
        assert!(redactor(&["abc"]).is_empty());
    }

    #[test]
    fn a_secret_is_found_inside_json_too() {
        let redactor = redactor(&["with\"quote"]);
        let line = json!({ "text": "it is with\"quote" }).to_string();
        assert_eq!(redactor.text(&line), r#"{"text":"it is [redacted]"}"#);
    }

    #[test]
    fn values_are_redacted_all_through() {
        let mut value = json!({ "a": ["x", { "canary": 1, "b": "my canary!" }] });
        redactor(&["canary"]).value(&mut value);
        assert_eq!(value, json!({ "a": ["x", { "[redacted]": 1, "b": "my [redacted]!" }] }));
    }

    #[test]
    fn a_secret_that_is_cut_in_two_leaves_no_half() {
        let redactor = redactor(&["canary"]);
        assert_eq!(&*redactor.after(b"xxcanary--", 5), b"[redacted]--");
        assert_eq!(&*redactor.after(b"canary--canary", 6), b"--[redacted]");
    }
}
