//! Distinguishes changes from formatting.

use super::*;

/// What a rebase has rewritten that found a file as `before`, on both sides, and left it as `after`.
fn changed(before: &str, after: &str) -> Vec<ChangedFunction> {
    let versions = Rebased { old_base: before, old_tip: before, new_base: before, merged: None, new_tip: after };
    rewritten_by_rebase("src/lib.rs", versions).unwrap()
}

fn changes(before: &str, after: &str) -> Vec<(String, CodeChange)> {
    changed(before, after).into_iter().map(|changed| (changed.name, changed.change)).collect()
}

fn of_body(before: &str, after: &str) -> bool {
    match &changes(&format!("fn f() {{ {before} }}"), &format!("fn f() {{ {after} }}"))[..] {
        [] => false,
        [(name, CodeChange::Body)] if name == "f" => true,
        other => panic!("{before} {after} {other:?}"),
    }
}

/// V3-103, TC-07: formatting, comments and lints do not change a body.
#[test]
fn formatting_is_no_change() {
    for (before, after) in [
        ("let x=1;x+1", "let x = 1; // one more\n    x + 1"),
        ("g(a, b,)", "g(a, b)"),
        ("g::<A, B,>(a,)", "g::<A, B>(a)"),
        ("x.g(a,)", "x.g(\n    a\n)"),
        ("S { a, b, }", "S { a, b }"),
        ("vec![1, 2,]", "vec![1, 2]"),
        ("println!(\"{}\", a,)", "println!(\"{}\",a)"),
        ("assert!(x=-1, a&&b)", "assert!(x = -1, a && b)"),
        ("match a { A => 1, B => { 2 } }", "match a { A => { 1 } B => 2, }"),
        ("match a { | A | B => 1 }", "match a { A | B => 1, }"),
        ("g(|x| { x + 1 })", "g(|x| x + 1)"),
        ("(a + b) * (c)", "(a + b) * c"),
        ("return 1;", "return 1"),
        ("if a { return; }", "if a { return }"),
        ("#[allow(unused)] let a = 1; a", "let a = 1; a"),
        ("let v: Vec<Vec<u8>> = g();", "let v: Vec< Vec< u8 > > = g();"),
        ("/** doc */ fn inner() {}", "fn inner() {}"),
    ] {
        assert!(!of_body(before, after), "{before} | {after}");
        assert!(!of_body(after, before), "{after} | {before}");
    }
}

/// V3-103: every change of meaning counts, however small.
#[test]
fn another_meaning_is_a_change() {
    for (before, after) in [
        ("x + 1", "x + 2"),
        ("1u8", "1u16"),
        ("a && b", "a & &b"),
        ("(a + b) * c", "a + b * c"),
        ("g((a,))", "g((a))"),
        ("a || { b || c } && d", "a || b || c && d"),
        ("a; b", "b; a"),
        ("match a { A => 1, B => 2 }", "match a { B => 2, A => 1 }"),
        ("{ a }", "a"),
        ("a;", "a"),
        ("println!(\"a\")", "println!(\"b\")"),
        ("if a { b }", "if !a { b }"),
        ("#[cfg(unix)] a();", "a();"),
        ("x.g(a)", "g(x, a)"),
        ("loop {}", "'a: loop {}"),
        ("fn inner() { 1 }", "fn inner() { 2 }"),
    ] {
        assert!(of_body(before, after), "{before} | {after}");
    }
}

/// V3-103: functions are identified by their modules and by the type or trait of a method; order makes no difference.
#[test]
fn what_changed_is_named_with_its_place() {
    let before = "const LIMIT: u8 = 1;\nmacro_rules! make { () => { 1 } }\nfn a() {}\nfn gone() {}\n\
        mod inner { impl<T> Stack<T> { fn push(&mut self) { 1; } } impl Show for Stack<u8> { fn show(&self) { 1; } } }\n\
        trait T { const D: u8 = 1; fn t(&self) { 1; } }\n#[cfg(test)] mod tests { #[test] fn checks() { assert!(true) } }";
    let after = "trait T { fn t(&self) { 2; } const D: u8 = 2; }\nfn a(x: u8) {}\nfn new() {}\n\
        mod inner { impl Show for Stack<u8> { fn show(&self) { 2; } } impl<T> Stack<T> { fn push(&mut self) { 2; } } }\n\
        macro_rules! make { () => { 2 } }\nconst LIMIT: u8 = 2;\n#[cfg(test)] mod tests { #[test] fn checks() { } }";
    let said: Vec<_> = changed(before, after).iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "src/lib.rs:1:11: `T::t` has another body",
            "src/lib.rs:1:36: `T::D` has another body",
            "src/lib.rs:3:1: `new` is new",
            "src/lib.rs:4:1: `gone` is gone",
            "src/lib.rs:4:39: `inner::<Stack<u8> as Show>::show` has another body",
            "src/lib.rs:4:82: `inner::Stack<T>::push` has another body",
            "src/lib.rs:5:1: `make!` has another body",
            "src/lib.rs:6:7: `LIMIT` has another body",
            "src/lib.rs:7:34: `tests::checks` has another body",
        ]
    );
}

