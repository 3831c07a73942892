//! Every refused construct, in every way to write it.

use super::{Side, refused_constructs};

fn refused(text: &str) -> Vec<String> {
    let found = refused_constructs("src/lib.rs", text, Side::Implementation, &[]).unwrap();
    found.into_iter().map(|found| found.construct).collect()
}

fn refused_in_tests(text: &str) -> Vec<String> {
    let found = refused_constructs("tests/p.rs", text, Side::Tests, &[]).unwrap();
    found.into_iter().map(|found| found.construct).collect()
}

#[test]
fn a_module_is_found_however_it_is_named() {
    for text in [
        "fn f() { std::process::exit(0) }",
        "fn f() { ::std::process::exit(0) }",
        "fn f() { std :: r#process :: exit(0) }",
        "use std::process;",
        "use std::{fmt, process::exit};",
        "use {std::process::exit as leave};",
        "pub use core::fmt; mod m { pub(crate) use ::std::process::*; }",
        "macro_rules! m { () => { std::process::exit(0) } }",
        "fn f() { m!({ std::process::exit(0) }) }",
        "fn f() { println!(\"{}\", std::process::id()) }",
        "type T = <std::process::ExitCode as Into<u8>>::X;",
        "#[serde(default = \"std::process::abort\")] struct S;",
        "#[serde(default = r#\"std::process::abort\"#)] struct S;",
        r#"#[serde(default = "\x73td::process::abort")] struct S;"#,
        r#"#[serde(default = "\u{73}td::pro\u{63}ess::abort")] struct S;"#,
        "fn f() { other::__private::std::process::exit(0) }",
    ] {
        assert_eq!(refused(text), ["std::process"], "{text}");
    }
}

#[test]
fn the_library_under_another_name_is_refused() {
    for (text, construct) in [
        ("use std as s;", "std"),
        ("use core as c;", "core"),
        ("use ::std;", "std"),
        ("use std::*;", "std"),
        ("use std::{self};", "std::self"),
        ("fn f() { m!(std) }", "std"),
        ("fn f() { m!(core, process) }", "core"),
        ("macro_rules! m { ($a:ident) => { std::$a::exit(0) } }", "std"),
        ("fn f() { paste::paste!{ std::[<pro cess>]::exit(0) } }", "std"),
    ] {
        assert_eq!(refused(text), [construct], "{text}");
    }
    assert_eq!(refused("extern crate std as s;"), ["extern", "std"]);
}

#[test]
fn what_is_more_than_safe_rust_is_refused() {
    for (text, construct) in [
        ("fn f() { unsafe { g() } }", "unsafe"),
        ("macro_rules! m { () => { unsafe { g() } } }", "unsafe"),
        ("#[unsafe(no_mangle)] pub fn f() {}", "#[no_mangle]"),
        ("#[cfg_attr(all(), no_mangle)] pub fn f() {}", "#[no_mangle]"),
        ("extern \"C\" { fn exit(code: i32) -> !; }", "extern"),
        ("#[global_allocator] static A: S = S;", "#[global_allocator]"),
        ("#[path = \"other.txt\"] mod other;", "#[path]"),
        ("include!(\"other.txt\");", "include!"),
        ("#![doc = include_str!(\"../tests/p.rs\")]", "include_str!"),
        ("fn f() { core::arch::asm!(\"\") }", "std::arch"),
        ("use std::alloc::GlobalAlloc;", "std::alloc"),
        ("fn f() { libc::_exit(0) }", "libc"),
        ("use ::libc::_exit;", "libc"),
        ("#[ctor::ctor] fn f() {}", "#[ctor]"),
        ("#[serde(default = \"libc::abort\")] struct S;", "libc"),
    ] {
        assert!(refused(text).iter().any(|found| found == construct), "{text}: {:?}", refused(text));
    }
}

