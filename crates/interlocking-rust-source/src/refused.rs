//! Finds constructs that an agent's code may not contain, because they could falsify a verdict on the code.
//!
//! A test and the code under test share a process. Code that can end the process, write to its memory or inspect what runs can
//! decide the test's result. Safe Rust without some modules of the standard library can do none of that. So this check compares a
//! file token by token with what is allowed: macros, attributes and future syntax are read like everything else. What the check
//! cannot decide, it refuses. A person can allow a construct by the name that the refusal states.
//!
//! Each file is checked separately. What a name from another file means, and what a macro of another crate makes of its
//! arguments, is not seen.

mod rules;

use crate::SourceError;
use crate::syntax::{MAX_DEPTH, depth, read_tokens};
use crate::tokens::{is_mark, is_member, is_separator, levels, name_at};
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use rules::Rules;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The side to which a file belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The code under test.
    Implementation,
    /// The tests, which may also use files, directories and the network, as far as their sandbox allows.
    Tests,
}

/// A refused construct.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "camelCase")]
#[error("{path}:{line}:{column}: `{construct}` is refused: {reason}")]
pub struct RefusedConstruct {
    /// The file, relative to the crate.
    pub path: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted from 1.
    pub column: usize,
    /// The construct, as it must be named to allow it.
    pub construct: String,
    /// Why the construct is refused.
    pub reason: String,
}

/// Finds the constructs in a file that are refused and not allowed by name, in the file's order.
///
/// Conditions that distinguish a test from other uses are refused, too. An implementation may have `#[cfg(test)]` before a module
/// whose name occurs nowhere else in its file.
///
/// # Errors
///
/// [`SourceError`] if the file cannot be read as Rust tokens.
pub fn refused_constructs(
    path: &str,
    text: &str,
    side: Side,
    allowed: &[String],
) -> Result<Vec<RefusedConstruct>, SourceError> {
    read_tokens(path, text, |tokens| {
        let mut names = BTreeMap::new();
        for level in levels(tokens.clone()) {
            for name in (0..level.tokens.len()).filter_map(|at| name_at(&level.tokens, at)) {
                *names.entry(name).or_insert(0_usize) += 1;
            }
        }
        let mut search = Search { path, rules: Rules::of(side), allowed, names, found: Vec::new() };
        search.stream(tokens, Within::Code);
        search.found
    })
}

/// The context of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    Code,
    /// The arguments of a macro or an attribute, or a macro's own rules: their expansion is unknown.
    Arguments,
}

const UNDER_ANOTHER_NAME: &str = "under another name it cannot be seen what of it is used";

struct Search<'a> {
    path: &'a str,
    rules: Rules,
    allowed: &'a [String],
    /// The number of occurrences of each name in the file.
    names: BTreeMap<String, usize>,
    found: Vec<RefusedConstruct>,
}

