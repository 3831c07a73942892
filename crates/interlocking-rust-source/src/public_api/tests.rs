//! What the public API contains, and what counts as a change.

use super::*;

fn api(text: &str) -> PublicApi {
    PublicApi::of_file("src/lib.rs", text).unwrap()
}

fn listed(text: &str) -> Vec<(String, String)> {
    api(text).items.into_iter().map(|item| (item.path, item.signature)).collect()
}

fn changes(before: &str, after: &str) -> Vec<String> {
    let changes = api(after).changes_since(&api(before));
    changes.iter().map(ToString::to_string).collect()
}

const STACK: &str = "
    //! A stack.
    use std::fmt::{self, Display};
    pub use inner::Full as IsFull;
    pub use std::cmp::Ordering;
    mod inner {
        /// Why not.
        #[derive(Debug, Clone)] pub struct Full(pub i64, u8);
        impl Full { pub fn value(&self) -> i64 { self.0 } }
        pub struct Unreachable;
        impl Unreachable { pub fn out_of_reach(&self) {} }
    }
    pub struct Stack<T: Clone> { pub name: String, items: Vec<T> }
    impl<T: Clone> Stack<T> {
        pub const LIMIT: usize = 3;
        pub fn push(&mut self, value: T) -> Result<(), IsFull> { Ok(()) }
        pub(crate) fn grow(&mut self) {}
        fn shrink(&mut self) {}
    }
    impl<T: Clone> Display for Stack<T> { fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { Ok(()) } }
    impl<T: Clone> Iterator for Stack<T> { type Item = T; fn next(&mut self) -> Option<T> { None } }
    pub enum Side { Left, Right { by: u8 }, Up(i8) }
    pub trait Tall: Send { const MIN: u8 = 1; type Unit: Clone; fn height(&self) -> usize; fn is_tall(&self) -> bool { true } }
    trait Hidden {}
    impl Hidden for Side {}
    impl Tall for Vec<u8> { type Unit = u8; fn height(&self) -> usize { 1 } }
    pub mod deep { pub fn dive<'a, F>(with: F, mut depth: &'a u8) -> () where F: Fn(u8) -> u8 + 'a, F: Send {} }
    #[cfg(unix)] pub fn only_here() {}
    #[cfg(test)] pub fn for_tests() {}
    pub type Short = Stack<u8>;
    pub static GLOBAL: u8 = 1;
    #[macro_export] macro_rules! make { ($a:expr) => { 1 }; () => { 2 } }
    make_more!(a, b);
    fn body() { impl Side { pub fn from_a_body(self) {} } }
";

/// TC-07, V3-61, V3-80: the public API contains the items that others can name, with their signatures.
#[test]
fn what_others_can_name_is_listed_by_the_path_that_they_know() {
    let expected = [
        ("GLOBAL", "static GLOBAL: u8"),
        ("IsFull", "struct Full(i64, _);"),
        ("IsFull", "impl Clone for Full"),
        ("IsFull", "impl Debug for Full"),
        ("IsFull::value", "fn value(&self) -> i64"),
        ("Ordering", "use std::cmp::Ordering as Ordering"),
        ("Short", "type Short = Stack<u8>"),
        ("Side", "enum Side"),
        ("Side::Left", "Left"),
        ("Side::Right", "Right { by: u8 }"),
        ("Side::Up", "Up(i8)"),
        ("Side::from_a_body", "fn from_a_body(self)"),
        ("Stack", "struct Stack<T> where T: Clone { private fields }"),
        ("Stack", "impl<T> Display for Stack<T> where T: Clone"),
        ("Stack", "impl<T> Iterator for Stack<T> where T: Clone { Item = T }"),
        ("Stack::LIMIT", "impl<T> Stack<T> where T: Clone: const LIMIT: usize"),
        ("Stack::name", "name: String"),
        ("Stack::push", "impl<T> Stack<T> where T: Clone: fn push(&mut self, _: T) -> Result<(), IsFull>"),
        ("Tall", "trait Tall: Send"),
        ("Tall::MIN", "const MIN: u8 = provided"),
        ("Tall::Unit", "type Unit: Clone"),
        ("Tall::height", "fn height(&self) -> usize"),
        ("Tall::is_tall", "fn is_tall(&self) -> bool { provided }"),
        ("Vec<u8>", "impl Tall for Vec<u8> { Unit = u8 }"),
        ("deep", "mod deep"),
        ("deep::dive", "fn dive<'a, F>(_: F, _: &'a u8) where F: 'a, F: Fn(u8) -> u8, F: Send"),
        ("make!", "macro_rules! make { ($a: expr); () }"),
        ("make_more!", "make_more! { a, b }"),
        ("only_here", "#[cfg(unix)] fn only_here()"),
    ];
    assert_eq!(listed(STACK), expected.map(|(path, signature)| (path.to_owned(), signature.to_owned())));
}

