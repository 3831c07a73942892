//! Normalises compared expressions to texts that are equal if the expressions mean the same.

use crate::syntax::read_expression;
use proc_macro2::{Delimiter, Literal, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::BTreeSet;
use syn::{Expr, Lit};

/// A comparison that a property makes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Assertion {
    /// The functions of the implementation from whose results one side is made.
    pub(super) of: BTreeSet<String>,
    /// The other side, normalised as by [`outcome`].
    pub(super) outcome: String,
}

/// An example's outcome, normalised for the search among a property's comparisons; `None` if it is not a Rust expression.
pub(super) fn outcome(text: &str) -> Option<String> {
    let found = read_expression(text, |expression| {
        let is_word = match expression {
            Expr::Path(path) => {
                path.path.get_ident().is_some_and(|name| name.to_string().starts_with(char::is_lowercase))
            }
            _ => false,
        };
        (!is_word).then(|| normal(expression))
    });
    found.flatten()
}

/// The numbers and string literals in an example's input.
pub(super) fn literals_in(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut rest = text;
    while let Some(start) = rest.find(|character: char| character.is_ascii_digit() || character == '"') {
        let is_within_a_name = rest[..start].ends_with(|before: char| before.is_alphanumeric() || before == '_');
        let from = &rest[start..];
        let length = match from.strip_prefix('"') {
            Some(inside) => inside.find('"').map_or(from.len(), |end| end + 2),
            None => from.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(from.len()),
        };
        let word = &from[..length];
        if !is_within_a_name && let Ok(literal) = word.parse::<Literal>() {
            found.insert(plain(&literal));
        }
        rest = &from[length..];
    }
    found
}

/// An expression without what does not affect its value: references, conversions, paths before names, suffixes.
pub(super) fn normal(expression: &Expr) -> String {
    match expression {
        Expr::Paren(inner) => normal(&inner.expr),
        Expr::Group(inner) => normal(&inner.expr),
        Expr::Reference(inner) => normal(&inner.expr),
        Expr::MethodCall(call)
            if call.args.is_empty()
                && ["clone", "into", "to_owned", "to_string", "to_vec"].iter().any(|name| call.method == name) =>
        {
            normal(&call.receiver)
        }
        other => of_tokens(other.to_token_stream()),
    }
}

/// Like [`normal`], for the tokens of a pattern or any other expression.
pub(super) fn of_tokens(tokens: TokenStream) -> String {
    let words = words(tokens);
    let mut kept: Vec<&str> = Vec::new();
    let mut at = 0;
    while at < words.len() {
        match words[at].as_str() {
            ":" if words.get(at + 1).is_some_and(|next| next == ":") => {
                kept.pop();
                at += 1;
            }
            "&" | "vec" => {}
            "!" if at > 0 && words[at - 1] == "vec" => {}
            "," if words.get(at + 1).is_some_and(|next| matches!(next.as_str(), ")" | "]" | "}")) => {}
            word => kept.push(word),
        }
        at += 1;
    }
    kept.join(" ")
}

/// Every word and punctuation mark of the code; numbers without suffix and separators.
pub(super) fn words(tokens: TokenStream) -> Vec<String> {
    let mut words = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::None => ("", ""),
                };
                words.push(open.to_owned());
                words.extend(self::words(group.stream()));
                words.push(close.to_owned());
            }
            TokenTree::Literal(literal) => words.push(plain(&literal)),
            TokenTree::Ident(_) | TokenTree::Punct(_) => words.push(token.to_string()),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// A literal without suffix and separators.
pub(super) fn plain(literal: &Literal) -> String {
    match Lit::new(literal.clone()) {
        Lit::Int(number) => number.base10_digits().to_owned(),
        Lit::Float(number) => number.base10_digits().to_owned(),
        _ => literal.to_string(),
    }
}
