//! Every way to write denied code, and code that only looks like it.

use super::*;

fn denied() -> Denied {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Denied {
        unsafe_code: true,
        crates: owned(&["libc", "proc-macro2"]),
        paths: owned(&["std::process", "std::fs::remove_file"]),
    }
}

fn found(text: &str) -> Vec<String> {
    denied_code("src/lib.rs", text, &denied()).unwrap().into_iter().map(|found| found.construct).collect()
}

#[test]
fn a_path_may_be_denied_by_raw_names() {
    let denied = Denied { paths: vec!["std::r#fs".to_owned()], ..Denied::default() };
    let found = denied_code("src/lib.rs", "use std::fs; fn f() {}", &denied).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
}

/// TC-06, V3-62: unsafe code is found in every form, inside macros, and without the word `unsafe`.
#[test]
fn unsafe_code_is_found_in_every_form() {
    for (text, construct) in [
        ("fn f() { unsafe { g() } }", "unsafe"),
        ("unsafe fn f() {}", "unsafe"),
        ("unsafe impl Send for S {}", "unsafe"),
        ("unsafe trait T {}", "unsafe"),
        ("macro_rules! m { () => { unsafe { g() } } }", "unsafe"),
        ("fn f() { m!(a, { unsafe { g() } }) }", "unsafe"),
        ("extern \"C\" { fn g(); }", "extern"),
        ("pub extern \"C\" fn f() {}", "extern"),
        ("#[unsafe(no_mangle)] fn f() {}", "unsafe"),
        ("#[no_mangle] fn f() {}", "no_mangle"),
        ("#[export_name = \"f\"] fn f() {}", "export_name"),
        ("#[cfg_attr(all(), no_mangle)] fn f() {}", "no_mangle"),
        ("#[r#no_mangle] fn f() {}", "no_mangle"),
    ] {
        assert!(found(text).iter().any(|found| found == construct), "{text}: {:?}", found(text));
    }
}

/// TC-06: a denied crate or path is found under every name, and in macros.
#[test]
fn crates_and_paths_are_found_under_every_name() {
    for (text, construct) in [
        ("fn f() { libc::exit(1) }", "libc"),
        ("fn f() { ::libc::exit(1) }", "libc"),
        ("fn f() { r#libc::exit(1) }", "libc"),
        ("use libc;", "libc"),
        ("use libc as c;", "libc"),
        ("use ::libc::{exit as leave, c_int};", "libc"),
        ("use {std::fmt, libc::exit};", "libc"),
        ("pub(crate) use libc::*;", "libc"),
        ("extern crate libc;", "libc"),
        ("extern crate libc as c;", "libc"),
        ("type T = Option<libc::c_int>;", "libc"),
        ("macro_rules! m { (. $($t:tt)*) => { $($t)* } } fn f() { m!(. libc::exit(1)) }", "libc"),
        ("fn f(x: &dyn libc::T) {}", "libc"),
        ("fn f() { m!(libc::exit(1)) }", "libc"),
        ("macro_rules! m { () => { ::libc::exit(1) } }", "libc"),
        ("#[derive(libc::Debug)] struct S;", "libc"),
        ("use proc_macro2::TokenStream;", "proc_macro2"),
        ("fn f() { std::process::exit(1) }", "std::process"),
        ("use core::process;", "std::process"),
        ("use std::{fmt, process::{self, Command}};", "std::process"),
        ("use std as s; fn f() { s::process::exit(1) }", "std::process"),
        ("extern crate std as s; fn f() { s::process::exit(1) }", "std::process"),
        ("use std::*; fn f() { process::exit(1) }", "std::process"),
        ("use std::{self as s}; use s as t; fn f() { t::process::exit(1) }", "std::process"),
        ("use std::fs; fn f() { fs::remove_file(\"a\") }", "std::fs::remove_file"),
        ("use std::fs as files; fn f() { files::remove_file(\"a\") }", "std::fs::remove_file"),
        ("use std::fs::*; fn f() { remove_file(\"a\") }", "std::fs::remove_file"),
        ("use std::fs::remove_file as f;", "std::fs::remove_file"),
        ("mod r#as { pub use std::process; } fn f() { crate::r#as::process::exit(1) }", "std::process"),
        ("use std as r#as; fn f() { self::r#as::process::exit(1) }", "std::process"),
        ("fn f() { x = 0..libc::MAX; }", "libc"),
        ("fn f() { <libc::T as U>::f() }", "libc"),
        ("fn f() -> impl A + use<'a> { libc::exit(1) }", "libc"),
        ("fn f() { m!(use x { libc::exit(1) }) }", "libc"),
        ("use a::{b::{c, d}, e}; fn f() { libc::exit(1) }", "libc"),
        ("fn f() -> ::std::process::ExitCode { x }", "std::process"),
        ("fn f() { match x { _ => ::std::process::exit(1) } }", "std::process"),
        ("fn f() { if x > ::libc::getpid() {} }", "libc"),
        ("struct S(pub ::std::process::Child);", "std::process"),
        ("impl T for ::libc::X {}", "libc"),
        ("fn f() { loop { break ::std::process::exit(1) } }", "std::process"),
        ("use std as s; fn f() { crate::s::process::exit(0) }", "std::process"),
        ("use std as s; fn f() { self::s::process::exit(0) }", "std::process"),
        ("mod m { pub use std as s; } fn f() { m::s::process::exit(0) }", "std::process"),
        ("mod m { pub use std as s; } use self::m as n; fn f() { n::s::process::exit(0) }", "std::process"),
        ("mod m { pub use std::*; } fn f() { m::process::exit(0) }", "std::process"),
        ("use std as s; use s::*; fn f() { process::exit(0) }", "std::process"),
        ("extern crate self as me; use std as s; fn f() { me::s::process::exit(0) }", "std::process"),
    ] {
        assert!(found(text).iter().any(|found| found == construct), "{text}: {:?}", found(text));
    }
}