/// TC-07: formatting, comments, names of arguments, order, attributes for readers, bodies and private items make no difference.
#[test]
fn what_says_the_same_to_a_caller_is_no_change() {
    for (before, after) in [
        (
            "pub fn f(a: u8, b: u8) -> u8 { a }",
            "/// Documented.\n#[inline] #[must_use]\npub fn f(\n    x: u8, // first\n    mut _y: u8,\n) -> u8 { 1 + 1 }",
        ),
        ("pub fn f() -> () {}", "pub fn f() {}"),
        ("pub fn f<T: A + B>(t: T) {}", "pub fn f<T>(t: T) where T: B, T: A {}"),
        ("pub fn f(v: Vec<Vec<u8>>, g: impl Fn(u8, u8)) {}", "pub fn f(v: Vec< Vec<u8> >, g: impl Fn(u8, u8,)) {}"),
        ("pub extern fn f() {}", "pub extern \"C\" fn f() {}"),
        ("pub fn a() {} pub fn b() {}", "pub fn b() {} fn helper() {} pub fn a() {}"),
        (
            "pub struct S; impl S { pub fn a(self) {} pub fn b(&self) {} }",
            "impl S { pub fn b(&self) {} } pub struct S; impl S { pub fn a(mut self) {} }",
        ),
        ("pub struct S { pub a: u8, pub b: u8, c: u8 }", "pub struct S { d: Vec<u8>, pub b: u8, pub a: u8 }"),
        ("pub enum E { A, B(u8) }", "pub enum E { /** doc */ B(u8), A, }"),
        ("pub fn f() {}", "mod inner { pub fn f() {} } pub use inner::f;"),
        (
            "pub mod m { pub fn f() {} }",
            "mod other { pub fn f() {} pub(crate) fn g() {} } pub mod m { pub use super::other::*; }",
        ),
        ("pub struct S;", "mod a { pub struct S; } use a as b; pub use self::b::S;"),
        ("pub const A: u8 = 1;", "pub const A: u8 = 2;"),
        ("pub trait T { fn f(&self, a: u8); }", "pub trait T { fn f(&self, _: u8,); }"),
        ("pub fn f() {}", "pub fn f() {} pub(crate) fn g() {} pub(super) struct H; mod m { pub fn k() {} }"),
        ("#[macro_export] macro_rules! m { (a) => { 1 } }", "#[macro_export] macro_rules! m { (a) => { 2 }; }"),
        ("#[derive(Debug, Clone)] pub struct S;", "#[derive(Clone)] #[derive(Debug)] pub struct S;"),
        ("pub fn f() {}", "#[cfg_attr(docsrs, doc = \"x\")] pub fn f() {}"),
    ] {
        assert_eq!(changes(before, after), [""; 0], "{before} | {after}");
    }
}

