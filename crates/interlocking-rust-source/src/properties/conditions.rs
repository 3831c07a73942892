//! Recognises conditional compilation.

use crate::functions::for_tests;
use syn::Attribute;

/// Whether an item is always compiled for tests: it has no `cfg` but those that require `test`.
pub(super) fn is_certain(attributes: &[Attribute]) -> bool {
    let conditional = |attribute: &Attribute| attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr");
    let is_for_tests = |attribute: &Attribute| for_tests(std::slice::from_ref(attribute));
    attributes.iter().all(|attribute| !conditional(attribute) || is_for_tests(attribute))
}

/// Whether the code contains a compile-time condition anywhere.
pub(super) fn asks_conditions(code: &proc_macro2::TokenStream) -> bool {
    super::outcomes::words(code.clone()).iter().any(|word| word == "cfg" || word == "cfg_attr" || word == "cfg_select")
}
