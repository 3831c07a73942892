//! Finds code that may define functions which the text does not show, so that a check for stubs would miss them.

use crate::functions::for_tests;
use crate::stubs::MarkerSyntax;
use crate::syntax::read;
use crate::{RefusedConstruct, SourceError, StubMarkers};
use proc_macro2::{Span, TokenStream, TokenTree};
use std::collections::BTreeSet;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Block, File, ImplItemFn, Item, ItemFn, ItemImpl, ItemMacro, ItemMod, ItemUse, Macro, UseName, UseRename};

/// Macros of the standard library, which define no functions.
const WITHOUT_FUNCTIONS: [&str; 29] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "column",
    "compile_error",
    "concat",
    "dbg",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "eprint",
    "eprintln",
    "file",
    "format",
    "format_args",
    "line",
    "matches",
    "module_path",
    "panic",
    "print",
    "println",
    "stringify",
    "thread_local",
    "todo",
    "unimplemented",
    "unreachable",
    "vec",
    "write",
    "writeln",
];

/// Finds everything in a file that can define functions which the text does not show, or make a stub of something else, and that
/// is not allowed by name, in the file's order: macros other than the standard library's and the stubs' markers, and methods that
/// a body gives to a type.
///
/// # Errors
///
/// [`SourceError`] if the file is not Rust.
pub fn hidden_functions(
    path: &str,
    text: &str,
    markers: &StubMarkers,
    allowed: &[String],
) -> Result<Vec<RefusedConstruct>, SourceError> {
    read(path, text, |file| {
        let markers = markers.syntax();
        let own = own_names(file);
        let mut search = Search { path, markers: &markers, allowed, own, in_body: false, found: vec![] };
        search.visit_file(file);
        search.found
    })
}

/// Names that may mean another macro in this file than elsewhere: the macros that the file defines, and its imports. An import
/// from the standard library counts only if it is renamed.
fn own_names(file: &File) -> BTreeSet<String> {
    #[derive(Default)]
    struct Names {
        own: BTreeSet<String>,
        is_standard: bool,
    }
    impl Visit<'_> for Names {
        fn visit_item_macro(&mut self, item: &ItemMacro) {
            self.own.extend(item.ident.as_ref().map(ToString::to_string));
        }

        fn visit_item_use(&mut self, item: &ItemUse) {
            self.is_standard =
                matches!(&item.tree, syn::UseTree::Path(path) if path.ident == "std" || path.ident == "core");
            visit::visit_item_use(self, item);
        }

        fn visit_use_name(&mut self, name: &UseName) {
            if !self.is_standard {
                self.own.insert(name.ident.to_string());
            }
        }

        fn visit_use_rename(&mut self, name: &UseRename) {
            self.own.insert(name.rename.to_string());
        }
    }
    let mut names = Names::default();
    names.visit_file(file);
    names.own
}

struct Search<'a> {
    path: &'a str,
    markers: &'a MarkerSyntax,
    allowed: &'a [String],
    own: BTreeSet<String>,
    in_body: bool,
    found: Vec<RefusedConstruct>,
}

impl Search<'_> {
    fn call(&mut self, name: &str, span: Span) {
        let is_known = WITHOUT_FUNCTIONS.contains(&name) || self.markers.names_macro(name);
        if !is_known || self.own.contains(name) {
            let reason = "its expansion cannot be inspected, so it cannot be shown that there are only stubs";
            self.refuse(span, format!("{name}!"), reason);
        }
    }

    /// Checks the arguments of a macro for calls of other macros, and for `impl`.
    fn arguments(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (at, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Ident(name) if name == "impl" => self.method(name.span()),
                TokenTree::Ident(name) => {
                    let is = |at: usize, mark: char| matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == mark);
                    if is(at + 1, '!') && !is(at + 2, '=') {
                        self.call(&name.to_string(), name.span());
                    }
                }
                TokenTree::Group(group) => self.arguments(group.stream()),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }

    fn method(&mut self, span: Span) {
        self.refuse(span, "impl within a body".to_owned(), "it can give a type methods that are not looked for there");
    }

    fn refuse(&mut self, span: Span, construct: String, reason: &str) {
        if !self.allowed.contains(&construct) {
            let (path, reason) = (self.path.to_owned(), reason.to_owned());
            let (line, column) = (span.start().line, span.start().column + 1);
            self.found.push(RefusedConstruct { path, line, column, construct, reason });
        }
    }
}

impl<'ast> Visit<'ast> for Search<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if let Item::Verbatim(tokens) = item {
            let reason = "it cannot be shown that it holds only stubs";
            self.refuse(tokens.span(), "unknown syntax".to_owned(), reason);
        }
        visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        if !for_tests(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        if !for_tests(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        if for_tests(&item.attrs) {
            return;
        }
        if self.in_body && item.trait_.is_none() {
            self.method(item.impl_token.span);
        }
        visit::visit_item_impl(self, item);
    }

    fn visit_item_macro(&mut self, item: &'ast ItemMacro) {
        // The definition of a macro defines no functions by itself.
        if item.ident.is_none() && !for_tests(&item.attrs) {
            visit::visit_item_macro(self, item);
        }
    }

    fn visit_macro(&mut self, called: &'ast Macro) {
        if let Some(segment) = called.path.segments.last() {
            self.call(&segment.ident.to_string(), called.path.span());
        }
        self.arguments(called.tokens.clone());
    }

    fn visit_block(&mut self, block: &'ast Block) {
        let outer = std::mem::replace(&mut self.in_body, true);
        visit::visit_block(self, block);
        self.in_body = outer;
    }
}
