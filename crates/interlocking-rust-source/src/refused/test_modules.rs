//! Modules that are compiled only for tests: whether they implement something for a type or a trait that is not their own.
//!
//! A method of an implementation can take the place of another method of its name, in all code. No name leads there.

use super::Search;
use super::macros::{called, is_call, is_definition_of_rules};
use crate::tokens::{is_mark, is_separator, name_at};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};

impl Search<'_> {
    /// Whether a module's implementations are for its own types, or of its own traits. A module in another file is not seen.
    pub(super) fn implements_for_itself(&self, module: Option<&TokenTree>) -> bool {
        let Some(TokenTree::Group(module)) = module else { return true };
        self.is_for_itself(module.stream())
    }

    fn is_for_itself(&self, tokens: TokenStream) -> bool {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let own = Own::of(&tokens);
        (0..tokens.len()).all(|at| match &tokens[at] {
            TokenTree::Ident(word) if word == "impl" => is_type(&tokens, at) || own.has(&tokens[at + 1..]),
            TokenTree::Ident(_) if is_call(&tokens, at + 1) => {
                name_at(&tokens, at).is_none_or(|name| !self.implementing.contains(&name))
            }
            TokenTree::Group(group) => {
                let is_unknown = called(&tokens, at).is_some_and(|name| !self.takes_code(&name));
                !(is_unknown && holds(group.stream(), &["impl"])) && self.is_for_itself(group.stream())
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => true,
        })
    }
}

/// The types and traits that some tokens define, without a condition that could take them away.
#[derive(Default)]
struct Own {
    types: BTreeSet<String>,
    traits: BTreeSet<String>,
}

impl Own {
    fn of(tokens: &[TokenTree]) -> Self {
        let mut own = Self::default();
        for at in (0..tokens.len()).filter(|at| !is_conditional(&tokens[..*at])) {
            match name_at(tokens, at).as_deref() {
                Some("struct" | "enum" | "union") => own.types.extend(name_at(tokens, at + 1)),
                Some("trait") => own.traits.extend(name_at(tokens, at + 1)),
                _ => {}
            }
        }
        own
    }

    /// Whether an implementation, whose tokens after `impl` are given, is for one of these types, or of one of these traits.
    fn has(&self, tokens: &[TokenTree]) -> bool {
        let ends = |token: &TokenTree| is_body(token) || is_mark(Some(token), ';');
        let end = tokens.iter().position(ends).unwrap_or(tokens.len());
        let (parameters, head) = tokens[..end].split_at(parameters_end(&tokens[..end]));
        let is_for =
            |at: &usize| name_at(head, *at).is_some_and(|word| word == "for") && !is_mark(head.get(at + 1), '<');
        let (implemented, of) = match (0..head.len()).find(is_for) {
            Some(at) => (&head[..at], &head[at + 1..]),
            None => (&head[..0], head),
        };
        let is_parameter =
            |name: &String| (0..parameters.len()).any(|at| name_at(parameters, at).as_ref() == Some(name));
        let is_own_type = first_name(of).is_some_and(|name| self.types.contains(&name) && !is_parameter(&name));
        is_own_type || first_name(implemented).is_some_and(|name| self.traits.contains(&name))
    }
}

/// The number of tokens of `<…>` at the beginning.
fn parameters_end(tokens: &[TokenTree]) -> usize {
    let mut open = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        if is_mark(Some(token), '<') {
            open += 1;
        } else if is_mark(Some(token), '>') && !is_mark(at.checked_sub(1).and_then(|before| tokens.get(before)), '-') {
            open = open.saturating_sub(1);
        }
        if open == 0 {
            return if at == 0 { 0 } else { at + 1 };
        }
    }
    tokens.len()
}

