//! Reads `#[graph(…)]` and `#[node(…)]`, node by node and item by item, so that one bad item hides no other.

use crate::ast::{Attributes, Cancel, Doubts, Fork, Given, Group, Memory, Slot, Target, Visits};
use crate::duration;
use crate::errors::Errors;
use crate::suggest;
use interlocking_core::table::Isolation;
use proc_macro2::{Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Attribute, Ident, LitInt, LitStr, Meta, Token, Type, parenthesized, token};

/// What `#[graph(…)]` says.
#[derive(Default)]
pub(crate) struct GraphAttributes {
    pub(crate) output: Option<Given<Type>>,
    pub(crate) module: Option<Given<Ident>>,
    pub(crate) markings: Option<Given<u32>>,
}

const NODE_KEYS: [&str; 29] = [
    "entry",
    "input",
    "join",
    "goto",
    "fork",
    "exhausted",
    "visits",
    "attempts",
    "timeout",
    "agent",
    "workspace",
    "read_only",
    "isolation",
    "blind_to",
    "prompt",
    "output",
    "memory",
    "map",
    "concurrency",
    "depth",
    "adopt",
    "question",
    "answer",
    "on",
    "resume",
    "spawn",
    "observes",
    "report",
    "reports_to",
];
const GRAPH_KEYS: [&str; 3] = ["output", "module", "markings"];

/// Reads a struct's `#[graph(…)]`.
pub(crate) fn graph(attribute: &Attribute, into: &mut GraphAttributes, doubts: &mut Doubts, errors: &Errors) {
    items(attribute, errors, doubts, "graph(output = Type)", &GRAPH_KEYS, |key, input| {
        match key.to_string().as_str() {
            "output" => set(&mut into.output, key, value(key, input, "output = Article")?, errors),
            "module" => set(&mut into.module, key, value(key, input, "module = name")?, errors),
            "markings" => set(&mut into.markings, key, count(key, input, "markings = 500_000")?, errors),
            _ => return Ok(false),
        }
        Ok(true)
    })
}

/// Reads a field's `#[node(…)]`.
pub(crate) fn node(attribute: &Attribute, into: &mut Attributes, doubts: &mut Doubts, errors: &Errors) {
    items(attribute, errors, doubts, "node(input = Type, goto(exit))", &NODE_KEYS, |key, input| {
        match key.to_string().as_str() {
            "entry" => flag(&mut into.entry, key, input, errors)?,
            "read_only" => flag(&mut into.read_only, key, input, errors)?,
            "input" => set(&mut into.input, key, value(key, input, "input = Draft")?, errors),
            "prompt" => set(&mut into.prompt, key, value(key, input, "prompt = WritePrompt<'_>")?, errors),
            "output" => set(&mut into.output, key, value(key, input, "output = Article")?, errors),
            "join" => set(&mut into.slots, key, slots(key, input)?, errors),
            "goto" => {
                let group = group(key, input, "goto(review, exit)")?;
                into.goto.push(Given { key: key.clone(), at: group.1, value: group.0 });
            }
            "fork" => set(&mut into.fork, key, fork(key, input)?, errors),
            "exhausted" => set(&mut into.exhausted, key, exhausted(key, input)?, errors),
            "visits" => set(&mut into.visits, key, visits(key, input)?, errors),
            "attempts" => set(&mut into.attempts, key, count(key, input, "attempts = 3")?, errors),
            "timeout" => set(&mut into.timeout, key, timeout(key, input)?, errors),
            "agent" => set(&mut into.agent, key, text(key, input, "agent = \"writer\"")?, errors),
            "workspace" => set(&mut into.workspace, key, text(key, input, "workspace = \"main\"")?, errors),
            "isolation" => set(&mut into.isolation, key, isolation(key, input)?, errors),
            "blind_to" => set(&mut into.blind_to, key, names(key, input, "blind_to(write)")?, errors),
            "memory" => set(&mut into.memory, key, memory(key, input)?, errors),
            "map" => set(&mut into.map, key, value(key, input, "map = ChildGraph")?, errors),
            "concurrency" => set(&mut into.concurrency, key, count(key, input, "concurrency = 4")?, errors),
            "depth" => set(&mut into.depth, key, count(key, input, "depth = 3")?, errors),
            "adopt" => flag(&mut into.adopt, key, input, errors)?,
            "question" => set(&mut into.question, key, value(key, input, "question = Question")?, errors),
            "answer" => set(&mut into.answer, key, value(key, input, "answer = Answer")?, errors),
            "on" => set(&mut into.on, key, message(key, input)?, errors),
            "resume" => flag(&mut into.resume, key, input, errors)?,
            "spawn" => set(&mut into.spawn, key, names(key, input, "spawn(advisory)")?, errors),
            "observes" => set(&mut into.observes, key, names(key, input, "observes(write, review)")?, errors),
            "report" => set(&mut into.report, key, value(key, input, "report = Report")?, errors),
            "reports_to" => set(&mut into.reports_to, key, names(key, input, "reports_to(exit)")?, errors),
            _ => return Ok(false),
        }
        Ok(true)
    })
}

