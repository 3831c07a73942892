//! What is marked in a text: pure, and the only place that decides which bytes go.

use crate::cleanup::extensions::Comments;
use memchr::memmem;
use serde::Serialize;
use std::ops::Range;

/// What every marker says.
pub const MARKER: &str = "[DEBUG-TEMP]";

/// What is marked in a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marked {
    /// What goes, in order.
    pub blocks: Vec<Block>,
    /// The lines, from 1, that say `[DEBUG-TEMP]` and stay, because they are no markers.
    pub strays: Vec<usize>,
}

/// Consecutive lines that go: a marker and what is below it up to a blank line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Block {
    /// The line of its marker, from 1.
    pub line: usize,
    /// How many lines it has, its markers included.
    pub lines: usize,
    /// How many of them are markers: those after the first stand below it without a blank line between.
    pub markers: usize,
    /// Whether the file ends with it, without a blank line.
    pub reaches_end: bool,
    /// Its bytes.
    #[serde(skip)]
    pub bytes: Range<usize>,
}

impl Marked {
    /// What is marked in `text`. Lines end with `\n`; a `\r` before it is a blank like any other.
    pub fn of(text: &[u8], comments: Comments) -> Self {
        let mut marked = Self::default();
        // Where lines have been counted up to, and which line it is.
        let (mut counted, mut line) = (0, 1);
        for at in memmem::find_iter(text, MARKER) {
            // A further marker in a block is the block's.
            if marked.blocks.last().is_some_and(|block| at < block.bytes.end) {
                continue;
            }
            let start = memchr::memrchr(b'\n', &text[..at]).map_or(0, |end| end + 1);
            line += memchr::memchr_iter(b'\n', &text[counted..start]).count();
            counted = start;
            if comments.mark(text[start..line_end(text, start)].trim_ascii()) {
                marked.blocks.push(block(text, start, line, comments));
            } else if marked.strays.last() != Some(&line) {
                marked.strays.push(line);
            }
        }
        marked
    }

    /// The text without what is marked in it, every other byte as it was. `text` is what this was found in.
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

    /// Whether anything goes.
    pub fn removes_anything(&self) -> bool {
        !self.blocks.is_empty()
    }
}

/// The block whose marker's line begins at `start`.
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

/// Where the line that begins at `start` ends, its `\n` included.
fn line_end(text: &[u8], start: usize) -> usize {
    memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |end| start + end + 1)
}

/// Whether a line is blank for a reader: of white space alone, in Unicode too.
fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii().is_empty() || std::str::from_utf8(line).is_ok_and(|line| line.trim().is_empty())
}
