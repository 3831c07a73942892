//! The fenced blocks of a Markdown file with their headings, and the sections that headings begin.
//!
//! A block is a [`Source`] with positions in the whole file, so a mistake in a YAML block is reported at its line in the file.
//!
#![cfg_attr(feature = "yaml", doc = "```")]
#![cfg_attr(not(feature = "yaml"), doc = "```ignore")]
//! use interlocking_document::{Document, markdown};
//!
//! let text = "# Report\n\nAll went well.\n\n```yaml\nstatus: so: so\n```\n";
//! let [block] = &markdown::blocks(text)[..] else { panic!() };
//! assert_eq!((block.language, block.heading.unwrap().text), ("yaml", "Report"));
//! let problems = Document::yaml(block.source("report.md")).unwrap_err();
//! assert!(problems.to_string().starts_with("report.md:6:11: this is not YAML:"), "{problems}");
//! ```
//!
//! Fences and headings are those of CommonMark: at most three spaces before them; a block opened by three or more backticks or
//! tildes ends with a fence at least as long, or with the file. Blocks in lists and underlined headings are not found.

use std::ops::Range;

use crate::source::Source;

/// A fenced block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block<'t> {
    /// The first word after the opening fence, such as `yaml`; empty if there is none.
    pub language: &'t str,
    /// The last heading before the block.
    pub heading: Option<Heading<'t>>,
    /// The lines between the fences, unchanged.
    pub content: &'t str,
    /// The byte range of the block in the text, with its fences.
    pub range: Range<usize>,
    /// The line of the opening fence, counted from 1.
    pub line: usize,
    /// Whether the block ends with a fence, not with the file.
    pub is_closed: bool,
}

/// A heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heading<'t> {
    /// The number of `#`, 1 to 6.
    pub level: usize,
    /// The heading's text, without `#`.
    pub text: &'t str,
    /// The heading's line, counted from 1.
    pub line: usize,
    /// The byte offset after the heading's line.
    pub end: usize,
}

impl<'t> Block<'t> {
    /// The content as the text of a document, with positions in the file.
    pub fn source<'s>(&self, file: &'s str) -> Source<'s>
    where
        't: 's,
    {
        Source::new(file, self.content).after_lines(self.line)
    }
}

/// The fenced blocks of a Markdown text, in order.
pub fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut heading = None;
    // The open block, and the byte offset of its content.
    let mut open: Option<(Fence<'_>, Block<'_>, usize)> = None;
    let mut offset = 0;
    for (index, whole) in text.split_inclusive('\n').enumerate() {
        let (start, end) = (offset, offset + whole.len());
        offset = end;
        let line = whole.trim_end_matches(['\n', '\r']);
        match &mut open {
            Some((fence, block, content)) => {
                if fence.is_closed_by(line) {
                    block.content = &text[*content..start];
                    block.range.end = end;
                    blocks.extend(open.take().map(|(_, block, _)| Block { is_closed: true, ..block }));
                }
            }
            None => {
                if let Some(fence) = Fence::of(line) {
                    let language = fence.info.split_whitespace().next().unwrap_or_default();
                    let range = start..text.len();
                    let content = &text[end..];
                    let block = Block { language, heading, content, range, line: index + 1, is_closed: false };
                    open = Some((fence, block, end));
                } else if let Some((level, said)) = heading_of(line) {
                    heading = Some(Heading { level, text: said, line: index + 1, end });
                }
            }
        }
    }
    blocks.extend(open.map(|(_, block, _)| block));
    blocks
}

/// A heading and the text that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section<'t> {
    /// The heading.
    pub heading: Heading<'t>,
    /// The text after the heading's line, up to the next heading of the same or a higher level: deeper headings are part of it.
    pub body: &'t str,
    /// The byte range of the section in the text, with the heading's line.
    pub range: Range<usize>,
}

impl Section<'_> {
    /// The first line of the body, counted from 1.
    pub fn first_line(&self) -> usize {
        self.heading.line + 1
    }
}

/// The sections of a Markdown text, in the order of their headings: a section follows the sections that contain it.
pub fn sections(text: &str) -> Vec<Section<'_>> {
    let headings = headings(text);
    let section = |(index, (start, heading)): (usize, &(usize, Heading<'_>))| {
        let mut later = headings[index + 1..].iter();
        (*start, later.find(|(_, next)| next.level <= heading.level).map_or(text.len(), |(start, _)| *start))
    };
    let ranges: Vec<_> = headings.iter().enumerate().map(section).collect();
    let sections = headings.into_iter().zip(ranges);
    sections
        .map(|((_, heading), (start, end))| Section { heading, body: &text[heading.end..end], range: start..end })
        .collect()
}

/// The headings outside of blocks, each with the byte offset of its line.
fn headings(text: &str) -> Vec<(usize, Heading<'_>)> {
    let blocks = blocks(text);
    let is_in_a_block = |offset: usize| {
        let next = blocks.partition_point(|block| block.range.end <= offset);
        blocks.get(next).is_some_and(|block| block.range.contains(&offset))
    };
    let mut headings = Vec::new();
    let mut end = 0;
    for (index, whole) in text.split_inclusive('\n').enumerate() {
        let start = end;
        end += whole.len();
        if is_in_a_block(start) {
            continue;
        }
        if let Some((level, said)) = heading_of(whole.trim_end_matches(['\n', '\r'])) {
            headings.push((start, Heading { level, text: said, line: index + 1, end }));
        }
    }
    headings
}

/// An opening fence.
struct Fence<'t> {
    mark: char,
    length: usize,
    info: &'t str,
}

impl<'t> Fence<'t> {
    fn of(line: &'t str) -> Option<Self> {
        let rest = unindented(line)?;
        let mark = rest.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let info = rest.trim_start_matches(mark);
        let length = rest.len() - info.len();
        // A backtick after the backticks makes this inline code.
        let is_fence = length >= 3 && (mark == '~' || !info.contains('`'));
        is_fence.then(|| Self { mark, length, info: info.trim() })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        unindented(line).is_some_and(|rest| {
            let after = rest.trim_start_matches(self.mark);
            rest.len() - after.len() >= self.length && after.trim().is_empty()
        })
    }
}

fn heading_of(line: &str) -> Option<(usize, &str)> {
    let rest = unindented(line)?;
    let said = rest.trim_start_matches('#');
    let level = rest.len() - said.len();
    let is_heading = (1..=6).contains(&level) && (said.is_empty() || said.starts_with([' ', '\t']));
    if !is_heading {
        return None;
    }
    let said = said.trim();
    let unclosed = said.trim_end_matches('#');
    let is_closing = unclosed.is_empty() || unclosed.ends_with([' ', '\t']);
    Some((level, if is_closing { unclosed.trim_end() } else { said }))
}

/// A line without its indentation; `None` if that is more than three spaces.
fn unindented(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(' ');
    (line.len() - rest.len() <= 3).then_some(rest)
}
