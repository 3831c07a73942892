//! The functions and types of a file, and the names that are called in it.

use crate::SourceError;
use crate::functions::type_name;
use crate::proptest::{ProptestBody, is_proptest};
use crate::syntax::{read, read_tokens};
use proc_macro2::{Delimiter, Ident, Spacing, Span, TokenStream, TokenTree};
use std::ops::RangeInclusive;
use syn::spanned::Spanned;
use syn::{ImplItem, Item, TraitItem};

/// A function or a type of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceSymbol {
    /// The symbol's name, with its modules within the file and, for a method, its type or trait: `Stack::push`.
    pub name: String,
    /// Whether the symbol is a type or a trait, instead of a function.
    pub is_type: bool,
    /// The line of the name, counted from 1.
    pub line: usize,
    /// The column of the name in bytes, counted from 1.
    pub column: usize,
    /// The lines of the whole symbol, counted from 1.
    pub lines: RangeInclusive<usize>,
}

/// Lists the functions and types of a file in the file's order, including those in modules, `impl` blocks, traits and
/// `proptest! { … }`.
///
/// # Errors
///
/// [`SourceError`] if the file is not Rust.
pub fn symbols(path: &str, text: &str) -> Result<Vec<SourceSymbol>, SourceError> {
    read(path, text, |file| {
        let mut listing = Listing { columns: Columns::of(text), found: Vec::new() };
        listing.items(&file.items, "");
        listing.found
    })
}

struct Listing<'t> {
    columns: Columns<'t>,
    found: Vec<SourceSymbol>,
}

impl Listing<'_> {
    fn items(&mut self, items: &[Item], prefix: &str) {
        for item in items {
            let all = item.span();
            match item {
                Item::Fn(item) => self.add(prefix, &item.sig.ident, false, all),
                Item::Struct(item) => self.add(prefix, &item.ident, true, all),
                Item::Enum(item) => self.add(prefix, &item.ident, true, all),
                Item::Union(item) => self.add(prefix, &item.ident, true, all),
                Item::Trait(item) => {
                    self.add(prefix, &item.ident, true, all);
                    for member in &item.items {
                        if let TraitItem::Fn(method) = member {
                            self.add(&format!("{prefix}{}::", item.ident), &method.sig.ident, false, method.span());
                        }
                    }
                }
                Item::Impl(item) => {
                    let owner = type_name(&item.self_ty).map(|owner| format!("{owner}::")).unwrap_or_default();
                    for member in &item.items {
                        if let ImplItem::Fn(method) = member {
                            self.add(&format!("{prefix}{owner}"), &method.sig.ident, false, method.span());
                        }
                    }
                }
                Item::Mod(item) => {
                    if let Some((_, items)) = &item.content {
                        self.items(items, &format!("{prefix}{}::", item.ident));
                    }
                }
                Item::Macro(item) if is_proptest(&item.mac) => {
                    let Ok(ProptestBody(functions)) = syn::parse2(item.mac.tokens.clone()) else { continue };
                    for function in &functions {
                        let lines = (function.name.span(), function.body.span());
                        self.spanning(prefix, &function.name, false, lines);
                    }
                }
                _ => {}
            }
        }
    }

    fn add(&mut self, prefix: &str, name: &Ident, is_type: bool, all: Span) {
        self.spanning(prefix, name, is_type, (all, all));
    }

    fn spanning(&mut self, prefix: &str, name: &Ident, is_type: bool, (first, last): (Span, Span)) {
        let start = name.span().start();
        self.found.push(SourceSymbol {
            name: format!("{prefix}{name}"),
            is_type,
            line: start.line,
            column: self.columns.in_bytes(start.line, start.column),
            lines: first.start().line..=last.end().line,
        });
    }
}

/// A called name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalledName {
    /// The last part of the path: `push` of `Stack::push(…)` and of `stack.push(…)`.
    pub name: String,
    /// The name's line, counted from 1.
    pub line: usize,
    /// The name's column in bytes, counted from 1.
    pub column: usize,
}

/// Lists the names before arguments in parentheses, in the file's order. Names within the arguments of macros are included,
/// although a macro may make something else of them.
///
/// # Errors
///
/// [`SourceError`] if the file is not Rust.
pub fn called_names(path: &str, text: &str) -> Result<Vec<CalledName>, SourceError> {
    read_tokens(path, text, |tokens| {
        let mut found = Vec::new();
        called_in(tokens, &mut Columns::of(text), &mut found);
        found.sort_by_key(|called| (called.line, called.column));
        found
    })
}

