//! Which functions a piece of code calls, inside macros too.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprMethodCall, ExprPath, Macro, Token};

/// A function that is called, or passed on to be called.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Callee {
    /// By a path: `push(…)`, `BoundedStack::push(…)`, `map(BoundedStack::push)`.
    Path(String),
    /// As a method: `stack.push(…)`.
    Method(String),
}

/// Every callee in a block.
pub(super) fn in_block(block: &Block) -> BTreeSet<Callee> {
    let mut calls = Calls::default();
    calls.visit_block(block);
    calls.0
}

/// Every callee in an expression.
pub(super) fn in_expression(expression: &Expr) -> BTreeSet<Callee> {
    let mut calls = Calls::default();
    calls.visit_expr(expression);
    calls.0
}

#[derive(Default)]
struct Calls(BTreeSet<Callee>);

impl<'ast> Visit<'ast> for Calls {
    // Any path counts, called or not: it may be handed to something that calls it.
    fn visit_expr_path(&mut self, expression: &'ast ExprPath) {
        let names: Vec<String> = expression.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.0.insert(Callee::Path(names.join("::")));
        visit::visit_expr_path(self, expression);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        self.0.insert(Callee::Method(call.method.to_string()));
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, invocation: &'ast Macro) {
        let arguments = Punctuated::<Expr, Token![,]>::parse_terminated;
        if let Ok(arguments) = arguments.parse2(invocation.tokens.clone()) {
            for argument in &arguments {
                self.0.extend(in_expression(argument));
            }
        } else if let Ok(statements) = Block::parse_within.parse2(invocation.tokens.clone()) {
            for statement in &statements {
                let mut calls = Self::default();
                calls.visit_stmt(statement);
                self.0.extend(calls.0);
            }
        } else {
            in_tokens(invocation.tokens.clone(), &mut self.0);
        }
    }
}

/// Names before parentheses, for macros with a grammar of their own.
fn in_tokens(tokens: TokenStream, callees: &mut BTreeSet<Callee>) {
    let mut path: Vec<String> = Vec::new();
    let mut after_dot = false;
    let mut declares = false;
    for token in tokens {
        match token {
            TokenTree::Ident(name) => {
                if name == "fn" {
                    declares = true;
                    path.clear();
                    continue;
                }
                if path.last().is_none_or(|last| last != "::") {
                    path.clear();
                }
                path.push(name.to_string());
            }
            TokenTree::Punct(mark) if mark.as_char() == ':' => match path.last().map(String::as_str) {
                Some(":") => {
                    path.pop();
                    path.push("::".to_owned());
                }
                Some(_) => path.push(":".to_owned()),
                None => {}
            },
            TokenTree::Punct(mark) => {
                after_dot = mark.as_char() == '.';
                path.clear();
            }
            TokenTree::Group(group) => {
                if group.delimiter() == Delimiter::Parenthesis && !path.is_empty() && !declares {
                    let name = path.concat();
                    callees.insert(if after_dot { Callee::Method(name) } else { Callee::Path(name) });
                }
                path.clear();
                (after_dot, declares) = (false, false);
                in_tokens(group.stream(), callees);
            }
            TokenTree::Literal(_) => path.clear(),
        }
    }
}