/// A value and where it stands.
type Placed<T> = (T, Span);

/// Reads a comma-separated list of items; `item` says whether it knows the key.
fn items(
    attribute: &Attribute,
    errors: &Errors,
    doubts: &mut Doubts,
    example: &str,
    keys: &[&str],
    mut item: impl FnMut(&Ident, ParseStream<'_>) -> syn::Result<bool>,
) {
    if !matches!(attribute.meta, Meta::List(_)) {
        errors.over(&attribute.meta, format_args!("write `#[{example}]`"));
        doubts.add_everything();
        return;
    }
    // After an error the rest of its item is skipped up to the next comma. That comma may have stood between `<` and
    // `>`, and what follows may then be no item.
    let mut in_doubt = false;
    let list = |input: ParseStream<'_>| {
        while !input.is_empty() {
            let key = match input.call(Ident::parse_any) {
                Ok(key) => key,
                Err(error) => {
                    if !in_doubt {
                        errors.push(error);
                    }
                    doubts.add_everything();
                    in_doubt |= skip(input)?;
                    continue;
                }
            };
            let name = key.to_string();
            match item(&key, input).and_then(|known| if known { end(input).map(|()| true) } else { Ok(false) }) {
                Ok(true) => in_doubt = false,
                Ok(false) => {
                    let near = suggest::nearest(&name, keys.iter().copied());
                    match near {
                        Some(near) => doubts.add(near),
                        None => doubts.add_everything(),
                    }
                    if !in_doubt {
                        let known = || format!("known are `{}`", keys.join("`, `"));
                        let hint = near.map_or_else(known, |near| format!("did you mean `{near}`?"));
                        errors.over(&key, format_args!("unknown attribute `{name}`: {hint}"));
                    }
                    in_doubt |= skip(input)?;
                }
                Err(error) => {
                    errors.push(error);
                    doubts.add(&name);
                    in_doubt = skip(input)?;
                }
            }
        }
        Ok(())
    };
    if let Err(error) = attribute.parse_args_with(list) {
        errors.push(error);
        doubts.add_everything();
    }
}

/// Skips the rest of an item and the comma after it; true if the comma may be part of the item.
fn skip(input: ParseStream<'_>) -> syn::Result<bool> {
    let mut in_doubt = false;
    while !input.is_empty() && !input.peek(Token![,]) {
        in_doubt |= input.peek(Token![<]);
        input.parse::<TokenTree>()?;
    }
    input.parse::<Option<Token![,]>>()?;
    Ok(in_doubt)
}

/// A comma, unless the list ends here.
fn end(input: ParseStream<'_>) -> syn::Result<()> {
    if input.is_empty() { Ok(()) } else { comma(input) }
}

fn comma(input: ParseStream<'_>) -> syn::Result<()> {
    match input.parse::<Token![,]>() {
        Ok(_) => Ok(()),
        Err(_) => Err(input.error("expected `,`")),
    }
}

fn set<T>(slot: &mut Option<Given<T>>, key: &Ident, (value, at): Placed<T>, errors: &Errors) {
    if slot.is_some() {
        errors.at(key.span(), format_args!("`{key}` is given twice: keep one"));
    } else {
        *slot = Some(Given { key: key.clone(), at, value });
    }
}

fn flag(slot: &mut Option<Ident>, key: &Ident, input: ParseStream<'_>, errors: &Errors) -> syn::Result<()> {
    if !input.is_empty() && !input.peek(Token![,]) {
        return Err(input.error(format_args!("`{key}` stands alone: it takes no value")));
    }
    if slot.is_some() {
        errors.at(key.span(), format_args!("`{key}` is given twice: keep one"));
    }
    slot.get_or_insert_with(|| key.clone());
    Ok(())
}

fn equals(key: &Ident, input: ParseStream<'_>, example: &str) -> syn::Result<()> {
    if input.peek(Token![=]) {
        input.parse::<Token![=]>()?;
        return Ok(());
    }
    Err(syn::Error::new(key.span(), format_args!("`{key}` takes a value: `{example}`")))
}

