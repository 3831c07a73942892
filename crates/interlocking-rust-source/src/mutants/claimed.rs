//! Finds the place of a change that an agent claims no test notices, before the change is tried.

use super::Edit;
use super::bodies::{Body, bodies};
use crate::SourceError;
use crate::functions::resolve_name;
use crate::syntax::{read, read_tokens};
use std::ops::Range;
use syn::visit::{self, Visit};
use syn::{Attribute, Block, Item, Stmt};

/// Why a claimed change cannot be tried.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClaimError {
    /// The file is not Rust.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// No function, or several, can be meant by the name.
    #[error("{path} has no function `{function}`, or several; it has {}: name one of these", or_none(known))]
    NoSuchFunction {
        /// The file.
        path: String,
        /// The name.
        function: String,
        /// The names of the file's functions.
        known: Vec<String>,
    },
    /// The text to be replaced is not in the function's body.
    #[error(
        "`{}` does not stand in the body of `{function}` in {path}: quote it as it is written there",
        short(original)
    )]
    NotThere {
        /// The file.
        path: String,
        /// The function.
        function: String,
        /// The text to be replaced.
        original: String,
    },
    /// The text to be replaced is in the body more than once.
    #[error(
        "`{}` stands more than once in the body of `{function}` in {path}, in the lines {}: quote more of what is around it",
        short(original), lines.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    )]
    Ambiguous {
        /// The file.
        path: String,
        /// The function.
        function: String,
        /// The text to be replaced.
        original: String,
        /// The lines in which it begins.
        lines: Vec<usize>,
    },
    /// The change is empty, or changes only comments and formatting.
    #[error("the change to `{function}` in {path} is none: give a replacement that is other code than the original")]
    Unchanged {
        /// The file.
        path: String,
        /// The function.
        function: String,
    },
    /// The changed file is not Rust.
    #[error("with the change to `{function}`, {source}; give a replacement that is code where the original stands")]
    NotCode {
        /// The function.
        function: String,
        /// The syntax error.
        source: SourceError,
    },
    /// The place is under a `cfg`, so it may not be compiled.
    #[error(
        "{path}:{line}: `{function}` has a `cfg` there, and nothing tells whether it is compiled: name another place"
    )]
    Conditional {
        /// The file.
        path: String,
        /// The line, counted from 1.
        line: usize,
        /// The function.
        function: String,
    },
}

/// The most functions that a message names.
const MOST_NAMED: usize = 20;

/// The most places that a message names.
const MOST_PLACES: usize = 10;

fn or_none(known: &[String]) -> String {
    match known {
        [] => "none".to_owned(),
        [named @ .., _] if named.len() >= MOST_NAMED => format!("{} …", named[..MOST_NAMED].join(", ")),
        all => all.join(", "),
    }
}

/// A quoted text in one line, shortened.
fn short(text: &str) -> String {
    const LONGEST: usize = 120;
    let mut characters = text.chars().map(|character| if character.is_control() { ' ' } else { character });
    let mut short: String = characters.by_ref().take(LONGEST).collect();
    short.push_str(if characters.next().is_some() { "…" } else { "" });
    short
}

/// Finds a change that is described by the text to be replaced and its replacement. The original must be in the function's body
/// exactly once.
///
/// The function is named with or without its type and modules. The changed text must be Rust, and must differ in more than
/// comments and formatting. Whether it behaves differently is for the tests to decide.
///
/// # Errors
///
/// [`ClaimError`] if the change cannot be tried.
pub fn claimed_edit(
    path: &str,
    text: &str,
    function: &str,
    original: &str,
    replacement: &str,
) -> Result<Edit, ClaimError> {
    let edit = read(path, text, |file| {
        let bodies = bodies(text, file);
        let known: Vec<String> = bodies.iter().map(|body| body.name.clone()).collect();
        let meant = resolve_name(known.iter().map(String::as_str), function);
        let mut named = bodies.iter().filter(|body| meant == Some(&body.name[..]));
        match (named.next(), named.next()) {
            (Some(body), None) => find(path, text, body, original, replacement),
            _ => Err(ClaimError::NoSuchFunction { path: path.to_owned(), function: function.to_owned(), known }),
        }
    })??;
    let function = || edit.function.clone();
    let changed = edit.apply(text).unwrap_or_default();
    read(path, &changed, |_| ()).map_err(|source| ClaimError::NotCode { function: function(), source })?;
    // Tokens contain neither comments nor formatting.
    let code = |text: &str| read_tokens(path, text, |tokens| tokens.to_string());
    if code(text)? == code(&changed)? {
        return Err(ClaimError::Unchanged { path: path.to_owned(), function: function() });
    }
    Ok(edit)
}

fn find(path: &str, text: &str, body: &Body<'_>, original: &str, replacement: &str) -> Result<Edit, ClaimError> {
    let (path, function, original) = (path.to_owned(), body.name.clone(), original.trim());
    if original == replacement.trim() {
        return Err(ClaimError::Unchanged { path, function });
    }
    let inside =
        body.place(body.block.brace_token.span.open()).end..body.place(body.block.brace_token.span.close()).start;
    let within = text.get(inside.clone()).unwrap_or_default();
    // An empty text would match everywhere.
    let hits = within.match_indices(original).filter(|_| !original.is_empty());
    let starts: Vec<usize> = hits.map(|(at, _)| inside.start + at).take(MOST_PLACES).collect();
    let line_of = |at: usize| text[..at].matches('\n').count() + 1;
    let start = match starts[..] {
        [] => return Err(ClaimError::NotThere { path, function, original: original.to_owned() }),
        [start] => start,
        _ => {
            let lines = starts.into_iter().map(line_of).collect();
            return Err(ClaimError::Ambiguous { path, function, original: original.to_owned(), lines });
        }
    };
    let range = start..start + original.len();
    let mut around = Around { body, range: &range, block: None };
    around.visit_block(body.block);
    let block = around.block.unwrap_or(body.block);
    let mut conditions = Conditions(false);
    block.stmts.iter().for_each(|statement| conditions.visit_stmt(statement));
    if conditions.0 {
        return Err(ClaimError::Conditional { path, line: line_of(start), function });
    }
    Ok(Edit {
        path,
        function,
        line: line_of(start),
        column: text[..start].rsplit('\n').next().unwrap_or_default().chars().count() + 1,
        original: original.to_owned(),
        replacement: replacement.trim().to_owned(),
        block_start: body.place(block.brace_token.span.open()).end,
        range,
    })
}

/// Finds the innermost block around a place.
struct Around<'a, 'b> {
    body: &'a Body<'a>,
    range: &'a Range<usize>,
    block: Option<&'b Block>,
}

impl<'b> Visit<'b> for Around<'_, 'b> {
    fn visit_block(&mut self, block: &'b Block) {
        let place = self.body.place(block.brace_token.span.join());
        if place.start < self.range.start && self.range.end < place.end {
            self.block = Some(block);
            visit::visit_block(self, block);
        }
    }
    fn visit_item(&mut self, _: &'b Item) {}
}

/// Whether statements have a `cfg`, outside of the blocks in them.
struct Conditions(bool);

impl Visit<'_> for Conditions {
    fn visit_attribute(&mut self, attribute: &Attribute) {
        self.0 |= attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr");
    }
    fn visit_stmt(&mut self, statement: &Stmt) {
        visit::visit_stmt(self, statement);
    }
    fn visit_block(&mut self, _: &Block) {}
}
