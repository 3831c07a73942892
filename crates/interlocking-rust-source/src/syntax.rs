//! Parses text that may be hostile.
//!
//! A parser of Rust recurses for each operator and each pair of brackets, and so does code that walks the tree. So the depth of a
//! text is measured before it is parsed, and a text within the limit is read on a thread with a sufficiently large stack. When
//! that thread ends, the parser's copy of the text, which it keeps for the positions of tokens, is freed, too.
//!
//! A name may be written as `r#name`. In what is read here it is `name`, so that comparing texts compares names.

use proc_macro2::{Delimiter, Group, Ident, Spacing, TokenStream, TokenTree};
use std::{io, thread};

/// The longest text that is read, in bytes.
pub const MAX_BYTES: usize = 2 << 20;

/// The deepest syntax: the most tokens between the beginning of an item, a statement or an argument and its innermost part.
pub const MAX_DEPTH: usize = 2048;

/// The size of the stack in bytes, enough for [`MAX_DEPTH`] steps of any walk through a tree. Only the used part takes memory.
const STACK: usize = 256 << 20;

/// Why a text cannot be read: it is not Rust, or exceeds a limit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}:{line}:{column}: {reason}")]
pub struct SourceError {
    /// The file's path, as given.
    pub path: String,
    /// The line of the problem, counted from 1.
    pub line: usize,
    /// The column, counted from 1.
    pub column: usize,
    /// What is wrong.
    pub reason: String,
}

/// Parses a file and runs `look` on its syntax tree.
pub(crate) fn read<R: Send>(
    path: &str,
    text: &str,
    look: impl FnOnce(&syn::File) -> R + Send,
) -> Result<R, SourceError> {
    with_tokens(path, text, |tokens| {
        let mut file: syn::File = syn::parse2(tokens).map_err(|error| not_rust(path, &error))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let shebang = &text[..text.len() - without_shebang(text).len()];
        file.shebang = (!shebang.is_empty()).then(|| shebang.to_owned());
        Ok(look(&file))
    })
}

/// Reads a text as tokens and runs `look` on them.
pub(crate) fn read_tokens<R: Send>(
    path: &str,
    text: &str,
    look: impl FnOnce(TokenStream) -> R + Send,
) -> Result<R, SourceError> {
    with_tokens(path, text, |tokens| Ok(look(tokens)))
}

/// Parses an expression and runs `look` on it; `None` if the text is not an expression.
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
        look(if text.contains("r#") { without_raw_names(tokens) } else { tokens })
    };
    on_large_stack(path, read).and_then(|looked| looked)
}

