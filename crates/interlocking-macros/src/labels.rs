//! `#[derive(Labels)]`: a closed enum of labels beside an enum of exits, one label per variant.

use crate::errors::Errors;
use crate::expand::{silenced, standing_at};
use interlocking_core::naming::snake_case;
use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, Data, DeriveInput, Fields, Ident, Path, Token, Variant};

const EXAMPLE: &str = "`#[label(info)]`, `#[label(warn)]` or `#[label(blocker, route_hint = graph::node)]`";

/// The content of a variant's `#[label(…)]`.
struct LabelAttribute {
    severity: Ident,
    route_hint: Option<Path>,
}

/// Writes the enum of labels, and the conversion from the values of the enum itself.
pub(crate) fn derive(input: &DeriveInput) -> TokenStream {
    let errors = Errors::new();
    let node = node(input, &errors);
    let variants = variants(input, &errors);
    labels_differ(&variants, &errors);
    let attributes: Vec<Option<LabelAttribute>> = variants.iter().map(|variant| read_label(variant, &errors)).collect();
    if let (None, Some(hint)) = (&node, attributes.iter().flatten().find_map(|attribute| attribute.route_hint.as_ref()))
    {
        errors.over(
            hint,
            "a route hint is one of the edges of a node: say which, `#[labels(node = graph::node)]` on the enum",
        );
    }
    match errors.check() {
        Ok(()) => expand(input, node.as_ref(), &variants, &attributes.into_iter().flatten().collect::<Vec<_>>()),
        Err(errors) => errors.into_compile_error(),
    }
}

