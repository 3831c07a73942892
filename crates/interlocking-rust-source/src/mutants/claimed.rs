//! A change that somebody says no test notices: found in the file before it is tried.

use super::Edit;
use super::bodies::{Body, bodies};
use crate::SourceError;
use crate::functions::meant_among;
use crate::syntax::{read, read_tokens};
use std::ops::Range;
use syn::visit::{self, Visit};
use syn::{Attribute, Block, Item, Stmt};

/// A claimed change is none that could be tried.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClaimError {
    /// The file is not Rust.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// No function bears that name.
    #[error("{path} has no function `{function}`, or several; it has {}: name one of these", or_none(known))]
    NoSuchFunction {
        /// The file.
        path: String,
        /// The name.
        function: String,
        /// What there is.
        known: Vec<String>,
    },
    /// What is to be replaced does not stand in the function's body.
    #[error(
        "`{}` does not stand in the body of `{function}` in {path}: quote it as it is written there",
        short(original)
    )]
    NotThere {
        /// The file.
        path: String,
        /// The function.
        function: String,
        /// What was looked for.
        original: String,
    },
    /// It stands there more than once.
    #[error(
        "`{}` stands more than once in the body of `{function}` in {path}, in the lines {}: quote more of what is around it",
        short(original), lines.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    )]
    Ambiguous {
        /// The file.
        path: String,
        /// The function.
        function: String,
        /// What was looked for.
        original: String,
        /// Where it stands.
        lines: Vec<usize>,
    },
    /// It would change nothing, or nothing but comments and how the text is laid out.
    #[error("the change to `{function}` in {path} is none: give a replacement that is other code than the original")]
    Unchanged {
        /// The file.
        path: String,
        /// The function.
        function: String,
    },
    /// The file is not Rust with it.
    #[error("with the change to `{function}`, {source}; give a replacement that is code where the original stands")]
    NotCode {
        /// The function.
        function: String,
        /// Where it is not.
        source: SourceError,
    },
    /// The place may not be compiled at all.
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

/// How many functions a message names.
const MOST_NAMED: usize = 20;

/// How many places a message names.
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

/// Finds a change that is described by what is replaced, which must stand in the function's body once, and by what.
///
/// The function is named with or without its type and modules. With the change the text is Rust, and other code than before: more than
/// comments and layout is changed. Whether it does something else is for the tests to tell.
///
/// # Errors
///
/// [`ClaimError`] where it is no change to this function.
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
        let meant = meant_among(known.iter().map(String::as_str), function);
        let mut named = bodies.iter().filter(|body| meant == Some(&body.name[..]));
        match (named.next(), named.next()) {
            (Some(body), None) => find(path, text, body, original, replacement),
            _ => Err(ClaimError::NoSuchFunction { path: path.to_owned(), function: function.to_owned(), known }),
        }
    })??;
    let function = || edit.function.clone();
    let changed = edit.apply(text).unwrap_or_default();
    read(path, &changed, |_| ()).map_err(|source| ClaimError::NotCode { function: function(), source })?;
    // Tokens have neither comments nor layout.
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
    // An empty text stands everywhere, and nowhere.
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

/// The innermost block around a place.
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

/// Whether a `cfg` stands in statements, outside of the blocks in them.
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