/// If a condition chooses between two functions of one name, each of them counts.
#[test]
fn variants_of_a_condition_are_kept_apart() {
    let both = "#[cfg(unix)] fn f() { 1; } #[cfg(windows)] fn f() { 2; }";
    assert_eq!(changes(both, "#[cfg(windows)] fn f() { 2; } #[cfg(unix)] fn f() { 1; }"), []);
    assert_eq!(changes(both, "#[cfg(unix)] fn f() { 1; } #[cfg(windows)] fn f() { 1; }").len(), 1);
}

/// V3-102, V3-103, V3-104: after a rebase, each body is that of the branch or of the new base; any other body was written while
/// rebasing.
#[test]
fn logic_that_a_rebase_wrote_is_named() {
    let file = |a: &str, b: &str, more: &str| format!("use x::y;\nfn a() {{ {a} }}\nfn b() {{ {b} }}\n{more}");
    let (old_base, old_tip, new_base) =
        (file("1", "1", ""), file("2", "1", "fn own() {}"), file("1", "3", "fn theirs() {}"));
    let rewritten = |new_tip: &str| -> Vec<(String, CodeChange)> {
        let versions = Rebased { old_base: &old_base, old_tip: &old_tip, new_base: &new_base, merged: None, new_tip };
        let found = rewritten_by_rebase("src/lib.rs", versions).unwrap();
        found.into_iter().map(|found| (found.name, found.change)).collect()
    };
    let named = |name: &str, change| vec![(name.to_owned(), change)];
    let mechanical = file("2", "3", "fn theirs() {}\nfn own() {}").replace("use x::y;", "use z::y as x;");
    assert_eq!(rewritten(&mechanical), []);
    assert_eq!(rewritten(&mechanical.replace("fn a() { 2 }", "fn a(more: u8) { 2 }")), [], "a signature may follow");
    assert_eq!(rewritten(&mechanical.replace("{ 2 }", "{ 4 }")), named("a", CodeChange::Body));
    assert_eq!(rewritten(&mechanical.replace("{ 3 }", "{ 1 }")), named("b", CodeChange::Body), "theirs is lost");
    assert_eq!(rewritten(&mechanical.replace("fn own() {}", "")), named("own", CodeChange::Removed));
    assert_eq!(rewritten(&format!("{mechanical}fn helper() {{}}")), named("helper", CodeChange::Added));
}

/// V3-101: of a function that both have changed, what was merged stays, or what the rebase has put together from both sides.
#[test]
fn of_what_both_have_changed_the_merged_code_stays() {
    let file = |first: &str, last: &str| format!("fn f() {{ {first}; x(); {last}; }}");
    let (old_base, old_tip, new_base) = (file("a()", "b()"), file("a1()", "b()"), file("a()", "b1()"));
    let put_together = file("a1()", "b1()");
    let is_mechanical = |new_tip: &str, merged: Option<&str>| {
        let versions = Rebased { old_base: &old_base, old_tip: &old_tip, new_base: &new_base, merged, new_tip };
        rewritten_by_rebase("src/lib.rs", versions).unwrap().is_empty()
    };
    assert!(is_mechanical(&new_base, None));
    assert!(!is_mechanical(&old_tip, None), "theirs is lost");
    assert!(!is_mechanical(&put_together, None));
    assert!(is_mechanical(&put_together, Some(&put_together)));
    assert!(!is_mechanical("", Some("")), "both are lost");
    assert!(!is_mechanical(&put_together, Some("fn {")), "nothing can be put together");
}
