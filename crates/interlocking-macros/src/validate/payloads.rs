//! Payloads, memories and outputs are stored and read again, so they must own their data.

use crate::ast::GraphModel;
use crate::errors::Errors;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::Type;

/// A type that borrows cannot be read again, as the borrowed data would be gone. A user's type that borrows without a
/// visible lifetime is not found here.
pub(super) fn payloads_own_their_data(graph: &GraphModel<'_>, errors: &Errors) {
    let mut types: Vec<&Type> = graph.output.iter().collect();
    for node in &graph.nodes {
        let attributes = &node.attributes;
        types.extend(node.input());
        types.extend(node.slots().iter().map(|slot| &slot.ty));
        types.extend(attributes.memory.iter().map(|memory| &memory.value.ty));
        let others = [&attributes.output, &attributes.question, &attributes.answer, &attributes.report];
        types.extend(others.into_iter().flatten().map(|given| &given.value));
    }
    for borrowing in types.into_iter().filter(|ty| borrows(ty.to_token_stream())) {
        let message = "a run stores this and reads it again, so it owns its data: write `String` in place of `&str`, and take the lifetime \
                       away from a type that has one";
        errors.over(borrowing, message);
    }
}

/// Whether the tokens have a reference, or a lifetime that is not `'static`.
pub(crate) fn borrows(ty: TokenStream) -> bool {
    let mut is_lifetime = false;
    ty.into_iter().any(|token| match token {
        TokenTree::Group(group) => borrows(group.stream()),
        TokenTree::Punct(punct) if punct.as_char() == '\'' => {
            is_lifetime = true;
            false
        }
        TokenTree::Ident(name) => std::mem::take(&mut is_lifetime) && name != "static",
        TokenTree::Punct(punct) => punct.as_char() == '&',
        TokenTree::Literal(_) => false,
    })
}
