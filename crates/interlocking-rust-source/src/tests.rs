//! Checks of files as agents write them.

use crate::*;

fn markers() -> StubMarkers {
    StubMarkers::parse(["todo!()", "unimplemented!()"]).unwrap()
}

fn functions(text: &str) -> Vec<(String, Option<bool>)> {
    let found = public_functions("src/lib.rs", text, &markers()).unwrap();
    found.into_iter().map(|function| (function.name, function.is_stub)).collect()
}

/// HY-154, HY-158, TC-05: bodies that are stubs are recognised; strings and comments that mention stubs are not stubs.
#[test]
fn stubs_are_recognised_by_their_only_statement() {
    let cases = [
        ("todo!()", true),
        ("todo!();", true),
        ("todo!(\"later\")", true),
        ("unimplemented!(\"{}\", 1)", true),
        ("std::todo!()", true),
        ("return todo!()", true),
        ("{ todo!() }", true),
        ("let _ = (a, &self.b); todo!()", true),
        ("// todo!()\n 1", false),
        ("\"todo!()\".len()", false),
        ("println!(\"todo!()\"); 1", false),
        ("let _ = launch(a); todo!()", false),
        ("if a { return 1 } todo!()", false),
        ("todo!(); 1", false),
        ("a.todo()", false),
        ("panic!()", false),
        ("", false),
    ];
    for (body, expected) in cases {
        let text = format!("pub fn f(a: bool) {{ {body} }}");
        assert_eq!(functions(&text), [("f".to_owned(), Some(expected))], "{body}");
    }
}

/// TC-05: the markers are configurable, with exact arguments if they have any.
#[test]
fn markers_are_configured_as_they_stand_in_a_body() {
    let markers = StubMarkers::parse(["panic!(\"stub\")", "undefined()"]).unwrap();
    let is_stub = |body: &str| {
        let text = format!("pub fn f() {{ {body} }}");
        public_functions("src/lib.rs", &text, &markers).unwrap()[0].is_stub == Some(true)
    };
    assert!(is_stub("panic!(\"stub\")") && is_stub("undefined()"));
    assert!(!is_stub("panic!(\"other\")") && !is_stub("undefined(1)") && !is_stub("todo!()"));
    assert_eq!(StubMarkers::parse(["todo!("]).unwrap_err().marker, "todo!(");
}

/// CON-95, HY-161: only functions that can be called from outside count.
#[test]
fn public_functions_are_those_others_can_call() {
    let text = r#"
        pub use inner::exposed;
        pub fn free() { todo!() }
        fn private() {}
        pub(crate) fn crate_only() {}
        pub struct Stack;
        struct Hidden;
        impl Stack {
            pub fn push(&mut self) { todo!() }
            fn grow(&mut self) {}
        }
        impl Hidden { pub fn out_of_reach(&self) {} }
        impl Default for Stack { fn default() -> Self { Stack } }
        pub trait Tall { fn height(&self) -> usize; fn is_tall(&self) -> bool { true } #[cfg(test)] fn measured(&self) {} }
        mod inner { pub fn exposed() {} }
        mod secret { pub fn unreachable() {} }
        pub mod deep { pub fn reachable() {} }
        #[cfg(test)] mod tests { pub fn helper() {} }
        #[cfg(test)] pub fn for_tests() {}
    "#;
    let expected = [
        ("free", Some(true)),
        ("Stack::push", Some(true)),
        ("Tall::height", None),
        ("Tall::is_tall", Some(false)),
        ("inner::exposed", Some(false)),
        ("deep::reachable", Some(false)),
    ];
    assert_eq!(functions(text), expected.map(|(name, stub)| (name.to_owned(), stub)));
}

/// HY-154, HY-161: a type's methods count wherever they are, and so do functions that are re-exported in a roundabout way.
#[test]
fn what_private_modules_give_to_public_types_counts() {
    for (text, expected) in [
        ("pub struct Stack; mod imp { impl super::Stack { pub fn push(&mut self) {} } }", &["Stack::push"][..]),
        ("pub struct Stack; mod imp { use super::*; impl Stack { pub fn push(&mut self) {} } }", &["Stack::push"]),
        ("pub struct S; mod a { mod b { use crate::S as T; impl T { pub fn push(&mut self) {} } } }", &["S::push"]),
        ("pub mod a { pub struct S<T>(T); mod b { impl<T> super::S<T> { pub fn f() {} } } }", &["a::S::f"]),
        ("mod imp { impl crate::other::Stack<u8> { pub fn push(&mut self) {} } }", &["imp::Stack::push"]),
        ("mod inner { pub fn f() {} pub fn g() {} } use inner as i; pub use i::f;", &["inner::f"]),
        ("mod a { pub(crate) mod b { pub struct S; impl S { pub fn f() {} } } } pub use a::b::S;", &["a::b::S::f"]),
        ("struct Hidden; mod imp { impl super::Hidden { pub fn push(&mut self) {} } }", &[]),
        ("mod node { pub struct Node; impl Node { pub fn new() {} } pub trait T { fn f(); } }", &[]),
        ("pub struct Stack; mod imp { impl super::Stack { pub(crate) fn push(&mut self) {} } }", &[]),
        ("pub struct Stack; #[cfg(test)] mod tests { impl super::Stack { pub fn push(&mut self) {} } }", &[]),
    ] {
        let names: Vec<_> = functions(text).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, expected, "{text}");
    }
}