impl Search<'_> {
    fn stream(&mut self, tokens: TokenStream, within: Within) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for at in 0..tokens.len() {
            match &tokens[at] {
                TokenTree::Ident(_) => self.identifier(&tokens, at, within),
                TokenTree::Group(group) => {
                    let before = at.checked_sub(1).map(|before| &tokens[before]);
                    if group.delimiter() == Delimiter::Bracket && is_attribute(&tokens, at) {
                        self.attribute(group.stream(), after_attributes(&tokens, at + 1));
                    } else if is_mark(before, '!') || is_definition_of_rules(&tokens, at) {
                        self.stream(group.stream(), Within::Arguments);
                    } else {
                        self.stream(group.stream(), within);
                    }
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }

    fn identifier(&mut self, tokens: &[TokenTree], at: usize, within: Within) {
        let name = name_at(tokens, at).unwrap_or_default();
        let span = tokens[at].span();
        if is_member(tokens, at) {
            return;
        }
        if let Some(reason) = Rules::word(&name) {
            self.refuse(span, name.clone(), reason);
        }
        if is_mark(tokens.get(at + 1), '!') && !is_mark(tokens.get(at + 2), '=') {
            if let Some(reason) = self.rules.macro_named(&name) {
                self.refuse(span, format!("{name}!"), reason);
            }
            if name == "cfg"
                && let Some(TokenTree::Group(group)) = tokens.get(at + 2)
            {
                self.condition(group.stream(), span);
            }
        }
        if new_name(tokens, at).is_some()
            && let Some(reason) = self.rules.macro_named(&name).or((name == "cfg").then_some(UNDER_ANOTHER_NAME))
        {
            self.refuse(span, format!("{name}!"), reason);
        }
        if name == "thread" && self.rules.is_implementation() && gives_current_thread(tokens, at) {
            let reason = "its name tells a test from other uses";
            self.refuse(span, "std::thread::current".to_owned(), reason);
        }
        if name == "as"
            && let Some(renamed) = name_at(tokens, at + 1)
            && Rules::is_assertion(&renamed)
        {
            self.refuse(span, format!("as {renamed}"), "the tests may mean the macro of that name by it");
        }
        let is_path = is_separator(tokens, at + 1);
        let is_own = at >= 3
            && is_separator(tokens, at - 2)
            && name_at(tokens, at - 3).is_some_and(|root| matches!(root.as_str(), "crate" | "self" | "super" | "Self"));
        if is_own {
            return;
        }
        match name.as_str() {
            "std" | "core" | "alloc" if is_path => self.standard(tokens, at, &name),
            "std" => self.refuse(span, name, UNDER_ANOTHER_NAME),
            "core" | "alloc"
                if within == Within::Arguments || name_at(tokens, at + 1).is_some_and(|next| next == "as") =>
            {
                self.refuse(span, name, UNDER_ANOTHER_NAME);
            }
            _ if is_path || follows_use(tokens, at) => {
                if let Some(reason) = Rules::package(&name) {
                    self.refuse(span, name, reason);
                }
            }
            _ => {}
        }
    }

    /// Checks what follows `std::`.
    fn standard(&mut self, tokens: &[TokenTree], root: usize, name: &str) {
        match tokens.get(root + 3) {
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                let inside: Vec<TokenTree> = group.stream().into_iter().collect();
                for entry in inside.split(|token| is_mark(Some(token), ',')).filter(|entry| !entry.is_empty()) {
                    self.module(entry, 0, name);
                }
            }
            Some(_) => self.module(tokens, root + 3, name),
            None => self.refuse(tokens[root].span(), name.to_owned(), "what of it is used cannot be seen"),
        }
    }

    fn module(&mut self, tokens: &[TokenTree], at: usize, root: &str) {
        let span = tokens[at].span();
        match name_at(tokens, at) {
            Some(module) if self.rules.is_module_allowed(&module) => {}
            Some(module) if module == "panic" && is_mark(tokens.get(at + 1), '!') => {}
            Some(module) => {
                let reason = Rules::module(&module);
                self.refuse(span, format!("std::{module}"), reason);
            }
            None => self.refuse(span, root.to_owned(), "what of it is used cannot be seen"),
        }
    }

    /// Checks an attribute; `next` are the tokens after all attributes.
    fn attribute(&mut self, tokens: TokenStream, next: &[TokenTree]) {
        let all: Vec<TokenTree> = tokens.clone().into_iter().collect();
        let name = (0..all.len()).rev().filter(|at| is_plain_path_to(&all, *at)).find_map(|at| name_at(&all, at));
        let (name, span) = (name.unwrap_or_default(), all.first().map_or_else(Span::call_site, TokenTree::span));
        if let Some(reason) = self.rules.attribute(&name) {
            self.refuse(span, format!("#[{name}]"), reason);
        }
        let group = all.iter().find_map(|token| match token {
            TokenTree::Group(group) => Some(group.stream()),
            _ => None,
        });
        match (name.as_str(), group) {
            ("unsafe", Some(inside)) => self.attribute(inside, next),
            ("cfg", Some(condition)) => {
                let is_test_module = condition.to_string() == "test" && self.is_module_of_its_own(next);
                if !is_test_module {
                    self.condition(condition, span);
                }
            }
            ("cfg_attr", Some(arguments)) => {
                let arguments: Vec<TokenTree> = arguments.into_iter().collect();
                let mut parts = arguments.split(|token| is_mark(Some(token), ','));
                self.condition(parts.next().unwrap_or_default().iter().cloned().collect(), span);
                for attribute in parts {
                    self.attribute(attribute.iter().cloned().collect(), next);
                }
            }
            _ => {}
        }
        // Some attributes take paths in string literals. In the attributes listed here, string literals are for people.
        if !matches!(name.as_str(), "doc" | "deprecated" | "error" | "must_use" | "ignore" | "should_panic" | "expect")
        {
            self.texts(tokens.clone());
        }
        self.stream(tokens, Within::Arguments);
    }

    /// Whether a module begins there that the other code of the file cannot mean: in an implementation, the module's name may
    /// occur nowhere else in the file. Otherwise the name would mean another item where the code is not tested.
    fn is_module_of_its_own(&self, tokens: &[TokenTree]) -> bool {
        let name = name_at(tokens, 0).filter(|word| word == "mod").and_then(|_| name_at(tokens, 1));
        name.is_some_and(|name| !self.rules.is_implementation() || self.names.get(&name) == Some(&1))
    }

    /// Refuses a condition that can distinguish a test from other uses.
    fn condition(&mut self, tokens: TokenStream, span: Span) {
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    let name = name.to_string();
                    if !self.rules.is_condition_allowed(&name) {
                        let reason = "code must be the same where it is tested and where it is used";
                        self.refuse(span, format!("cfg({name})"), reason);
                    }
                }
                TokenTree::Group(group) => self.condition(group.stream(), span),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }

    fn texts(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Literal(literal) => {
                    if let syn::Lit::Str(text) = syn::Lit::new(literal)
                        && text.value().contains("::")
                        && let Ok(inside) = text.value().parse::<TokenStream>()
                    {
                        self.text(inside, text.span());
                    }
                }
                TokenTree::Group(group) => self.texts(group.stream()),
                TokenTree::Ident(_) | TokenTree::Punct(_) => {}
            }
        }
    }

    fn text(&mut self, inside: TokenStream, span: Span) {
        if depth(inside.clone(), MAX_DEPTH).is_err() {
            return self.refuse(span, "text".to_owned(), "it is nested too deep to be read");
        }
        let (start, before) = (span.start(), self.found.len());
        self.stream(inside, Within::Arguments);
        for found in &mut self.found[before..] {
            (found.line, found.column) = (start.line, start.column + 1);
        }
    }

    fn refuse(&mut self, span: Span, construct: String, reason: &str) {
        if !self.allowed.contains(&construct) {
            let (path, start) = (self.path.to_owned(), span.start());
            let (line, column) = (start.line, start.column + 1);
            self.found.push(RefusedConstruct { path, line, column, construct, reason: reason.to_owned() });
        }
    }
}

