//! The bodies of a file's functions, without tests.

use crate::functions::{for_tests, type_name};
use crate::normal::text_of;
use crate::proptest::is_test;
use proc_macro2::Span;
use quote::ToTokens;
use std::ops::Range;
use syn::visit::{self, Visit};
use syn::{Attribute, Block, File, ImplItem, Item, Stmt, TraitItem};

/// The longest full name of a function that is mutated, in bytes, as each of its mutants contains the name.
const LONGEST_NAME: usize = 500;

/// A function's body.
pub(super) struct Body<'f> {
    /// The function's name, with its modules within the file and its type.
    pub(super) name: String,
    pub(super) block: &'f Block,
    /// The number of bytes that the parser skips at the beginning of the text.
    left_out: usize,
}

impl Body<'_> {
    /// The byte range of a span in the text.
    pub(super) fn place(&self, span: Span) -> Range<usize> {
        let place = span.byte_range();
        self.left_out + place.start..self.left_out + place.end
    }
}

/// Lists the bodies in the file's order; the bodies of functions within a body follow it.
pub(super) fn bodies<'f>(text: &str, file: &'f File) -> Vec<Body<'f>> {
    // The parser skips the byte order mark and the shebang, and counts from after them.
    let mark = text.len() - text.strip_prefix('\u{feff}').unwrap_or(text).len();
    let left_out = mark + file.shebang.as_ref().map_or(0, String::len);
    let mut listing = Listing { left_out, found: Vec::new() };
    if !for_tests(&file.attrs) {
        listing.items(&file.items, "");
    }
    listing.found
}

struct Listing<'f> {
    left_out: usize,
    found: Vec<Body<'f>>,
}

impl<'f> Listing<'f> {
    fn items(&mut self, items: &'f [Item], prefix: &str) {
        items.iter().for_each(|item| self.item(item, prefix));
    }

    fn item(&mut self, item: &'f Item, prefix: &str) {
        match item {
            Item::Fn(item) => self.function(format!("{prefix}{}", item.sig.ident), &item.attrs, &item.block),
            Item::Impl(item) if !for_tests(&item.attrs) => {
                let owner = type_name(&item.self_ty).unwrap_or_else(|| text_of(item.self_ty.to_token_stream()));
                for member in &item.items {
                    if let ImplItem::Fn(method) = member {
                        let name = format!("{prefix}{owner}::{}", method.sig.ident);
                        self.function(name, &method.attrs, &method.block);
                    }
                }
            }
            Item::Trait(item) if !for_tests(&item.attrs) => {
                for member in &item.items {
                    if let TraitItem::Fn(method) = member
                        && let Some(block) = &method.default
                    {
                        let name = format!("{prefix}{}::{}", item.ident, method.sig.ident);
                        self.function(name, &method.attrs, block);
                    }
                }
            }
            Item::Mod(item) if !for_tests(&item.attrs) => {
                if let Some((_, items)) = &item.content {
                    self.items(items, &format!("{prefix}{}::", item.ident));
                }
            }
            _ => {}
        }
    }

    fn function(&mut self, name: String, attributes: &[Attribute], block: &'f Block) {
        if for_tests(attributes) || attributes.iter().any(is_test) || name.len() > LONGEST_NAME {
            return;
        }
        let prefix = format!("{name}::");
        self.found.push(Body { name, block, left_out: self.left_out });
        let mut inside = ItemsInside(Vec::new());
        inside.visit_block(block);
        inside.0.into_iter().for_each(|item| self.item(item, &prefix));
    }
}

/// The items in a body, without those in the bodies of these items.
struct ItemsInside<'f>(Vec<&'f Item>);

impl<'f> Visit<'f> for ItemsInside<'f> {
    fn visit_stmt(&mut self, statement: &'f Stmt) {
        match statement {
            Stmt::Item(item) => self.0.push(item),
            other => visit::visit_stmt(self, other),
        }
    }
}
