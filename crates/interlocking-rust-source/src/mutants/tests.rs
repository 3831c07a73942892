//! Which mutants are found in which code.

use super::*;

const STACK: &str = "\
pub struct Stack { values: Vec<u8>, capacity: usize }

impl Stack {
    const STEP: usize = 1;

    pub fn push(&mut self, value: u8) -> Result<(), u8> {
        if self.values.len() >= self.capacity {
            return Err(value);
        }
        self.values.push(value);
        Ok(())
    }

    fn slice(&self, from: usize, to: usize) -> Option<&[u8]> {
        assert!(from <= to);
        match self.values.get(from..to) {
            Some(values) if !values.is_empty() => Some(values),
            _ => None,
        }
    }

    fn order(&self) -> i8 {
        let greater = if self.capacity == 0 && true { -1 } else { i8::max(self.capacity as i8, 1) };
        greater % 2
    }
}

#[cfg(all(test, unix))]
mod tests {
    fn helper() -> bool { 1 < 2 }
}

#[test]
fn a_test() { assert!(1 < 2) }
";

fn told(text: &str) -> Vec<String> {
    mutants("src/lib.rs", text).unwrap().iter().map(ToString::to_string).collect()
}

/// Mutants of all seven kinds (HY-95) are found in the file's order; tests and constants have none.
#[test]
fn each_kind_of_change_is_made_where_its_code_stands() {
    let expected = [
        "7:9: in `Stack::push`, `if self.values.len() >= self.capacity { return Err(value); }` is left out (removed check)",
        "7:12: in `Stack::push`, `self.values.len() >= self.capacity` becomes `!(self.values.len() >= self.capacity)` (condition flip)",
        "7:30: in `Stack::push`, `>=` becomes `>` (boundary)",
        "15:9: in `Stack::slice`, `assert!(from <= to)` is left out (removed check)",
        "16:35: in `Stack::slice`, `..` becomes `..=` (boundary)",
        "17:29: in `Stack::slice`, `!` is left out (condition flip)",
        "17:51: in `Stack::slice`, `Some(values)` becomes `None` (wrong branch)",
        "23:26: in `Stack::order`, `self.capacity == 0 && true` becomes `!(self.capacity == 0 && true)` (condition flip)",
        "23:40: in `Stack::order`, `==` becomes `!=` (condition flip)",
        "23:43: in `Stack::order`, `0` becomes `1` (off by one)",
        "23:45: in `Stack::order`, `&&` becomes `||` (changed operator)",
        "23:48: in `Stack::order`, `true` becomes `false` (condition flip)",
        "23:53: in `Stack::order`, `{ -1 }` becomes `{ i8::max(self.capacity as i8, 1) }` (wrong branch)",
        "23:55: in `Stack::order`, `-` is left out (changed operator)",
        "23:56: in `Stack::order`, `1` becomes `2` (off by one)",
        "23:75: in `Stack::order`, `self.capacity as i8, 1` becomes `1, self.capacity as i8` (swapped arguments)",
        "23:96: in `Stack::order`, `1` becomes `2` (off by one)",
        "24:17: in `Stack::order`, `%` becomes `*` (changed operator)",
        "24:19: in `Stack::order`, `2` becomes `3` (off by one)",
    ];
    assert_eq!(told(STACK), expected.map(|told| format!("src/lib.rs:{told}")));
}

/// Every mutant is valid Rust, differs from the original only in its place, and applies only to that text.
#[test]
fn a_mutant_is_made_of_the_text_that_it_was_found_in() {
    for before in ["", "\u{feff}", "#!/usr/bin/env run\n", "// ä€😀\n/* ü */ "] {
        let text = format!("{before}{STACK}");
        let found = mutants("src/lib.rs", &text).unwrap();
        assert_eq!(found.len(), 19, "{before:?}");
        for mutant in found {
            let edit = &mutant.edit;
            let changed = edit.apply(&text).unwrap();
            assert_ne!(changed, text);
            syn::parse_file(&changed).unwrap_or_else(|error| panic!("{mutant}: {error}"));
            let back = Edit { original: edit.replacement.clone(), replacement: edit.original.clone(), ..edit.clone() };
            let back = Edit { range: edit.range.start..edit.range.start + edit.replacement.len(), ..back };
            assert_eq!(back.apply(&changed).as_deref(), Some(&text[..]), "{mutant}");
            let broken = edit.with_compile_error(&text).unwrap();
            let (line, _) = broken.lines().enumerate().find(|(_, line)| line.contains("compile_error!")).unwrap();
            assert!(line < edit.line && syn::parse_file(&broken).is_ok(), "{mutant}: {broken}");
            assert_eq!(edit.apply(&format!("\n{text}")), None, "{mutant}");
        }
    }
}

