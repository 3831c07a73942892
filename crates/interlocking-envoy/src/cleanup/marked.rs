//! Finds what is marked in a text. This module does no I/O, and alone decides which bytes are removed.

use crate::cleanup::extensions::Comments;
use memchr::memmem;
use serde::Serialize;
use std::ops::Range;

/// The text of every marker.
pub const MARKER: &str = "[DEBUG-TEMP]";

/// What is marked in a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marked {
    /// The blocks to remove, in order.
    pub blocks: Vec<Block>,
    /// The lines, counted from 1, that contain `[DEBUG-TEMP]` but are kept, because they are not markers.
    pub unmarked_lines: Vec<usize>,
}

/// Consecutive lines to remove: a marker and the lines below it up to a blank line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Block {
    /// The line of the block's first marker, counted from 1.
    pub line: usize,
    /// The number of lines, including markers.
    pub lines: usize,
    /// The number of markers: further markers follow the first without a blank line in between.
    pub markers: usize,
    /// Whether the block reaches the end of the file, without a blank line.
    pub reaches_end: bool,
    /// The byte range of the block.
    #[serde(skip)]
    pub bytes: Range<usize>,
}

impl Marked {
    /// Finds what is marked in `text`. Lines end with `\n`; a `\r` before it counts as a blank.
    pub fn of(text: &[u8], comments: Comments) -> Self {
        let mut marked = Self::default();
        // The byte offset up to which lines have been counted, and its line number.
        let (mut counted, mut line) = (0, 1);
        for at in memmem::find_iter(text, MARKER) {
            // Skips further markers in a block.
            if marked.blocks.last().is_some_and(|block| at < block.bytes.end) {
                continue;
            }
            let start = memchr::memrchr(b'\n', &text[..at]).map_or(0, |end| end + 1);
            line += memchr::memchr_iter(b'\n', &text[counted..start]).count();
            counted = start;
            if comments.mark(text[start..line_end(text, start)].trim_ascii()) {
                marked.blocks.push(block(text, start, line, comments));
            } else if marked.unmarked_lines.last() != Some(&line) {
                marked.unmarked_lines.push(line);
            }
        }
        marked
    }

    /// The text without the blocks, all other bytes unchanged. `text` must be the text in which the blocks were found.
    pub fn removed_from(&self, text: &[u8]) -> Vec<u8> {
        let mut kept = Vec::with_capacity(text.len());
        let mut from = 0;
        for block in &self.blocks {
            kept.extend_from_slice(&text[from..block.bytes.start]);
            from = block.bytes.end;
        }
        kept.extend_from_slice(&text[from..]);
        kept
    }

    /// Whether there are blocks to remove.
    pub fn removes_anything(&self) -> bool {
        !self.blocks.is_empty()
    }
}

/// The block that begins with the marker's line at `start`.
fn block(text: &[u8], start: usize, line: usize, comments: Comments) -> Block {
    let mut block = Block { line, lines: 0, markers: 0, reaches_end: true, bytes: start..start };
    while block.bytes.end < text.len() {
        let end = line_end(text, block.bytes.end);
        let content = &text[block.bytes.end..end];
        if is_blank(content) {
            block.reaches_end = false;
            break;
        }
        block.lines += 1;
        block.markers += usize::from(comments.mark(content.trim_ascii()));
        block.bytes.end = end;
    }
    block
}

/// The end of the line that begins at `start`, after its `\n`.
fn line_end(text: &[u8], start: usize) -> usize {
    memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |end| start + end + 1)
}

/// Whether a line consists of white space only, including Unicode's.
fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii().is_empty() || std::str::from_utf8(line).is_ok_and(|line| line.trim().is_empty())
}
