//! How long a text is.

/// What a text has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    pub lines: usize,
    pub words: usize,
    pub characters: usize,
}

/// Counts what a text has.
pub fn count(text: &str) -> Counts {
    Counts { lines: text.lines().count(), words: crate::words(text).count(), characters: text.chars().count() }
}