fn called_in(tokens: TokenStream, columns: &mut Columns<'_>, found: &mut Vec<CalledName>) {
    // The last name that may be called, and whether the last word was `fn`, which declares the next name.
    let (mut named, mut is_declared): (Option<Ident>, bool) = (None, false);
    // The number of open angle brackets of a turbofish after the name, and whether the first colon of its `::` was read.
    let (mut angles, mut is_colon) = (0_usize, false);
    for token in tokens {
        match token {
            TokenTree::Ident(name) if angles == 0 => {
                let declares = name == "fn";
                named = (!declares && !is_declared && !is_keyword(&name)).then_some(name);
                is_declared = declares;
            }
            TokenTree::Punct(mark) if named.is_some() => match mark.as_char() {
                _ if angles > 0 && !"<>".contains(mark.as_char()) => {}
                ':' if std::mem::take(&mut is_colon) => {}
                ':' if mark.spacing() == Spacing::Joint => is_colon = true,
                '<' => angles += 1,
                '>' if angles > 0 => angles -= 1,
                _ => named = None,
            },
            TokenTree::Group(group) => {
                if group.delimiter() == Delimiter::Parenthesis
                    && angles == 0
                    && let Some(name) = named.take()
                {
                    let start = name.span().start();
                    let column = columns.in_bytes(start.line, start.column);
                    found.push(CalledName { name: name.to_string(), line: start.line, column });
                }
                if angles == 0 {
                    named = None;
                }
                called_in(group.stream(), columns, found);
            }
            TokenTree::Punct(_) | TokenTree::Ident(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// Whether a word is a keyword that can precede parentheses.
fn is_keyword(name: &Ident) -> bool {
    ["as", "break", "else", "for", "if", "in", "let", "match", "move", "mut", "pub", "ref", "return", "where", "while"]
        .iter()
        .any(|keyword| name == keyword)
}

/// Converts columns to bytes. Queries in the order of the text take one pass over the text.
pub(crate) struct Columns<'t> {
    lines: Vec<&'t str>,
    /// The last result: its line, and the numbers of characters and bytes before it in that line.
    last: (usize, usize, usize),
}

impl<'t> Columns<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        Self { lines: text.lines().collect(), last: (0, 0, 0) }
    }

    /// The column in bytes, counted from 1, for a number of characters, counted from 0, in a line, counted from 1.
    pub(crate) fn in_bytes(&mut self, line: usize, characters: usize) -> usize {
        let text = self.lines.get(line.saturating_sub(1)).copied().unwrap_or_default();
        let (known, bytes) = match self.last {
            (last, known, bytes) if last == line && known <= characters => (known, bytes),
            _ => (0, 0),
        };
        let bytes = bytes + text[bytes..].chars().take(characters - known).map(char::len_utf8).sum::<usize>();
        self.last = (line, characters, bytes);
        bytes + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "pub struct Stack(Vec<i64>);\nimpl<T> Stack<T> {\n    pub fn push(&mut self) {\n        self.0.push(1);\n    }\n}\n\
        trait Height {\n    fn height(&self) -> usize;\n}\nimpl Height for Stack {\n    fn height(&self) -> usize { 0 }\n}\n\
        mod inner {\n    enum Kind { A(u8) }\n}\nproptest! {\n    #[test]\n    fn prop_a(x in any::<i64>()) {\n        \
        prop_assert_eq!(f(x), 1);\n    }\n}\n";

    #[test]
    fn symbols_are_found_wherever_they_stand() {
        let found = symbols("src/lib.rs", FILE).unwrap();
        let found: Vec<_> = found.into_iter().map(|it| (it.name, it.is_type, it.line, it.column, it.lines)).collect();
        let expected = [
            ("Stack", true, 1, 12, 1..=1),
            ("Stack::push", false, 3, 12, 3..=5),
            ("Height", true, 7, 7, 7..=9),
            ("Height::height", false, 8, 8, 8..=8),
            ("Stack::height", false, 11, 8, 11..=11),
            ("inner::Kind", true, 14, 10, 14..=14),
            ("prop_a", false, 18, 8, 18..=20),
        ];
        assert_eq!(
            found,
            expected.map(|(name, is_type, line, column, lines)| (name.to_owned(), is_type, line, column, lines))
        );
    }

    #[test]
    fn called_names_are_found_in_macros_and_behind_turbofish() {
        let text = "fn f(x: (u8, u8)) -> Vec<u8> {\n    let ü = g(x); if (a) { return (1) }\n    /* h() */ \"i()\"; // j()\n    \
            s.k::<Vec<u8>>(l()).m();\n    assert_eq!(Self::n(1), o!(p()));\n    |q| (q)\n}";
        let found = called_names("src/lib.rs", text).unwrap();
        let found: Vec<_> = found.iter().map(|it| (&it.name[..], it.line, it.column)).collect();
        let expected = [("g", 2, 14), ("k", 4, 7), ("l", 4, 20), ("m", 4, 25), ("n", 5, 22), ("p", 5, 31)];
        assert_eq!(found, expected);
    }
}
