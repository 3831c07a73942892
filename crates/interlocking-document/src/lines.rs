//! Converts byte offsets to lines and columns.

use crate::place::Position;

/// The number of characters is stored for every `STRIDE`th byte, so that a position in a very long line is found quickly.
const STRIDE: usize = 256;

/// A text's lines.
pub(crate) struct Lines<'t> {
    text: &'t str,
    /// The byte offset of each line's beginning.
    starts: Vec<usize>,
    /// The number of characters that begin before every `STRIDE`th byte.
    counted: Vec<usize>,
}

impl<'t> Lines<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect();
        let counts = text.as_bytes().chunks(STRIDE).scan(0, |sum, chunk| {
            let before = *sum;
            *sum += characters(chunk);
            Some(before)
        });
        Self { text, starts, counted: counts.collect() }
    }

    /// The position of a byte offset; an offset after the end has the position of the end.
    pub(crate) fn position(&self, offset: usize) -> Position {
        let offset = offset.min(self.text.len());
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts[line - 1];
        Position { line, column: 1 + self.characters_before(offset) - self.characters_before(start) }
    }

    /// The byte offset of a line and a column in bytes, both counted from 1.
    #[cfg(feature = "json")]
    pub(crate) fn offset(&self, line: usize, column: usize) -> usize {
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or(self.text.len());
        start + column.saturating_sub(1)
    }

    fn characters_before(&self, offset: usize) -> usize {
        let chunk = offset / STRIDE;
        let before = self.counted.get(chunk).copied().unwrap_or_else(|| characters(self.text.as_bytes()));
        before + characters(&self.text.as_bytes()[(chunk * STRIDE).min(offset)..offset])
    }
}

/// The number of characters that begin in these bytes.
fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_in_characters() {
        let text = format!("a\n{}b\n", "ß€𝄞".repeat(1000));
        let lines = Lines::of(&text);
        let mut expected = Position::START;
        for (offset, character) in text.char_indices() {
            assert_eq!(lines.position(offset), expected);
            if character == '\n' {
                expected = Position { line: expected.line + 1, column: 1 };
            } else {
                expected.column += 1;
            }
        }
        assert_eq!(lines.position(text.len()), expected);
        assert_eq!(lines.position(text.len() + 9), expected);
        assert_eq!(Lines::of("").position(0), Position::START);
        let whole = "x".repeat(2 * STRIDE);
        assert_eq!(Lines::of(&whole).position(2 * STRIDE).column, 2 * STRIDE + 1);
    }
}