/// Code that may not be compiled, and code in types, macros or constants, has no mutants.
#[test]
fn what_is_no_code_of_a_body_is_left_alone() {
    let told_of = |body: &str| told(&format!("fn f() {{ {body} }}"));
    for body in [
        "const A: usize = 1 + 1;",
        "let _: [u8; 4] = [b; 2 + 2];",
        "g::<{ 1 + 1 }>();",
        "vec![1 < 2];",
        "let _ = const { 1 + 1 };",
        "match a { 1 | 2..=3 => b, _ => b }",
        "#[cfg(unix)] g(a < b);",
        "match a { #[cfg(unix)] b => c, d => e }",
        "if let Some(a) = b && c { d }",
        "while let Some(a) = b { d }",
        "match a { B(c) => d, E(f) => f }",
        "if a { b } else if let c = d { e }",
        "g(a /* // */, b);",
        "match a { b => c // d\n, _ => e }",
    ] {
        let left = told_of(body);
        let left: Vec<_> = left.iter().filter(|told| !told.contains("`a` becomes `!(a)`")).collect();
        assert!(left.is_empty(), "{body}: {left:?}");
    }
    let in_block = told_of("#[cfg(unix)] { g(a < b) }");
    assert_eq!(in_block.len(), 1, "a block of its own tells whether it is compiled: {in_block:?}");
    assert_eq!(told("#![cfg(test)] fn f() { a < b; }"), [""; 0]);
    assert_eq!(told("#[cfg(any(test, all(unix, test)))] mod m { fn f() { a < b; } }"), [""; 0]);
    assert_eq!(told("#[cfg(any(test, unix))] fn f() { a < b; } #[cfg(not(test))] fn g() { a < b; }").len(), 2);
    assert_eq!(told("fn f() { fn g() { a < b; } }"), ["src/lib.rs:1:21: in `f::g`, `<` becomes `<=` (boundary)"]);
}

#[test]
fn checks_of_every_form_are_left_out() {
    for (body, original, replacement) in [
        ("if a { return; } b", "if a { return; }", ""),
        ("loop { if a { continue } b; }", "if a { continue }", ""),
        ("if let A(b) = c { panic!(\"d\") } e", "if let A(b) = c { panic!(\"d\") }", ""),
        ("debug_assert_eq!(a, b);", "debug_assert_eq!(a, b)", ""),
        ("a.check()?; b", "a.check()?", "let _ = a.check()"),
        ("if a { b(); } c", "", ""),
        ("if a { return } else { b } c", "", ""),
        ("let x = a?;", "", ""),
    ] {
        let found = mutants("src/lib.rs", &format!("fn f() {{ {body} }}")).unwrap();
        let removed: Vec<_> = found.iter().filter(|mutant| mutant.kind == MutationKind::RemovedCheck).collect();
        let removed: Vec<_> = removed.iter().map(|m| (&m.edit.original[..], &m.edit.replacement[..])).collect();
        let expected: &[_] = if original.is_empty() { &[] } else { &[(original, replacement)] };
        assert_eq!(removed, expected, "{body}");
    }
}

