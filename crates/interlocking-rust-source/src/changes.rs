//! Finds the functions of a file that a rebase has rewritten.

use crate::SourceError;
use crate::normal::{plain_block, plain_expression, text_of};
use crate::syntax::read;
use quote::ToTokens;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use syn::spanned::Spanned;
use syn::{Block, Expr, Ident, ImplItem, Item, Signature, TraitItem};

/// What happened to a function between two versions of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CodeChange {
    /// The function was added.
    Added,
    /// The function was removed.
    Removed,
    /// The body has changed.
    Body,
}

/// A changed function, value of a constant, or text of a macro.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangedFunction {
    /// The file's path, as given.
    pub path: String,
    /// The line in which the function begins, counted from 1: in the later version, or in the earlier one if the function was
    /// removed.
    pub line: usize,
    /// The column in which the function begins, counted from 1.
    pub column: usize,
    /// The name, with modules and the type or trait of a method: `inner::Stack::push`, `<Stack as Display>::fmt`, `LIMIT`,
    /// `make!`.
    pub name: String,
    /// What has changed.
    pub change: CodeChange,
}

impl fmt::Display for ChangedFunction {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.change {
            CodeChange::Added => "is new",
            CodeChange::Removed => "is gone",
            CodeChange::Body => "has another body",
        };
        write!(out, "{}:{}:{}: `{}` {what}", self.path, self.line, self.column, self.name)
    }
}

/// The versions of a file in a rebase.
#[derive(Debug, Clone, Copy)]
pub struct Rebased<'a> {
    /// The file where the branch began.
    pub old_base: &'a str,
    /// The file on the branch before the rebase.
    pub old_tip: &'a str,
    /// The file on the base onto which the branch is rebased, with the changes of others.
    pub new_base: &'a str,
    /// The file as the rebase has put it together from both sides, before anybody adapted it; none if lines of one side gave way to
    /// the other's.
    pub merged: Option<&'a str>,
    /// The file on the branch after the rebase.
    pub new_tip: &'a str,
}

/// Finds the functions whose body was rewritten during a rebase. A function is returned unless its body is that of the branch (if
/// only the branch had changed it), or that of the new base (otherwise), or as the rebase has put it together. So where both have
/// changed a function, the branch's body does not replace the other's.
///
/// Functions of modules, types, traits and tests count, private ones too, and so do the values of constants and statics and the
/// texts of macros, as they are code as well. Signatures do not count. Comments, formatting, documentation, lints and order make
/// no difference, nor does what a formatter adds or removes: trailing commas, braces around a single value, parentheses. Any
/// other change of a body counts, even if it compiles to the same code.
///
/// # Errors
///
/// [`SourceError`] if one of the versions is not Rust.
pub fn rewritten_by_rebase(path: &str, versions: Rebased<'_>) -> Result<Vec<ChangedFunction>, SourceError> {
    let read = |text| code_of(path, text);
    let (old_base, old_tip) = (read(versions.old_base)?, read(versions.old_tip)?);
    let (new_base, new_tip) = (read(versions.new_base)?, read(versions.new_tip)?);
    // What is put together line by line need not be Rust.
    let merged = versions.merged.and_then(|merged| read(merged).ok()).unwrap_or_default();
    let names: BTreeSet<&String> =
        [&old_base, &old_tip, &new_base, &new_tip].into_iter().flat_map(BTreeMap::keys).collect();
    let mut rewritten = Vec::new();
    for name in names {
        let bodies = |version: &BTreeMap<String, Code>| version.get(name).map(|code| code.bodies.clone());
        let (base, ours, theirs, now) = (bodies(&old_base), bodies(&old_tip), bodies(&new_base), bodies(&new_tip));
        let is_only_ours = ours != base && theirs == base;
        let expected = if is_only_ours { ours } else { theirs };
        let is_put_together = now.is_some() && now == bodies(&merged);
        if now != expected && !is_put_together {
            let (change, code) = match (new_tip.get(name), new_base.get(name).or(old_tip.get(name))) {
                (Some(code), None) => (CodeChange::Added, Some(code)),
                (Some(code), Some(_)) => (CodeChange::Body, Some(code)),
                (None, code) => (CodeChange::Removed, code),
            };
            rewritten.extend(code.map(|code| (change, name, code.place)));
        }
    }
    Ok(located(path, rewritten))
}

