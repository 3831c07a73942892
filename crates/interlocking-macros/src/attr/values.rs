//! The values of single attributes.

use super::items::end;
use crate::ast::{Given, Memory, Quorum, Visits};
use crate::duration;
use crate::errors::Errors;
use crate::suggest;
use interlocking_core::table::Isolation;
use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Ident, LitInt, LitStr, Token, Type, parenthesized, token};

/// A value and its span.
pub(super) type Placed<T> = (T, Span);

pub(super) fn set<T>(slot: &mut Option<Given<T>>, key: &Ident, (value, at): Placed<T>, errors: &Errors) {
    if slot.is_some() {
        errors.at(key.span(), format_args!("`{key}` is given twice: keep one"));
    } else {
        *slot = Some(Given { key: key.clone(), at, value });
    }
}

pub(super) fn flag(slot: &mut Option<Ident>, key: &Ident, input: ParseStream<'_>, errors: &Errors) -> syn::Result<()> {
    if !input.is_empty() && !input.peek(Token![,]) {
        return Err(input.error(format_args!("`{key}` stands alone: it takes no value")));
    }
    if slot.is_some() {
        errors.at(key.span(), format_args!("`{key}` is given twice: keep one"));
    }
    slot.get_or_insert_with(|| key.clone());
    Ok(())
}

pub(super) fn equals(key: &Ident, input: ParseStream<'_>, example: &str) -> syn::Result<()> {
    if input.peek(Token![=]) {
        input.parse::<Token![=]>()?;
        return Ok(());
    }
    Err(syn::Error::new(key.span(), format_args!("`{key}` takes a value: `{example}`")))
}

pub(super) fn value<T: Parse + Spanned>(key: &Ident, input: ParseStream<'_>, example: &str) -> syn::Result<Placed<T>> {
    equals(key, input, example)?;
    let value: T = input.parse()?;
    let at = value.span();
    Ok((value, at))
}

pub(super) fn text(key: &Ident, input: ParseStream<'_>, example: &str) -> syn::Result<Placed<String>> {
    equals(key, input, example)?;
    let literal: LitStr =
        input.parse().map_err(|error| syn::Error::new(error.span(), format_args!("expected text: `{example}`")))?;
    Ok((literal.value(), literal.span()))
}

pub(super) fn count(key: &Ident, input: ParseStream<'_>, example: &str) -> syn::Result<Placed<u32>> {
    equals(key, input, example)?;
    let wrong = |span| syn::Error::new(span, format_args!("expected a whole number below 2³²: `{example}`"));
    let literal: LitInt = input.parse().map_err(|error| wrong(error.span()))?;
    let number = literal.base10_parse().map_err(|error| wrong(error.span()))?;
    Ok((number, literal.span()))
}

pub(super) fn isolation(key: &Ident, input: ParseStream<'_>) -> syn::Result<Placed<Isolation>> {
    let (word, at) = text(key, input, "isolation = \"clone\"")?;
    let unknown = || {
        let levels = Isolation::ALL.map(Isolation::word);
        let known = || format!("known are `{}`", levels.join("`, `"));
        let hint = suggest::nearest(&word, levels).map_or_else(known, |near| format!("did you mean `{near}`?"));
        syn::Error::new(at, format_args!("no isolation is called `{word}`: {hint}"))
    };
    Isolation::from_word(&word).map(|level| (level, at)).ok_or_else(unknown)
}

pub(super) fn timeout(key: &Ident, input: ParseStream<'_>) -> syn::Result<Placed<u64>> {
    let (text, at) = text(key, input, "timeout = \"90s\"")?;
    let total = duration::milliseconds(&text).map_err(|message| syn::Error::new(at, message))?;
    Ok((total, at))
}

pub(super) fn visits(key: &Ident, input: ParseStream<'_>) -> syn::Result<Placed<Visits>> {
    let example = "visits = 3` or `visits = unbounded";
    count_or(key, input, example, Visits::AtMost, ("unbounded", Visits::Unbounded))
}

