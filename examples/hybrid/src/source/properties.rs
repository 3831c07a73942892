//! The property tests of a file and the functions they exercise.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;
use syn::parse::{Parse, ParseStream, Parser};
use syn::visit::{self, Visit};
use syn::{Attribute, Block, Expr, Ident, ItemFn, Macro, Pat, ReturnType, Token, Type, Visibility};

use super::calls::{self, Callee};
use super::functions::{SourceError, parse};

/// A property test as it stands on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PropertyTest {
    /// The test function's name, without its modules.
    pub name: String,
    /// The line it begins in, counted from 1.
    pub line: usize,
    /// What it calls, by itself or through functions of the same file: paths as written, methods by their bare
    /// name. A name that the file itself defines is not in here: it is the file's, not the contract's.
    pub calls: Vec<String>,
}

impl PropertyTest {
    /// Whether the test calls a function of the contract: by its path, or as a method by its name.
    pub fn exercises(&self, function: &str) -> bool {
        self.calls.iter().any(|call| super::named_by(function, call))
    }
}

/// Lists the tests of a file whose name begins with the prefix, those inside `proptest! { … }` included
/// (TC-12, TC-13).
pub fn property_tests(path: &str, text: &str, prefix: &str) -> Result<Vec<PropertyTest>, SourceError> {
    let file = parse(path, text)?;
    let mut functions = Functions::default();
    functions.visit_file(&file);
    let by_name: BTreeMap<&str, &Function> =
        functions.0.iter().map(|function| (function.name.as_str(), function)).collect();
    let tests = functions.0.iter().filter(|function| function.is_test && function.name.starts_with(prefix));
    Ok(tests
        .map(|test| PropertyTest { name: test.name.clone(), line: test.line, calls: reachable(test, &by_name) })
        .collect())
}

/// What a function calls, following the file's own functions.
fn reachable(start: &Function, by_name: &BTreeMap<&str, &Function>) -> Vec<String> {
    let mut found = BTreeSet::new();
    let mut visited = BTreeSet::new();
    let mut queue = vec![start];
    while let Some(function) = queue.pop() {
        if !visited.insert(function.name.as_str()) {
            continue;
        }
        for callee in &function.calls {
            match callee {
                Callee::Path(path) => match by_name.get(path.as_str()) {
                    Some(local) => queue.push(local),
                    None => {
                        found.insert(path.clone());
                    }
                },
                Callee::Method(name) => {
                    found.insert(name.clone());
                }
            }
        }
    }
    found.into_iter().collect()
}

/// One function of the file.
#[derive(Debug)]
struct Function {
    name: String,
    line: usize,
    is_test: bool,
    calls: BTreeSet<Callee>,
}

#[derive(Default)]
struct Functions(Vec<Function>);

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.0.push(Function {
            name: item.sig.ident.to_string(),
            line: item.sig.ident.span().start().line,
            is_test: item.attrs.iter().any(is_test),
            calls: calls::in_block(&item.block),
        });
        visit::visit_item_fn(self, item);
    }

    fn visit_macro(&mut self, invocation: &'ast Macro) {
        if is_proptest(invocation)
            && let Ok(ProptestBody(functions)) = syn::parse2(invocation.tokens.clone())
        {
            self.0.extend(functions.into_iter().map(|function| function.function));
        }
    }
}

/// `proptest! { … }`.
pub(super) fn is_proptest(invocation: &Macro) -> bool {
    invocation.path.segments.last().is_some_and(|name| name.ident == "proptest")
}

/// Any attribute that ends in `test`: `#[test]`, `#[tokio::test]`.
pub(super) fn is_test(attribute: &Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|name| name.ident == "test")
}

/// The functions inside `proptest! { … }`.
pub(super) struct ProptestBody(pub(super) Vec<ProptestFunction>);

/// One of them.
pub(super) struct ProptestFunction {
    attributes: Vec<Attribute>,
    function: Function,
}

impl ProptestFunction {
    pub(super) fn name(&self) -> &str {
        &self.function.name
    }

    pub(super) fn is_test(&self) -> bool {
        self.function.is_test
    }

    pub(super) fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }
}

impl Parse for ProptestBody {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        input.call(Attribute::parse_inner)?;
        let mut functions = Vec::new();
        while !input.is_empty() {
            functions.push(input.call(proptest_function)?);
        }
        Ok(Self(functions))
    }
}

/// `#[test] fn prop_x(pattern in strategy, name: Type) { … }`
fn proptest_function(input: ParseStream<'_>) -> syn::Result<ProptestFunction> {
    let attributes = input.call(Attribute::parse_outer)?;
    input.parse::<Visibility>()?;
    input.parse::<Token![fn]>()?;
    let name: Ident = input.parse()?;
    let arguments;
    syn::parenthesized!(arguments in input);
    let arguments: TokenStream = arguments.parse()?;
    input.parse::<ReturnType>()?;
    let body: Block = input.parse()?;
    let mut calls = calls::in_block(&body);
    for strategy in strategies.parse2(arguments)? {
        calls.extend(calls::in_expression(&strategy));
    }
    let (line, is_test) = (name.span().start().line, attributes.iter().any(is_test));
    Ok(ProptestFunction { attributes, function: Function { line, name: name.to_string(), is_test, calls } })
}

/// The strategy expressions of a proptest function's arguments.
fn strategies(input: ParseStream<'_>) -> syn::Result<Vec<Expr>> {
    let mut strategies = Vec::new();
    while !input.is_empty() {
        input.call(Pat::parse_single)?;
        if input.peek(Token![in]) {
            input.parse::<Token![in]>()?;
            strategies.push(input.parse()?);
        } else {
            input.parse::<Token![:]>()?;
            input.parse::<Type>()?;
        }
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(strategies)
}
