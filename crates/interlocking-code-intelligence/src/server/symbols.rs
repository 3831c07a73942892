//! The symbols of a file, from a server's answer.

use super::documents::Documents;
use super::messages::{DocumentSymbol, WireRange};
use super::program::Language;
use crate::intelligence::{Position, Symbol, SymbolKind};
use crate::rust_syntax;
use interlocking_rust_source::{SourceError, symbols};
use std::collections::BTreeSet;
use std::path::Path;

/// The protocol's numbers for kinds of symbols.
mod kind {
    pub(super) const CLASS: u32 = 5;
    pub(super) const METHOD: u32 = 6;
    pub(super) const CONSTRUCTOR: u32 = 9;
    pub(super) const ENUM: u32 = 10;
    pub(super) const INTERFACE: u32 = 11;
    pub(super) const FUNCTION: u32 = 12;
    pub(super) const STRUCT: u32 = 23;
}

/// The functions and types among `symbols`; each name is preceded by the names of the symbols that contain it.
pub(super) fn listed(symbols: &[DocumentSymbol], language: Language, text: &str, documents: &Documents) -> Vec<Symbol> {
    let mut found = Vec::new();
    let mut listing = Listing { language, lines: text.lines().collect(), documents, found: &mut found };
    listing.add(symbols, "");
    found
}

struct Listing<'a> {
    language: Language,
    lines: Vec<&'a str>,
    documents: &'a Documents,
    found: &'a mut Vec<Symbol>,
}

impl Listing<'_> {
    fn add(&mut self, symbols: &[DocumentSymbol], prefix: &str) {
        for symbol in symbols {
            let kind = match symbol.kind {
                kind::METHOD | kind::CONSTRUCTOR | kind::FUNCTION => Some(SymbolKind::Function),
                kind::CLASS | kind::ENUM | kind::INTERFACE | kind::STRUCT => Some(SymbolKind::Type),
                _ => None,
            };
            let name = format!("{prefix}{}", self.own_name(&symbol.name));
            let separator = if self.language == Language::Rust { "::" } else { "." };
            let inner = format!("{name}{separator}");
            if let Some(kind) = kind {
                let at = symbol.selection_range.start;
                let line = self.lines.get(at.line as usize).copied().unwrap_or_default();
                let position = self.documents.position(line, at);
                let WireRange { start, end } = symbol.range;
                let lines = start.line.saturating_add(1)..=end.line.saturating_add(1);
                self.found.push(Symbol { name, kind, position, lines });
            }
            self.add(&symbol.children, &inner);
        }
    }

    /// The name of a symbol; for an `impl` block, the name of the type.
    fn own_name<'n>(&self, name: &'n str) -> &'n str {
        match name.strip_prefix("impl") {
            Some(implemented) if self.language == Language::Rust && implemented.starts_with([' ', '<']) => {
                owner(implemented).unwrap_or(name)
            }
            _ => name,
        }
    }
}

/// The type of `impl<T> Trait for Type<T>`, without its path and its arguments.
fn owner(implemented: &str) -> Option<&str> {
    let mut angles = 0_usize;
    let parameters = implemented.char_indices().find(|(_, it)| {
        angles = match it {
            '<' => angles + 1,
            '>' => angles.saturating_sub(1),
            _ => angles,
        };
        angles == 0
    });
    let rest = implemented.get(parameters?.0 + 1..)?;
    let owner = rest.rsplit_once(" for ").map_or(rest, |(_, owner)| owner);
    let path = owner.trim().trim_start_matches('&').split(['<', ' ']).next()?;
    path.rsplit("::").next().filter(|name| !name.is_empty())
}

/// Adds the symbols that macros make, such as the tests in `proptest! { … }`, which a server does not list.
pub(super) fn with_those_made_by_macros(
    mut found: Vec<Symbol>,
    file: &Path,
    text: &str,
) -> Result<Vec<Symbol>, SourceError> {
    let mut known: BTreeSet<Position> = found.iter().map(|symbol| symbol.position).collect();
    let others = symbols(&file.to_string_lossy(), text)?.into_iter().map(rust_syntax::symbol);
    found.extend(others.filter(|symbol| known.insert(symbol.position)));
    found.sort_by_key(|symbol| symbol.position);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server can answer with any number.
    #[test]
    fn the_last_line_that_can_be_named_is_one() {
        let at = serde_json::json!({ "line": u32::MAX, "character": u32::MAX });
        let range = serde_json::json!({ "start": at, "end": at });
        let symbol =
            serde_json::json!({ "name": "f", "kind": kind::FUNCTION, "range": range, "selectionRange": range });
        let documents = Documents::new("/".into(), Language::Rust, true);
        let found = listed(&[serde_json::from_value(symbol).unwrap()], Language::Rust, "fn f() {}", &documents);
        assert_eq!(found[0].lines, u32::MAX..=u32::MAX);
    }

    #[test]
    fn the_owner_of_what_is_implemented_is_its_type() {
        for (implemented, expected) in [
            (" Stack", Some("Stack")),
            ("<T: Into<U>, U> Stack<T, U>", Some("Stack")),
            (" fmt::Display for inner::Stack", Some("Stack")),
            (" Read for &Stack<'_>", Some("Stack")),
            ("", None),
        ] {
            assert_eq!(owner(implemented), expected, "{implemented}");
        }
    }
}