pub(super) fn quorum(key: &Ident, input: ParseStream<'_>) -> syn::Result<Placed<Quorum>> {
    let example = "quorum = 2` or `quorum = enough";
    count_or(key, input, example, Quorum::AtLeast, ("enough", Quorum::Enough))
}

/// Reads a number, or the word that may stand in its place.
fn count_or<T>(
    key: &Ident,
    input: ParseStream<'_>,
    example: &str,
    of_count: impl FnOnce(u32) -> T,
    (word, of_word): (&str, T),
) -> syn::Result<Placed<T>> {
    let ahead = input.fork();
    let is_word = ahead.parse::<Token![=]>().is_ok() && ahead.peek(Ident);
    if !is_word {
        let (number, at) = count(key, input, example)?;
        return Ok((of_count(number), at));
    }
    input.parse::<Token![=]>()?;
    let found: Ident = input.parse()?;
    if found == word {
        return Ok((of_word, found.span()));
    }
    Err(syn::Error::new(found.span(), format_args!("`{key}` is a number or `{word}`, not `{found}`")))
}

/// Reads the content of the parentheses after `key`. On an error the rest of the content is skipped, so that there is
/// one error.
pub(super) fn parentheses<T>(
    key: &Ident,
    input: ParseStream<'_>,
    example: &str,
    read: impl FnOnce(ParseStream<'_>) -> syn::Result<T>,
) -> syn::Result<T> {
    if !input.peek(token::Paren) {
        return Err(syn::Error::new(key.span(), format_args!("`{key}` takes a list: `{example}`")));
    }
    let content;
    parenthesized!(content in input);
    let value = read(&content);
    if value.is_err() {
        content.parse::<TokenStream>()?;
    }
    value
}

/// A list of at least one name.
pub(super) fn names(key: &Ident, input: ParseStream<'_>, example: &str) -> syn::Result<Placed<Vec<Ident>>> {
    parentheses(key, input, example, |content| {
        let mut names: Vec<Ident> = Vec::new();
        while !content.is_empty() {
            names.push(content.call(Ident::parse_any)?);
            end(content)?;
        }
        if names.is_empty() {
            return Err(syn::Error::new(key.span(), format_args!("`{key}` names nothing: `{example}`")));
        }
        Ok((names, key.span()))
    })
}

pub(super) fn message(key: &Ident, input: ParseStream<'_>) -> syn::Result<Placed<Type>> {
    parentheses(key, input, "on(Message)", |content| {
        if content.is_empty() {
            return Err(syn::Error::new(key.span(), "`on` names no message: `on(Message)`"));
        }
        let ty: Type = content.parse()?;
        content.parse::<Option<Token![,]>>()?;
        if !content.is_empty() {
            return Err(content.error("an `EventNode` handles one type of message"));
        }
        let at = ty.span();
        Ok((ty, at))
    })
}

pub(super) fn memory(key: &Ident, input: ParseStream<'_>) -> syn::Result<Placed<Memory>> {
    if !input.peek(token::Paren) {
        let (ty, at) = value(key, input, "memory = Notes` or `memory(group: Notes)")?;
        return Ok((Memory { group: None, ty }, at));
    }
    parentheses(key, input, "memory(group: Notes)", |content| {
        let group: Ident = content.call(Ident::parse_any)?;
        if !content.peek(Token![:]) {
            let message = format!(
                "memory group `{group}` has no type: `memory({group}: Notes)`; without a group, `memory = Notes`"
            );
            return Err(syn::Error::new(group.span(), message));
        }
        content.parse::<Token![:]>()?;
        let ty: Type = content.parse()?;
        content.parse::<Option<Token![,]>>()?;
        if !content.is_empty() {
            return Err(content.error("a node has one memory group"));
        }
        let at = ty.span();
        Ok((Memory { group: Some(group), ty }, at))
    })
}
