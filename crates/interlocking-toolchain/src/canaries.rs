//! A canary for each test: a second test that calls the first and then fails.
//!
//! For every test of a file two more tests are added, with new random names each time:
//!
//! ```text
//! #[test] fn t1f0…() -> impl Termination { let ended = prop_x(); assert!(black_box(true), "…"); ended }
//! #[test] fn t9c4…() -> impl Termination { let ended = prop_x(); assert!(black_box(false), "…"); ended }
//! ```
//!
//! The first is the stand-in, which is run in place of the test; the second is the canary. Both call the same function, so
//! nothing that runs within the test can tell which of them called it: not by a name, a place in the source, a type or the
//! program's arguments. Code that makes the test pass before it has ended makes its canary pass as well.

use interlocking_rust_source::{SourceError, TestFunction, test_functions};
use std::collections::BTreeMap;
use std::fmt::Write;
use uuid::Uuid;

/// A test file with a stand-in and a canary for each of its tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WithCanaries {
    /// The text of the file. Every original line keeps its line number.
    pub(crate) text: String,
    /// The tests of the file, in order.
    pub(crate) tests: Vec<PairedTest>,
}

/// A test of the file, with the two tests that call it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PairedTest {
    /// The test's name, with its modules within the file.
    pub(crate) name: String,
    /// The name of the stand-in, which is run in place of the test.
    pub(crate) stand_in: String,
    /// The name of the canary, which must fail.
    pub(crate) canary: String,
    /// The panic message of the canary's own assertion.
    pub(crate) nonce: String,
    /// Whether the test may be expected to panic: only the harness says whether a condition holds. The canary of a test that is
    /// expected to panic fails by that panic.
    pub(crate) may_expect_panic: bool,
}

/// Adds a stand-in and a canary for each test of a file.
///
/// # Errors
///
/// [`SourceError`] if the file is not Rust.
pub(crate) fn with_canaries(path: &str, text: &str) -> Result<WithCanaries, SourceError> {
    let (mut tests, mut text_of_module) = (Vec::new(), BTreeMap::<_, String>::new());
    for test in test_functions(path, text)? {
        let end = test.module_end.unwrap_or(text.len());
        tests.push(pair(&test, text_of_module.entry((end, test.module_end.is_none())).or_default()));
    }
    let mut with = text.to_owned();
    for ((end, is_file), added) in text_of_module.into_iter().rev() {
        // A new line is needed, as the file's last line may be a comment.
        with.insert_str(end, &if is_file { format!("\n{added}") } else { added });
    }
    Ok(WithCanaries { text: with, tests })
}

/// Writes the stand-in and the canary of a test.
fn pair(test: &TestFunction, added: &mut String) -> PairedTest {
    let [stand_in, canary, nonce] = std::array::from_fn(|_| format!("t{}", Uuid::new_v4().simple()));
    let mut may_expect_panic = false;
    let (mut of_both, mut of_stand_in) = (String::new(), String::new());
    for attribute in &test.attributes {
        match attribute.name.as_deref() {
            Some("should_panic" | "cfg_attr") if attribute.source.contains("should_panic") => {
                may_expect_panic = true;
                of_stand_in.push_str(&attribute.source);
            }
            Some("ignore" | "cfg" | "cfg_attr") => of_both.push_str(&attribute.source),
            _ => {}
        }
    }
    let name = test.name.rsplit("::").next().unwrap_or_default();
    // Tests with `#[should_panic]` must return nothing. If its condition does not hold, the test itself may return something, and
    // a returned error must not be lost. Not every version of Rust compares exit codes.
    let (result, given) = if may_expect_panic {
        let report = "::std::process::Termination::report(ended)";
        let success = "::std::process::ExitCode::SUCCESS";
        let is_success = format!("::std::format!(\"{{:?}}\", {report}) == ::std::format!(\"{{:?}}\", {success})");
        ("", format!("::core::assert!({is_success}, \"it returned an error\");"))
    } else {
        ("-> impl ::std::process::Termination", "ended".to_owned())
    };
    let mut put = |test: &str, attributes: &str, holds: bool| {
        // Writing to a `String` does not fail.
        let _ = write!(
            added,
            "#[::core::prelude::v1::test] {of_both} {attributes} fn {test}() {result} {{ \
             let ended = {name}(); ::core::assert!(::core::hint::black_box({holds}), \"{nonce}\"); {given} }} "
        );
    };
    // The order of the two is random.
    if Uuid::new_v4().as_bytes()[0] & 1 == 0 {
        put(&stand_in, &of_stand_in, true);
        put(&canary, "", false);
    } else {
        put(&canary, "", false);
        put(&stand_in, &of_stand_in, true);
    }
    PairedTest { name: test.name.clone(), stand_in, canary, nonce, may_expect_panic }
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
        let names: Vec<_> = with.tests.iter().map(|test| (test.name.as_str(), test.may_expect_panic)).collect();
        assert_eq!(names, [("prop_a", false), ("inner::prop_b", true), ("prop_c", false)]);
        let found = test_functions("p.rs", &with.text).unwrap();
        let inner = found.iter().filter(|test| test.name.starts_with("inner::")).count();
        assert_eq!((found.len(), inner), (9, 3), "in their own module");
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

    /// The compiler's messages about the file name the original lines.
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

    /// Whether a test is expected to panic may depend on a condition. Then its stand-in must return nothing.
    #[test]
    fn a_test_that_should_panic_under_a_condition_has_a_stand_in_that_returns_nothing() {
        let attribute = "#[cfg_attr(debug_assertions, should_panic(expected = \"overflow\"))]";
        let with = with_canaries("p.rs", &format!("#[test] {attribute} fn overflows() {{}}")).unwrap();
        assert!(with.tests[0].may_expect_panic);
        assert_eq!(with.text.matches(attribute).count(), 2, "the test and its stand-in");
        assert!(!with.text.contains("->"), "{}", with.text);
    }

    #[test]
    fn a_file_with_a_byte_order_mark_or_a_shebang_is_one_too() {
        for before in ["\u{feff}", "#!/usr/bin/env run-cargo-script\n"] {
            let with = with_canaries("p.rs", &format!("{before}{FILE}")).unwrap();
            assert!(with.text.starts_with(before));
            assert_eq!(test_functions("p.rs", &with.text).unwrap().len(), 9);
            assert_eq!(with.text.matches("#[ignore = \"slow\"]").count(), 3);
        }
    }
}
