//! Projects for the tests to examine.

use interlocking_code_intelligence::{CodeIntelligence, LanguageServer, ServerProgram, Symbol, Unavailable};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub(crate) const STACK: &str = r#"//! A stack.

/// Of no more than ten numbers.
#[derive(Debug, Default)]
pub struct Stack(Vec<i64>);

/// There is no room.
#[derive(Debug)]
pub struct Full;

impl Stack {
    pub fn push(&mut self, value: i64) -> Result<(), Full> {
        if self.height() > 9 {
            return Err(Full);
        }
        self.0.push(value);
        Ok(())
    }

    pub fn pop(&mut self) -> Option<i64> {
        self.0.pop()
    }

    pub fn height(&self) -> usize {
        self.0.len()
    }
}

pub fn twice(value: i64) -> i64 {
    value * 2
}
"#;

/// `proptest!` as far as the tests of a stack need it, and a procedural macro's place.
const PROPTEST: &str = r#"
#[macro_export]
macro_rules! proptest {
    ($($(#[$attribute:meta])* fn $name:ident($value:ident in $strategy:expr) $body:block)*) => {
        $($(#[$attribute])* fn $name() { for $value in $strategy { $body } })*
    };
}
#[macro_export]
macro_rules! prop_assert_eq {
    ($one:expr, $other:expr) => { assert_eq!($one, $other) };
}
pub mod prelude { pub use crate::{prop_assert_eq, proptest}; }
"#;

pub(crate) const PROPERTIES: &str = r#"use proptest::prelude::*;
use stack::{Stack, twice};

fn filled(values: &[i64]) -> Stack {
    let mut stack = Stack::default();
    for value in values {
        stack.push(*value).unwrap();
    }
    stack
}

proptest! {
    #[test]
    fn prop_pop(value in 0..9) {
        let mut stack = Stack::default();
        stack.push(value).unwrap();
        prop_assert_eq!(stack.pop(), Some(value));
    }
}

#[test]
fn prop_height() {
    assert_eq!(filled(&[1, 2]).height(), 2);
}

#[test]
fn prop_nothing() {
    // It says that it calls twice(1).
    let pop = "stack.pop()";
    assert_eq!(pop.len(), 11);
}

#[test]
fn prop_twice() {
    let doubled = |x| assert_eq!(twice(x), x * 2);
    doubled(1);
}
"#;

/// A crate with a stack, and its properties.
pub(crate) fn stack() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let manifest = "[package]\nname = \"stack\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dev-dependencies]\nproptest = { path = \"proptest\" }\n";
    let proptest = "[package]\nname = \"proptest\"\nversion = \"1.0.0\"\nedition = \"2024\"\n\n[workspace]\n";
    for (file, text) in [
        ("Cargo.toml", manifest),
        ("src/lib.rs", STACK),
        ("tests/properties.rs", PROPERTIES),
        ("proptest/Cargo.toml", proptest),
        ("proptest/src/lib.rs", PROPTEST),
    ] {
        write(&directory, file, text);
    }
    directory
}

pub(crate) fn write(directory: &TempDir, file: &str, text: &str) {
    let path = directory.path().join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

pub(crate) async fn symbol(code: &dyn CodeIntelligence, file: &str, name: &str) -> Symbol {
    let symbols = code.document_symbols(Path::new(file)).await.unwrap();
    let found = symbols.iter().find(|symbol| symbol.name == name);
    found.unwrap_or_else(|| panic!("{name} is not among {symbols:#?}")).clone()
}

/// The project's functions that a function calls, with the lines of their names: `push@12`. Other functions are left out.
pub(crate) async fn calls(code: &dyn CodeIntelligence, file: &str, function: &str) -> Vec<String> {
    let function = symbol(code, file, function).await;
    let found = code.outgoing_calls(Path::new(file), &function).await.unwrap();
    let own = found.calls.into_iter().filter(|call| call.file.is_relative());
    let mut names: Vec<_> = own.map(|call| format!("{}@{}", call.name, call.definition.line)).collect();
    names.sort();
    names.dedup();
    names
}

/// A program that `npm ci` installs for the tests.
pub(crate) fn node_program(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs/node_modules/.bin").join(name);
    path.canonicalize().unwrap_or(path)
}

/// A server for a project; `None` if it is not installed. A test that gets `None` returns without testing anything.
pub(crate) async fn started(program: ServerProgram, project: &TempDir) -> Option<LanguageServer> {
    match LanguageServer::start(program, project.path()).await {
        Ok(server) => Some(server),
        Err(missing) if is_not_here(&missing) => None,
        Err(error) => panic!("{error}"),
    }
}

/// Whether a server, or a part of it, is not installed; this is reported on standard error. With the environment variable `CI`
/// set, the tests must run with the real server.
pub(crate) fn is_not_here(missing: &Unavailable) -> bool {
    const LIBRARY: &str = "the packages that the standard library depends on";
    let is_missing = match missing {
        Unavailable::NotInstalled { .. } => true,
        Unavailable::Incomplete { missing, .. } => missing != LIBRARY,
        Unavailable::NotStarted { .. } | Unavailable::GivenUp { .. } => false,
    };
    let is_not_here = is_missing && std::env::var_os("CI").is_none();
    if is_not_here {
        // Written directly, as the test harness captures the output of `eprintln!` and drops it for tests that pass.
        let _ = std::io::stderr().write_all(format!("NOT TESTED: {missing}\n").as_bytes());
    }
    is_not_here
}
