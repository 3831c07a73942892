//! `proptest! { … }` as syntax.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Attribute, Block, Expr, Ident, Macro, Pat, ReturnType, Token, Type, Visibility};

/// Whether a macro is `proptest!`.
pub(crate) fn is_proptest(invocation: &Macro) -> bool {
    invocation.path.segments.last().is_some_and(|name| name.ident == "proptest")
}

/// Whether an attribute's path ends in `test`: `#[test]`, `#[tokio::test]`.
pub(crate) fn is_test(attribute: &Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|name| name.ident == "test")
}

/// The functions inside `proptest! { … }`.
pub(crate) struct ProptestBody(
    /// The functions, in order.
    pub(crate) Vec<ProptestFunction>,
);

/// A function inside `proptest!`: `#[test] fn prop_x(pattern in strategy, name: Type) { … }`.
pub(crate) struct ProptestFunction {
    /// The attributes, including `#[test]`.
    pub(crate) attributes: Vec<Attribute>,
    /// The function's name.
    pub(crate) name: Ident,
    /// The arguments: the pattern of each, and the source of its values.
    pub(crate) arguments: Vec<(Pat, Drawn)>,
    /// The body, which is run for each input.
    pub(crate) body: Block,
}

/// The source of an argument's values.
pub(crate) enum Drawn {
    /// A strategy after `in`.
    From(Expr),
    /// Any value of a type.
    Any(Type),
}

impl ProptestFunction {
    /// Whether the function is run as a test.
    pub(crate) fn is_test(&self) -> bool {
        self.attributes.iter().any(is_test)
    }

    /// All tokens of the function that may contain a compile-time condition.
    pub(crate) fn tokens(&self) -> TokenStream {
        let mut tokens = self.body.to_token_stream();
        for attribute in &self.attributes {
            attribute.to_tokens(&mut tokens);
        }
        for (_, drawn) in &self.arguments {
            if let Drawn::From(strategy) = drawn {
                strategy.to_tokens(&mut tokens);
            }
        }
        tokens
    }
}

impl Parse for ProptestBody {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        input.call(Attribute::parse_inner)?;
        let mut functions = Vec::new();
        while !input.is_empty() {
            functions.push(input.call(function)?);
        }
        Ok(Self(functions))
    }
}

fn function(input: ParseStream<'_>) -> syn::Result<ProptestFunction> {
    let attributes = input.call(Attribute::parse_outer)?;
    input.parse::<Visibility>()?;
    input.parse::<Token![fn]>()?;
    let name: Ident = input.parse()?;
    let inside;
    syn::parenthesized!(inside in input);
    let inside: TokenStream = inside.parse()?;
    input.parse::<ReturnType>()?;
    let body: Block = input.parse()?;
    Ok(ProptestFunction { attributes, name, arguments: arguments.parse2(inside)?, body })
}

fn arguments(input: ParseStream<'_>) -> syn::Result<Vec<(Pat, Drawn)>> {
    let mut arguments = Vec::new();
    while !input.is_empty() {
        let pattern = input.call(Pat::parse_single)?;
        let drawn = if input.peek(Token![in]) {
            input.parse::<Token![in]>()?;
            Drawn::From(input.parse()?)
        } else {
            input.parse::<Token![:]>()?;
            Drawn::Any(input.parse()?)
        };
        arguments.push((pattern, drawn));
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(arguments)
}
