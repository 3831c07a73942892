//! Finds constructs that an agent's code may not contain, because they could falsify a verdict on the code.
//!
//! A test and the code under test share a process. Code that can end the process, write to its memory or inspect what runs can
//! decide the test's result. Safe Rust without some modules of the standard library can do none of that. So this check compares a
//! file token by token with what is allowed: macros, attributes and future syntax are read like everything else. What the check
//! cannot decide, it refuses. A person can allow a construct by the name that the refusal states.
//!
//! The rules of a macro can drop some of its arguments and put the others anywhere. So neither a dot nor `crate::` before a path
//! counts among arguments, unless the macro is one whose arguments are code, such as `println!`.
//!
//! Each file is checked separately. What a name from another file means, what a macro of another crate makes of its arguments, and
//! whether a module in a file of its own is compiled only for tests, is not seen. Threads are allowed, although the end of a thread
//! can hide a panic of a closure that it was given.

mod context;
mod macros;
mod positions;
mod rules;
mod test_modules;

use crate::SourceError;
use crate::syntax::{MAX_DEPTH, depth, read_tokens};
use crate::tokens::{is_mark, is_member, is_separator, levels, name_at};
use context::{Context, Within};
use macros::{Variables, called, is_call, is_definition_of_rules};
use positions::{
    after_attributes, follows_path_or_use, follows_use, gives_current_thread, is_attribute, is_named, is_own,
    is_plain_path_to, is_renamed,
};
use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use rules::Rules;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

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
/// whose name occurs nowhere else in its file, if the module implements nothing for what is not its own.
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
        let (mut names, mut given) = (BTreeMap::new(), BTreeSet::new());
        for level in levels(tokens.clone()) {
            for (at, name) in (0..level.tokens.len()).filter_map(|at| Some((at, name_at(&level.tokens, at)?))) {
                given.extend(name_at(&level.tokens, at + 1).filter(|_| name == "as"));
                *names.entry(name).or_insert(0_usize) += 1;
            }
        }
        let implementing = test_modules::implementing(tokens.clone());
        let (rules, variables, found) = (Rules::of(side), Variables::default(), Vec::new());
        let mut search = Search { path, rules, allowed, names, given, implementing, variables, found };
        search.stream(tokens, Context::CODE);
        search.found
    })
}

const UNDER_ANOTHER_NAME: &str = "under another name it cannot be seen what of it is used";

struct Search<'a> {
    path: &'a str,
    rules: Rules,
    allowed: &'a [String],
    /// The number of occurrences of each name in the file.
    names: BTreeMap<String, usize>,
    /// The names that the file gives to something else by `as`.
    given: BTreeSet<String>,
    /// The macros of the file that may implement something.
    implementing: BTreeSet<String>,
    /// The metavariables of the surrounding macro rules.
    variables: Variables,
    found: Vec<RefusedConstruct>,
}

