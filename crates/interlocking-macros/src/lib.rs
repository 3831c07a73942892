//! The derive macro of Interlocking: a struct of annotated node fields becomes a routing table that the compiler checks.
//!
//! In reading order:
//!
//! - `ast`: what the attributes say, with the tokens it was read from; `read` makes it, with `attr` and `duration`.
//! - `validate`: the rules of shape, one function a rule.
//! - `table`: the same as data, which `interlocking_core` compiles to a net.
//! - `expand`: a checked graph as code, with `markers` and `row`; `fallback`: what stands in for it beside errors.
//! - `naming`, `spelling`, `suggest`: names, types as text, "did you mean …?".
//! - `errors`: collects, so that all errors of a struct are reported at once.

mod ast;
mod read;
mod attr;
mod duration;
mod validate;
mod table;
mod expand;
mod markers;
mod row;
mod fallback;
mod naming;
mod spelling;
mod suggest;
mod errors;
#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Makes a struct a graph.
#[proc_macro_derive(Graph, attributes(graph, node))]
pub fn derive_graph(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    derive(&parse_macro_input!(input as DeriveInput)).into()
}

fn derive(input: &DeriveInput) -> TokenStream {
    let errors = errors::Errors::new();
    let Some(graph) = read::graph(input, &errors) else {
        return errors.check().err().map(syn::Error::into_compile_error).unwrap_or_default();
    };
    validate::shape(&graph, &errors);
    if let Err(found) = errors.check() {
        return fallback::graph(&graph, &found);
    }
    match interlocking_core::net::Net::new(table::of(&graph)) {
        Ok(net) => expand::graph(&graph, &net),
        Err(wrong) => fallback::graph(&graph, &syn::Error::new(graph.input.ident.span(), wrong)),
    }
}
