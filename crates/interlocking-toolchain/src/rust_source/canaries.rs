//! A canary for each test: a test that calls it and then fails by itself.
//!
//! For every test of a file two more are added, under names that are drawn anew each time:
//!
//! ```text
//! #[test] fn t1f0…() -> impl Termination { let ended = prop_x(); assert!(black_box(true), "…"); ended }
//! #[test] fn t9c4…() -> impl Termination { let ended = prop_x(); assert!(black_box(false), "…"); ended }
//! ```
//!
//! The one is run for the test, the other is its canary. Both call the very same function, so nothing that runs within the test can
//! tell which of them called: not by a name, a place in the source, a type or the program's arguments. Whatever makes the test pass
//! without coming to its end makes its canary pass as well.

use super::proptest::{ProptestBody, is_proptest, is_test};
use super::{SourceError, parse};
use std::fmt::Write;
use std::ops::Range;
use syn::{Attribute, Item};
use uuid::Uuid;

/// A test file with two more tests for each of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithCanaries {
    /// The file. Every line of it that was there before is where it was.
    pub text: String,
    /// Its tests, in their order.
    pub tests: Vec<PairedTest>,
}

/// A test of the file, and the two that call it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairedTest {
    /// Its name, with the modules that it is in within the file.
    pub name: String,
    /// What is run for it.
    pub stand_in: String,
    /// What must fail.
    pub canary: String,
    /// What the canary says when it fails by itself.
    pub nonce: String,
    /// Whether the test is to panic. Its canary then fails by that.
    pub expects_panic: bool,
}

/// A test as it stands in the file.
struct Found<'a> {
    name: String,
    attributes: &'a [Attribute],
}

/// Adds the canaries.
///
/// # Errors
///
/// [`SourceError`] where the file is not Rust.
pub fn with_canaries(path: &str, text: &str) -> Result<WithCanaries, SourceError> {
    let file = parse(path, text)?;
    // The parser leaves these out, and counts from behind them.
    let left_out =
        text.len() - text.strip_prefix('\u{feff}').unwrap_or(text).len() + file.shebang.as_ref().map_or(0, String::len);
    let mut adding = Adding { text: &text[left_out..], tests: Vec::new(), insertions: Vec::new() };
    adding.module(&file.items, "", None);
    let Adding { tests, mut insertions, .. } = adding;
    insertions.sort_by_key(|(at, _)| *at);
    let mut with = text.to_owned();
    for (at, added) in insertions.into_iter().rev() {
        let at = at.map_or(with.len(), |at| at + left_out);
        with.insert_str(at, &added);
    }
    Ok(WithCanaries { text: with, tests })
}

struct Adding<'t> {
    text: &'t str,
    tests: Vec<PairedTest>,
    /// What is put where; at the end, where that is not said. In the order in which they were met.
    insertions: Vec<(Option<usize>, String)>,
}