#[test]
fn who_looks_at_failures_or_at_who_calls_is_refused() {
    for (text, construct) in [
        ("fn f() { std::panic::catch_unwind(|| ()) }", "std::panic"),
        ("use std::thread::*; fn f() -> bool { panicking() }", "panicking"),
        ("fn f() { std::thread::panicking(); }", "panicking"),
        ("fn f() { core::panic::Location::caller(); }", "std::panic"),
        ("fn f() { std::env::args(); }", "std::env"),
        ("fn f() { std::backtrace::Backtrace::capture(); }", "std::backtrace"),
        ("fn f() { if cfg!(debug_assertions) { g() } }", "cfg(debug_assertions)"),
        ("fn f() { cfg_select! { debug_assertions => { g() } _ => { h() } } }", "cfg_select!"),
        ("fn f() { std::cfg_select! { debug_assertions => { g() } _ => { h() } } }", "cfg_select!"),
        ("use std::cfg as c; fn f() { if c!(debug_assertions) { g() } }", "cfg!"),
        ("use std::prelude::v1::{cfg_select as c, include as i};", "cfg_select!"),
        ("use std::prelude::v1::{cfg_select as c, include as i};", "include!"),
        ("#[cfg(not(test))] fn f() {}", "cfg(test)"),
        ("#[cfg(test)] use good::f;", "cfg(test)"),
        ("fn f() -> bool { std::thread::current().name() == Some(\"main\") }", "std::thread::current"),
        ("use std::thread; fn f() { thread::current(); }", "std::thread::current"),
        ("use std::thread::{self, current};", "std::thread::current"),
        ("use std::{fmt, thread as t};", "std::thread::current"),
        ("use std::thread::*;", "std::thread::current"),
        ("fn f() { std::thread::r#current(); }", "std::thread::current"),
        ("use std::thread::r#current as c;", "std::thread::current"),
        ("use std::thread::{self, Thread}; fn f() { thread::r#current(); }", "std::thread::current"),
        ("macro_rules! m { ($a:ident) => { ::std::thread::$a() } }", "std::thread::current"),
        ("#[macro_export] macro_rules! assert_eq { () => {} }", "#[macro_export]"),
        ("pub use nothing as assert_eq;", "as assert_eq"),
    ] {
        assert!(refused(text).iter().any(|found| found == construct), "{text}: {:?}", refused(text));
    }
}

#[test]
fn what_follows_a_range_is_code_like_any_other() {
    for (text, construct) in [
        ("fn f() { for _ in 0..std::process::exit(0) {} }", "std::process"),
        ("fn f() { &s[..unsafe { g() }]; }", "unsafe"),
        ("fn f() { S { ..unsafe { h() } }; }", "unsafe"),
        ("fn f() { ..include!(\"x\"); }", "include!"),
        ("fn f() { 0..=libc::getpid(); 0..libc::getpid(); }", "libc"),
    ] {
        assert!(refused(text).iter().any(|found| found == construct), "{text}: {:?}", refused(text));
    }
    assert_eq!(refused("fn f() { 0..x.libc; a.std(); }"), [""; 0]);
}

/// Ordinary code is not refused.
#[test]
fn what_only_computes_is_allowed() {
    let text = "#!/usr/bin/env x\n//! See [`std::process::Command`] and `unsafe`.\n\
        #![forbid(unsafe_code)]\n\
        use std::collections::{BTreeMap, HashMap};\nuse std::{fmt::{self, Display}, sync::Arc, io};\nuse core::cmp::Ordering;\n\
        use crate::process::run; use self::env::Environment; use std::thread::{self, JoinHandle};\n\
        fn count(thread: u8) -> usize { thread::scope(|_| thread as usize) }\n\
        #[derive(Debug, Clone)] pub struct Location { process: u32 }\n\
        #[derive(thiserror::Error, Debug)] #[error(\"std::process is not for {0}\")] struct E(u8);\n\
        #[cfg(feature = \"std\")] impl Display for Location { fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {\n\
        let core = self.process != 1; if core { write!(f, \"{}\", std::any::type_name::<Self>()) } else { std::panic!(\"no\") } } }\n\
        #[cfg(test)]\n#[allow(dead_code)]\nmod tests { #[test] fn t() { assert_eq!(f64::EPSILON.exit(), std::f64::EPSILON); } }\n\
        fn process(path: &str) { let (env, cfg) = (1, 2); let sum = env as u8 + cfg as u8; let env = path; env.unsafe_code(); std::println!(\"{env}\"); }\n";
    assert_eq!(refused(text), [""; 0]);
}

