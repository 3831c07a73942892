//! Finds the markers of stubs in a file's code.

use crate::SourceError;
use crate::functions::{for_tests, type_name};
use crate::normal::text_of;
use crate::stubs::StubMarkers;
use crate::syntax::read;
use crate::tokens::{is_mark, levels, name_at};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use serde::{Deserialize, Serialize};
use std::fmt;
use syn::{Expr, ImplItem, Item, Signature, TraitItem};

/// A stub's marker in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StubFound {
    /// The file's path, as given.
    pub path: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted from 1.
    pub column: usize,
    /// The marker as configured.
    pub marker: String,
    /// The function that contains the marker, with its modules and its type: `Stack::push`; `None` outside of functions.
    pub function: Option<String>,
}

impl fmt::Display for StubFound {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, column, marker, function } = self;
        write!(out, "{path}:{line}:{column}: `{marker}` stands ")?;
        match function {
            Some(function) => write!(out, "in `{function}`: write what belongs there"),
            None => write!(out, "outside of any function: write what belongs there"),
        }
    }
}

/// Finds every marker in a file's code, in the file's order (TC-05, V3-61), also in the arguments and rules of macros, and where
/// `use` gives a marker another name. String literals and comments are not code. Code that is compiled only for tests is left
/// out.
///
/// # Errors
///
/// [`SourceError`] if the file is not Rust.
pub fn stubs_in(path: &str, text: &str, markers: &StubMarkers) -> Result<Vec<StubFound>, SourceError> {
    read(path, text, |file| {
        let sought = markers.texts().map(|marker| (marker, Sought::of(marker))).collect();
        let mut search = StubSearch { path, sought, found: Vec::new() };
        search.items(&file.items, "");
        search.found.sort_by_key(|found| (found.line, found.column));
        search.found
    })
}

/// A marker as a pattern of tokens.
enum Sought {
    /// A macro of this name, with any arguments.
    Macro(String),
    /// Exactly these words and punctuation marks.
    Exactly(Vec<String>),
}

impl Sought {
    fn of(marker: &str) -> Self {
        match syn::parse_str(marker) {
            Ok(Expr::Macro(called)) if called.mac.tokens.is_empty() => {
                Self::Macro(called.mac.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default())
            }
            Ok(expression) => Self::Exactly(flat(expression.to_token_stream())),
            Err(_) => Self::Exactly(vec![marker.to_owned()]),
        }
    }

    /// Whether the marker begins at a token.
    fn stands_at(&self, tokens: &[TokenTree], at: usize) -> bool {
        let follows = |mark| at > 0 && is_mark(tokens.get(at - 1), mark);
        match self {
            Self::Macro(name) => {
                let is_named = name_at(tokens, at).as_ref() == Some(name);
                let is_called =
                    is_mark(tokens.get(at + 1), '!') && matches!(tokens.get(at + 2), Some(TokenTree::Group(_)));
                let is_renamed = name_at(tokens, at + 1).as_deref() == Some("as") && name_at(tokens, at + 2).is_some();
                is_named && (is_called || is_renamed)
            }
            Self::Exactly(words) => {
                let is_definition = at > 0 && name_at(tokens, at - 1).as_deref() == Some("fn");
                let mut left = &words[..];
                fits(&mut tokens[at..].iter().cloned(), &mut left) && left.is_empty() && !is_definition && !follows('.')
            }
        }
    }
}

/// Removes from `left` the words with which the tokens begin, until either ends; whether no word differed. Reads no further
/// tokens than needed.
fn fits(tokens: &mut dyn Iterator<Item = TokenTree>, left: &mut &[String]) -> bool {
    let takes = |left: &mut &[String], word: &str| match left.split_first() {
        Some((first, rest)) if first == word => {
            *left = rest;
            true
        }
        other => other.is_none(),
    };
    while !left.is_empty() {
        let fits = match tokens.next() {
            None => return true,
            Some(TokenTree::Group(group)) => {
                let (open, close) = brackets(group.delimiter());
                takes(left, open) && fits(&mut group.stream().into_iter(), left) && takes(left, close)
            }
            Some(other) => takes(left, &other.to_string()),
        };
        if !fits {
            return false;
        }
    }
    true
}

fn brackets(delimiter: Delimiter) -> (&'static str, &'static str) {
    match delimiter {
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::Bracket => ("[", "]"),
        Delimiter::Brace => ("{", "}"),
        Delimiter::None => ("", ""),
    }
}

fn flat(tokens: TokenStream) -> Vec<String> {
    let word = |token: TokenTree| match token {
        TokenTree::Group(group) => {
            let (open, close) = brackets(group.delimiter());
            let inside = flat(group.stream());
            [vec![open.to_owned()], inside, vec![close.to_owned()]].concat()
        }
        other => vec![other.to_string()],
    };
    tokens.into_iter().flat_map(word).collect()
}

struct StubSearch<'a> {
    path: &'a str,
    sought: Vec<(&'a str, Sought)>,
    found: Vec<StubFound>,
}

