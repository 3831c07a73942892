//! Which functions properties call, and what they compare.

use super::*;

/// The implementation that the properties below test.
const STACK: &str = "
    pub struct BoundedStack { items: Vec<i64> }
    pub struct Full(pub i64);
    pub struct Tower;
    pub trait Tall { fn top(&self) -> Option<i64>; }
    impl BoundedStack {
        pub fn with_capacity(capacity: usize) -> Self { todo!() }
        pub fn checked(capacity: usize) -> Result<Self, Full> { todo!() }
        pub fn push(&mut self, value: i64) -> Result<(), Full> { todo!() }
        pub fn pop(&mut self) -> Option<i64> { todo!() }
        pub fn height(&self) -> usize { todo!() }
    }
    impl Tall for BoundedStack { fn top(&self) -> Option<i64> { todo!() } }
    pub fn pop() -> i64 { todo!() }
    pub async fn refill() -> BoundedStack { todo!() }
    pub mod towers { impl super::Tower { pub fn build() -> Option<super::Tower> { todo!() } } }
";

const ALL: [&str; 9] = [
    "BoundedStack::with_capacity",
    "BoundedStack::checked",
    "BoundedStack::push",
    "BoundedStack::pop",
    "BoundedStack::height",
    "Tall::top",
    "pop",
    "refill",
    "Tower::build",
];

fn file(tests: &str) -> TestFile {
    let implementation = ("src/lib.rs", STACK);
    TestFile::read(Sources { library: "stack", implementation, tests: ("tests/p.rs", tests), prefix: "prop_" }).unwrap()
}

/// The functions that the file's only property calls, and those that it may call.
fn seen(tests: &str) -> (Vec<&'static str>, Vec<&'static str>) {
    let file = file(tests);
    let [test] = &file.tests[..] else { panic!("{:?}", file.tests) };
    let those = |wanted: fn(&Exercise) -> bool| -> Vec<&'static str> {
        ALL.into_iter().filter(|name| wanted(&file.calls(test, name))).collect()
    };
    (those(|exercise| *exercise == Exercise::Seen), those(|exercise| matches!(exercise, Exercise::Unclear(_))))
}

/// A file with the usual imports and a property with this body.
fn body(body: &str) -> String {
    format!("use stack::{{BoundedStack, Tall}};\n#[test]\nfn prop_x() {{ {body} }}")
}

#[track_caller]
fn check(tests: &str, calls: &[&str], unclear: &[&str]) {
    let (found, perhaps) = seen(tests);
    assert_eq!((&found[..], &perhaps[..]), (calls, unclear), "{tests}");
}

/// TC-12, TC-13: properties are found inside `proptest!` and outside, and only those with the prefix.
#[test]
fn properties_are_found_inside_macros() {
    let text = "
        proptest! {
            #![proptest_config(ProptestConfig::with_cases(3))]
            /// Documented.
            #[test]
            fn prop_one(values in prop::collection::vec(any::<i64>(), 0..4), n: u8) {}
            fn prop_not_a_test(a in 0..1) { prop_assert!(a == 0) }
        }
        mod more {
            #[test]
            fn prop_two() {}
            #[test]
            fn other_test() {}
            fn prop_helper() {}
        }";
    let tests = file(text).tests;
    let names: Vec<_> = tests.iter().map(|test| (test.name.as_str(), test.line)).collect();
    assert_eq!(names, [("prop_one", 6), ("prop_two", 11)]);
}

