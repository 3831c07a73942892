//! Collects every error of a struct, so that all are reported at once.

use proc_macro2::Span;
use quote::ToTokens;
use std::cell::RefCell;
use std::fmt::Display;

/// The errors found so far. Rules add errors and continue; [`check`](Self::check) combines them at the end.
///
/// Dropping it unchecked panics: an error that is never reported would let a wrong graph compile.
pub(crate) struct Errors {
    list: RefCell<Option<Vec<syn::Error>>>,
}

impl Errors {
    pub(crate) fn new() -> Self {
        Self { list: RefCell::new(Some(Vec::new())) }
    }

    /// Reports `message` at `span`.
    pub(crate) fn at(&self, span: Span, message: impl Display) {
        self.push(syn::Error::new(span, message));
    }

    /// Reports `message` at all of `tokens`.
    pub(crate) fn over(&self, tokens: impl ToTokens, message: impl Display) {
        self.push(syn::Error::new_spanned(tokens, message));
    }

    pub(crate) fn push(&self, error: syn::Error) {
        if let Some(list) = self.list.borrow_mut().as_mut() {
            list.push(error);
        }
    }

    /// All errors in one, if there are any.
    pub(crate) fn check(self) -> Result<(), syn::Error> {
        let list = self.list.borrow_mut().take().unwrap_or_default();
        let mut errors = list.into_iter();
        let Some(mut combined) = errors.next() else { return Ok(()) };
        combined.extend(errors);
        Err(combined)
    }
}

impl Drop for Errors {
    fn drop(&mut self) {
        if !std::thread::panicking() && self.list.borrow().is_some() {
            panic!("errors of a graph were collected but never checked");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Errors;
    use proc_macro2::Span;

    #[test]
    fn all_errors_are_combined_in_order() {
        let errors = Errors::new();
        errors.at(Span::call_site(), "first");
        errors.at(Span::call_site(), "second");
        let messages: Vec<String> = errors.check().unwrap_err().into_iter().map(|error| error.to_string()).collect();
        assert_eq!(messages, ["first", "second"]);
        assert!(Errors::new().check().is_ok());
    }

    #[test]
    #[should_panic(expected = "never checked")]
    fn errors_cannot_be_forgotten() {
        drop(Errors::new());
    }
}