impl Search<'_> {
    fn stream(&mut self, tokens: TokenStream, around: Context) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut context = around;
        for at in 0..tokens.len() {
            match &tokens[at] {
                TokenTree::Ident(word) => {
                    context.is_of_use |= word == "use" && !is_mark(tokens.get(at + 1), '<');
                    self.identifier(&tokens, at, context);
                }
                TokenTree::Group(group) => self.group(&tokens, at, group, context),
                TokenTree::Punct(mark) => {
                    context.is_of_use &= mark.as_char() != ';' || around.is_of_use;
                    if matches!(context.within, Within::Arguments | Within::Rules) {
                        self.mark(&tokens, at);
                    }
                }
                TokenTree::Literal(_) => {}
            }
        }
    }

    fn group(&mut self, tokens: &[TokenTree], at: usize, group: &Group, context: Context) {
        let inside = group.stream();
        if group.delimiter() == Delimiter::Bracket && is_attribute(tokens, at) {
            return self.attribute(inside, after_attributes(tokens, at + 1), context);
        }
        if is_definition_of_rules(tokens, at) {
            return self.rules(inside, context);
        }
        if called(tokens, at).is_some_and(|name| !self.takes_code(&name)) {
            let context = context.within_arguments(&inside);
            return self.stream(inside, context);
        }
        if context.within == Within::Rules && group.delimiter() == Delimiter::Bracket {
            self.unmarked_attribute(&inside);
        }
        let is_first = at == 0 || is_mark(tokens.get(at - 1), ',');
        let continues = context.is_of_use && is_first || follows_path_or_use(tokens, at);
        let is_of_use = group.delimiter() == Delimiter::Brace && continues;
        let is_repeated = at >= 1 && is_mark(tokens.get(at - 1), '$');
        self.stream(inside, Context { is_of_use, is_repeated, ..context });
    }

    fn identifier(&mut self, tokens: &[TokenTree], at: usize, context: Context) {
        let name = name_at(tokens, at).unwrap_or_default();
        let span = tokens[at].span();
        if self.is_variable(tokens, at) {
            return self.variable(tokens, at);
        }
        if let Some(reason) = Rules::word(&name) {
            self.refuse(span, name.clone(), reason);
        }
        if is_call(tokens, at + 1) {
            if let Some(reason) = self.rules.macro_named(&name) {
                self.refuse(span, format!("{name}!"), reason);
            }
            if name == "macro_rules" {
                self.definition(tokens, at);
            }
            if name == "cfg"
                && let Some(TokenTree::Group(group)) = tokens.get(at + 2)
            {
                self.condition(group.stream(), span);
            }
        } else {
            self.word_of_macros(tokens, at, context);
        }
        if is_member(tokens, at) && context.within != Within::Arguments {
            return;
        }
        let is_renamed = is_renamed(tokens, at, context.is_of_use);
        if is_renamed
            && let Some(reason) = self.rules.macro_named(&name).or((name == "cfg").then_some(UNDER_ANOTHER_NAME))
        {
            self.refuse(span, format!("{name}!"), reason);
        }
        if name == "thread" && self.rules.is_implementation() && gives_current_thread(tokens, at, is_renamed) {
            let reason = "its name tells a test from other uses";
            self.refuse(span, "std::thread::current".to_owned(), reason);
        }
        if name == "as"
            && let Some(renamed) = name_at(tokens, at + 1)
            && Rules::is_assertion(&renamed)
        {
            self.refuse(span, format!("as {renamed}"), "the tests may mean the macro of that name by it");
        }
        if name == "as" && is_mark(tokens.get(at + 1), '$') && context.is_of_use {
            self.refuse(span, "as $…".to_owned(), "the name that it gives cannot be seen");
        }
        if is_own(tokens, at) && context.within != Within::Arguments {
            return;
        }
        let is_path = is_separator(tokens, at + 1);
        match name.as_str() {
            "std" | "core" | "alloc" if is_path => self.standard(tokens, at, &name),
            "std" => self.refuse(span, name, UNDER_ANOTHER_NAME),
            "core" | "alloc"
                if context.within != Within::Code || name_at(tokens, at + 1).is_some_and(|next| next == "as") =>
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
    fn attribute(&mut self, tokens: TokenStream, next: &[TokenTree], context: Context) {
        let all: Vec<TokenTree> = tokens.clone().into_iter().collect();
        let name = (0..all.len()).rev().filter(|at| is_plain_path_to(&all, *at)).find_map(|at| name_at(&all, at));
        let (name, span) = (name.unwrap_or_default(), all.first().map_or_else(Span::call_site, TokenTree::span));
        if let Some(reason) = self.rules.attribute(&name) {
            self.refuse(span, format!("#[{name}]"), reason);
        }
        if !is_named(&all) && !self.is_given_as_attribute(&all) {
            self.refuse(span, "#[$…]".to_owned(), "which attribute it is cannot be seen");
        }
        let group = all.iter().find_map(|token| match token {
            TokenTree::Group(group) => Some(group.stream()),
            _ => None,
        });
        match (name.as_str(), group) {
            ("unsafe", Some(inside)) => self.attribute(inside, next, context),
            ("cfg", Some(condition)) => {
                let is_code = context.within == Within::Code;
                let is_test_module = is_code && condition.to_string() == "test" && self.is_module_of_its_own(next);
                if !is_test_module {
                    self.condition(condition, span);
                }
            }
            ("cfg_attr", Some(arguments)) => {
                let arguments: Vec<TokenTree> = arguments.into_iter().collect();
                let mut parts = arguments.split(|token| is_mark(Some(token), ','));
                self.condition(parts.next().unwrap_or_default().iter().cloned().collect(), span);
                for attribute in parts.filter(|part| !part.is_empty()) {
                    self.attribute(attribute.iter().cloned().collect(), next, context);
                }
            }
            _ => {}
        }
        // Some attributes take paths in string literals. In the attributes listed here, string literals are for people.
        if !matches!(name.as_str(), "doc" | "deprecated" | "error" | "must_use" | "ignore" | "should_panic" | "expect")
        {
            self.texts(tokens.clone());
        }
        self.stream(tokens, context.within(Within::Attribute));
    }

    /// Whether a module begins there that cannot change what the other code of the file means: in an implementation, the module's
    /// name may occur nowhere else in the file, and the module may implement nothing for what is not its own.
    fn is_module_of_its_own(&self, tokens: &[TokenTree]) -> bool {
        let name = name_at(tokens, 0).filter(|word| word == "mod").and_then(|_| name_at(tokens, 1));
        let is_its_own = |name: &String| self.names.get(name) == Some(&1) && self.implements_for_itself(tokens.get(2));
        name.is_some_and(|name| !self.rules.is_implementation() || is_its_own(&name))
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
        self.stream(inside, Context::CODE.within(Within::Attribute));
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

#[cfg(test)]
mod tests;