/// A `<` of an operator opens no brackets, so each entry of a table ends at its comma.
#[test]
fn a_table_of_shifts_and_comparisons_is_not_nested() {
    let entries = |entry: &dyn Fn(usize) -> String| (0..2 * MAX_DEPTH).map(entry).collect::<Vec<_>>().join(", ");
    for table in [
        entries(&|at| format!("1 << {at}")),
        entries(&|at| format!("BIT << {at}")),
        entries(&|_| "1 << BIT".to_owned()),
        entries(&|at| format!("{at} < HEIGHT")),
    ] {
        assert_eq!(functions(&format!("const T: [u8; 4096] = [{table}];")), [], "{}", &table[..20]);
    }
}

#[test]
fn a_file_that_is_not_rust_is_refused_with_its_place() {
    let error = public_functions("src/lib.rs", "pub fn f() {}\npub fn {}", &markers()).unwrap_err();
    assert_eq!((error.line, error.column), (2, 8));
    assert!(error.to_string().starts_with("src/lib.rs:2:8: not valid Rust"), "{error}");
}

/// HY-154: functions that a macro may define, and methods that a body gives to a type, are missing from the list of functions.
#[test]
fn what_can_make_functions_out_of_sight_is_found() {
    let stack = "pub struct Stack;\nimpl Stack {\n pub fn push(&mut self) { todo!() }\n}\n";
    let hidden = |more: &str, allowed: &[String]| -> Vec<(usize, String)> {
        let text = format!("{stack}{more}");
        assert_eq!(functions(&text), [("Stack::push".to_owned(), Some(true))], "{more}");
        let found = hidden_functions("src/lib.rs", &text, &markers(), allowed).unwrap();
        found.into_iter().map(|found| (found.line, found.construct)).collect()
    };
    let pop = "impl Stack { pub fn pop(&mut self) -> u8 { 1 } }";
    for (more, line, construct) in [
        (format!("macro_rules! make {{ () => {{ {pop} }} }}\nmake!();"), 6, "make!"),
        ("helper::make! { Stack }".to_owned(), 5, "make!"),
        ("mod inner {\n make!();\n}".to_owned(), 6, "make!"),
        ("impl Stack {\n methods!();\n}".to_owned(), 6, "methods!"),
        ("trait Pops {\n methods!();\n}".to_owned(), 6, "methods!"),
        (format!("macro_rules! thread_local {{ () => {{ {pop} }} }}\nthread_local!();"), 6, "thread_local!"),
        ("const _: () = {\n make!{}\n};".to_owned(), 6, "make!"),
        ("fn hidden() -> u8 {\n make!() + 1\n}".to_owned(), 6, "make!"),
        ("fn hidden() {\n println!(\"{}\", make!())\n}".to_owned(), 6, "make!"),
        (format!("const _: () = {{\n {pop}\n}};"), 6, "impl within a body"),
        (format!("fn hidden() {{\n {pop}\n}}"), 6, "impl within a body"),
        (format!("fn hidden() {{\n println!(\"{{}}\", {{ {pop} 1 }})\n}}"), 6, "impl within a body"),
        // Another macro than the standard library's `todo!`, so that what looks like a stub is an implementation.
        ("macro_rules! todo { () => { return }; }".to_owned(), 3, "todo!"),
        ("macro_rules! r#todo { () => { return }; }".to_owned(), 3, "todo!"),
        ("use helper::make as todo;".to_owned(), 3, "todo!"),
        ("use helper::make as r#todo;".to_owned(), 3, "todo!"),
        ("use std::{fmt, dbg as todo};".to_owned(), 3, "todo!"),
        ("use ::core::assert as todo;".to_owned(), 3, "todo!"),
    ] {
        assert_eq!(hidden(&more, &[]), [(line, construct.to_owned())], "{more}");
        assert_eq!(hidden(&more, &[construct.to_owned()]), [], "{more}");
    }
    for more in [
        "macro_rules! unused { () => {} }",
        "thread_local! { static HEIGHT: u8 = 1; }",
        "use std::{fmt::Write, todo}; fn private() -> Vec<u8> { vec![1] }",
        "fn private() { println!(\"{}\", 1); struct Inner; impl Default for Inner { fn default() -> Self { Self } } }",
        "#[cfg(test)] mod tests { make!(); }",
    ] {
        assert_eq!(hidden(more, &[]), [], "{more}");
    }
}
