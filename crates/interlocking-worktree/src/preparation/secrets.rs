//! Removes the values of a setup's variables from what it prints.

use std::ffi::OsStr;

/// A shorter line is found in other words too often.
const SHORTEST: usize = 8;

const REDACTED: &[u8] = b"[redacted]";

/// The lines of the values of variables, the longest first.
pub(super) struct Secrets<'a>(Vec<&'a [u8]>);

impl<'a> Secrets<'a> {
    pub(super) fn of(values: impl Iterator<Item = &'a OsStr>) -> Self {
        let lines = values.flat_map(|value| value.as_encoded_bytes().split(|byte| *byte == b'\n'));
        let mut lines: Vec<_> = lines.map(<[u8]>::trim_ascii).filter(|line| line.len() >= SHORTEST).collect();
        lines.sort_by_key(|line| std::cmp::Reverse(line.len()));
        Self(lines)
    }

    /// The length of the longest.
    pub(super) fn longest(&self) -> usize {
        self.0.first().map_or(0, |line| line.len())
    }

    /// The bytes from `start` on, with each secret replaced, also one that begins before.
    pub(super) fn redacted(&self, bytes: &[u8], start: usize) -> Vec<u8> {
        let (mut kept, mut at) = (Vec::with_capacity(bytes.len()), 0);
        while at < bytes.len() {
            let secret = self.0.iter().find(|secret| bytes[at..].starts_with(secret));
            let (length, shown) = secret.map_or((1, &bytes[at..=at]), |secret| (secret.len(), REDACTED));
            at += length;
            if at > start {
                kept.extend_from_slice(shown);
            }
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_a_value_is_replaced_and_a_cut_one_leaves_nothing() {
        let values = ["secret-1", "secret-1-and-more", "short", "-- key --\nfirst-line\nAA==\n"].map(OsStr::new);
        let secrets = Secrets::of(values.into_iter());
        let redacted = |text: &str, start| String::from_utf8(secrets.redacted(text.as_bytes(), start)).unwrap();
        assert_eq!(redacted("secret-1, secret-1-and-more; short", 0), "[redacted], [redacted]; short");
        assert_eq!(redacted("<first-line>\nAA==", 0), "<[redacted]>\nAA==");
        for start in 0..secrets.longest() {
            let shown = redacted(&format!("{}secret-1 after", "-".repeat(9)), start);
            assert!(shown.ends_with(" after") && !shown.contains("ret"), "{start}: {shown}");
        }
    }
}