/// The list stays small, however many mutants a file could have and however long the names of its functions are.
#[test]
fn the_list_is_bounded() {
    let many = format!("fn f() {{ {} }}", "a < b; ".repeat(3 * MAX_MUTANTS));
    assert_eq!(mutants("src/lib.rs", &many).unwrap().len(), MAX_MUTANTS);
    let long = format!("fn {}() {{ a < b; }}", "f".repeat(600));
    assert_eq!(told(&long), [""; 0]);
    let wide = format!("fn f() {{ if {} {{ return; }} }}", "a && ".repeat(600) + "b");
    assert!(mutants("src/lib.rs", &wide).unwrap().iter().all(|mutant| mutant.edit.original == "&&"));
}

#[test]
fn a_sample_is_spread_over_the_list() {
    let all = mutants("src/lib.rs", STACK).unwrap();
    let lines = |most| sample(&all, most).iter().map(|mutant| mutant.edit.line).collect::<Vec<_>>();
    assert_eq!(lines(3), [7, 17, 23]);
    assert_eq!(lines(19), lines(100));
    assert!(lines(0).is_empty() && sample(&[], 3).is_empty());
}

/// A claimed change must be to code of the named function, and to exactly one place of it.
#[test]
fn a_claimed_change_is_found_or_refused() {
    let claim = |function: &str, original: &str, replacement: &str| {
        claimed_edit("src/lib.rs", STACK, function, original, replacement).map_err(|error| error.to_string())
    };
    for function in ["push", "Stack::push"] {
        let edit = claim(function, " >= ", ">").unwrap();
        assert_eq!(edit.to_string(), "src/lib.rs:7:30: in `Stack::push`, `>=` becomes `>`");
        assert_eq!(edit, mutants("src/lib.rs", STACK).unwrap()[2].edit);
    }
    let refused = [
        (
            "pop",
            "a",
            "b",
            "src/lib.rs has no function `pop`, or several; it has Stack::push, Stack::slice, Stack::order: name one of these",
        ),
        (
            "a_test",
            "1",
            "2",
            "src/lib.rs has no function `a_test`, or several; it has Stack::push, Stack::slice, Stack::order: name one of these",
        ),
        (
            "push",
            "STEP",
            "b",
            "`STEP` does not stand in the body of `Stack::push` in src/lib.rs: quote it as it is written there",
        ),
        (
            "push",
            "",
            "b",
            "`` does not stand in the body of `Stack::push` in src/lib.rs: quote it as it is written there",
        ),
        (
            "push",
            "value",
            "b",
            "`value` stands more than once in the body of `Stack::push` in src/lib.rs, in the lines 7, 8, 10, 10: quote more of what is around it",
        ),
        (
            "push",
            ">=",
            " >= ",
            "the change to `Stack::push` in src/lib.rs is none: give a replacement that is other code than the original",
        ),
    ];
    for (function, original, replacement, said) in refused {
        assert_eq!(claim(function, original, replacement).unwrap_err(), said);
    }
    let hidden = "fn f() { #[cfg(unix)] g(a < b);\n { held } }";
    let error = claimed_edit("src/lib.rs", hidden, "f", "<", "<=").unwrap_err();
    assert!(matches!(error, ClaimError::Conditional { line: 1, .. }), "{error}");
    claimed_edit("src/lib.rs", hidden, "f", "held", "d").unwrap();
    // HY-08: the replacement must be code, and differ from the original in more than comments.
    let commented = "fn f() { // a < b\n held /* twice */\n}";
    for (original, replacement) in [("a < b", "a > b"), ("held", "held // now"), ("held /* twice */", "held held")] {
        let error = claimed_edit("src/lib.rs", commented, "f", original, replacement).unwrap_err();
        match replacement {
            "held held" => {
                assert!(matches!(error, ClaimError::NotCode { .. }), "{error}");
                assert!(error.to_string().starts_with("with the change to `f`, src/lib.rs:2:"), "{error}");
            }
            _ => assert!(matches!(error, ClaimError::Unchanged { .. }), "{original}: {error}"),
        }
    }
    let text = "fn f() { \"".to_owned() + &"x ".repeat(500) + "\" }";
    let error = claimed_edit("src/lib.rs", &text, "f", &format!("{}\n", "y ".repeat(500)), "").unwrap_err();
    assert!(error.to_string().len() < 300 && !error.to_string().contains('\n'), "{error}");
}