/// HY-157: a method call counts if the receiver has a type of the contract, wherever the type comes from.
#[test]
fn methods_belong_to_the_type_of_what_they_are_called_on() {
    for made in [
        "let mut s = BoundedStack::with_capacity(1);",
        "let mut s: BoundedStack = make();",
        "let mut s = BoundedStack::checked(1).unwrap();",
        "let Ok(mut s) = BoundedStack::checked(1) else { return };",
        "let (mut s, n) = (BoundedStack::with_capacity(1), 1);",
        "let s = Box::new(BoundedStack::with_capacity(1)); let mut s = s.clone();",
        "let mut all = vec![BoundedStack::with_capacity(1)]; let s = &mut all[0];",
        "let make = |n: usize| BoundedStack::with_capacity(n); let mut s = make(1);",
        "fn made() -> BoundedStack { BoundedStack::with_capacity(1) } let mut s = made();",
        "use stack::BoundedStack as Other; let mut s = Other::with_capacity(1);",
        "type Short = BoundedStack; let mut s = Short::with_capacity(1);",
        "let mut s = <BoundedStack>::with_capacity(1);",
    ] {
        let (calls, unclear) = seen(&body(&format!("{made} let _ = s.push(1);")));
        assert!(calls.contains(&"BoundedStack::push"), "{made}: {calls:?} {unclear:?}");
    }
    check(&body("BoundedStack::push(&mut make(), 1); stack::pop();"), &["BoundedStack::push", "pop"], &[]);
    check(
        &body("assert!(matches!(BoundedStack::checked(1).unwrap().top(), Some(x) if x == 1));"),
        &["BoundedStack::checked", "Tall::top"],
        &[],
    );
    check(
        &body("for s in [BoundedStack::checked(1)].into_iter().flatten() { s.pop(); }"),
        &["BoundedStack::checked"],
        &["BoundedStack::pop"],
    );
}

/// HY-157: a method of the same name on another type does not count.
#[test]
fn methods_of_other_types_do_not_count() {
    for other in [
        "let mut v = Vec::new(); v.push(1); v.pop();",
        "let mut v = vec![1]; v.push(1); let _ = v.clone().pop();",
        "let mut v: std::collections::VecDeque<i64> = make(); v.push(1); v.pop();",
        "let s = BoundedStack; let mut s = Vec::from([1]); s.push(1); s.pop();",
        "let mut all: Vec<BoundedStack> = vec![]; all.push(make()); all.pop();",
        "struct BoundedStack; impl BoundedStack { fn push(&mut self) {} fn pop(&mut self) {} } let mut s = BoundedStack; s.push(); s.pop();",
        "type BoundedStack = Vec<i64>; let mut s = BoundedStack::new(); s.push(1); s.pop();",
        "use std::vec::Vec as BoundedStack; let mut s = BoundedStack::new(); s.push(1); s.pop();",
        "mod stack { pub fn pop() {} } fn pop() {} pop(); stack::pop();",
    ] {
        check(&body(other), &[], &[]);
    }
}

/// Code that only names a function, is in a comment or a string, or is never reached does not call the function.
#[test]
fn names_are_not_calls() {
    for idle in [
        "let _ = BoundedStack::push;",
        "let push = BoundedStack::push;",
        "let push = |s: &mut BoundedStack| s.push(1);",
        "let _ = || BoundedStack::with_capacity(1);",
        "assert_eq!(1, 1, \"BoundedStack::pop()\"); /* stack::pop() */",
        "if false { BoundedStack::with_capacity(1).push(1); }",
        "return; BoundedStack::with_capacity(1).push(1);",
        "fn unused() { BoundedStack::with_capacity(1); }",
        "fn push(_: i64) {} push(1);",
        "let go = |s: &mut BoundedStack| s.push(1); let go = 3; dbg!(go);",
    ] {
        check(&body(idle), &[], &[]);
    }
    for called in [
        "let push = BoundedStack::push; push(&mut make(), 1);",
        "let push = |s: &mut BoundedStack| s.push(1); push(&mut make());",
        "let push: fn(&mut BoundedStack) = |s| drop(s.push(1)); let mut s: BoundedStack = make(); push(&mut s);",
        "(|s: &mut BoundedStack| s.push(1))(&mut make());",
        "let push = |s: &mut BoundedStack| s.push(1); Some(make()).map(push);",
        "fn push(s: &mut BoundedStack) { s.push(1); } Some(make()).map(push);",
    ] {
        check(&body(called), &["BoundedStack::push"], &[]);
    }
    check(&body("(0..3).map(BoundedStack::with_capacity).count();"), &["BoundedStack::with_capacity"], &[]);
}

