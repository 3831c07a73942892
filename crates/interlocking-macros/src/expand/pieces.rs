//! Pieces of generated code: numbers, spans in the user's code, lifetimes.

use proc_macro2::{Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::Type;

/// The position of `span`, but with the hygiene of the derive: locals in the generated code must not depend on where
/// the user's tokens come from.
pub(crate) fn at(span: Span) -> Span {
    Span::call_site().located_at(span)
}

pub(super) fn number(number: usize) -> Literal {
    Literal::usize_unsuffixed(number)
}

pub(super) fn number_of(number: u16) -> Literal {
    Literal::u16_unsuffixed(number)
}

/// Gives all of `code` the span of the first token of `place`: an error about any part of the code is then shown there,
/// and once.
pub(crate) fn standing_at(code: TokenStream, place: &impl ToTokens) -> TokenStream {
    let Some(first) = place.to_token_stream().into_iter().next() else { return code };
    let here = |mut token: TokenTree| {
        token.set_span(first.span());
        token
    };
    code.into_iter().map(here).collect()
}

/// The type with its elided lifetimes spelled `'a`.
pub(crate) fn with_lifetime(ty: &Type) -> TokenStream {
    let mut written = TokenStream::new();
    let mut tokens = ty.to_token_stream().into_iter().peekable();
    rewrite(&mut tokens, &mut written);
    written
}

fn rewrite(tokens: &mut std::iter::Peekable<proc_macro2::token_stream::IntoIter>, written: &mut TokenStream) {
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) => {
                let mut inner = TokenStream::new();
                rewrite(&mut group.stream().into_iter().peekable(), &mut inner);
                let mut again = proc_macro2::Group::new(group.delimiter(), inner);
                again.set_span(group.span());
                TokenTree::Group(again).to_tokens(written);
            }
            TokenTree::Ident(ident) if ident == "_" && written_ends_lifetime(written) => {
                Ident::new("a", ident.span()).to_tokens(written);
            }
            TokenTree::Punct(punct) if punct.as_char() == '&' => {
                let span = punct.span();
                punct.to_tokens(written);
                if !matches!(tokens.peek(), Some(TokenTree::Punct(next)) if next.as_char() == '\'') {
                    quote_spanned!(span=> 'a).to_tokens(written);
                }
            }
            token => token.to_tokens(written),
        }
    }
}

fn written_ends_lifetime(written: &TokenStream) -> bool {
    let last = written.clone().into_iter().last();
    matches!(last, Some(TokenTree::Punct(punct)) if punct.as_char() == '\'')
}
