//! Normalises signatures to texts that are equal if the signatures mean the same to a caller.

use crate::normal::{is_remark, text_of};
use quote::ToTokens;
use std::collections::BTreeSet;
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Fields, FnArg, GenericParam, Generics, Meta, Pat, PatWild, ReceiverKind, ReturnType, Signature, Type,
    TypeParamBound, Visibility, WherePredicate,
};

pub(super) fn shown(syntax: &impl ToTokens) -> String {
    text_of(syntax.to_token_stream())
}

/// The attributes that change how others can use an item, after those of the enclosing item. `derive` counts as an
/// implementation.
pub(super) fn conditions(around: &str, attributes: &[Attribute]) -> String {
    const COUNT: [&str; 8] =
        ["cfg", "cfg_attr", "repr", "non_exhaustive", "no_mangle", "export_name", "target_feature", "unsafe"];
    let counts = |attribute: &&Attribute| {
        let is_one = COUNT.iter().any(|name| attribute.path().is_ident(name));
        is_one && !is_conditional_remark(attribute)
    };
    // Inner and outer attributes are shown alike.
    let shown = |attribute: &Attribute| format!("#[{}]", shown(&attribute.meta));
    let own: BTreeSet<String> = attributes.iter().filter(counts).map(shown).collect();
    own.into_iter().fold(around.to_owned(), |all, one| all + &one + " ")
}

/// Whether an attribute is a `cfg_attr` with nothing but remarks, such as `#[cfg_attr(condition, doc = "…")]`.
fn is_conditional_remark(attribute: &Attribute) -> bool {
    let Meta::List(list) = &attribute.meta else { return false };
    if !list.path.is_ident("cfg_attr") {
        return false;
    }
    let inside = list.parse_args_with(Punctuated::<Meta, syn::Token![,]>::parse_terminated);
    inside.is_ok_and(|inside| {
        let mut attributes = inside.into_iter().skip(1);
        attributes.all(|meta| is_remark(&syn::parse_quote!(#[#meta])))
    })
}

/// The traits that are derived, in the order in which they are written.
pub(super) fn derived(attributes: &[Attribute]) -> Vec<String> {
    let of = |attribute: &Attribute| {
        let traits = attribute.parse_args_with(Punctuated::<syn::Path, syn::Token![,]>::parse_terminated).ok()?;
        Some(traits.iter().map(shown).collect::<Vec<_>>())
    };
    attributes.iter().filter(|attribute| attribute.path().is_ident("derive")).filter_map(of).flatten().collect()
}

/// A function without the names of its arguments.
pub(super) fn function(signature: &Signature) -> String {
    let mut signature = signature.clone();
    let bounds = bounds_taken(&mut signature.generics);
    for input in &mut signature.inputs {
        match input {
            FnArg::Receiver(receiver) => {
                receiver.attrs.clear();
                // `mut` makes no difference to a receiver that is passed by value.
                if !matches!(receiver.kind, ReceiverKind::Reference(..)) {
                    receiver.mutability = None;
                }
            }
            FnArg::Typed(argument) => {
                argument.attrs.clear();
                *argument.pat = Pat::Wild(PatWild { attrs: Vec::new(), underscore_token: Default::default() });
            }
        }
    }
    if matches!(&signature.output, ReturnType::Type(_, ty) if matches!(&**ty, Type::Tuple(unit) if unit.elems.is_empty()))
    {
        signature.output = ReturnType::Default;
    }
    if let Some(abi) = &mut signature.abi
        && shown(abi) == "extern"
    {
        *abi = syn::parse_quote!(extern "C");
    }
    format!("{}{bounds}", shown(&signature))
}

/// The generic parameters and the bounds: `<T, const N: usize>` and ` where T: Clone`.
pub(super) fn generics(generics: &Generics) -> (String, String) {
    let mut generics = generics.clone();
    let bounds = bounds_taken(&mut generics);
    (shown(&generics), bounds)
}

/// Takes all bounds out and returns them as a sorted `where` clause, as neither their place nor their order matters.
fn bounds_taken(generics: &mut Generics) -> String {
    let mut all = BTreeSet::new();
    for parameter in &mut generics.params {
        match parameter {
            GenericParam::Type(parameter) => {
                parameter.attrs.clear();
                parameter.colon_token = None;
                let bounds = std::mem::take(&mut parameter.bounds);
                all.extend(bounds.iter().map(|bound| format!("{}: {}", parameter.ident, shown(bound))));
            }
            GenericParam::Lifetime(parameter) => {
                parameter.attrs.clear();
                parameter.colon_token = None;
                let bounds = std::mem::take(&mut parameter.bounds);
                all.extend(bounds.iter().map(|bound| format!("{}: {}", parameter.lifetime, shown(bound))));
            }
            GenericParam::Const(parameter) => parameter.attrs.clear(),
        }
    }
    for predicate in generics.where_clause.take().into_iter().flat_map(|clause| clause.predicates) {
        match predicate {
            WherePredicate::Type(predicate) => {
                let of = format!("{}{}", shown(&predicate.lifetimes), shown(&predicate.bounded_ty));
                all.extend(predicate.bounds.iter().map(|bound| format!("{of}: {}", shown(bound))));
            }
            WherePredicate::Lifetime(predicate) => {
                all.extend(predicate.bounds.iter().map(|bound| format!("{}: {}", predicate.lifetime, shown(bound))));
            }
            other => _ = all.insert(shown(&other)),
        }
    }
    let all: Vec<String> = all.into_iter().collect();
    if all.is_empty() { String::new() } else { format!(" where {}", all.join(", ")) }
}

/// The bounds of a trait or an associated type, sorted: `: Clone + Send`.
pub(super) fn bounds<'a>(bounds: impl IntoIterator<Item = &'a TypeParamBound>) -> String {
    let all: BTreeSet<String> = bounds.into_iter().map(shown).collect();
    let all: Vec<String> = all.into_iter().collect();
    if all.is_empty() { String::new() } else { format!(": {}", all.join(" + ")) }
}

/// The public shape of fields: the types of public unnamed fields, or whether there are named fields and private ones among them.
pub(super) fn shape(fields: &Fields, is_public: &dyn Fn(&Visibility) -> bool) -> String {
    match fields {
        Fields::Unit => ";".to_owned(),
        Fields::Unnamed(fields) => {
            let each = fields.unnamed.iter().map(|field| {
                let ty = if is_public(&field.vis) { shown(&field.ty) } else { "_".to_owned() };
                conditions("", &field.attrs) + &ty
            });
            format!("({});", each.collect::<Vec<_>>().join(", "))
        }
        Fields::Named(fields) if fields.named.iter().all(|field| is_public(&field.vis)) => " { }".to_owned(),
        Fields::Named(_) => " { private fields }".to_owned(),
    }
}