/// A call that the text does not decide is unclear, with the line and the reason.
#[test]
fn what_cannot_be_seen_is_unclear() {
    for (dark, unclear) in [
        ("let s = somewhere(); s.height();", &["BoundedStack::height"][..]),
        ("fn run<S: Any>(s: S) { s.height(); } run(1);", &["BoundedStack::height"]),
        ("let s: u8 = 1; go!(s.height());", &["BoundedStack::height"]),
        ("std::iter::once(1).map(BoundedStack::with_capacity);", &["BoundedStack::with_capacity"]),
        ("fn ignore<F>(_: F) {} ignore(|| BoundedStack::with_capacity(1));", &["BoundedStack::with_capacity"]),
        ("let make = || BoundedStack::with_capacity(1); drop(make);", &["BoundedStack::with_capacity"]),
        ("let all = vec![|| BoundedStack::with_capacity(1)];", &["BoundedStack::with_capacity"]),
        ("fn made() { BoundedStack::with_capacity(1); } let unused = made;", &["BoundedStack::with_capacity"]),
        ("#[cfg(any())] BoundedStack::with_capacity(1);", &["BoundedStack::with_capacity"]),
        ("#[r#cfg(any())] BoundedStack::with_capacity(1);", &["BoundedStack::with_capacity"]),
        (
            "macro_rules! assert { ($($t:tt)*) => {} } assert!(stack::BoundedStack::with_capacity(1));",
            &["BoundedStack::with_capacity"],
        ),
        ("#[cfg(any())] use stack::BoundedStack as S; S::with_capacity(1);", &["BoundedStack::with_capacity"]),
    ] {
        check(&body(dark), &[], unclear);
    }
    let file = file(&body("\nlet s = somewhere();\ns.height();"));
    let Exercise::Unclear(why) = file.calls(&file.tests[0], "BoundedStack::height") else { panic!() };
    assert_eq!(why, "line 5: what `height` is called on cannot be seen; write its type with `let`");
    // A name that means no function, or several, is unclear.
    assert!(matches!(file.calls(&file.tests[0], "no_such"), Exercise::Unclear(_)));
}

/// The name of a known macro says nothing about the macro if another file may define it.
#[test]
fn a_macro_that_another_file_may_define_cannot_be_looked_into() {
    for other in [
        "#[macro_use] mod support;",
        "#[r#macro_use] mod support;",
        "#[cfg_attr(all(), macro_use)] mod support;",
        "#[macro_use] extern crate stack;",
        "mod support; use support::assert_eq;",
        "mod support; use support::{same as assert_eq};",
        "mod support; use support::{same as r#assert_eq};",
        "use crate::assert_eq;",
        "use stack::assert_eq;",
        "mod own { pub use crate::support::assert_eq; } use own::*;",
    ] {
        let text = format!("{other} #[test] fn prop_x() {{ assert_eq!(stack::BoundedStack::checked(1), 1); }}");
        check(&text, &[], &["BoundedStack::checked"]);
        assert!(!TestFile::asserts(&file(&text).tests[0]), "{other}");
    }
    check(&body("mod m {} m::assert_eq!(stack::BoundedStack::checked(1), 1);"), &[], &["BoundedStack::checked"]);
    for other in [
        "mod support; use support::filled;",
        "mod support; use support::*;",
        "#[macro_use] extern crate proptest;",
        "use pretty_assertions::assert_eq;",
        "use proptest::{prelude::*, prop_assert_eq};",
        "#[macro_use] mod inner { macro_rules! other { () => {} } }",
        "fn assert_eq() {}",
    ] {
        let text = format!("{other} #[test] fn prop_x() {{ assert_eq!(stack::BoundedStack::checked(1), 1); }}");
        check(&text, &["BoundedStack::checked"], &[]);
        assert!(TestFile::asserts(&file(&text).tests[0]), "{other}");
    }
}

/// Asynchronous code runs if it is awaited.
#[test]
fn asynchronous_code_counts_if_it_is_awaited() {
    for later in [
        "let _ = async { stack::pop() };",
        "let later = async move { stack::pop() }; drop(later);",
        "async fn later() { stack::pop(); } let _ = later();",
        "let later = async || stack::pop(); later();",
        "struct S; impl S { async fn later(&self) { stack::pop(); } } S.later();",
        "fn block_on<F>(_: F) {} block_on(async { stack::pop() });",
    ] {
        check(&body(later), &[], &["pop"]);
    }
    check(&body("let _ = stack::refill();"), &[], &["refill"]);
    for at_once in [
        "(async { stack::pop() }).await;",
        "async fn at_once() -> i64 { stack::pop() } at_once().await;",
        "struct S; impl S { async fn at_once(&self) { stack::pop(); } } S.at_once().await;",
        "futures::executor::block_on(async { stack::pop() });",
        "let runtime = tokio::runtime::Runtime::new().unwrap(); runtime.block_on(async { stack::pop() });",
        "async fn at_once() -> i64 { stack::pop() } runtime().block_on(at_once());",
    ] {
        check(&body(at_once), &["pop"], &[]);
    }
    check(&body("let mut s = stack::refill().await; s.push(1);"), &["BoundedStack::push", "refill"], &[]);
}

