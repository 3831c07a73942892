//! Recognises what a token is by its position.

use super::rules::Rules;
use crate::tokens::{is_mark, is_separator, name_at};
use proc_macro2::TokenTree;

/// Whether a name gets another name by `name as other`. Outside of a `use`, a primitive type in the place of the other name makes
/// it a conversion.
pub(super) fn is_renamed(tokens: &[TokenTree], at: usize, is_of_use: bool) -> bool {
    let word = name_at(tokens, at + 1).filter(|word| word == "as");
    let other = word.and_then(|_| name_at(tokens, at + 2));
    other.is_some_and(|other| is_of_use || follows_path_or_use(tokens, at) || !Rules::is_primitive(&other))
}

/// Whether a token follows `::` or `use`, as braces in a `use` do.
pub(super) fn follows_path_or_use(tokens: &[TokenTree], at: usize) -> bool {
    let follows_path = at >= 2 && is_separator(tokens, at - 2);
    follows_path || at >= 1 && name_at(tokens, at - 1).is_some_and(|name| name == "use")
}

/// Whether a name follows `crate::` or the like.
pub(super) fn is_own(tokens: &[TokenTree], at: usize) -> bool {
    at >= 3
        && is_separator(tokens, at - 2)
        && name_at(tokens, at - 3).is_some_and(|root| matches!(root.as_str(), "crate" | "self" | "super" | "Self"))
}

/// Whether the tokens after `thread` mean, or may mean, `current`: as a path, in braces, by `*`, or because
/// `thread` gets another name.
pub(super) fn gives_current_thread(tokens: &[TokenTree], at: usize, is_renamed: bool) -> bool {
    if !is_separator(tokens, at + 1) {
        return is_renamed;
    }
    match tokens.get(at + 3) {
        Some(TokenTree::Ident(_)) => name_at(tokens, at + 3).is_some_and(|name| name == "current"),
        Some(TokenTree::Group(group)) => {
            let inside: Vec<TokenTree> = group.stream().into_iter().collect();
            let is_it = |at| {
                is_mark(inside.get(at), '*')
                    || name_at(&inside, at).is_some_and(|name| name == "current" || name == "as")
            };
            (0..inside.len()).any(is_it)
        }
        _ => true,
    }
}

/// Whether a name follows `use` or `use ::`.
pub(super) fn follows_use(tokens: &[TokenTree], at: usize) -> bool {
    let is_use = |at: usize| name_at(tokens, at).is_some_and(|name| name == "use");
    (at >= 1 && is_use(at - 1)) || (at >= 3 && is_separator(tokens, at - 2) && is_use(at - 3))
}

/// Whether a group is that of an attribute: `#[…]` or `#![…]`.
pub(super) fn is_attribute(tokens: &[TokenTree], at: usize) -> bool {
    (at >= 1 && is_mark(tokens.get(at - 1), '#'))
        || (at >= 2 && is_mark(tokens.get(at - 1), '!') && is_mark(tokens.get(at - 2), '#'))
}

/// The tokens after attributes.
pub(super) fn after_attributes(tokens: &[TokenTree], mut at: usize) -> &[TokenTree] {
    while is_mark(tokens.get(at), '#') {
        at += 2;
    }
    tokens.get(at..).unwrap_or_default()
}

/// Whether only a path precedes the token, so that the token is the name of an attribute.
pub(super) fn is_plain_path_to(tokens: &[TokenTree], at: usize) -> bool {
    tokens[..at].iter().all(|token| match token {
        TokenTree::Ident(_) => true,
        TokenTree::Punct(mark) => mark.as_char() == ':',
        TokenTree::Group(_) | TokenTree::Literal(_) => false,
    })
}

/// Whether an attribute begins with its name.
pub(super) fn is_named(tokens: &[TokenTree]) -> bool {
    let is_of_path = |token: &TokenTree| matches!(token, TokenTree::Ident(_)) || is_mark(Some(token), ':');
    let end = tokens.iter().position(|token| !is_of_path(token)).unwrap_or(tokens.len());
    matches!(tokens[..end].last(), Some(TokenTree::Ident(_))) && !is_mark(tokens.get(end), '$')
}
