//! The tests of a file, including those inside `proptest! { … }`.

use crate::SourceError;
use crate::proptest::{ProptestBody, is_proptest, is_test};
use crate::syntax::read;
use std::ops::Range;
use syn::{Attribute, Item};

/// A test in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestFunction {
    /// The test's name, with its modules within the file: `inner::prop_undo`.
    pub name: String,
    /// The line of the name, counted from 1.
    pub line: usize,
    /// The column of the name, counted from 1.
    pub column: usize,
    /// The test's attributes, including `#[test]`.
    pub attributes: Vec<TestAttribute>,
    /// The byte offset of the closing brace of the test's module; `None` for the file's own module.
    pub module_end: Option<usize>,
}

/// An attribute of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestAttribute {
    /// The name, if it is one word: `should_panic`.
    pub name: Option<String>,
    /// The whole attribute as written: `#[should_panic(expected = "full")]`.
    pub source: String,
}

/// Lists the tests of a file in the file's order: functions with an attribute that ends in `test`, such as `#[test]` and
/// `#[tokio::test]`. Of macros, only `proptest!` is searched.
///
/// # Errors
///
/// [`SourceError`] if the file is not Rust.
pub fn test_functions(path: &str, text: &str) -> Result<Vec<TestFunction>, SourceError> {
    read(path, text, |file| {
        // The parser skips the byte order mark and the shebang, and counts from after them.
        let mark = text.len() - text.strip_prefix('\u{feff}').unwrap_or(text).len();
        let left_out = mark + file.shebang.as_ref().map_or(0, String::len);
        let mut listing = Listing { text, left_out, found: Vec::new() };
        listing.module(&file.items, "", None);
        listing.found
    })
}

struct Listing<'t> {
    text: &'t str,
    left_out: usize,
    found: Vec<TestFunction>,
}

impl Listing<'_> {
    fn module(&mut self, items: &[Item], prefix: &str, end: Option<usize>) {
        for item in items {
            match item {
                Item::Fn(item) if item.attrs.iter().any(is_test) => {
                    self.test(&item.sig.ident, &item.attrs, prefix, end);
                }
                Item::Macro(item) if is_proptest(&item.mac) => {
                    let Ok(ProptestBody(functions)) = syn::parse2(item.mac.tokens.clone()) else { continue };
                    for function in functions.iter().filter(|function| function.is_test()) {
                        self.test(&function.name, &function.attributes, prefix, end);
                    }
                }
                Item::Mod(item) => {
                    if let Some((brace, items)) = &item.content {
                        let end = self.left_out + brace.span.close().byte_range().start;
                        self.module(items, &format!("{prefix}{}::", item.ident), Some(end));
                    }
                }
                _ => {}
            }
        }
    }

    fn test(&mut self, name: &syn::Ident, attributes: &[Attribute], prefix: &str, module_end: Option<usize>) {
        let start = name.span().start();
        let attributes = attributes.iter().map(|attribute| TestAttribute {
            name: attribute.path().get_ident().map(ToString::to_string),
            source: self.source(attribute).to_owned(),
        });
        self.found.push(TestFunction {
            name: format!("{prefix}{name}"),
            line: start.line,
            column: start.column + 1,
            attributes: attributes.collect(),
            module_end,
        });
    }

    fn source(&self, attribute: &Attribute) -> &str {
        let range = |span: proc_macro2::Span| -> Range<usize> { span.byte_range() };
        let whole = range(attribute.pound_token.span).start..range(attribute.bracket_token.span.close()).end;
        self.text.get(self.left_out + whole.start..self.left_out + whole.end).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "//! Properties.\n#[test]\nfn prop_a() {}\nfn helper() {}\n\
        mod inner {\n    #[tokio::test]\n    #[should_panic(expected = \"no\")]\n    fn prop_b() { panic!(\"no\") }\n}\n\
        proptest! {\n    #![proptest_config(ProptestConfig::default())]\n    #[test]\n    \
        fn prop_c(x in 0..3) { prop_assert!(x < 3); }\n    fn not_one(x in 0..3) {}\n}";

    /// TC-13: tests inside `proptest!` are found like others.
    #[test]
    fn tests_are_found_in_modules_and_in_proptest() {
        for before in ["", "\u{feff}", "#!/usr/bin/env run-cargo-script\n", "\u{feff}#!/usr/bin/env run\n"] {
            let text = format!("{before}{FILE}");
            let found = test_functions("tests/p.rs", &text).unwrap();
            let lines = before.matches('\n').count();
            let names: Vec<_> = found.iter().map(|test| (&test.name[..], test.line - lines, test.column)).collect();
            assert_eq!(names, [("prop_a", 3, 4), ("inner::prop_b", 8, 8), ("prop_c", 13, 8)], "{before:?}");
            let attributes: Vec<_> = found[1].attributes.iter().map(|attribute| &attribute.source[..]).collect();
            assert_eq!(attributes, ["#[tokio::test]", "#[should_panic(expected = \"no\")]"], "{before:?}");
            let ends: Vec<_> = found.iter().map(|test| test.module_end.map(|end| &text[end..=end])).collect();
            assert_eq!(ends, [None, Some("}"), None], "{before:?}");
        }
    }
}