/// Runs `work`, which recurses deeply, on a thread with a sufficiently large stack. `path` is for the error.
pub(crate) fn on_large_stack<R: Send>(path: &str, work: impl FnOnce() -> R + Send) -> Result<R, SourceError> {
    let done: io::Result<R> = thread::scope(|scope| {
        let running = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work)?;
        Ok(running.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    done.map_err(|error| {
        let reason = format!("no thread could be started to read it: {error}");
        SourceError { path: path.to_owned(), line: 1, column: 1, reason }
    })
}

/// The tokens with `name` for each `r#name`, which means the same. Raw keywords stay as they are.
fn without_raw_names(tokens: TokenStream) -> TokenStream {
    let plain = |token| match token {
        TokenTree::Group(group) => {
            let mut plain = Group::new(group.delimiter(), without_raw_names(group.stream()));
            plain.set_span(group.span());
            plain.into()
        }
        TokenTree::Ident(name) => {
            let text = name.to_string();
            let plain = text.strip_prefix("r#").filter(|plain| is_identifier(plain));
            plain.map_or(name.clone(), |plain| Ident::new(plain, name.span())).into()
        }
        TokenTree::Punct(_) | TokenTree::Literal(_) => token,
    };
    tokens.into_iter().map(plain).collect()
}

/// The text without a byte order mark and a shebang, which are not tokens. Line numbers do not change.
fn without_shebang(text: &str) -> &str {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match text.strip_prefix("#!") {
        // `#![attribute]` is not a shebang, even with spaces or comments in between.
        Some(rest) if !without_blanks(rest).starts_with('[') => text.find('\n').map_or("", |end| &text[end..]),
        _ => text,
    }
}

/// The text from its first token on, as the compiler's lexer finds it: documentation is one, other comments are none.
fn without_blanks(mut text: &str) -> &str {
    const BLANKS: [char; 11] =
        ['\t', '\n', '\u{b}', '\u{c}', '\r', ' ', '\u{85}', '\u{200e}', '\u{200f}', '\u{2028}', '\u{2029}'];
    loop {
        text = text.trim_start_matches(BLANKS);
        let begins = |with: &[&str]| with.iter().any(|with| text.starts_with(with));
        text = if begins(&["//"]) && (begins(&["////"]) || !begins(&["///", "//!"])) {
            text.find('\n').map_or("", |end| &text[end..])
        } else if begins(&["/*"]) && (begins(&["/***", "/**/"]) || !begins(&["/**", "/*!"])) {
            without_block_comment(text)
        } else {
            return text;
        };
    }
}

/// The text after the comment `/* … */` that it begins with, which may contain others.
fn without_block_comment(text: &str) -> &str {
    let (mut rest, mut open) = (text, 0_usize);
    while let Some(at) = rest.find(['/', '*']) {
        rest = &rest[at..];
        if let Some(inside) = rest.strip_prefix("/*") {
            (rest, open) = (inside, open + 1);
        } else if let Some(after) = rest.strip_prefix("*/") {
            (rest, open) = (after, open - 1);
            if open == 0 {
                return rest;
            }
        } else {
            rest = &rest[1..];
        }
    }
    ""
}

pub(crate) fn not_rust(path: &str, error: &syn::Error) -> SourceError {
    let start = error.span().start();
    let reason = format!("not valid Rust: {error}");
    SourceError { path: path.to_owned(), line: start.line, column: start.column + 1, reason }
}

/// The most tokens that a parser can have read of constructs that it has not finished: a bound for the depth of its recursion.
///
/// Every construct ends at a semicolon, at a comma that is neither between angle brackets nor after a `|`, or at braces before
/// another item or statement. After a literal a `<` opens no brackets, and `<<` opens none before a literal.
pub(crate) fn depth(tokens: TokenStream, most: usize) -> Result<usize, proc_macro2::Span> {
    let mut tokens = tokens.into_iter().peekable();
    let (mut deepest, mut length, mut angles, mut has_bar, mut is_arrow) = (0, 0, 0_usize, false, false);
    // Whether a `<` would be part of an operator, and whether the token before is a `<` joined to this one.
    let (mut is_operator, mut is_second) = (false, false);
    // The depth of the deepest group in the current item, statement or argument.
    let mut inside = 0;
    while let Some(token) = tokens.next() {
        length += 1;
        if length + inside > most {
            return Err(token.span());
        }
        let mut ends = false;
        let was_arrow = std::mem::take(&mut is_arrow);
        let (was_operator, was_second) = (std::mem::take(&mut is_operator), std::mem::take(&mut is_second));
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
                '<' => {
                    let is_joint = mark.spacing() == Spacing::Joint;
                    let is_shift = was_second && matches!(tokens.peek(), Some(TokenTree::Literal(_)));
                    match (was_operator, is_shift) {
                        (true, _) => is_operator = is_joint && !was_second,
                        (false, true) => angles = angles.saturating_sub(1),
                        (false, false) => angles += 1,
                    }
                    is_second = is_joint;
                }
                '>' if !was_arrow => angles = angles.saturating_sub(1),
                '|' => has_bar = true,
                '-' | '=' => is_arrow = mark.spacing() == Spacing::Joint,
                _ => {}
            },
            TokenTree::Literal(_) => is_operator = true,
            TokenTree::Ident(_) => {}
        }
        if ends {
            deepest = deepest.max(length + inside);
            (length, angles, has_bar, inside) = (0, 0, false, 0);
        }
    }
    Ok(deepest.max(length + inside))
}

/// Whether a text is an identifier of Rust. Raw identifiers and keywords do not count.
pub fn is_identifier(text: &str) -> bool {
    syn::parse_str::<syn::Ident>(text).is_ok_and(|identifier| identifier == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Like the compiler's, what decides is the first token after `#!`: whether the rest of the file can be read does not.
    #[test]
    fn an_attribute_is_no_shebang_whatever_follows_it() {
        let at =
            |text: &str| read("a.rs", text, |file| file.shebang.clone()).map_err(|error| (error.line, error.column));
        for text in ["#![a] \"unclosed", "#! [a] \"", "#!\n/* /* a */ */ // b\n[a] \"", "#!// b\r\n\t[a] \""] {
            assert!(matches!(at(text), Err((line, _)) if line == text.lines().count()), "{text}: {:?}", at(text));
        }
        for text in ["#!/usr/bin/env [a]", "#!", "#! a", "#!/// [a]\n", "#!//! [a]\n", "#!/** [a] */", "#!/* [a]\n"] {
            let first = text.lines().next().map(str::to_owned);
            assert_eq!(at(text), Ok(first), "{text}");
        }
        assert_eq!(at("\u{feff}#!/bin/sh\nfn f() {}"), Ok(Some("#!/bin/sh".to_owned())));
        assert_eq!(at("#!/bin/sh\n'unclosed"), Err((2, 1)));
    }
}
