//! Macros: what assertions compare, and the arguments of other macros.

use super::Walk;
use crate::properties::outcomes::{Assertion, normal, of_tokens, words};
use crate::properties::ty::Ty;
use proc_macro2::TokenStream;
use std::collections::BTreeSet;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{BinOp, Expr, Macro, Pat, Token, UnOp};

/// Macros that only evaluate their arguments.
const PLAIN: [&str; 22] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "dbg",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "eprint",
    "eprintln",
    "format",
    "panic",
    "print",
    "println",
    "prop_assert",
    "prop_assert_eq",
    "prop_assert_ne",
    "prop_assume",
    "todo",
    "unimplemented",
    "unreachable",
    "write",
    "writeln",
];

impl Walk<'_, '_> {
    pub(super) fn invocation(&mut self, invocation: &Macro) -> Ty {
        let name = invocation.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
        let own = self.names.rules_of_own_macro(self.module, &invocation.path).map(str::to_owned);
        let tokens = &invocation.tokens;
        if own.is_none() {
            if name == "matches" || name == "assert_matches" {
                if let Ok(matched) = Matched::parse.parse2(tokens.clone()) {
                    let of = self.matched(&matched);
                    if name == "assert_matches" {
                        self.asserted(of, matched.outcome);
                    }
                    return Ty::foreign("plain");
                }
            } else if name == "vec" {
                return self.vector(tokens, invocation);
            } else if PLAIN.contains(&name.as_str())
                && let Ok(arguments) = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(tokens.clone())
            {
                self.evaluated(&name, &arguments.into_iter().collect::<Vec<_>>());
                return Ty::foreign("plain");
            }
        }
        self.opaque(&name, tokens, own.as_deref(), invocation);
        Ty::Unknown
    }

    /// Visits a macro with rules that cannot be read: every function named in it may be called.
    fn opaque(&mut self, name: &str, tokens: &TokenStream, own: Option<&str>, invocation: &Macro) {
        let own: TokenStream = own.and_then(|text| text.parse().ok()).unwrap_or_default();
        let why = format!("it is named inside `{name}!`, which cannot be looked into");
        for word in words(tokens.clone()).into_iter().chain(words(own)) {
            self.record_possible_calls(&self.names.api.ending_in(&word), &why, invocation.span());
        }
    }

    fn vector(&mut self, tokens: &TokenStream, invocation: &Macro) -> Ty {
        let parts = |input: ParseStream<'_>| {
            let first: Expr = input.parse()?;
            let repeated = input.parse::<Option<Token![;]>>()?.is_some();
            let mut parts = vec![first];
            while !input.is_empty() {
                if !repeated || parts.len() > 1 {
                    input.parse::<Token![,]>()?;
                }
                if !input.is_empty() {
                    parts.push(input.parse()?);
                }
            }
            Ok(parts)
        };
        if tokens.is_empty() {
            return Ty::foreign("Vec");
        }
        match parts.parse2(tokens.clone()) {
            Ok(parts) => {
                let held = parts.iter().map(|part| self.value(part)).collect::<Vec<_>>();
                Ty::of("Vec", held.into_iter().next().unwrap_or(Ty::Unknown))
            }
            Err(_) => {
                self.opaque("vec", tokens, None, invocation);
                Ty::Unknown
            }
        }
    }

    fn evaluated(&mut self, name: &str, arguments: &[Expr]) {
        let two = matches!(name, "assert_eq" | "debug_assert_eq" | "prop_assert_eq");
        let one = matches!(name, "assert" | "debug_assert" | "prop_assert");
        let differ = matches!(name, "assert_ne" | "debug_assert_ne" | "prop_assert_ne");
        let compared = match arguments {
            [left, right, ..] if two => {
                self.compared(left, right);
                2
            }
            [condition, ..] if one => {
                self.holds(condition);
                1
            }
            [left, right, ..] if differ => {
                let ((), of) = self.calls_within(|walk| {
                    walk.value(left);
                    walk.value(right);
                });
                self.asserted(of, String::new());
                2
            }
            _ => 0,
        };
        self.values(arguments.iter().skip(compared));
    }

    /// Visits an assertion that `left == right`.
    fn compared(&mut self, left: &Expr, right: &Expr) {
        let (_, of_left) = self.calls_within(|walk| walk.value(left));
        let (_, of_right) = self.calls_within(|walk| walk.value(right));
        self.asserted(of_left, normal(right));
        self.asserted(of_right, normal(left));
    }

    /// Visits an assertion of a condition.
    fn holds(&mut self, condition: &Expr) {
        match condition {
            Expr::Binary(both) if matches!(both.op, BinOp::And(_)) => {
                self.holds(&both.left);
                self.holds(&both.right);
            }
            Expr::Binary(equal) if matches!(equal.op, BinOp::Eq(_)) => self.compared(&equal.left, &equal.right),
            Expr::Unary(not) if matches!(not.op, UnOp::Not(_)) => self.is("false", &not.expr),
            Expr::Paren(inner) => self.holds(&inner.expr),
            Expr::MethodCall(call) if call.method == "is_none" => self.is("None", &call.receiver),
            Expr::Macro(invocation) if invocation.mac.path.is_ident("matches") => {
                let matched = Matched::parse.parse2(invocation.mac.tokens.clone());
                let own = self.names.rules_of_own_macro(self.module, &invocation.mac.path);
                match matched.ok().filter(|_| own.is_none()) {
                    Some(matched) => {
                        let of = self.matched(&matched);
                        self.asserted(of, matched.outcome);
                    }
                    None => self.is("true", condition),
                }
            }
            other => self.is("true", other),
        }
    }

    fn is(&mut self, outcome: &str, expression: &Expr) {
        let (_, of) = self.calls_within(|walk| walk.value(expression));
        self.asserted(of, outcome.to_owned());
    }

    /// Visits a value that is matched with a pattern, and returns the functions from which the value comes.
    fn matched(&mut self, matched: &Matched) -> BTreeSet<String> {
        let (ty, of) = self.calls_within(|walk| walk.value(&matched.value));
        self.scoped(|walk| {
            walk.bind(&matched.pattern, ty, &of);
            if let Some(guard) = &matched.guard {
                walk.expression(guard);
            }
        });
        of
    }

    /// Records an assertion, unless it may never be reached.
    fn asserted(&mut self, of: BTreeSet<String>, outcome: String) {
        if self.doubt.is_none() {
            self.found.assertions.insert(Assertion { of, outcome });
        }
    }
}

/// The arguments `value, pattern if guard` of a macro.
struct Matched {
    value: Expr,
    pattern: Pat,
    outcome: String,
    guard: Option<Expr>,
}

impl Parse for Matched {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let value = input.parse()?;
        input.parse::<Token![,]>()?;
        let pattern = input.call(Pat::parse_multi_with_leading_vert)?;
        let outcome = of_tokens(quote::ToTokens::to_token_stream(&pattern));
        let guard = if input.parse::<Option<Token![if]>>()?.is_some() { Some(input.parse()?) } else { None };
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
            // Skips the message.
            input.parse::<TokenStream>()?;
        }
        Ok(Self { value, pattern, outcome, guard })
    }
}
