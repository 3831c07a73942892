//! What is compiled only under conditions.

use crate::functions::for_tests;
use syn::Attribute;

/// Whether an item is there whatever the conditions.
pub(super) fn is_certain(attributes: &[Attribute]) -> bool {
    let conditional = |attribute: &Attribute| attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr");
    let is_for_tests = |attribute: &Attribute| for_tests(std::slice::from_ref(attribute));
    attributes.iter().all(|attribute| !conditional(attribute) || is_for_tests(attribute))
}

/// Whether a condition is asked anywhere in the code.
pub(super) fn asks_conditions(code: &proc_macro2::TokenStream) -> bool {
    super::outcomes::words(code.clone()).iter().any(|word| word == "cfg" || word == "cfg_attr" || word == "cfg_select")
}
