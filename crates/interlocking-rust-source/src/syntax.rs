//! Reading text as syntax, whoever wrote it.
//!
//! A parser of Rust calls itself for each operator and each pair of brackets, and so does whatever goes through the tree. So a text is
//! measured before it is parsed, and what is within the measure is read on a thread whose stack has room for it. With that thread
//! ends the parser's copy of the text, too, which it keeps for the places of tokens.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use std::{io, thread};

/// The longest text that is read, in bytes.
pub const MAX_BYTES: usize = 2 << 20;

/// How deep syntax may be: at most so many tokens may stand between the beginning of an item, a statement or an argument and its
/// innermost part.
pub const MAX_DEPTH: usize = 2048;

/// Room for [`MAX_DEPTH`] steps of whatever goes through a tree, in bytes. Only what is used of it takes memory.
const STACK: usize = 256 << 20;

/// A text is not Rust, or more than is read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}:{line}:{column}: {reason}")]
pub struct SourceError {
    /// The file as it was named.
    pub path: String,
    /// The line of the problem, counted from 1.
    pub line: usize,
    /// The column, counted from 1.
    pub column: usize,
    /// What is wrong.
    pub reason: String,
}

/// Parses a file and looks at it.
pub(crate) fn read<R: Send>(
    path: &str,
    text: &str,
    look: impl FnOnce(&syn::File) -> R + Send,
) -> Result<R, SourceError> {
    with_tokens(path, text, |_| {
        let file = syn::parse_file(text).map_err(|error| not_rust(path, &error))?;
        Ok(look(&file))
    })
}

/// Looks at a text as tokens.
pub(crate) fn read_tokens<R: Send>(
    path: &str,
    text: &str,
    look: impl FnOnce(TokenStream) -> R + Send,
) -> Result<R, SourceError> {
    with_tokens(path, text, |tokens| Ok(look(tokens)))
}

/// Parses an expression and looks at it; none where it is not one.
pub(crate) fn read_expression<R: Send>(text: &str, look: impl FnOnce(&syn::Expr) -> R + Send) -> Option<R> {
    let looked = with_tokens("", text, |tokens| Ok(syn::parse2(tokens).ok().map(|expression| look(&expression))));
    looked.ok().flatten()
}

fn with_tokens<R: Send>(
    path: &str,
    text: &str,
    look: impl FnOnce(TokenStream) -> Result<R, SourceError> + Send,
) -> Result<R, SourceError> {
    let failed = |line, column, reason| SourceError { path: path.to_owned(), line, column, reason };
    if text.len() > MAX_BYTES {
        let reason = format!("too long: it has {} bytes, and at most {MAX_BYTES} are read; divide it", text.len());
        return Err(failed(1, 1, reason));
    }
    let read = || {
        let tokens: TokenStream = without_shebang(text).parse().map_err(|error: proc_macro2::LexError| {
            let start = error.span().start();
            failed(start.line, start.column + 1, format!("not valid Rust: {error}"))
        })?;
        if let Err(place) = depth(tokens.clone(), MAX_DEPTH) {
            let start = place.start();
            let reason = format!("nested deeper than {MAX_DEPTH} tokens, which is not read; divide what stands there");
            return Err(failed(start.line, start.column + 1, reason));
        }
        look(tokens)
    };
    let done: io::Result<_> = thread::scope(|scope| {
        let running = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, read)?;
        Ok(running.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    done.unwrap_or_else(|error| Err(failed(1, 1, format!("no thread could be started to read it: {error}"))))
}

/// Without a byte order mark and a shebang, which are no tokens; what is left begins in the line it did.
fn without_shebang(text: &str) -> &str {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // `#![attribute]` is none, whatever stands between.
    let is_attribute = |rest: &str| {
        let after = rest.parse::<TokenStream>().ok().and_then(|rest| rest.into_iter().next());
        matches!(after, Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket)
    };
    match text.strip_prefix("#!") {
        Some(rest) if !is_attribute(rest) => text.find('\n').map_or("", |end| &text[end..]),
        _ => text,
    }
}

pub(crate) fn not_rust(path: &str, error: &syn::Error) -> SourceError {
    let start = error.span().start();
    let reason = format!("not valid Rust: {error}");
    SourceError { path: path.to_owned(), line: start.line, column: start.column + 1, reason }
}

/// The most tokens that a parser can have behind it that it has not come to the end of: a bound of how often it calls itself.
///
/// Nothing goes on beyond a semicolon, beyond a comma that stands neither between angle brackets nor behind a bar, or
/// beyond braces before another item or statement.
pub(crate) fn depth(tokens: TokenStream, most: usize) -> Result<usize, proc_macro2::Span> {
    let mut tokens = tokens.into_iter().peekable();
    let (mut deepest, mut length, mut angles, mut has_bar, mut is_arrow) = (0, 0, 0_usize, false, false);
    // The deepest of the groups of one item, statement or argument.
    let mut inside = 0;
    while let Some(token) = tokens.next() {
        length += 1;
        if length + inside > most {
            return Err(token.span());
        }
        let mut ends = false;
        let was_arrow = std::mem::take(&mut is_arrow);
        match &token {
            TokenTree::Group(group) => {
                let left = most.checked_sub(length + 1).ok_or_else(|| token.span())?;
                inside = inside.max(depth(group.stream(), left)?);
                ends = group.delimiter() == Delimiter::Brace
                    && match tokens.peek() {
                        None => true,
                        Some(TokenTree::Ident(next)) => {
                            !["as", "else", "if", "in"].iter().any(|continues| next == continues)
                        }
                        Some(TokenTree::Punct(next)) => next.as_char() == '#',
                        Some(TokenTree::Group(_) | TokenTree::Literal(_)) => false,
                    };
            }
            TokenTree::Punct(mark) => match mark.as_char() {
                ';' => ends = true,
                ',' => ends = angles == 0 && !has_bar,
                '<' => angles += 1,
                '>' if !was_arrow => angles = angles.saturating_sub(1),
                '|' => has_bar = true,
                '-' | '=' => is_arrow = mark.spacing() == Spacing::Joint,
                _ => {}
            },
            TokenTree::Ident(_) | TokenTree::Literal(_) => {}
        }
        if ends {
            deepest = deepest.max(length + inside);
            (length, angles, has_bar, inside) = (0, 0, false, 0);
        }
    }
    Ok(deepest.max(length + inside))
}

/// Whether a text is an identifier of Rust, raw ones and keywords aside.
pub fn is_identifier(text: &str) -> bool {
    syn::parse_str::<syn::Ident>(text).is_ok_and(|identifier| identifier == text)
}
