//! Macros: what their rules can make of their arguments.
//!
//! The name of a macro or an attribute may be among a macro's arguments. The rules that put it into its place are refused if they
//! have the mark for it: the `!` of a call, the `#` of an attribute. Otherwise the mark is an argument, too, and then the name is
//! refused among the arguments.

use super::Search;
use super::context::{Context, Within};
use super::positions::is_attribute;
use super::rules::Rules;
use crate::tokens::{is_mark, name_at};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::BTreeMap;

const UNSEEN_CALL: &str = "which macro it calls cannot be seen";

/// The metavariables of macro rules, outermost first; each with whether it stands for a whole attribute, as in `#[$name:meta]`.
pub(super) type Variables = Vec<BTreeMap<String, bool>>;

impl Search<'_> {
    /// Checks the rules of a macro, each with its own metavariables.
    pub(super) fn rules(&mut self, rules: TokenStream, context: Context) {
        let tokens: Vec<TokenTree> = rules.into_iter().collect();
        for rule in tokens.split(|token| is_mark(Some(token), ';')) {
            let mut variables = BTreeMap::new();
            if let Some(TokenTree::Group(matcher)) = rule.first() {
                metavariables(matcher.stream(), false, &mut variables);
            }
            self.variables.push(variables);
            self.stream(rule.iter().cloned().collect(), context.within(Within::Rules));
            self.variables.pop();
        }
    }

    /// Whether the arguments of a macro are code, so that no rules take them apart.
    pub(super) fn takes_code(&self, name: &str) -> bool {
        Rules::takes_code(name) && !self.given.contains(name)
    }

    /// Checks the name in `macro_rules! name`.
    pub(super) fn definition(&mut self, tokens: &[TokenTree], at: usize) {
        match name_at(tokens, at + 2) {
            Some(name) if Rules::takes_code(&name) => {
                let reason = "other code may mean the macro of that name by it";
                self.refuse(tokens[at].span(), format!("macro_rules! {name}"), reason);
            }
            Some(_) => {}
            None => self.refuse(tokens[at].span(), "macro_rules! $…".to_owned(), "its name cannot be seen"),
        }
    }

    /// Whether the name at an index is that of a metavariable of the surrounding rules, after its `$`.
    pub(super) fn is_variable(&self, tokens: &[TokenTree], at: usize) -> bool {
        at >= 1
            && is_mark(tokens.get(at - 1), '$')
            && name_at(tokens, at).is_some_and(|name| self.variables.iter().any(|known| known.contains_key(&name)))
    }

    /// Checks a metavariable: it may not decide which macro is called.
    pub(super) fn variable(&mut self, tokens: &[TokenTree], at: usize) {
        if is_call(tokens, at + 1) {
            self.refuse(tokens[at].span(), format!("${}!", tokens[at]), UNSEEN_CALL);
        }
    }

    /// Checks a word that an expansion can make the name of a macro or an attribute.
    pub(super) fn word_of_macros(&mut self, tokens: &[TokenTree], at: usize, context: Context) {
        let (name, span) = (name_at(tokens, at).unwrap_or_default(), tokens[at].span());
        let parts = context.parts.unwrap_or_default();
        let is_last = context.is_repeated && at + 1 == tokens.len();
        let precedes_arguments = context.within == Within::Rules && (is_mark(tokens.get(at + 1), '$') || is_last);
        let names_attribute = context.within == Within::Attribute && at == 0;
        if (parts.calls || precedes_arguments)
            && !(names_attribute && name == "cfg")
            && let Some(reason) = self.rules.macro_word(&name)
        {
            self.refuse(span, format!("{name}!"), reason);
        }
        if parts.attributes
            && !names_attribute
            && let Some(reason) = self.rules.attribute_word(&name)
        {
            self.refuse(span, format!("#[{name}]"), reason);
        }
    }

    /// Checks a mark among the arguments or in the rules of a macro.
    pub(super) fn mark(&mut self, tokens: &[TokenTree], at: usize) {
        let TokenTree::Punct(mark) = &tokens[at] else { return };
        let span = mark.span();
        match mark.as_char() {
            '!' if is_call(tokens, at) && is_call_of_a_part(tokens, at) => {
                self.refuse(span, "$…!".to_owned(), UNSEEN_CALL);
            }
            '#' if !is_brackets(tokens.get(at + 1 + usize::from(is_mark(tokens.get(at + 1), '!')))) => {
                self.refuse(span, "#".to_owned(), "which attribute it begins cannot be seen");
            }
            '$' if !self.is_variable(tokens, at + 1) && !self.is_repetition(tokens, at) => {
                let is_crate = name_at(tokens, at + 1).is_some_and(|name| name == "crate");
                if !is_crate {
                    self.refuse(span, "$".to_owned(), "with it a macro defines another, whose rules cannot be seen");
                }
            }
            _ => {}
        }
    }

    fn is_repetition(&self, tokens: &[TokenTree], at: usize) -> bool {
        !self.variables.is_empty() && begins_repetition(tokens, at)
    }

    /// Checks brackets in rules, before which an argument may put a `#`.
    pub(super) fn unmarked_attribute(&mut self, inside: &TokenStream) {
        let tokens: Vec<TokenTree> = inside.clone().into_iter().take(3).collect();
        let is_assignment = is_mark(tokens.get(1), '=') && !is_mark(tokens.get(2), '=');
        if is_assignment
            && let Some(name) = name_at(&tokens, 0)
            && let Some(reason) = self.rules.attribute_word(&name)
        {
            self.refuse(tokens[0].span(), format!("#[{name}]"), reason);
        }
    }

    /// Whether the tokens of an attribute are `$name` or `$name:meta`, and the macro's arguments have it as a whole attribute, too.
    pub(super) fn is_given_as_attribute(&self, tokens: &[TokenTree]) -> bool {
        let Some(name) = name_at(tokens, 1).filter(|_| is_mark(tokens.first(), '$')) else { return false };
        let known = self.variables.iter().filter_map(|variables| variables.get(&name));
        let known: Vec<&bool> = known.collect();
        let is_whole = tokens.len() == 2 || is_declared_attribute(tokens);
        is_whole && !known.is_empty() && known.into_iter().all(|is_attribute| *is_attribute)
    }
}