impl StubSearch<'_> {
    fn items(&mut self, items: &[Item], prefix: &str) {
        for item in items {
            match item {
                Item::Fn(item) if for_tests(&item.attrs) => {}
                Item::Fn(item) => self.function(prefix, &item.sig, item.to_token_stream()),
                Item::Mod(item) if for_tests(&item.attrs) => {}
                Item::Mod(item) => {
                    if let Some((_, items)) = &item.content {
                        self.items(items, &format!("{prefix}{}::", item.ident));
                    }
                }
                Item::Impl(item) if for_tests(&item.attrs) => {}
                Item::Impl(item) => {
                    let owner = type_name(&item.self_ty).unwrap_or_else(|| text_of(item.self_ty.to_token_stream()));
                    for member in &item.items {
                        match member {
                            ImplItem::Fn(method) if for_tests(&method.attrs) => {}
                            ImplItem::Fn(method) => {
                                self.function(&format!("{prefix}{owner}::"), &method.sig, method.to_token_stream());
                            }
                            other => self.tokens(other.to_token_stream(), None),
                        }
                    }
                }
                Item::Trait(item) if for_tests(&item.attrs) => {}
                Item::Trait(item) => {
                    for member in &item.items {
                        match member {
                            TraitItem::Fn(method) if for_tests(&method.attrs) => {}
                            TraitItem::Fn(method) => {
                                let prefix = format!("{prefix}{}::", item.ident);
                                self.function(&prefix, &method.sig, method.to_token_stream());
                            }
                            other => self.tokens(other.to_token_stream(), None),
                        }
                    }
                }
                other => self.tokens(other.to_token_stream(), None),
            }
        }
    }

    fn function(&mut self, prefix: &str, signature: &Signature, tokens: TokenStream) {
        self.tokens(tokens, Some(format!("{prefix}{}", signature.ident)));
    }

    fn tokens(&mut self, tokens: TokenStream, function: Option<String>) {
        for level in levels(tokens) {
            for at in 0..level.tokens.len() {
                let here = self.sought.iter().find(|(_, sought)| sought.stands_at(&level.tokens, at));
                if let Some((marker, _)) = here {
                    let (start, marker) = (level.tokens[at].span().start(), (*marker).to_owned());
                    let (path, function) = (self.path.to_owned(), function.clone());
                    self.found.push(StubFound { path, line: start.line, column: start.column + 1, marker, function });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, markers: &[&str]) -> Vec<String> {
        let markers = StubMarkers::parse(markers.iter().copied()).unwrap();
        stubs_in("src/lib.rs", text, &markers).unwrap().iter().map(ToString::to_string).collect()
    }

    /// TC-05, V3-61: markers are found wherever code can be, with the function that contains them.
    #[test]
    fn markers_are_found_wherever_code_stands() {
        let places = |text: &str| -> Vec<(usize, usize, Option<String>)> {
            let found = stubs_in("src/lib.rs", text, &StubMarkers::default()).unwrap();
            found.into_iter().map(|found| (found.line, found.column, found.function)).collect()
        };
        for (text, line, column, function) in [
            ("fn f() { todo!() }", 1, 10, Some("f")),
            ("fn f() {\n  if a { return todo!(\"later\"); } 1 }", 2, 17, Some("f")),
            ("fn f() { println!(\"{}\", unimplemented!()) }", 1, 25, Some("f")),
            ("fn f() { std::todo!() }", 1, 15, Some("f")),
            ("fn f() { || { vec![m! { x => todo! {} }] } }", 1, 30, Some("f")),
            ("mod m { impl<T> S<T> { fn f(&self) { todo!() } } }", 1, 38, Some("m::S::f")),
            ("impl T for [u8] { fn f(&self) { todo!() } }", 1, 33, Some("[u8]::f")),
            ("trait T { fn f(&self) { todo!() } }", 1, 25, Some("T::f")),
            ("macro_rules! m { () => { todo!() } }", 1, 26, None),
            ("const A: u8 = todo!();", 1, 15, None),
            ("use std::todo as later;", 1, 10, None),
            ("#[cfg(test)] mod tests {} fn f() { #[cfg(unix)] todo!() }", 1, 49, Some("f")),
        ] {
            assert_eq!(places(text), [(line, column, function.map(str::to_owned))], "{text}");
        }
    }

    /// TC-05: string literals, comments, tests, and other items of the same name are not markers.
    #[test]
    fn what_only_speaks_of_markers_is_none() {
        let text = "//! todo!()\n/// unimplemented!()\nfn todo() { /* todo!() */ \"todo!()\".len(); self.todo(); todo(); todo != 1; }\n\
            #[cfg(test)] mod tests { fn f() { todo!() } } #[test] fn t() { todo!() } \
            #[cfg(test)] trait T { fn f() { todo!() } } trait U { #[cfg(test)] fn f() { todo!() } }";
        assert_eq!(found(text, &["todo!()", "unimplemented!()"]), [""; 0]);
    }

    /// TC-05: the list of markers is configurable; a finding states its place, the marker and what to do.
    #[test]
    fn markers_of_ones_own_are_found_as_they_are_written() {
        let text = "fn f() { undefined() }\nfn undefined() {}\nfn g() { x.undefined(); undefined(1); panic!(\"stub\"); panic!(\"other\") }";
        assert_eq!(
            found(text, &["undefined()", "panic!(\"stub\")"]),
            [
                "src/lib.rs:1:10: `undefined()` stands in `f`: write what belongs there",
                "src/lib.rs:3:39: `panic!(\"stub\")` stands in `g`: write what belongs there",
            ]
        );
    }
}
