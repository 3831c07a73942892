//! Makes agents' text safe for a document: it cannot begin or end a section or a block there.

use std::iter::repeat_n;

/// A text of several lines. Lines that would be a heading or a fence are escaped, so that they are displayed as written.
pub(crate) fn prose(text: &str) -> String {
    let line = |line: &str| {
        // Markdown ignores leading blanks, so they are ignored here.
        let said = line.trim_start();
        let after = said.trim_start_matches('#');
        let is_heading = after.len() < said.len() && (after.is_empty() || after.starts_with(char::is_whitespace));
        match is_heading || said.starts_with("```") || said.starts_with("~~~") {
            true => format!("{}\\{said}", &line[..line.len() - said.len()]),
            false => line.to_owned(),
        }
    };
    text.trim().lines().map(line).collect::<Vec<_>>().join("\n")
}

/// The same on one line, for an item of a list or a heading.
pub(crate) fn one_line(text: impl AsRef<str>) -> String {
    text.as_ref().lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// A fence of backticks that is longer than any in the code.
pub(crate) fn fence(code: &str) -> String {
    let longest = code.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    repeat_n('`', longest.saturating_add(1).max(3)).collect()
}