/// The new name in `name as other`, unless it is a primitive type.
fn new_name(tokens: &[TokenTree], at: usize) -> Option<String> {
    let word = name_at(tokens, at + 1).filter(|word| word == "as");
    word.and_then(|_| name_at(tokens, at + 2)).filter(|name| !Rules::is_primitive(name))
}

/// Whether the tokens after `thread` mean, or may mean, `current`: as a path, in braces, by `*`, or under another name.
fn gives_current_thread(tokens: &[TokenTree], at: usize) -> bool {
    if !is_separator(tokens, at + 1) {
        return new_name(tokens, at).is_some();
    }
    match tokens.get(at + 3) {
        Some(TokenTree::Ident(name)) => *name == "current",
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
fn follows_use(tokens: &[TokenTree], at: usize) -> bool {
    let is_use = |at: usize| name_at(tokens, at).is_some_and(|name| name == "use");
    (at >= 1 && is_use(at - 1)) || (at >= 3 && is_separator(tokens, at - 2) && is_use(at - 3))
}

/// Whether a group is that of an attribute: `#[…]` or `#![…]`.
fn is_attribute(tokens: &[TokenTree], at: usize) -> bool {
    (at >= 1 && is_mark(tokens.get(at - 1), '#'))
        || (at >= 2 && is_mark(tokens.get(at - 1), '!') && is_mark(tokens.get(at - 2), '#'))
}

/// The tokens after attributes.
fn after_attributes(tokens: &[TokenTree], mut at: usize) -> &[TokenTree] {
    while is_mark(tokens.get(at), '#') {
        at += 2;
    }
    tokens.get(at..).unwrap_or_default()
}

/// Whether a group contains the rules of `macro_rules! name { … }`.
fn is_definition_of_rules(tokens: &[TokenTree], at: usize) -> bool {
    at >= 3 && is_mark(tokens.get(at - 2), '!') && name_at(tokens, at - 3).is_some_and(|name| name == "macro_rules")
}

/// Whether only a path precedes the token, so that the token is the name of an attribute.
fn is_plain_path_to(tokens: &[TokenTree], at: usize) -> bool {
    tokens[..at].iter().all(|token| match token {
        TokenTree::Ident(_) => true,
        TokenTree::Punct(mark) => mark.as_char() == ':',
        TokenTree::Group(_) | TokenTree::Literal(_) => false,
    })
}

#[cfg(test)]
mod tests;