/// A macro's rules can take its arguments apart, drop some of them, and put the others anywhere.
#[test]
fn what_a_macro_makes_of_its_arguments_is_refused() {
    let call = "macro_rules! m { ($c:ident, $($t:tt)*) => { $c!($($t)*) } }";
    let without_dot = "macro_rules! m { (. $($t:tt)*) => { $($t)* } }";
    let without_crate = "macro_rules! m { (crate:: $($t:tt)*) => { $($t)* } }";
    let attribute = "macro_rules! m { ($a:meta, $($t:tt)*) => { #[$a] $($t)* } }";
    let without_commas = "macro_rules! m { ($($t:tt),*) => { $($t)* } }";
    for (text, construct) in [
        (format!("{call} m!(include, \"notes.txt\");"), "$c!"),
        (format!("{call} fn f() -> bool {{ m!(cfg, debug_assertions) }}"), "$c!"),
        (format!("{without_dot} fn f() {{ m!(. std::process::exit(0)) }}"), "std::process"),
        (format!("{without_dot} fn f() {{ m!(. unsafe {{ g() }}) }}"), "unsafe"),
        (format!("{without_dot} fn f() {{ m!(. libc::getpid()) }}"), "libc"),
        (format!("{without_dot} fn f() {{ m!(. std) }}"), "std"),
        (format!("{without_crate} fn f() {{ m!(crate::std::process::exit(0)) }}"), "std::process"),
        (format!("{without_crate} fn f() {{ m!(crate::libc::getpid()) }}"), "libc"),
        (format!("{attribute} m!(path = \"notes.txt\", mod x;);"), "#[$…]"),
        ("fn f() { x.catch_unwind(); }".to_owned(), "catch_unwind"),
        // The mark comes from the arguments.
        (format!("{without_commas} m!(include, !, (\"notes.txt\"));"), "include!"),
        (format!("{without_commas} m!(macro_rules, !, x, {{}});"), "macro_rules!"),
        (format!("{without_commas} m!(#, [path = \"notes.txt\"], mod, x);"), "#"),
        ("m!(#[inline] path, =, \"notes.txt\");".to_owned(), "#[path]"),
        ("macro_rules! m { ($b:tt) => { include $b (\"notes.txt\") } } m!(!);".to_owned(), "include!"),
        ("macro_rules! m { ($b:tt) => { $(include)? $b (\"notes.txt\") } } m!(!);".to_owned(), "include!"),
        ("macro_rules! m { ($h:tt $a:tt) => { $h [path = \"notes.txt\"] mod x; } } m!(# []);".to_owned(), "#[path]"),
        ("macro_rules! m { ($h:tt) => { n!($h path = \"notes.txt\") } }".to_owned(), "#[path]"),
        // The mark comes after a part.
        ("macro_rules! m { ($($c:ident)*) => { $($c)* !(\"notes.txt\") } } m!(include);".to_owned(), "$…!"),
        ("macro_rules! m { ($($c:ident),*) => { $($c)::* !(\"notes.txt\") } } m!(include);".to_owned(), "$…!"),
        ("paste::paste! { [<inc lude>]!(\"notes.txt\"); }".to_owned(), "$…!"),
        ("macro_rules! m { (#[$a:meta]) => { #[$a] mod x; }; ($a:meta) => { #[$a] mod x; } }".to_owned(), "#[$…]"),
        ("m! { #[cfg(test)] mod t { pub fn f() {} } }".to_owned(), "cfg(test)"),
        // The rules themselves come from arguments.
        ("m!($); macro_rules! n { ($d:tt) => { macro_rules! o { ($d c:ident) => { $d c!() } } } }".to_owned(), "$"),
        ("macro_rules! m { ($n:ident) => { macro_rules! $n { () => {} } } }".to_owned(), "macro_rules! $…"),
        // A macro whose arguments count as code has another meaning.
        ("macro_rules! println { (. $($t:tt)*) => { $($t)* } }".to_owned(), "macro_rules! println"),
        ("macro_rules! m { ($n:ident) => { use m as $n; } } m!(println);".to_owned(), "as $…"),
        (format!("{without_commas} use m as vec; vec!(include, !, (\"notes.txt\"));"), "include!"),
        // In a `use` there are no types.
        ("use std::prelude::v1::include as u8; u8!(\"notes.txt\");".to_owned(), "include!"),
        ("use std::prelude::v1::{fmt, cfg as u8};".to_owned(), "cfg!"),
        ("use std::{fmt, thread as u8};".to_owned(), "std::thread::current"),
    ] {
        assert!(refused(&text).iter().any(|found| found == construct), "{text}: {:?}", refused(&text));
    }
}

