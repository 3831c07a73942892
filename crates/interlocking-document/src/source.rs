//! A document's text before it is parsed, and its limits.

use std::io::{self, Read};
use std::path::Path;

use crate::place::Position;
use crate::problems::Problems;

/// The limits of a document. Agents can write documents, so each has limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest text, in bytes.
    pub bytes: usize,
    /// The deepest nesting of lists and tables. Reading recurses as deep.
    pub depth: usize,
}

/// A text and the name of its file.
#[derive(Clone, Copy, Debug)]
pub struct Source<'t> {
    pub(crate) file: &'t str,
    content: &'t [u8],
    pub(crate) limits: Limits,
    /// The number of the file's lines before the text.
    pub(crate) lines_before: usize,
}

impl Limits {
    /// 4 MiB and 64 levels.
    pub const DEFAULT: Self = Self { bytes: 4 << 20, depth: 64 };

    /// Reads a file, up to one byte more than the limit, so that parsing refuses a file that is too large.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn read(self, path: &Path) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        std::fs::File::open(path)?.take(self.bytes as u64 + 1).read_to_end(&mut content)?;
        Ok(content)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl<'t> Source<'t> {
    /// A text; `file` is the file name in places.
    pub fn new(file: &'t str, content: &'t (impl AsRef<[u8]> + ?Sized)) -> Self {
        Self { file, content: content.as_ref(), limits: Limits::DEFAULT, lines_before: 0 }
    }

    /// Sets other limits.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Marks the text as a part of its file that follows after `lines_before` lines.
    #[must_use]
    pub(crate) fn after_lines(self, lines_before: usize) -> Self {
        Self { lines_before, ..self }
    }

    /// Converts a position in the text to one in the file.
    pub(crate) fn in_file(&self, position: Position) -> Position {
        Position { line: position.line + self.lines_before, ..position }
    }

    /// The text, if it is UTF-8 and not too large.
    pub(crate) fn text(&self) -> Result<&'t str, Problems> {
        let mut problems = Problems::of(self.file);
        if self.content.len() > self.limits.bytes {
            let message = format!("the text is larger than {} bytes: shorten it", self.limits.bytes);
            problems.add(self.in_file(Position::START), "", message);
            return Err(problems);
        }
        std::str::from_utf8(self.content).map_err(|error| {
            let before = String::from_utf8_lossy(&self.content[..error.valid_up_to()]);
            let position = crate::lines::Lines::of(&before).position(before.len());
            problems.add(self.in_file(position), "", "this is not UTF-8 from here on: store it as UTF-8");
            problems
        })
    }

    /// The message for values that are nested too deep.
    pub(crate) fn too_deep(&self) -> String {
        format!("lists and tables are nested more than {} deep: nest them less", self.limits.depth)
    }
}