/// A function that several properties call is the same for each of them.
#[test]
fn a_helper_with_items_in_its_body_serves_every_property() {
    let text = "
        fn run() { struct Own(u8); impl Own { fn call(&self) -> u8 { stack::pop(); self.0 } } Own(1).call(); }
        #[test] fn prop_x() { run() }
        #[test] fn prop_y() { run() }";
    let file = file(text);
    let seen: Vec<_> = file.tests.iter().map(|test| file.calls(test, "pop")).collect();
    assert_eq!(seen, [Exercise::Seen, Exercise::Seen]);
}

/// TC-13, HY-163: calls are found in the arguments of assertions, in strategies, in closures and through the file's own
/// functions.
#[test]
fn calls_are_seen_through_macros_strategies_and_local_functions() {
    let text = "
        use proptest::prelude::*;
        use stack::*;
        fn filled(values: &[i64]) -> BoundedStack {
            let mut stack = BoundedStack::with_capacity(8);
            for value in values { stack.push(*value).unwrap(); }
            stack
        }
        fn stacks() -> impl Strategy<Value = BoundedStack> { any::<Vec<i64>>().prop_map(|values| filled(&values)) }
        proptest! {
            #[test]
            fn prop_x((mut one, others) in (stacks(), prop::collection::vec(stacks(), 1..3)), n: u8) {
                prop_assert_eq!(one.height(), 3, \"{} of {}\", n, others[0].top().is_none());
                others.iter().for_each(|other| { let _: Option<i64> = other.clone().pop(); });
            }
        }";
    let called =
        ["BoundedStack::with_capacity", "BoundedStack::push", "BoundedStack::pop", "BoundedStack::height", "Tall::top"];
    check(text, &called, &[]);
}

/// CON-90, CON-91: an example is checked if the property compares the function's result with the outcome, and contains the
/// input's values.
#[test]
fn an_example_is_checked_by_a_comparison() {
    let checked = |text: &str, input: &str, expected: &str| {
        let file = file(&body(text));
        file.checks(&file.tests[0], "BoundedStack::push", input, expected)
    };
    let made = "let mut s = BoundedStack::with_capacity(1); s.push(4).unwrap();";
    for compares in [
        "assert_eq!(s.push(5), Err(Full(5)));",
        "assert_eq!(Err(stack::Full(5_i64)), s.push(5));",
        "let got = s.push(5); assert!(got == Err(Full(5)), \"{got:?}\");",
        "assert!(matches!(s.push(5), Err(Full(5))));",
        "fn next(s: &mut BoundedStack) -> Result<(), Full> { s.push(5) } prop_assert_eq!(next(&mut s), Err(Full(5)));",
    ] {
        assert_eq!(
            checked(&format!("{made} {compares}"), "push 5 after 4 to 1", "Err(Full(5))"),
            Exercise::Seen,
            "{compares}"
        );
    }
    for (other, input, expected) in [
        ("let _ = s.push(5);", "push 5", "Err(Full(5))"),
        ("let _ = matches!(s.push(5), Err(Full(5)));", "push 5", "Err(Full(5))"),
        ("assert_eq!(s.push(5), Ok(()));", "push 5", "Err(Full(5))"),
        ("assert_eq!(s.push(5), Err(Full(5)));", "push 5 to 3", "Err(Full(5))"),
        ("assert_eq!(s.push(5), Err(Full(5)));", "push 5", "it is refused"),
        ("assert_eq!(s.push(5), Err(Full(5)));", "push 5", "unchanged"),
        ("let v = vec![5]; assert_eq!(v.first(), Some(&5));", "push 5", "Some(5)"),
        ("let r = s.push(5); drop(|| assert_eq!(r, Err(Full(5))));", "push 5", "Err(Full(5))"),
    ] {
        assert!(
            matches!(checked(&format!("{made} {other}"), input, expected), Exercise::Unclear(_)),
            "{other} {input}"
        );
    }
    assert_eq!(checked("assert_eq!(Vec::from([5]).pop(), Some(5));", "push 5", "Some(5)"), Exercise::Absent);
}
