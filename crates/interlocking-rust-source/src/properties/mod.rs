//! The property tests of a file and the functions they exercise.

mod api;
mod names;
mod ty;
mod conditions;
mod effort;
mod evidence;
mod outcomes;

use crate::SourceError;
use crate::proptest::{ProptestBody, is_proptest, is_test};
use crate::symbols::Columns;
use crate::syntax::read;
use api::Api;
use evidence::{Evidence, Walk};
use names::Names;
use outcomes::{literals_in, outcome};
use syn::{Item, ItemFn};

/// The files in which properties are searched.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    /// The name by which integration tests import the crate.
    pub library: &'a str,
    /// The implementation's file: its path and its text.
    pub implementation: (&'a str, &'a str),
    /// The tests' file: its path and its text.
    pub tests: (&'a str, &'a str),
    /// The prefix of the names of properties.
    pub prefix: &'a str,
}

/// The properties of a test file, with the functions of the implementation that they use.
#[derive(Debug, Default)]
pub struct TestFile {
    /// The properties, in the file's order.
    pub tests: Vec<PropertyTest>,
    api: Api,
}

/// A property test of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PropertyTest {
    /// The test function's name, without its modules.
    pub name: String,
    /// The line of the test's name, counted from 1.
    pub line: usize,
    evidence: Evidence,
}

/// Whether a property calls a function, or checks an example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exercise {
    /// The property does so.
    Seen,
    /// The property does not do so.
    Absent,
    /// The text does not show whether the property does so, for this reason.
    Unclear(String),
}

impl TestFile {
    /// Lists the tests of a file whose name begins with the prefix, those inside `proptest! { … }` included
    /// (TC-12, TC-13).
    ///
    /// # Errors
    ///
    /// [`SourceError`] if one of the files is not Rust.
    pub fn read(sources: Sources<'_>) -> Result<Self, SourceError> {
        let api = Api::of(sources.library, sources.implementation.0, sources.implementation.1)?;
        let is_inside = sources.tests.0.split('/').any(|part| part == "src");
        let tests = read(sources.tests.0, sources.tests.1, |file| {
            let mut tests = Vec::new();
            let mut names = Names::of(&api, is_inside, file);
            tests_in(&mut names, &file.items, 0, sources.prefix, &mut tests);
            let mut columns = Columns::of(sources.tests.1);
            for test in &mut tests {
                test.evidence.columns_in_bytes(&mut columns);
            }
            tests
        })?;
        Ok(Self { tests, api })
    }

    /// The property of a name; `None` if there is none, or several.
    pub fn named(&self, name: &str) -> Option<&PropertyTest> {
        let mut found = self.tests.iter().filter(|test| test.name == name);
        found.next().filter(|_| found.next().is_none())
    }

    /// Whether a property calls a function of the contract.
    pub fn calls(&self, test: &PropertyTest, function: &str) -> Exercise {
        let Some(function) = self.api.meant_by(function) else {
            return Exercise::Unclear("the implementation's file has no one function of that name".to_owned());
        };
        match test.evidence.doubts.get(function) {
            _ if test.evidence.calls.contains(function) => Exercise::Seen,
            Some(why) => Exercise::Unclear(why.clone()),
            None => Exercise::Absent,
        }
    }

    /// Whether a property, or a function of its file that it calls, has a call whose name is at this line and column (in bytes,
    /// both counted from 1) and that runs as far as the text shows: it is not behind `if false`, after a `return`, or under a
    /// compile-time condition. Which function is called may need a language server that knows the types of values.
    pub fn has_live_call(test: &PropertyTest, line: usize, column: usize) -> bool {
        test.evidence.live_calls.contains(&(line, column))
    }

    /// The functions of the implementation that a property certainly calls, sorted by name.
    pub fn called(test: &PropertyTest) -> impl Iterator<Item = &str> {
        test.evidence.calls.iter().map(String::as_str)
    }

    /// The functions of the implementation that a property may call, each with the reason for the doubt.
    pub fn perhaps_called(test: &PropertyTest) -> impl Iterator<Item = (&str, &str)> {
        test.evidence.doubts.iter().map(|(function, why)| (function.as_str(), why.as_str()))
    }

    /// Whether a property checks an example of a function: it contains the numbers and texts of the example's `input`, and
    /// compares the result of the function with `expected`, a Rust expression.
    pub fn checks(&self, test: &PropertyTest, function: &str, input: &str, expected: &str) -> Exercise {
        match (self.calls(test, function), outcome(expected), self.api.meant_by(function)) {
            (Exercise::Seen, Some(outcome), Some(function)) => {
                let fits =
                    |asserted: &outcomes::Assertion| asserted.outcome == outcome && asserted.of.contains(function);
                if !test.evidence.assertions.iter().any(fits) {
                    return Exercise::Unclear(format!("no comparison of what it gives with {expected} is seen"));
                }
                let named = literals_in(input);
                match named.difference(&test.evidence.literals).next() {
                    Some(absent) => Exercise::Unclear(format!("{absent}, which the example names, is not in it")),
                    None => Exercise::Seen,
                }
            }
            (Exercise::Seen, ..) => Exercise::Unclear("the example's outcome is in words".to_owned()),
            (other, ..) => other,
        }
    }

    /// Whether a property has any assertion by which it can fail.
    pub fn asserts(test: &PropertyTest) -> bool {
        !test.evidence.assertions.is_empty()
    }
}

/// Collects the tests among the items of the module with this number, and of the modules in it.
fn tests_in(names: &mut Names<'_>, items: &[Item], module: usize, prefix: &str, tests: &mut Vec<PropertyTest>) {
    let mut inner = names.modules_in(module).into_iter();
    for item in items {
        match item {
            Item::Fn(item) if item.attrs.iter().any(is_test) && begins(item, prefix) => {
                let evidence = Walk::test(names, module, item);
                tests.push(PropertyTest::new(&item.sig.ident, evidence));
            }
            Item::Macro(item) if is_proptest(&item.mac) => {
                let Ok(ProptestBody(functions)) = syn::parse2(item.mac.tokens.clone()) else { continue };
                for function in functions.iter().filter(|function| function.is_test()) {
                    if function.name.to_string().starts_with(prefix) {
                        let evidence = Walk::proptest(names, module, function);
                        tests.push(PropertyTest::new(&function.name, evidence));
                    }
                }
            }
            Item::Mod(item) => {
                if let (Some((_, items)), Some(module)) = (&item.content, inner.next()) {
                    tests_in(names, items, module, prefix, tests);
                }
            }
            _ => {}
        }
    }
}

fn begins(item: &ItemFn, prefix: &str) -> bool {
    item.sig.ident.to_string().starts_with(prefix)
}

impl PropertyTest {
    fn new(name: &syn::Ident, evidence: Evidence) -> Self {
        Self { name: name.to_string(), line: name.span().start().line, evidence }
    }
}

#[cfg(test)]
mod tests;