impl Adding<'_> {
    /// The tests of a module, which ends at `end`.
    fn module(&mut self, items: &[Item], prefix: &str, end: Option<usize>) {
        let mut added = String::new();
        for item in items {
            match item {
                Item::Fn(item) if item.attrs.iter().any(is_test) => {
                    let found = Found { name: item.sig.ident.to_string(), attributes: &item.attrs };
                    self.pair(&found, prefix, &mut added);
                }
                Item::Macro(item) if is_proptest(&item.mac) => {
                    let Ok(ProptestBody(functions)) = syn::parse2(item.mac.tokens.clone()) else { continue };
                    for function in functions.iter().filter(|function| function.is_test()) {
                        let found = Found { name: function.name.to_string(), attributes: &function.attributes };
                        self.pair(&found, prefix, &mut added);
                    }
                }
                Item::Mod(item) => {
                    if let Some((brace, items)) = &item.content {
                        let end = brace.span.close().byte_range().start;
                        self.module(items, &format!("{prefix}{}::", item.ident), Some(end));
                    }
                }
                _ => {}
            }
        }
        if !added.is_empty() {
            // The last line may be a comment.
            let newline = if end.is_none() { "\n" } else { "" };
            self.insertions.push((end, format!("{newline}{added}")));
        }
    }

    fn pair(&mut self, found: &Found<'_>, prefix: &str, added: &mut String) {
        let [stand_in, canary, nonce] = std::array::from_fn(|_| format!("t{}", Uuid::new_v4().simple()));
        let mut expects_panic = false;
        let (mut of_both, mut of_stand_in) = (String::new(), String::new());
        for attribute in found.attributes {
            let name = attribute.path().get_ident().map(ToString::to_string).unwrap_or_default();
            match name.as_str() {
                "should_panic" => {
                    expects_panic = true;
                    of_stand_in.push_str(self.source(attribute));
                }
                "ignore" | "cfg" | "cfg_attr" => of_both.push_str(self.source(attribute)),
                _ => {}
            }
        }
        let name = &found.name;
        // Who is to panic gives nothing back, and must not.
        let (result, kept, given) =
            if expects_panic { ("", "", "") } else { ("-> impl ::std::process::Termination", "let ended = ", "ended") };
        let mut put = |test: &str, attributes: &str, holds: bool| {
            // Writing to a text does not fail.
            let _ = write!(
                added,
                "#[::core::prelude::v1::test] {of_both} {attributes} fn {test}() {result} {{ \
                 {kept}{name}(); ::core::assert!(::core::hint::black_box({holds}), \"{nonce}\"); {given} }} "
            );
        };
        // Neither is always the first.
        if Uuid::new_v4().as_bytes()[0] & 1 == 0 {
            put(&stand_in, &of_stand_in, true);
            put(&canary, "", false);
        } else {
            put(&canary, "", false);
            put(&stand_in, &of_stand_in, true);
        }
        self.tests.push(PairedTest { name: format!("{prefix}{name}"), stand_in, canary, nonce, expects_panic });
    }

    /// An attribute as it is written.
    fn source(&self, attribute: &Attribute) -> &str {
        let range = |span: proc_macro2::Span| -> Range<usize> { span.byte_range() };
        let whole = range(attribute.pound_token.span).start..range(attribute.bracket_token.span.close()).end;
        self.text.get(whole).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "//! Properties.\nuse proptest::prelude::*;\n\n#[test]\nfn prop_a() {}\n\nfn helper() {}\n\n\
        mod inner {\n    #[test]\n    #[should_panic(expected = \"no\")]\n    fn prop_b() { panic!(\"no\") }\n}\n\n\
        proptest! {\n    #![proptest_config(ProptestConfig::default())]\n    #[test]\n    #[ignore = \"slow\"]\n    \
        fn prop_c(x in 0..3) { prop_assert!(x < 3); }\n\n    fn not_one(x in 0..3) {}\n}\n// the end";

    #[test]
    fn every_test_has_a_stand_in_and_a_canary_that_call_it() {
        let with = with_canaries("p.rs", FILE).unwrap();
        let names: Vec<_> = with.tests.iter().map(|test| (test.name.as_str(), test.expects_panic)).collect();
        assert_eq!(names, [("prop_a", false), ("inner::prop_b", true), ("prop_c", false)]);
        let file = syn::parse_file(&with.text).unwrap();
        let inner = file.items.iter().find_map(|item| match item {
            Item::Mod(item) => item.content.as_ref(),
            _ => None,
        });
        assert_eq!(inner.unwrap().1.len(), 3, "in their own module");
        for (test, calls) in with.tests.iter().zip(["prop_a()", "prop_b()", "prop_c()"]) {
            for (name, holds) in [(&test.stand_in, "true"), (&test.canary, "false")] {
                let begin = with.text.find(&format!("fn {name}()")).unwrap();
                let rest = &with.text[begin..begin + with.text[begin..].find('}').unwrap()];
                assert!(rest.contains(calls) && rest.contains(&format!("black_box({holds})")), "{rest}");
                assert!(rest.contains(&test.nonce));
            }
        }
        assert_eq!(with.text.matches("#[should_panic(expected = \"no\")]").count(), 2, "the test and its stand-in");
        assert_eq!(with.text.matches("#[ignore = \"slow\"]").count(), 3, "the test, its stand-in and its canary");
    }

    /// What the compiler says of the file names the lines that its author knows.
    #[test]
    fn every_line_stays_where_it_was() {
        let with = with_canaries("p.rs", FILE).unwrap();
        for (before, after) in FILE.lines().zip(with.text.lines()) {
            assert!(after.starts_with(before) || after.ends_with('}'), "{before:?}: {after:?}");
        }
        assert_eq!(with.text.lines().count(), FILE.lines().count() + 1);
    }

    #[test]
    fn names_are_drawn_anew_and_so_is_their_order() {
        let drawn: Vec<_> = (0..64).map(|_| with_canaries("p.rs", FILE).unwrap()).collect();
        assert_ne!(drawn[0].tests[0].stand_in, drawn[1].tests[0].stand_in);
        let first =
            |with: &WithCanaries| with.text.find(&with.tests[0].stand_in) < with.text.find(&with.tests[0].canary);
        let firsts = drawn.iter().filter(|with| first(with)).count();
        assert!((1..64).contains(&firsts), "{firsts} of 64");
    }

    #[test]
    fn a_file_with_a_byte_order_mark_or_a_shebang_is_one_too() {
        for before in ["\u{feff}", "#!/usr/bin/env run-cargo-script\n"] {
            let with = with_canaries("p.rs", &format!("{before}{FILE}")).unwrap();
            let text = with.text.strip_prefix(before).unwrap();
            assert_eq!(syn::parse_file(text).unwrap().items.len(), syn::parse_file(FILE).unwrap().items.len() + 4);
        }
    }
}