/// TC-06: names are followed through long chains, in any order, and through cycles.
#[test]
fn names_are_followed_to_their_end() {
    let renames: String = (0..500).map(|at| format!("use s{} as s{at};", at + 1)).collect();
    let text =
        format!("{renames} use std as s500; use a::a; use b as c; use c as b;\nfn f() {{ s0::process::exit(0); }}");
    let found = denied_code("src/lib.rs", &text, &denied()).unwrap();
    let lines: Vec<_> = found.iter().map(|found| (found.construct.as_str(), found.line)).collect();
    assert_eq!(lines, [("std::process", 2)]);
}

/// TC-06: string literals, comments, and other items of the same name do not count.
#[test]
fn what_only_looks_like_it_is_left_alone() {
    let text = "//! unsafe libc::exit\n#![forbid(unsafe_code)]\n/* std::process */\n\
        use std::{fmt, fs::File}; use crate::{a, libc::exit, b::{libc::c}}; use self::process::run; use std::fs;\n\
        extern crate serde;\n\
        fn f(unsafety: u8) { let s = \"unsafe { libc::exit() }\"; x.libc(); x.libc::<u8>(); x.process.exit(); fs::read(\"a\"); process::run(); }\n\
        fn g() { crate::std::process::run(); my::libc::exit(); no_mangle(1); }\n\
        mod m { pub mod process {} } fn h() { m::process::run(); tokio::fs::remove_file(\"a\"); }";
    assert_eq!(found(text), [""; 0]);
    assert_eq!(denied_code("src/lib.rs", "fn f() { unsafe { libc::exit(1) } }", &Denied::default()).unwrap(), []);
}

/// V3-62: a finding states its place, and what to do.
#[test]
fn a_denial_says_where_and_what_to_do() {
    let found =
        denied_code("src/lib.rs", "use std::fs;\nfn f() { unsafe { g() }\n  fs::remove_file(\"a\") }", &denied())
            .unwrap();
    let said: Vec<_> = found.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "src/lib.rs:2:10: `unsafe` is refused: unsafe code is denied; write it in safe Rust",
            "src/lib.rs:3:3: `std::fs::remove_file` is refused: it is denied; do without it",
        ]
    );
    assert!(denied_code("src/lib.rs", "fn f( {", &denied()).is_err());
}

/// TC-06: a denied crate is found in every table of dependencies, under every name, and the source is searched for that name.
#[test]
fn a_dependency_is_found_under_any_name_and_in_any_table() {
    let manifest = "[dependencies]\nserde = \"1\"\nc = { package = \"libc\", version = \"0.2\" }\n\n[dev-dependencies]\nlibc = \"0.2\"\n\
        [target.'cfg(unix)'.dependencies]\nproc_macro2 = \"1\"\n[workspace.dependencies.other]\npackage = \"proc-macro2\"\n\
        [patch.crates-io]\nlibc = { path = \"x\" }\n[build-dependencies]\nlibc = \"0.2\"\n";
    let found = denied_dependencies("Cargo.toml", manifest, &denied()).unwrap();
    let lines: Vec<_> = found.iter().map(|found| (found.construct.as_str(), found.line)).collect();
    assert_eq!(lines, [("c", 3), ("libc", 6), ("proc_macro2", 8), ("other", 9), ("libc", 14)]);
    assert_eq!(found[0].to_string(), "Cargo.toml:3:1: `c` is refused: the crate `libc` is denied; do without it");
    let with_names = denied().with_names_in("Cargo.toml", manifest).unwrap();
    let of_source = denied_code("src/lib.rs", "fn f() { c::exit(1) }", &with_names).unwrap();
    assert_eq!(of_source[0].construct, "c");
    let error = denied_dependencies("Cargo.toml", "[dependencies]\nlibc = = 1", &denied()).unwrap_err();
    assert_eq!((error.line, error.column), (2, 8));
}
