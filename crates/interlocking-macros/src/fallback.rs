use crate::ast::GraphModel;
use proc_macro2::TokenStream;
pub(crate) fn graph(_: &GraphModel<'_>, errors: &syn::Error) -> TokenStream {
    errors.to_compile_error()
}
