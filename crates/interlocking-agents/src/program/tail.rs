//! Keeps the end of a stream.

use super::redactor::Redactor;

/// Keeps the last `kept` bytes that are pushed, plus `spare` bytes before them, so that a secret that starts before the kept part
/// is still recognised and redacted.
pub(super) struct Tail {
    kept: usize,
    spare: usize,
    bytes: Vec<u8>,
    /// Whether bytes were dropped from the beginning.
    is_cut: bool,
}

impl Tail {
    pub(super) fn new(kept: usize, redactor: &Redactor) -> Self {
        Self { kept, spare: redactor.longest(), bytes: Vec::new(), is_cut: false }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        // Cutting on every push would move the whole buffer for every byte.
        if self.bytes.len() > 2 * (self.kept + self.spare) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let surplus = self.bytes.len().saturating_sub(self.kept + self.spare);
        self.is_cut |= surplus > 0;
        self.bytes.drain(..surplus);
    }

    /// The kept bytes as trimmed text, with secrets redacted and invalid UTF-8 replaced by U+FFFD.
    pub(super) fn text(&mut self, redactor: &Redactor) -> String {
        self.cut();
        let start = if self.is_cut { self.spare } else { 0 };
        let redacted = redactor.after(&self.bytes, start);
        let start = redacted.len().saturating_sub(self.kept);
        String::from_utf8_lossy(&redacted[start..]).trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Secret;

    #[test]
    fn the_end_is_kept_and_a_cut_secret_leaves_nothing() {
        let redactor = Redactor::new(&[Secret::new("a-canary")]);
        for before in 0..40 {
            let mut tail = Tail::new(10, &redactor);
            let text = format!("{}a-canary{}", "-".repeat(before), "+".repeat(8));
            for byte in text.as_bytes() {
                tail.push(std::slice::from_ref(byte));
            }
            let shown = tail.text(&redactor);
            assert!(shown.ends_with("++++++++") && shown.len() <= 10, "{shown}");
            assert!(!shown.contains('y') && !shown.contains("ar"), "{before}: {shown}");
        }
    }

    #[test]
    fn a_cut_secret_that_is_escaped_twice_leaves_nothing() {
        let escaped = |text: &str| text.bytes().map(|byte| format!("\\u{byte:04x}")).collect::<String>();
        let twice = escaped(&escaped("a-canary"));
        let redactor = Redactor::new(&[Secret::new("a-canary")]);
        for after in 0..60 {
            let mut tail = Tail::new(50, &redactor);
            let text = format!("{}{twice}{}", "-".repeat(1000), "+".repeat(after));
            text.as_bytes().chunks(7).for_each(|bytes| tail.push(bytes));
            let shown = tail.text(&redactor);
            assert!(!shown.contains('u') && !shown.contains("00"), "{after}: {shown}");
        }
    }

    #[test]
    fn what_is_no_text_survives() {
        let redactor = Redactor::default();
        let mut tail = Tail::new(10, &redactor);
        tail.push(b"a\xffb\n");
        assert_eq!(tail.text(&redactor), "a\u{fffd}b");
    }
}