/// Macros as they are usually written and called are not refused.
#[test]
fn ordinary_macros_are_allowed() {
    for text in [
        "fn f() { assert_eq!(x.env, cfg.include); vec![a.line(), a.std(1.0)]; println!(\"{} {}\", crate::f(), crate::core::f()); }",
        "fn f() { matches!(x, Kind::Env { env, path } if !env.include(core)); write!(f, \"{}\", path.start as u8)?; }",
        "fn f() { if !(core > 1 && !(x.std() > 0.5)) { return !(env as u8 == cfg as u8); } }",
        "fn f() { ensure!(env.len() != start, \"{path}\"); let v = json!({ \"path\": path, \"cfg\": cfg.used }); info!(?env, \
         link); }",
        "bitflags! { #[derive(Debug)] #[cfg(feature = \"x\")] struct F: u8 { const START = 1 << 0; } }",
        "macro_rules! max { ($x:expr) => { $x }; ($x:expr, $($rest:expr),+ $(,)?) => {{ let a = $x; let b = max!($($rest),+); \
         if a > b { a } else { b } }} }",
        "macro_rules! data { ($(#[$meta:meta])* $vis:vis struct $name:ident { $($(#[$of:meta])* $field:ident : $ty:ty),* \
         $(,)? }) => { $(#[$meta])* #[derive(Debug)] $vis struct $name { $($(#[$of])* pub $field: $ty),* } } } \
         data! { /// It.\n pub struct S { #[serde(default)] a: u8 } }",
        "macro_rules! run { ($env:expr, $path:expr, $std:ident) => {{ let start = $path; let env = $env; if !$path || env != \
         $env { return } $path.include(start, env).$std() }} }",
        "macro_rules! operator { ($trait:ident, $f:ident, $op:tt) => { impl $trait for N { fn $f(self) -> N { N($op self.0 as \
         $trait) } } } } operator!(Not, not, !);",
        "macro_rules! count { () => { 0 }; ($_head:tt $($tail:tt)*) => { 1 + $crate::count!($($tail)*) }; }",
        "use crate::wire::write_all as write; fn f() { write(path); print!(\"{}\", env.core); }",
        "fn f() { quote! { #(#attributes)* #visible struct #name { path: #path } } }",
        "tokio::select! { done = receiver.recv() => println!(\"{done:?}\"), () = sleep() => {} }",
        "proptest! { #[test] fn prop_x(cfg in cfgs(), core in 0..4u8) { prop_assert!(!cfg.env(core), \"{}\", cfg.start); } }",
    ] {
        assert_eq!(refused(text), [""; 0], "{text}");
        assert_eq!(refused_in_tests(text), [""; 0], "{text}");
    }
}

