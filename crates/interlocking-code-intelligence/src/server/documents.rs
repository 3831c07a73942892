//! The files that a server has open: their URIs, their texts, and positions in them.

use super::messages::WirePosition;
use super::program::Language;
use crate::error::CodeError;
use crate::intelligence::{Position, Symbol};
use crate::project_file::{path_of, read, read_anywhere};
use interlocking_rust_source::CalledName;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The characters that are escaped in the path of a URI.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The files of one project, as a server knows them.
#[derive(Debug)]
pub(super) struct Documents {
    root: PathBuf,
    language: Language,
    /// Whether the server counts columns in bytes of UTF-8, instead of units of UTF-16.
    is_utf8: bool,
    open: HashMap<PathBuf, Document>,
}

/// A file as the server knows it.
#[derive(Debug)]
struct Document {
    version: i32,
    text: Arc<str>,
    findings: Findings,
}

/// What was found out about a text, so that nobody is asked again about the same text.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) symbols: Option<Arc<[Symbol]>>,
    /// The names that the file calls by its syntax.
    pub(super) called: Option<Arc<[CalledName]>>,
}

/// A notification for the server: method and parameters.
type Notification = (&'static str, Value);

impl Documents {
    pub(super) fn new(root: PathBuf, language: Language, is_utf8: bool) -> Self {
        Self { root, language, is_utf8, open: HashMap::new() }
    }

    pub(super) fn uri(&self, file: &Path) -> Result<String, CodeError> {
        Ok(uri_of(&path_of(&self.root, file)?))
    }

    /// The text of a file on disk, and the notification that gives the server the same text, if it does not have it.
    pub(super) fn open(&mut self, file: &Path) -> Result<(Arc<str>, Option<Notification>), CodeError> {
        let text: Arc<str> = read(&self.root, file)?.into();
        let uri = self.uri(file)?;
        let told = self.has_text(file, &uri, text.clone());
        Ok((text, told))
    }

    /// The notification that gives the server a text of a file, if it does not have it.
    fn has_text(&mut self, file: &Path, uri: &str, text: Arc<str>) -> Option<Notification> {
        match self.open.get_mut(file) {
            Some(known) if known.text == text => None,
            Some(known) => {
                let version = known.version.wrapping_add(1);
                *known = Document { version, text: text.clone(), findings: Findings::default() };
                let document = json!({ "uri": uri, "version": version });
                let change = json!({ "textDocument": document, "contentChanges": [{ "text": &*text }] });
                Some(("textDocument/didChange", change))
            }
            None => {
                let document = Document { version: 1, text: text.clone(), findings: Findings::default() };
                self.open.insert(file.to_owned(), document);
                let document = json!({ "uri": uri, "languageId": self.language.id(), "version": 1, "text": &*text });
                Some(("textDocument/didOpen", json!({ "textDocument": document })))
            }
        }
    }

    /// What was found out about a file with this text; `None` if the server has another text meanwhile.
    pub(super) fn findings(&mut self, file: &Path, text: &str) -> Option<&mut Findings> {
        self.open.get_mut(file).filter(|known| *known.text == *text).map(|known| &mut known.findings)
    }

    /// The notifications about a file that has changed on disk.
    pub(super) fn changed(&mut self, file: &Path) -> Result<Vec<Notification>, CodeError> {
        const CREATED: u8 = 1;
        const CHANGED: u8 = 2;
        const DELETED: u8 = 3;
        let path = path_of(&self.root, file)?;
        let was_open = self.open.contains_key(file);
        // A link counts as no file, because its text is not read.
        let is_file = path.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
        let change = match (is_file, was_open) {
            (true, true) => CHANGED,
            (true, false) => CREATED,
            (false, _) => DELETED,
        };
        let is_of_language = file.extension().is_some_and(|extension| extension == self.language.extension());
        // A server knows the text of an open file before it is asked the next question. What is on disk it reads some time later.
        let mut told = Vec::new();
        if is_file && was_open {
            told.extend(self.open(file)?.1);
        } else if is_file && is_of_language {
            // A file that cannot be read, or is too large, is left to the server.
            told.extend(self.open(file).ok().and_then(|(_, told)| told));
        } else if was_open || is_of_language {
            told.extend(self.has_text(file, &uri_of(&path), "".into()));
        }
        let changes = json!({ "changes": [{ "uri": uri_of(&path), "type": change }] });
        told.push(("workspace/didChangeWatchedFiles", changes));
        Ok(told)
    }

    /// The protocol's parameters for a position in a file, which has this line there.
    pub(super) fn place(&self, file: &Path, line: &str, position: Position) -> Result<Value, CodeError> {
        let bytes = (position.column.saturating_sub(1) as usize).min(line.len());
        let character = match self.is_utf8 {
            true => bytes,
            false => line.get(..bytes).unwrap_or(line).encode_utf16().count(),
        };
        let place = json!({ "line": position.line.saturating_sub(1), "character": character });
        Ok(json!({ "textDocument": { "uri": self.uri(file)? }, "position": place }))
    }

    /// Converts the protocol's position in this line.
    pub(super) fn position(&self, line: &str, at: WirePosition) -> Position {
        let column = match self.is_utf8 {
            true => at.character,
            false => {
                let mut left = at.character as usize;
                let before = line.chars().take_while(|it| {
                    let is_before = left > 0;
                    left = left.saturating_sub(it.len_utf16());
                    is_before
                });
                u32::try_from(before.map(char::len_utf8).sum::<usize>()).unwrap_or(u32::MAX)
            }
        };
        Position { line: at.line.saturating_add(1), column: column.saturating_add(1) }
    }

    /// The file of a URI, and the position in that file.
    pub(super) fn place_of(&self, uri: &str, at: WirePosition) -> (PathBuf, Position) {
        let path = uri.strip_prefix("file://").unwrap_or(uri);
        let path = PathBuf::from(&*percent_decode_str(path).decode_utf8_lossy());
        let text = if self.is_utf8 { String::new() } else { read_anywhere(&path).unwrap_or_default() };
        let position = self.position(line(&text, at.line.saturating_add(1)), at);
        (path.strip_prefix(&self.root).map(Path::to_owned).unwrap_or(path), position)
    }
}

/// The line of a text with a number that is counted from 1; empty if there is none.
pub(super) fn line(text: &str, number: u32) -> &str {
    text.lines().nth(number.saturating_sub(1) as usize).unwrap_or_default()
}

pub(super) fn uri_of(path: &Path) -> String {
    format!("file://{}", utf8_percent_encode(&path.to_string_lossy(), PLAIN))
}
