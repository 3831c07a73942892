//! Reads lists of targets, branches, slots and cancelled names.

use super::items::end;
use super::values::{Placed, count, parentheses};
use crate::ast::{Cancel, Fork, Given, Group, Slot, Target};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Ident, Token, token};

/// `goto(…)`: targets, or one target with a budget, and the cancelled names.
pub(super) fn goto(key: &Ident, input: ParseStream<'_>) -> syn::Result<Placed<Group>> {
    group(key, input, "goto(review, exit)", true)
}

/// A route that no handler chooses: `exhausted(exit)`, `timed_out(exit)`, `failed(exit)`.
pub(super) fn route(key: &Ident, input: ParseStream<'_>) -> syn::Result<Placed<Group>> {
    let (group, at) = group(key, input, &format!("{key}(exit)"), false)?;
    match group.targets.get(1) {
        Some(second) => {
            let message = format_args!("{} has one target: no handler is there to choose", described(key)).to_string();
            Err(syn::Error::new(second.node.span(), message))
        }
        None => Ok((group, at)),
    }
}

fn described(key: &Ident) -> &'static str {
    match key.to_string().as_str() {
        "timed_out" => "the route of a timeout",
        "failed" => "the route of a failure",
        _ => "an exhausted route",
    }
}

fn group(key: &Ident, input: ParseStream<'_>, example: &str, may_have_budget: bool) -> syn::Result<Placed<Group>> {
    parentheses(key, input, example, |content| {
        let mut group = Group::default();
        while !content.is_empty() {
            if let Some(cancels) = cancels(content)? {
                group.cancels = cancels;
                break;
            }
            if may_have_budget && budget(content, &mut group)? {
                end(content)?;
                continue;
            }
            if let Some(key) = times(content) {
                return Err(syn::Error::new(
                    key.span(),
                    "no handler chooses this route, so it has no `times`: take it away",
                ));
            }
            group.targets.push(content.parse()?);
            end(content)?;
        }
        if group.targets.is_empty() {
            return Err(syn::Error::new(key.span(), format_args!("`{key}` names no target: `{example}`")));
        }
        if let (Some(times), Some(second)) = (&group.times, group.targets.get(1)) {
            let message =
                format!("`times = {}` bounds one edge: give `{}` a `goto` of its own", times.value, second.spelled());
            return Err(syn::Error::new(second.node.span(), message));
        }
        if let (None, Some(exhausted)) = (&group.times, &group.exhausted) {
            let message = "the edge has no budget to exhaust: `goto(target, times = 5, exhausted(exit))`";
            return Err(syn::Error::new(exhausted.key.span(), message));
        }
        Ok((group, key.span()))
    })
}

/// `times = 5` or `exhausted(exit)`, if one comes next.
fn budget(input: ParseStream<'_>, group: &mut Group) -> syn::Result<bool> {
    if times(input).is_some() {
        let key: Ident = input.parse()?;
        let (value, at) = count(&key, input, "times = 5")?;
        let is_first = group.times.replace(Given { key: key.clone(), at, value }).is_none();
        return once(&key, is_first);
    }
    let ahead = input.fork();
    if ahead.parse::<Ident>().is_ok_and(|word| word == "exhausted") && ahead.peek(token::Paren) {
        let key: Ident = input.parse()?;
        let (value, at) = route(&key, input)?;
        let is_first = group.exhausted.replace(Box::new(Given { key: key.clone(), at, value })).is_none();
        return once(&key, is_first);
    }
    Ok(false)
}

/// The `times` of `times = 5`, if that comes next.
fn times(input: ParseStream<'_>) -> Option<Ident> {
    let ahead = input.fork();
    ahead.parse().ok().filter(|word: &Ident| word == "times" && ahead.peek(Token![=]))
}

fn once(key: &Ident, is_first: bool) -> syn::Result<bool> {
    if is_first { Ok(true) } else { Err(syn::Error::new(key.span(), format_args!("`{key}` is given twice: keep one"))) }
}

/// `cancels(…)` of a node.
pub(super) fn cancelled(key: &Ident, input: ParseStream<'_>) -> syn::Result<Placed<Vec<Cancel>>> {
    Ok((cancel_list(key, input)?, key.span()))
}

fn cancel_list(key: &Ident, input: ParseStream<'_>) -> syn::Result<Vec<Cancel>> {
    let cancels = parentheses(key, input, "cancels(*)", |content| {
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
    Ok(cancels)
}

pub(super) fn fork(key: &Ident, input: ParseStream<'_>) -> syn::Result<Placed<Fork>> {
    parentheses(key, input, "fork(first, second)", |content| {
        let mut fork = Fork { branches: Vec::new(), cancels: Vec::new() };
        while !content.is_empty() {
            if let Some(cancels) = cancels(content)? {
                fork.cancels = cancels;
                break;
            }
            if let Some(key) = times(content) {
                let message = "`times` bounds one edge, and a fork takes all of its branches: bound the node with `visits`, or give the edge a `goto(target, times = 5)`";
                return Err(syn::Error::new(key.span(), message));
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
    let cancels = cancel_list(&key, input)?;
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
        let mut slot = Self {
            sources: vec![name.clone()],
            named_after_source: true,
            name,
            ty: input.parse()?,
            latched: None,
            optional: None,
        };
        while !input.is_empty() && !input.peek(Token![,]) {
            let word = input.call(Ident::parse_any)?;
            if word == "from" && slot.latched.is_none() && slot.optional.is_none() {
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
            } else if word == "optional" && slot.optional.is_none() {
                slot.optional = Some(word);
            } else {
                let message = "after a slot's type come `from(…)` and then `latched` or `optional`";
                return Err(syn::Error::new(word.span(), message));
            }
        }
        Ok(slot)
    }
}
