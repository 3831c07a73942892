//! The module of markers: one uninhabited enum per node and per slot, and one for the exit.

use crate::ast::{Attributes, EXIT, GraphModel, Node, Quorum};
use crate::naming;
use crate::spelling;
use interlocking_core::table::NodeKind;
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Attribute, Ident};

/// `pub mod newsroom { pub(super) enum write {} … }`.
pub(crate) fn module(graph: &GraphModel<'_>) -> TokenStream {
    let (module, visibility) = (&graph.module, &graph.input.vis);
    // If there are errors, two nodes or slots may have the same name; each marker is still written once.
    let mut written = vec![EXIT.to_owned()];
    let mut nodes = TokenStream::new();
    for (name, marker) in graph.nodes.iter().flat_map(node) {
        if !written.contains(&name) {
            nodes.extend(marker);
            written.push(name);
        }
    }
    let exit_visibility = naming::one_module_deeper(visibility);
    let summary = format!(" The nodes of [`{}`](super::{0}), as types.", graph.input.ident.unraw());
    quote! {
            #[doc = #summary]
    #[allow(
                non_camel_case_types, missing_debug_implementations, unreachable_pub, unnameable_types,
                dead_code, rustdoc::broken_intra_doc_links
            )]
            #visibility mod #module {
                #nodes
                #[doc = " Where a run ends."]
                #exit_visibility enum exit {}
            }
        }
}

/// The markers of a node and of its slots, by name.
fn node(node: &Node<'_>) -> Vec<(String, TokenStream)> {
    let (ident, visibility) = (node.ident, naming::one_module_deeper(&node.field.vis));
    let docs = node.field.attrs.iter().filter(|attribute| is_doc(attribute));
    let edges = edges(node);
    let paragraph = node.field.attrs.iter().any(is_doc).then(|| quote!(#[doc = ""]));
    let marker = quote_spanned!(ident.span()=> #(#docs)* #paragraph #[doc = #edges] #visibility enum #ident {});
    let slots = node.slots().iter().map(|slot| {
        let marker = naming::slot_marker(node, slot);
        let ty = spelling::of(&slot.ty);
        let ty = if slot.optional.is_some() { format!("Option<{ty}>") } else { ty };
        let doc = format!(" Slot `{}` of `{}`. Takes `{ty}`.", slot.name(), node.name);
        (marker.to_string(), quote_spanned!(slot.name.span()=> #[doc = #doc] #visibility enum #marker {}))
    });
    std::iter::once((node.name.clone(), marker)).chain(slots).collect()
}

fn is_doc(attribute: &Attribute) -> bool {
    attribute.path().is_ident("doc")
}

/// The node's row of the table in one line, for its page in the documentation.
fn edges(node: &Node<'_>) -> String {
    let mut parts = Vec::new();
    if node.attributes.entry.is_some() {
        parts.push("Entry.".to_owned());
    }
    if let Some(input) = node.input() {
        let takes = if node.kind == Some(NodeKind::Event) { "On" } else { "Takes" };
        parts.push(format!("{takes} `{}`.", spelling::of(input)));
    }
    parts.extend(of_its_kind(node));
    let gotos: Vec<String> = node
        .gotos()
        .map(|(target, group)| {
            let to = format!("`{}`", target.spelled());
            let Some(times) = &group.times else { return to };
            let route = group.exhausted.as_ref().and_then(|route| route.value.targets.first());
            let then = route.map(|route| format!(", then `{}`", route.spelled())).unwrap_or_default();
            format!(
                "{to} (at most {}{then})",
                if times.value == 1 { "once".into() } else { format!("{} times", times.value) }
            )
        })
        .collect();
    if !gotos.is_empty() {
        parts.push(format!("Next: {}.", gotos.join(", ")));
    }
    let branches = node.branches().iter().map(|branch| {
        let targets: Vec<String> = branch.iter().map(|target| format!("`{}`", target.spelled())).collect();
        targets.join(" or ")
    });
    let branches: Vec<String> = branches.collect();
    if !branches.is_empty() {
        parts.push(format!("Forks to {}.", branches.join(" and ")));
    }
    let Attributes { exhausted, timed_out, failed, .. } = &node.attributes;
    for (when, route) in [("Exhausted", exhausted), ("Timed out", timed_out), ("Failed", failed)] {
        let target = route.as_ref().and_then(|route| route.value.targets.first());
        parts.extend(target.map(|target| format!("{when}: `{}`.", target.spelled())));
    }
    if !node.spawned().is_empty() {
        parts.push(format!("May spawn {}.", quoted(node.spawned())));
    }
    if let Some(report) = &node.attributes.report {
        parts.push(format!("Reports `{}` at the exit.", spelling::of(&report.value)));
    }
    if parts.is_empty() {
        parts.push(node.kind.map_or_else(String::new, |kind: NodeKind| format!("A `{kind}`.")));
    }
    format!(" {}", parts.join(" "))
}

/// The parts for single kinds: children, a question, observed nodes, whether the node may leave the run as it is.
fn of_its_kind(node: &Node<'_>) -> Vec<String> {
    let attributes = &node.attributes;
    let mut parts = Vec::new();
    if let Some(child) = &attributes.map {
        let until = match attributes.quorum.as_ref().map(|quorum| quorum.value) {
            Some(Quorum::AtLeast(count)) => format!(" until {count} have succeeded"),
            Some(Quorum::Enough) => " until its handler has enough".to_owned(),
            None => String::new(),
        };
        parts.push(format!("Runs `{}` for each item{until}.", spelling::of(&child.value)));
    }
    if let Some(child) = &attributes.graph {
        parts.push(format!("Runs `{}`.", spelling::of(&child.value)));
    }
    if let (Some(question), Some(answer)) = (&attributes.question, &attributes.answer) {
        let (question, answer) = (spelling::of(&question.value), spelling::of(&answer.value));
        parts.push(format!("Asks `{question}` of a person, who answers `{answer}`."));
    }
    if !node.observed().is_empty() {
        parts.push(format!("Sees {}.", quoted(node.observed())));
    }
    if !node.adds_to().is_empty() {
        parts.push(format!("May add items to {}.", quoted(node.adds_to())));
    }
    if attributes.resume.is_some() {
        parts.push("May leave the run as it is.".to_owned());
    }
    parts
}

fn quoted(names: &[Ident]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{}`", name.unraw())).collect();
    names.join(", ")
}