/// Collects the metavariables of a rule's matcher.
fn metavariables(matcher: TokenStream, is_attribute_group: bool, found: &mut BTreeMap<String, bool>) {
    let tokens: Vec<TokenTree> = matcher.into_iter().collect();
    let is_attribute_group = is_attribute_group && is_declared_attribute(&tokens);
    for at in 0..tokens.len() {
        match &tokens[at] {
            TokenTree::Ident(_) if at >= 1 && is_mark(tokens.get(at - 1), '$') && is_mark(tokens.get(at + 1), ':') => {
                let name = name_at(&tokens, at).unwrap_or_default();
                found.entry(name).and_modify(|known| *known &= is_attribute_group).or_insert(is_attribute_group);
            }
            TokenTree::Group(group) => {
                let is_attribute = group.delimiter() == Delimiter::Bracket && is_attribute(&tokens, at);
                metavariables(group.stream(), is_attribute, found);
            }
            _ => {}
        }
    }
}

/// Whether these tokens are `$name:meta`.
fn is_declared_attribute(tokens: &[TokenTree]) -> bool {
    let is_meta = name_at(tokens, 3).is_some_and(|kind| kind == "meta");
    tokens.len() == 4 && is_mark(tokens.first(), '$') && is_mark(tokens.get(2), ':') && is_meta
}

/// Whether the mark at an index is the `!` of a macro call, or of a negation, but not that of `!=`.
pub(super) fn is_call(tokens: &[TokenTree], at: usize) -> bool {
    is_mark(tokens.get(at), '!') && !is_mark(tokens.get(at + 1), '=')
}

/// The name of the macro whose arguments the group at an index contains.
pub(super) fn called(tokens: &[TokenTree], at: usize) -> Option<String> {
    let TokenTree::Ident(word) = tokens.get(at.checked_sub(2)?)? else { return None };
    let is_name = || syn::parse_str::<syn::Ident>(&word.to_string()).is_ok();
    (is_mark(tokens.get(at - 1), '!') && is_name()).then(|| name_at(tokens, at - 2)).flatten()
}

/// Whether a group contains the rules of `macro_rules! name { … }`.
pub(super) fn is_definition_of_rules(tokens: &[TokenTree], at: usize) -> bool {
    at >= 3 && is_mark(tokens.get(at - 2), '!') && name_at(tokens, at - 3).is_some_and(|name| name == "macro_rules")
}

fn is_brackets(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket)
}

/// Whether a `!` follows a repetition or brackets, from which another macro makes a name.
fn is_call_of_a_part(tokens: &[TokenTree], at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else { return false };
    match &tokens[before] {
        TokenTree::Group(_) => is_brackets(tokens.get(before)) && !is_attribute(tokens, before),
        TokenTree::Punct(mark) if matches!(mark.as_char(), '*' | '+' | '?') => {
            // Between the repeated tokens and the operator there may be a separator, of at most two marks.
            (2..=4).any(|back| before.checked_sub(back).is_some_and(|start| begins_repetition(tokens, start)))
        }
        _ => false,
    }
}

/// Whether `$( … )` begins at an index.
fn begins_repetition(tokens: &[TokenTree], at: usize) -> bool {
    let is_parenthesis =
        |token: &TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis);
    is_mark(tokens.get(at), '$') && tokens.get(at + 1).is_some_and(is_parenthesis)
}