/// The name of a type or trait that is one name, perhaps with arguments, or a reference to it.
fn first_name(tokens: &[TokenTree]) -> Option<String> {
    let mut at = 0;
    loop {
        match tokens.get(at)? {
            TokenTree::Punct(mark) if mark.as_char() == '&' => at += 1,
            TokenTree::Punct(mark) if mark.as_char() == '\'' => at += 2,
            TokenTree::Ident(word) if word == "mut" => at += 1,
            TokenTree::Ident(_) => return name_at(tokens, at).filter(|_| !is_separator(tokens, at + 1)),
            _ => return None,
        }
    }
}

/// Whether one of the attributes at the end of these tokens, before a visibility, is a condition.
fn is_conditional(tokens: &[TokenTree]) -> bool {
    let is_of_visibility = |token: &TokenTree| match token {
        TokenTree::Ident(word) => word == "pub",
        TokenTree::Group(group) => group.delimiter() == Delimiter::Parenthesis,
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    };
    let end = tokens.iter().rposition(|token| !is_of_visibility(token)).map_or(0, |last| last + 1);
    let mut attributes = tokens[..end].rchunks_exact(2).map_while(|pair| match pair {
        [mark, TokenTree::Group(group)] if is_mark(Some(mark), '#') => Some(group.stream()),
        _ => None,
    });
    attributes.any(|attribute| holds(attribute, &["cfg", "cfg_attr"]))
}

fn is_body(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

/// Whether the `impl` at an index begins a type, such as `impl Iterator`.
fn is_type(tokens: &[TokenTree], at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else { return !tokens.iter().any(is_body) };
    match &tokens[before] {
        TokenTree::Punct(mark) => matches!(mark.as_char(), '>' | ':' | '&' | '<' | ',' | '='),
        TokenTree::Ident(word) => word == "mut" || before >= 1 && is_mark(tokens.get(before - 1), '\''),
        TokenTree::Group(_) | TokenTree::Literal(_) => false,
    }
}

/// Whether any of these words is among the tokens, at any depth.
fn holds(tokens: TokenStream, words: &[&str]) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(word) => words.iter().any(|wanted| word == *wanted),
        TokenTree::Group(group) => holds(group.stream(), words),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// The macros of a file that may implement something: their rules have an `impl`, or they call or define such a macro.
pub(super) fn implementing(tokens: TokenStream) -> BTreeSet<String> {
    let mut calls = Calls::default();
    calls.read(tokens, None);
    let mut found = BTreeSet::new();
    let mut waiting = calls.with_impl;
    while let Some(name) = waiting.pop() {
        if found.insert(name.clone()) {
            waiting.extend(calls.callers.remove(&name).unwrap_or_default());
        }
    }
    found
}

#[derive(Default)]
struct Calls {
    /// By a macro's name, the macros that call it, define it, or are other names of it.
    callers: BTreeMap<String, Vec<String>>,
    with_impl: Vec<String>,
}

impl Calls {
    /// Reads tokens of the rules of the macro `of`, or outside of all rules.
    fn read(&mut self, tokens: TokenStream, of: Option<&str>) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for at in 0..tokens.len() {
            match &tokens[at] {
                TokenTree::Ident(word) if word == "impl" => {
                    self.with_impl.extend(of.filter(|_| !is_type(&tokens, at)).map(str::to_owned));
                }
                TokenTree::Ident(_) => {
                    let name = name_at(&tokens, at).unwrap_or_default();
                    let is_renamed = name_at(&tokens, at + 1).is_some_and(|word| word == "as");
                    let other = name_at(&tokens, at + 2).filter(|_| is_renamed);
                    let caller = of.filter(|_| is_call(&tokens, at + 1)).map(str::to_owned);
                    if other.is_some() || caller.is_some() {
                        self.callers.entry(name).or_default().extend(other.into_iter().chain(caller));
                    }
                }
                TokenTree::Group(group) if is_definition_of_rules(&tokens, at) => {
                    let name = name_at(&tokens, at - 1).unwrap_or_default();
                    self.callers.entry(name.clone()).or_default().extend(of.map(str::to_owned));
                    self.read(group.stream(), Some(&name));
                }
                TokenTree::Group(group) => self.read(group.stream(), of),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }
}
