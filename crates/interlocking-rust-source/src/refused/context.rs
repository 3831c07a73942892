//! The context of tokens: what surrounds them.

use super::macros::is_call;
use crate::tokens::is_mark;
use proc_macro2::{TokenStream, TokenTree};

/// What surrounds tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Within {
    Code,
    Attribute,
    /// The arguments of a macro that the crate may define: its rules can take them apart.
    Arguments,
    /// The rules of a macro.
    Rules,
}

/// What the expansion of a macro may make of its arguments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Parts {
    /// Calls of macros, as the arguments have a `!`.
    pub(super) calls: bool,
    /// Attributes, as the arguments have a `#`.
    pub(super) attributes: bool,
}

impl Parts {
    /// The parts of a macro's arguments. A `$` may stand for either mark.
    pub(super) fn of(arguments: TokenStream) -> Self {
        let tokens: Vec<TokenTree> = arguments.into_iter().collect();
        let mut parts = Self::default();
        for (at, token) in tokens.iter().enumerate() {
            let is_variable = is_mark(Some(token), '$');
            let inside = match token {
                TokenTree::Group(group) => Self::of(group.stream()),
                _ => Self::default(),
            };
            parts.calls |= is_variable || is_call(&tokens, at) || inside.calls;
            parts.attributes |= is_variable || is_mark(Some(token), '#') || inside.attributes;
        }
        parts
    }
}

/// The context of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Context {
    pub(super) within: Within,
    /// The parts of the arguments of the outermost macro around, if there is one.
    pub(super) parts: Option<Parts>,
    /// Whether the tokens belong to a `use`.
    pub(super) is_of_use: bool,
    /// Whether the tokens are those of `$( … )`.
    pub(super) is_repeated: bool,
}

impl Context {
    pub(super) const CODE: Self = Self { within: Within::Code, parts: None, is_of_use: false, is_repeated: false };

    pub(super) fn within(self, within: Within) -> Self {
        Self { within, is_of_use: false, is_repeated: false, ..self }
    }

    /// The context of the arguments of a macro that the crate may define.
    pub(super) fn within_arguments(self, arguments: &TokenStream) -> Self {
        let parts = self.parts.unwrap_or_else(|| Parts::of(arguments.clone()));
        Self { parts: Some(parts), ..self.within(Within::Arguments) }
    }
}
