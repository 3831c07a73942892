//! A comma-separated list of items, read one by one.

use crate::ast::Unparsed;
use crate::errors::Errors;
use crate::suggest;
use proc_macro2::TokenTree;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, Ident, Meta, Token};

/// Reads a comma-separated list of items; `item` reads one and returns whether it knows the key.
pub(super) fn items(
    attribute: &Attribute,
    errors: &Errors,
    unparsed: &mut Unparsed,
    example: &str,
    keys: &[&str],
    mut item: impl FnMut(&Ident, ParseStream<'_>) -> syn::Result<bool>,
) {
    if !matches!(attribute.meta, Meta::List(_)) {
        errors.over(&attribute.meta, format_args!("write `#[{example}]`"));
        unparsed.add_everything();
        return;
    }
    // After an error the rest of the item is skipped up to the next comma. That comma may be one between `<` and `>`,
    // and the text after it may then be no item.
    let mut comma_is_uncertain = false;
    let list = |input: ParseStream<'_>| {
        while !input.is_empty() {
            let key = match input.call(Ident::parse_any) {
                Ok(key) => key,
                Err(error) => {
                    if !comma_is_uncertain {
                        errors.push(error);
                    }
                    unparsed.add_everything();
                    comma_is_uncertain |= skip(input)?;
                    continue;
                }
            };
            let name = key.to_string();
            match item(&key, input).and_then(|known| if known { end(input).map(|()| true) } else { Ok(false) }) {
                Ok(true) => comma_is_uncertain = false,
                Ok(false) => {
                    let near = suggest::nearest(&name, keys.iter().copied());
                    match near {
                        Some(near) => unparsed.add(near),
                        None => unparsed.add_everything(),
                    }
                    if !comma_is_uncertain {
                        let known = || format!("known are `{}`", keys.join("`, `"));
                        let hint = near.map_or_else(known, |near| format!("did you mean `{near}`?"));
                        errors.over(&key, format_args!("unknown attribute `{name}`: {hint}"));
                    }
                    comma_is_uncertain |= skip(input)?;
                }
                Err(error) => {
                    errors.push(error);
                    unparsed.add(&name);
                    comma_is_uncertain = skip(input)?;
                }
            }
        }
        Ok(())
    };
    if let Err(error) = attribute.parse_args_with(list) {
        errors.push(error);
        unparsed.add_everything();
    }
}

/// Skips the rest of an item and the comma after it; true if the comma may be part of the item.
pub(super) fn skip(input: ParseStream<'_>) -> syn::Result<bool> {
    let mut comma_is_uncertain = false;
    while !input.is_empty() && !input.peek(Token![,]) {
        comma_is_uncertain |= input.peek(Token![<]);
        input.parse::<TokenTree>()?;
    }
    input.parse::<Option<Token![,]>>()?;
    Ok(comma_is_uncertain)
}

/// A comma, unless the list ends here.
pub(super) fn end(input: ParseStream<'_>) -> syn::Result<()> {
    if input.is_empty() { Ok(()) } else { comma(input) }
}

pub(super) fn comma(input: ParseStream<'_>) -> syn::Result<()> {
    match input.parse::<Token![,]>() {
        Ok(_) => Ok(()),
        Err(_) => Err(input.error("expected `,`")),
    }
}