/// A method from an implementation needs no name to be called in the place of another.
#[test]
fn a_module_of_tests_implements_nothing_for_other_code() {
    let code = "pub struct S; trait W { fn limit(&self) -> u32 { 99 } } impl W for S {} \
        macro_rules! limit { () => { impl S { fn limit(&self) -> u32 { 10 } } } } macro_rules! other { () => { limit!() } }";
    let with = |module: &str| format!("{code} #[cfg(test)] mod own {{ use super::*; {module} }}");
    for module in [
        "impl super::S { pub(crate) fn limit(&self) -> u32 { 10 } }",
        "impl S { fn limit(&self) -> u32 { 10 } }",
        "#[test] fn t() { struct S; } impl S { fn limit(&self) -> u32 { 10 } }",
        "#[cfg(any())] struct S; impl S { fn limit(&self) -> u32 { 10 } }",
        "#[r#cfg(any())] struct S; impl S { fn limit(&self) -> u32 { 10 } }",
        "#[cfg(any())] #[derive(Debug)] pub(crate) struct S; impl S { fn limit(&self) -> u32 { 10 } }",
        "type T = super::S; impl T { fn limit(&self) -> u32 { 10 } }",
        "struct T; impl<T> W for T {}",
        "impl W for &S {}",
        "const _: () = { impl S { fn limit(&self) -> u32 { 10 } } };",
        "macro_rules! add { ($t:ty) => { impl $t { fn limit(&self) -> u32 { 10 } } } } add!(S);",
        "limit!();",
        "fn f() { other!(); }",
        "use other as o; o!();",
        "m!(impl S { fn limit(&self) -> u32 { 10 } });",
    ] {
        assert_eq!(refused(&with(module)), ["cfg(test)"], "{module}");
        assert_eq!(refused_in_tests(&with(module)), [""; 0], "{module}");
    }
    for module in [
        "#[derive(Debug)] struct Mock<T>(T); impl<T: Fn(u8) -> u8> Mock<T> { fn new(t: T) -> Self { Mock(t) } } impl<T> W for \
         Mock<T> {}",
        "#[test] fn t() { enum Own {} impl std::fmt::Display for Own {} impl W for &'static mut Own {} }",
        "#[cfg(unix)] fn f() {} #[derive(Debug)] pub(super) struct Mock; impl W for Mock {} fn g() { if cfg!(unix) {} }",
        "trait Filled { fn filled() -> Self; } impl Filled for S { fn filled() -> Self { S } }",
        "fn stacks() -> impl Strategy<Value = S> { Just(S) } fn both(a: impl W) -> (impl W, impl W) { (S, S) }",
        "proptest! { #[test] fn prop_x(s in stacks()) { fn f() -> impl W { S } prop_assert!(f().limit() > 1); } }",
        "macro_rules! case { ($name:ident, $x:expr) => { #[test] fn $name() { assert_eq!($x, 1) } } } case!(one, 1);",
    ] {
        assert_eq!(refused(&with(module)), [""; 0], "{module}");
    }
}

/// If a glob import gives a module of the same name, the code under test would differ from the code in use.
#[test]
fn a_module_of_tests_is_allowed_where_nothing_else_has_its_name() {
    let code = "mod other { pub mod imp { pub fn f() {} } } use other::*;";
    for text in [
        format!("{code} #[cfg(test)] mod imp {{ pub fn f() {{}} }} pub fn push() {{ imp::f() }}"),
        format!("{code} #[cfg(test)] mod imp; fn g() {{ m!(imp) }}"),
        "#[cfg(test)] mod imp { pub fn f() {} } pub fn push() { r#imp::f() }".to_owned(),
    ] {
        assert_eq!(refused(&text), ["cfg(test)"], "{text}");
        assert_eq!(refused_in_tests(&text), [""; 0], "{text}");
    }
    assert_eq!(refused("mod a; use a::*; #[cfg(test)] mod tests { use super::*; }"), [""; 0]);
}

#[test]
fn tests_may_use_files_and_may_not_answer_for_themselves() {
    let allowed = "use std::{fs, path::Path, net::TcpStream}; fn f() { let d = env!(\"CARGO_MANIFEST_DIR\"); }";
    assert_eq!(refused_in_tests(allowed), [""; 0]);
    assert_eq!(refused_in_tests("fn f() { std::thread::current(); }"), [""; 0]);
    for (text, construct) in [
        ("fn f() { std::process::exit(101) }", "std::process"),
        ("fn f() { if include_str!(\"../src/lib.rs\").contains(\"todo\") { panic!() } }", "include_str!"),
        ("fn f() { std::panic::catch_unwind(|| g()); }", "std::panic"),
        ("fn f() { std::env::current_exe(); }", "std::env"),
    ] {
        assert!(refused_in_tests(text).iter().any(|found| found == construct), "{text}");
    }
}

#[test]
fn a_person_allows_by_name_and_a_refusal_says_where_and_why() {
    let text = "\n\nfn f() { std::process::exit(0); unsafe { g() } }";
    let allowed = ["std::process".to_owned()];
    let found = refused_constructs("src/lib.rs", text, Side::Implementation, &allowed).unwrap();
    let [found] = &found[..] else { panic!("{found:?}") };
    let said = "src/lib.rs:3:33: `unsafe` is refused: it can write to the memory of the program that judges it";
    assert_eq!(found.to_string(), said);
    assert!(refused_constructs("src/lib.rs", "fn f( {", Side::Implementation, &[]).is_err());
}