/// TC-07, V3-61, V3-80: everything that a caller would notice is a change.
#[test]
fn what_a_caller_would_notice_is_a_change() {
    for (before, after) in [
        ("pub fn f(a: u8) {}", "pub fn f(a: u16) {}"),
        ("pub fn f(a: u8) {}", "pub fn f(a: u8, b: u8) {}"),
        ("pub fn f() {}", "pub fn f() -> u8 { 1 }"),
        ("pub fn f() {}", "pub async fn f() {}"),
        ("pub fn f() {}", "pub const fn f() {}"),
        ("pub fn f() {}", "pub unsafe fn f() {}"),
        ("pub fn f() {}", "pub(crate) fn f() {}"),
        ("pub fn f() {}", "fn f() {}"),
        ("pub fn f() {}", "pub fn g() {}"),
        ("pub fn f() {}", "#[cfg(feature = \"f\")] pub fn f() {}"),
        ("pub fn f<T: A>(t: T) {}", "pub fn f<T: A + B>(t: T) {}"),
        ("pub fn f<T>(t: T) where T: A {}", "pub fn f<T>(t: T) {}"),
        ("pub fn f(a: (u8,)) {}", "pub fn f(a: (u8)) {}"),
        ("pub struct S; impl S { pub fn f(&self) {} }", "pub struct S; impl S { pub fn f(&mut self) {} }"),
        ("pub struct S; impl S { pub fn f(&self) {} }", "pub struct S; impl S { fn f(&self) {} }"),
        (
            "pub struct S<T>(T); impl<T> S<T> { pub fn f(&self) {} }",
            "pub struct S<T>(T); impl<T: A> S<T> { pub fn f(&self) {} }",
        ),
        ("pub struct S { pub a: u8 }", "pub struct S { pub a: u16 }"),
        ("pub struct S { pub a: u8 }", "pub struct S { pub a: u8, b: u8 }"),
        ("pub struct S(pub u8, u8);", "pub struct S(u8, pub u8);"),
        ("pub struct S;", "#[non_exhaustive] pub struct S;"),
        ("#[derive(Clone)] pub struct S;", "pub struct S;"),
        ("pub struct S; impl A for S {}", "pub struct S;"),
        ("pub struct S; impl A for S { type B = u8; }", "pub struct S; impl A for S { type B = u16; }"),
        ("pub enum E { A }", "pub enum E { A, B }"),
        ("pub enum E { A = 1 }", "pub enum E { A = 2 }"),
        ("pub trait T { fn f(&self); }", "pub trait T { fn f(&self); fn g(&self); }"),
        ("pub trait T { fn f(&self) {} }", "pub trait T { fn f(&self); }"),
        ("pub trait T {}", "pub trait T: Send {}"),
        ("pub type A = u8;", "pub type A = u16;"),
        ("pub use inner::f; mod inner { pub fn f() {} }", "mod inner { pub fn f() {} }"),
        ("pub use inner::f; mod inner { pub fn f() {} }", "pub use inner::f; mod inner { pub fn f(a: u8) {} }"),
        (
            "pub use inner::*; mod inner { pub struct S; impl S { pub fn f(self) {} } }",
            "pub use inner::*; mod inner { pub struct S; impl S { pub fn f(&self) {} } }",
        ),
        ("pub use std::vec::Vec;", "pub use other::Vec;"),
        ("pub use other::*;", ""),
        ("make!(a);", "make!(b);"),
        ("#[macro_export] macro_rules! m { (a) => { 1 } }", "#[macro_export] macro_rules! m { (b) => { 1 } }"),
        ("mod m { #[macro_export] macro_rules! m { (a) => { 1 } } }", ""),
        ("pub const A: u8 = 1;", "pub const A: u16 = 1;"),
        ("pub mod m {}", "mod m {}"),
        ("pub struct S; mod m { impl super::S { pub fn f(&self) {} } }", "pub struct S;"),
        ("pub struct S; fn g() { impl S { pub fn f(&self) {} } }", "pub struct S; fn g() {}"),
        ("pub fn r#fn() {}", "pub fn r#type() {}"),
    ] {
        assert_ne!(changes(before, after), [""; 0], "{before} | {after}");
    }
}

