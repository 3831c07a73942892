//! Lists of targets, branches, slots and what is cancelled.

use super::items::end;
use super::values::{Placed, parentheses};
use crate::ast::{Cancel, Fork, Group, Slot, Target};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Ident, Token, token};

pub(super) fn group(key: &Ident, input: ParseStream<'_>, example: &str) -> syn::Result<Placed<Group>> {
    parentheses(key, input, example, |content| {
        let mut group = Group { targets: Vec::new(), cancels: Vec::new() };
        while !content.is_empty() {
            if let Some(cancels) = cancels(content)? {
                group.cancels = cancels;
                break;
            }
            group.targets.push(content.parse()?);
            end(content)?;
        }
        if group.targets.is_empty() {
            return Err(syn::Error::new(key.span(), format_args!("`{key}` names no target: `{example}`")));
        }
        Ok((group, key.span()))
    })
}

pub(super) fn exhausted(key: &Ident, input: ParseStream<'_>) -> syn::Result<Placed<Group>> {
    let (group, at) = group(key, input, "exhausted(exit)")?;
    match group.targets.get(1) {
        Some(second) => {
            let message = "an exhausted route has one target: no handler is there to choose";
            Err(syn::Error::new(second.node.span(), message))
        }
        None => Ok((group, at)),
    }
}

pub(super) fn fork(key: &Ident, input: ParseStream<'_>) -> syn::Result<Placed<Fork>> {
    parentheses(key, input, "fork(first, second)", |content| {
        let mut fork = Fork { branches: Vec::new(), cancels: Vec::new() };
        while !content.is_empty() {
            if let Some(cancels) = cancels(content)? {
                fork.cancels = cancels;
                break;
            }
            let mut branch = vec![content.parse()?];
            while content.parse::<Option<Token![|]>>()?.is_some() {
                branch.push(content.parse()?);
            }
            fork.branches.push(branch);
            end(content)?;
        }
        Ok((fork, key.span()))
    })
}

/// `cancels(…)` at the end of a list, if it comes next.
pub(super) fn cancels(input: ParseStream<'_>) -> syn::Result<Option<Vec<Cancel>>> {
    let ahead = input.fork();
    let found = ahead.parse::<Ident>().is_ok_and(|word| word == "cancels") && ahead.peek(token::Paren);
    if !found {
        return Ok(None);
    }
    let key: Ident = input.parse()?;
    let cancels = parentheses(&key, input, "cancels(*)", |content| {
        let mut cancels = Vec::new();
        while !content.is_empty() {
            cancels.push(content.parse()?);
            end(content)?;
        }
        Ok(cancels)
    })?;
    if cancels.is_empty() {
        let message = "`cancels` names nothing: `cancels(review)`, or `cancels(*)` for everything";
        return Err(syn::Error::new(key.span(), message));
    }
    input.parse::<Option<Token![,]>>()?;
    if !input.is_empty() {
        return Err(input.error("`cancels(…)` stands last: it belongs to every target before it"));
    }
    Ok(Some(cancels))
}

pub(super) fn slots(key: &Ident, input: ParseStream<'_>) -> syn::Result<Placed<Vec<Slot>>> {
    parentheses(key, input, "join(spelling: Article, facts: bool)", |content| {
        let mut slots = Vec::new();
        while !content.is_empty() {
            slots.push(content.parse()?);
            end(content)?;
        }
        Ok((slots, key.span()))
    })
}

impl Parse for Target {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let node = input.call(Ident::parse_any)?;
        let slot = match input.parse::<Option<Token![.]>>()? {
            Some(_) => Some(input.call(Ident::parse_any)?),
            None => None,
        };
        Ok(Self { node, slot })
    }
}

impl Parse for Cancel {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        match input.parse::<Option<Token![*]>>()? {
            Some(star) => Ok(Self::Everything(star.span())),
            None => input.parse().map(Self::Named),
        }
    }
}

impl Parse for Slot {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name: Ident = input.call(Ident::parse_any)?;
        if !input.peek(Token![:]) {
            let message = format_args!("slot `{name}` has no type: `{name}: Article`").to_string();
            return Err(syn::Error::new(name.span(), message));
        }
        input.parse::<Token![:]>()?;
        let mut slot =
            Self { sources: vec![name.clone()], named_after_source: true, name, ty: input.parse()?, latched: None };
        while !input.is_empty() && !input.peek(Token![,]) {
            let word = input.call(Ident::parse_any)?;
            if word == "from" && slot.latched.is_none() {
                slot.named_after_source = false;
                slot.sources = parentheses(&word, input, "from(first, second)", |content| {
                    let mut sources = Vec::new();
                    while !content.is_empty() {
                        sources.push(content.call(Ident::parse_any)?);
                        end(content)?;
                    }
                    Ok(sources)
                })?;
            } else if word == "latched" && slot.latched.is_none() {
                slot.latched = Some(word);
            } else {
                return Err(syn::Error::new(word.span(), "after a slot's type come `from(…)` and then `latched`"));
            }
        }
        Ok(slot)
    }
}