fn value<T: Parse + Spanned>(key: &Ident, input: ParseStream<'_>, example: &str) -> syn::Result<Placed<T>> {
    equals(key, input, example)?;
    let value: T = input.parse()?;
    let at = value.span();
    Ok((value, at))
}

fn text(key: &Ident, input: ParseStream<'_>, example: &str) -> syn::Result<Placed<String>> {
    equals(key, input, example)?;
    let literal: LitStr =
        input.parse().map_err(|error| syn::Error::new(error.span(), format_args!("expected text: `{example}`")))?;
    Ok((literal.value(), literal.span()))
}

fn isolation(key: &Ident, input: ParseStream<'_>) -> syn::Result<Placed<Isolation>> {
    let (word, at) = text(key, input, "isolation = \"clone\"")?;
    let unknown = || {
        let levels = Isolation::ALL.map(Isolation::word);
        let known = || format!("known are `{}`", levels.join("`, `"));
        let hint = suggest::nearest(&word, levels).map_or_else(known, |near| format!("did you mean `{near}`?"));
        syn::Error::new(at, format_args!("no isolation is called `{word}`: {hint}"))
    };
    Isolation::from_word(&word).map(|level| (level, at)).ok_or_else(unknown)
}

fn timeout(key: &Ident, input: ParseStream<'_>) -> syn::Result<Placed<u64>> {
    let (text, at) = text(key, input, "timeout = \"90s\"")?;
    let total = duration::milliseconds(&text).map_err(|message| syn::Error::new(at, message))?;
    Ok((total, at))
}

fn count(key: &Ident, input: ParseStream<'_>, example: &str) -> syn::Result<Placed<u32>> {
    equals(key, input, example)?;
    let wrong = |span| syn::Error::new(span, format_args!("expected a whole number below 2³²: `{example}`"));
    let literal: LitInt = input.parse().map_err(|error| wrong(error.span()))?;
    let number = literal.base10_parse().map_err(|error| wrong(error.span()))?;
    Ok((number, literal.span()))
}

fn visits(key: &Ident, input: ParseStream<'_>) -> syn::Result<Placed<Visits>> {
    let ahead = input.fork();
    let is_word = ahead.parse::<Token![=]>().is_ok() && ahead.peek(Ident);
    if !is_word {
        let (number, at) = count(key, input, "visits = 3` or `visits = unbounded")?;
        return Ok((Visits::AtMost(number), at));
    }
    input.parse::<Token![=]>()?;
    let word: Ident = input.parse()?;
    if word == "unbounded" {
        return Ok((Visits::Unbounded, word.span()));
    }
    Err(syn::Error::new(word.span(), format_args!("`visits` is a number or `unbounded`, not `{word}`")))
}

/// Reads what stands in parentheses after `key`. On an error the rest of it is skipped, so that it is reported once.
fn parentheses<T>(
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

fn group(key: &Ident, input: ParseStream<'_>, example: &str) -> syn::Result<Placed<Group>> {
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

fn exhausted(key: &Ident, input: ParseStream<'_>) -> syn::Result<Placed<Group>> {
    let (group, at) = group(key, input, "exhausted(exit)")?;
    match group.targets.get(1) {
        Some(second) => {
            let message = "an exhausted route has one target: no handler is there to choose";
            Err(syn::Error::new(second.node.span(), message))
        }
        None => Ok((group, at)),
    }
}

fn fork(key: &Ident, input: ParseStream<'_>) -> syn::Result<Placed<Fork>> {
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
fn cancels(input: ParseStream<'_>) -> syn::Result<Option<Vec<Cancel>>> {
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

fn slots(key: &Ident, input: ParseStream<'_>) -> syn::Result<Placed<Vec<Slot>>> {
    parentheses(key, input, "join(spelling: Article, facts: bool)", |content| {
        let mut slots = Vec::new();
        while !content.is_empty() {
            slots.push(content.parse()?);
            end(content)?;
        }
        Ok((slots, key.span()))
    })
}

fn memory(key: &Ident, input: ParseStream<'_>) -> syn::Result<Placed<Memory>> {
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

fn message(key: &Ident, input: ParseStream<'_>) -> syn::Result<Placed<Type>> {
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

/// A list of one name at least.
fn names(key: &Ident, input: ParseStream<'_>, example: &str) -> syn::Result<Placed<Vec<Ident>>> {
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