/// V3-61, V3-80: a method belongs to its type, wherever its `impl` block is and whichever name the block gives the type.
#[test]
fn methods_are_found_wherever_they_are_given() {
    const SECRET: &str = "{ pub fn secret(&self) {} }";
    let inside = |path: &str| format!("{{ impl {path} {SECRET} }}");
    for text in [
        format!("type S = Stack; impl S {SECRET}"),
        format!("mod m {{ pub type T = super::S; }} type S = (Stack); impl m::T {SECRET}"),
        format!("use self::S as R; type S = Stack; impl R {SECRET}"),
        format!("static A: u8 = {{ impl Stack {SECRET} 1 }};"),
        format!("const A: u8 = {{ impl Stack {SECRET} 1 }};"),
        format!("struct A([u8; {{ impl Stack {SECRET} 1 }}]);"),
        format!("union A {{ a: [u8; {{ impl Stack {SECRET} 1 }}] }}"),
        format!("enum A {{ B = {{ impl Stack {SECRET} 1 }} }}"),
        format!("type A = [u8; {{ impl Stack {SECRET} 1 }}];"),
        format!("trait A {{ fn a() {} }}", inside("Stack")),
        format!("trait A {{ const A: u8 = {{ impl Stack {SECRET} 1 }}; }}"),
        format!("struct A; impl A {{ const A: u8 = {{ impl Stack {SECRET} 1 }}; }}"),
        format!("fn f() {{ fn g() {} }}", inside("Stack")),
        format!("fn f() {{ mod m {} }}", inside("super::Stack")),
        format!("fn f() {{ mod m {{ use super::Stack as Other; fn g() {{ mod n {} }} }} }}", inside("super::Other")),
    ] {
        let paths: Vec<_> = api(&format!("pub struct Stack; {text}")).items.into_iter().map(|item| item.path).collect();
        assert!(paths.contains(&"Stack::secret".to_owned()), "{text}: {paths:?}");
    }
    // Methods of a type that others cannot name, of a test, and of aliases that lead nowhere.
    for text in [
        format!("type S = Private; struct Private; impl S {SECRET}"),
        format!("fn f() {{ #[cfg(test)] impl Stack {SECRET} #[cfg(test)] mod m {} }}", inside("super::Stack")),
        "type S = T; type T = S; struct A; impl A { fn a(&self) { struct Stack; } }".to_owned(),
    ] {
        let paths: Vec<_> = api(&format!("pub struct Stack; {text}")).items.into_iter().map(|item| item.path).collect();
        assert_eq!(paths, ["Stack"], "{text}");
    }
}

/// V3-61, V3-80: a change names its place, the item and the earlier signature.
#[test]
fn a_change_says_where_what_and_what_to_do() {
    let before =
        "pub fn push(value: u8) {}\npub fn pop() {}\n#[cfg(unix)] pub fn f() {}\n#[cfg(windows)] pub fn f() {}";
    let after =
        "\n  pub fn push(value: u16) {}\npub fn peek() {}\n#[cfg(windows)] pub fn f() {}\n#[cfg(unix)] pub fn f() {}";
    assert_eq!(
        changes(before, after),
        [
            "src/lib.rs:3:8: `peek` is new in the interface: `fn peek()`; make it private, or agree on it first",
            "src/lib.rs:2:8: `pop` is gone from the interface: `fn pop()`; put it back",
            "src/lib.rs:2:10: `push` is `fn push(_: u16)` now; it was `fn push(_: u8)`: put that back",
        ]
    );
}

/// A file does not need the files of its modules.
#[test]
fn a_module_in_another_file_counts_by_its_name() {
    let found = PublicApi::of_file("src/lib.rs", "pub mod deep; pub use deep::f;").unwrap();
    let found: Vec<_> = found.items.iter().map(|item| item.path.as_str()).collect();
    assert_eq!(found, ["deep", "f"]);
}

/// Modules that re-export each other are read in finite time, or refused.
#[test]
fn what_goes_round_in_circles_is_read_or_refused() {
    let round = "pub mod a { pub use super::*; pub use super::b::*; pub struct S; } pub mod b { pub use super::a::*; pub use super::b as c; }";
    assert!(api(round).items.iter().any(|item| item.path == "b::S"));
    api("pub use b as a; pub use a as b;");
    api("pub mod a { pub use super::b::*; } pub mod b { pub use super::a::*; } pub use a::nowhere;");
    let all: String = (0..9)
        .map(|at| {
            format!(
                "pub mod m{at} {{ {} pub struct S{at}; }}",
                (0..9).map(|other| format!("pub use super::m{other};")).collect::<String>()
            )
        })
        .collect();
    let error = PublicApi::of_file("src/lib.rs", &all).unwrap_err();
    assert_eq!(error, ApiError::TooMany { path: "src/lib.rs".to_owned() });
}