fn located(path: &str, mut changed: Vec<(CodeChange, &String, (usize, usize))>) -> Vec<ChangedFunction> {
    changed.sort_by_key(|(_, _, place)| *place);
    let named = |(change, name, (line, column)): (CodeChange, &String, (usize, usize))| ChangedFunction {
        path: path.to_owned(),
        line,
        column,
        name: name.clone(),
        change,
    };
    changed.into_iter().map(named).collect()
}

/// All code with one name: several functions, if conditions decide which of them is compiled.
#[derive(Debug, Default)]
struct Code {
    place: (usize, usize),
    bodies: Vec<String>,
}

fn code_of(path: &str, text: &str) -> Result<BTreeMap<String, Code>, SourceError> {
    read(path, text, |file| {
        let mut reading = Reading { found: BTreeMap::new() };
        reading.items(&file.items, "");
        reading.found
    })
}

struct Reading {
    found: BTreeMap<String, Code>,
}

impl Reading {
    fn items(&mut self, items: &[Item], prefix: &str) {
        for item in items {
            match item {
                Item::Fn(item) => self.function(prefix, &item.sig, Some(&item.block)),
                Item::Const(item) => self.value(prefix, &item.ident, &item.expr),
                Item::Static(item) => self.value(prefix, &item.ident, &item.expr),
                Item::Mod(item) => {
                    if let Some((_, items)) = &item.content {
                        self.items(items, &format!("{prefix}{}::", item.ident));
                    }
                }
                Item::Macro(item) => {
                    let name = item.ident.as_ref().or(item.mac.path.segments.last().map(|last| &last.ident));
                    let name = format!("{prefix}{}!", name.map(ToString::to_string).unwrap_or_default());
                    self.put(name, item.mac.path.span(), text_of(item.mac.tokens.clone()));
                }
                Item::Trait(item) => {
                    let prefix = format!("{prefix}{}::", item.ident);
                    for member in &item.items {
                        match member {
                            TraitItem::Fn(method) => self.function(&prefix, &method.sig, method.default.as_ref()),
                            TraitItem::Const(constant) => {
                                if let Some((_, value)) = &constant.default {
                                    self.value(&prefix, &constant.ident, value);
                                }
                            }
                            _ => {}
                        }
                    }
                }
                Item::Impl(item) => {
                    let own = shown(&item.self_ty);
                    let prefix = match &item.trait_ {
                        Some((implemented, _)) => format!("{prefix}<{own} as {}>::", shown(implemented)),
                        None => format!("{prefix}{own}::"),
                    };
                    for member in &item.items {
                        match member {
                            ImplItem::Fn(method) => self.function(&prefix, &method.sig, Some(&method.block)),
                            ImplItem::Const(constant) => self.value(&prefix, &constant.ident, &constant.expr),
                            ImplItem::Macro(made) => {
                                let name = format!("{prefix}{}!", shown(&made.mac.path));
                                self.put(name, made.mac.path.span(), text_of(made.mac.tokens.clone()));
                            }
                            _ => {}
                        }
                    }
                }
                Item::Verbatim(tokens) => {
                    self.put(format!("{prefix}{{unknown syntax}}"), tokens.span(), text_of(tokens.clone()));
                }
                _ => {}
            }
        }
    }

    fn function(&mut self, prefix: &str, signature: &Signature, body: Option<&Block>) {
        let body = body.map_or_else(String::new, |body| shown(&plain_block(body)));
        self.put(format!("{prefix}{}", signature.ident), signature.span(), body);
    }

    fn value(&mut self, prefix: &str, name: &Ident, value: &Expr) {
        self.put(format!("{prefix}{name}"), name.span(), shown(&plain_expression(value)));
    }

    fn put(&mut self, name: String, at: proc_macro2::Span, body: String) {
        let start = at.start();
        let code = self.found.entry(name).or_default();
        if code.bodies.is_empty() {
            code.place = (start.line, start.column + 1);
        }
        // Sorted, as their order makes no difference.
        code.bodies.push(body);
        code.bodies.sort();
    }
}

fn shown(syntax: &impl ToTokens) -> String {
    text_of(syntax.to_token_stream())
}

#[cfg(test)]
mod tests;