fn expand(
    input: &DeriveInput,
    node: Option<&Path>,
    variants: &[&Variant],
    attributes: &[LabelAttribute],
) -> TokenStream {
    let (ident, visibility, lints) = (&input.ident, &input.vis, silenced());
    let labels = format_ident!("{}Label", ident.unraw(), span = ident.span());
    let (mut listed, mut names, mut severities, mut hints, mut arms) =
        <(Vec<_>, Vec<_>, Vec<_>, Vec<_>, Vec<_>)>::default();
    for (variant, LabelAttribute { severity, route_hint }) in variants.iter().zip(attributes) {
        let name = &variant.ident;
        let text = text(variant);
        let doc = format!(" `{text}`");
        listed.push(quote_spanned!(name.span()=> #[doc = #doc] #name));
        names.push(quote!(Self::#name => #text));
        severities.push(quote!(Self::#name => __p::Severity::#severity));
        if let (Some(hint), Some(node)) = (route_hint, node) {
            let place = standing_at(quote!(__p::route_hint::<#node, #hint>()), hint);
            hints.push(quote!(Self::#name => __p::Some(#place)));
        }
        arms.push(match variant.fields {
            Fields::Named(_) => quote!(Self::#name { .. } => #labels::#name),
            Fields::Unnamed(_) => quote!(Self::#name(..) => #labels::#name),
            Fields::Unit => quote!(Self::#name => #labels::#name),
        });
    }
    let hints = if hints.len() < variants.len() { quote!(#(#hints,)* _ => __p::None) } else { quote!(#(#hints),*) };
    let variants: Vec<&Ident> = variants.iter().map(|variant| &variant.ident).collect();
    let labelled = match node {
        Some(node) => quote!(impl __p::Labelled<#node> for #ident),
        None => quote!(impl<__N: __p::Node> __p::Labelled<__N> for #ident),
    };
    let doc = format!(" The labels of [`{}`]: one a variant.", ident.unraw());
    quote! {
        #[doc = #doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #visibility enum #labels { #(#listed),* }
        #lints
        const _: () = {
            use ::interlocking::__private as __p;
            #[automatically_derived]
            impl __p::LabelType for #labels {
                const ALL: &'static [Self] = &[#(Self::#variants),*];
                fn name(self) -> &'static ::core::primitive::str { match self { #(#names),* } }
                fn severity(self) -> __p::Severity { match self { #(#severities),* } }
                fn route_hint(self) -> __p::Option<&'static ::core::primitive::str> { match self { #hints } }
            }
            #[automatically_derived]
            impl #ident {
                /// Its label.
                #visibility fn label(&self) -> #labels { match self { #(#arms),* } }
            }
            #[automatically_derived]
            #labelled {
                type Type = #labels;
                fn label_type(&self) -> #labels { self.label() }
            }
        };
    }
}

/// The variants; reports an enum that has none.
fn variants<'a>(input: &'a DeriveInput, errors: &Errors) -> Vec<&'a Variant> {
    let Data::Enum(data) = &input.data else {
        errors.over(&input.ident, "labels are those of an enum's variants: derive them for an enum");
        return Vec::new();
    };
    if !input.generics.params.is_empty() {
        errors.over(&input.generics.params, "an enum with labels has no generics");
    }
    if data.variants.is_empty() {
        errors.over(&input.ident, "an enum without variants has no labels");
    }
    data.variants.iter().collect()
}

/// The name of a variant's label: `HTTP_ERROR` of `HttpError`, and of `HTTPError`.
fn text(variant: &Variant) -> String {
    snake_case(&variant.ident.unraw().to_string()).to_uppercase()
}

/// Each variant has a label of its own.
fn labels_differ(variants: &[&Variant], errors: &Errors) {
    for (at, variant) in variants.iter().enumerate() {
        let label = text(variant);
        if let Some(first) = variants[..at].iter().find(|first| text(first) == label) {
            let (first, name) = (&first.ident, &variant.ident);
            errors.over(name, format_args!("`{first}` and `{name}` have one label, `{label}`: rename one"));
        }
    }
}

/// The node of `#[labels(node = graph::node)]`.
fn node(input: &DeriveInput, errors: &Errors) -> Option<Path> {
    let mut node = None;
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("labels")) {
        let read = attribute.parse_args_with(|input: ParseStream<'_>| {
            let key: Ident = input.parse()?;
            if key != "node" {
                return Err(syn::Error::new(key.span(), "labels belong to a node: `#[labels(node = graph::node)]`"));
            }
            input.parse::<Token![=]>()?;
            let path: Path = input.parse()?;
            input.parse::<Option<Token![,]>>()?;
            Ok(path)
        });
        match read {
            Ok(path) if node.is_none() => node = Some(path),
            Ok(path) => errors.over(path, "the node is given twice: keep one"),
            Err(error) => errors.push(error),
        }
    }
    node
}

/// Reads `#[label(…)]`. Every variant must have one, so that no value is routed without an envelope.
fn read_label(variant: &Variant, errors: &Errors) -> Option<LabelAttribute> {
    let mut attributes = variant.attrs.iter().filter(|attribute| attribute.path().is_ident("label"));
    let Some(attribute) = attributes.next() else {
        let name = &variant.ident;
        errors.over(name, format_args!("`{name}` does not say how bad it is: {EXAMPLE}"));
        return None;
    };
    if let Some(second) = attributes.next() {
        errors.over(second, "a variant has one label: put everything into one `#[label(…)]`");
    }
    read(attribute).map_err(|error| errors.push(error)).ok()
}

fn read(attribute: &Attribute) -> syn::Result<LabelAttribute> {
    attribute.parse_args_with(|input: ParseStream<'_>| {
        let word: Ident = input.parse()?;
        let severity = match word.to_string().as_str() {
            "info" => Ident::new("Info", word.span()),
            "warn" => Ident::new("Warn", word.span()),
            "blocker" => Ident::new("Blocker", word.span()),
            _ => return Err(syn::Error::new(word.span(), format_args!("`{word}` is no severity: {EXAMPLE}"))),
        };
        let mut route_hint = None;
        if input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
            let key: Ident = input.parse()?;
            if key != "route_hint" {
                return Err(syn::Error::new(
                    key.span(),
                    format_args!("after the severity comes `route_hint`: {EXAMPLE}"),
                ));
            }
            input.parse::<Token![=]>()?;
            route_hint = Some(input.parse()?);
            input.parse::<Option<Token![,]>>()?;
        }
        if !input.is_empty() {
            return Err(input.error(format_args!("a label has a severity and a route hint, and no more: {EXAMPLE}")));
        }
        Ok(LabelAttribute { severity, route_hint })
    })
}
