//! The code that accompanies the errors of a struct: markers and impls with which handlers still type-check as far as
//! possible, so that follow-up errors do not hide the real errors.
//!
//! Every node may go to every place, whatever the table says. Where a type is unknown because the table is wrong, the
//! type is an array whose length is the first error: rustc then reports no further errors about that type, and shows
//! the repeated error once.

use crate::ast::{Given, GraphModel, Node, Place};
use crate::expand::{self, at};
use crate::{markers, naming, validate};
use interlocking_core::table::NodeKind;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use std::cell::RefCell;
use syn::Type;
use syn::ext::IdentExt;

/// The errors, and the code with which the rest of the program can be checked.
pub(crate) fn graph(graph: &GraphModel<'_>, errors: &syn::Error) -> TokenStream {
    let first = errors.clone().into_iter().next();
    let first = first.map(syn::Error::into_compile_error).unwrap_or_default();
    let unknown = quote!([(); #first]);
    let fallback = Fallback { graph, unknown, placed: RefCell::default() };
    let report = errors.to_compile_error();
    if graph.module_clashes {
        return report;
    }
    let markers = markers::module(graph);
    let lints = expand::silenced();
    let nodes =
        (0..graph.nodes.len()).filter(|&index| graph.is_first_of_its_name(index)).map(|index| fallback.node(index));
    let exit = fallback.place(Place::Exit);
    let reports = fallback.reports();
    let (name, output) = (&graph.input.ident, fallback.or_unknown(graph.output.as_ref()));
    let entry = graph.nodes.iter().find(|node| node.attributes.entry.is_some());
    let entry = match entry {
        Some(entry) => fallback.input(entry),
        None => fallback.unknown.clone(),
    };
    quote! {
        #report
        #markers
        #lints
        const _: () = {
            use ::interlocking::__private as __p;
            #(#nodes)*
            #exit
            #reports
            impl __p::Graph for #name {
                type Entry = #entry;
                type Output = #output;
                type Token = __p::NoToken;
                const NODES: __p::usize = 0;
                const EDGES: __p::usize = 0;
                fn net() -> &'static __p::Net { ::core::unreachable!() }
                fn enter(_: #entry) -> __p::NoToken { ::core::unreachable!() }
                fn leave(_: __p::NoToken) -> __p::Option<#output> { ::core::unreachable!() }
                fn join(_: __p::u16, _: __p::Vec<__p::NoToken>) -> __p::Option<__p::NoToken> { ::core::unreachable!() }
                fn exhausted(_: __p::u16, _: __p::Limit, _: __p::NoToken) -> __p::Option<__p::Step<__p::NoToken>> {
                    ::core::unreachable!()
                }
                async fn step<'run>(&'run self, _: __p::NoToken, _: __p::Entered<'run, Self>) -> __p::Done<Self> {
                    ::core::unreachable!()
                }
                fn visit_memory<__V: __p::MemoryVisitor>(_: __p::u16, _: __V) -> __p::Option<__V::Output> {
                    ::core::unreachable!()
                }
            }
        };
    }
}

struct Fallback<'m, 'a> {
    graph: &'m GraphModel<'a>,
    /// The code in place of an unknown type.
    unknown: TokenStream,
    /// The markers that have a `Place` impl already: if there are errors, two may have the same name.
    placed: RefCell<Vec<String>>,
}

impl Fallback<'_, '_> {
    fn node(&self, index: usize) -> TokenStream {
        let node = &self.graph.nodes[index];
        let (graph, module, name) = (&self.graph.input.ident, &self.graph.module, node.ident);
        let (input, attributes) = (self.input(node), &node.attributes);
        let marker = quote!(#module::#name);
        let mut more = TokenStream::new();
        if node.slots().is_empty() {
            more.extend(self.place(Place::Node(index)));
        }
        let slots = node.slots().iter().enumerate();
        let own = slots.filter(|(at, slot)| !node.slots()[..*at].iter().any(|other| other.name() == slot.name()));
        more.extend(own.map(|(at, _)| self.place(Place::Slot(index, at))));
        for (join, other) in self.graph.nodes.iter().enumerate() {
            if !other.slots().is_empty() && self.graph.is_first_of_its_name(join) {
                let (slot, join) = (self.slot_from(node, other), other.ident);
                more.extend(quote! {
                    impl __p::Edge<#module::#join> for #marker { type To = #module::#slot; const ALTERNATIVE: __p::u16 = 0; }
                });
            }
        }
        if attributes.fork.is_some() || node.unparsed.may_include("fork") {
            more.extend(self.forks(index));
        }
        if attributes.memory.is_some() || node.unparsed.may_include("memory") || node.kind == Some(NodeKind::Observer) {
            let ty = self.or_unknown(node.memory_type());
            more.extend(quote!(impl __p::Remembers for #marker { type Memory = #ty; const GROUP: __p::u16 = 0; }));
        }
        let works = attributes.workspace.is_some()
            || attributes.read_only.is_some()
            || attributes.isolation.is_some()
            || attributes.blind_to.is_some();
        if works || node.unparsed.may_include("workspace") {
            more.extend(quote!(impl __p::Works for #marker {}));
        }
        let may_ask = matches!(node.kind, Some(NodeKind::Advisory | NodeKind::Event))
            && (attributes.prompt.is_some() || attributes.output.is_some());
        if node.kind == Some(NodeKind::Llm) || may_ask {
            let prompt = match &attributes.prompt {
                Some(prompt) => expand::with_lifetime(&prompt.value),
                None => node.input_as_prompt().map_or_else(|| self.unknown.clone(), ToTokens::to_token_stream),
            };
            let output = self.or_unknown(attributes.output.as_ref().map(|output| &output.value));
            more.extend(quote!(impl __p::LLM for #marker { type Prompt<'a> = #prompt; type Output = #output; type PromptFrom = __p::FromHandler; }));
        }
        more.extend(self.of_its_kind(node));
        quote_spanned! {at(name.span())=>
            impl __p::Node for #marker {
                type Graph = #graph;
                type Input = #input;
                const INDEX: __p::u16 = 0;
                fn take(_: __p::NoToken) -> #input { ::core::unreachable!() }
            }
            impl<__T: __p::Place<Graph = #graph>> __p::Edge<__T> for #marker {
                type To = __T;
                const ALTERNATIVE: __p::u16 = 0;
            }
            #more
        }
    }

    /// The impls that only nodes of some kinds have. Every node may spawn a token for every place.
    fn of_its_kind(&self, node: &Node<'_>) -> TokenStream {
        let (graph, module, name) = (&self.graph.input.ident, &self.graph.module, node.ident);
        let marker = quote!(#module::#name);
        let attributes = &node.attributes;
        let given = |ty: &Option<Given<Type>>| self.or_unknown(ty.as_ref().map(|ty| &ty.value));
        let mut impls = TokenStream::new();
        if self.graph.nodes.iter().any(|node| node.kind == Some(NodeKind::Advisory)) {
            impls.extend(quote! {
                impl<__T: __p::Place<Graph = #graph>> __p::Spawns<__T> for #marker { type To = __T; }
            });
        }
        match node.kind {
            Some(kind @ (NodeKind::Map | NodeKind::Graph)) => {
                let child = match if kind == NodeKind::Map { &attributes.map } else { &attributes.graph } {
                    Some(map) if naming::last_name(&map.value).as_deref() == Some("Self") => graph.to_token_stream(),
                    map => given(map),
                };
                impls.extend(quote!(impl __p::RunsChildren for #marker {}));
                impls.extend(match kind {
                    NodeKind::Map => {
                        let quorum = node.quorum_marker();
                        quote!(impl __p::Maps for #marker { type Child = #child; type Quorum = __p::#quorum; })
                    }
                    _ => quote!(impl __p::Runs for #marker { type Child = #child; type By = __p::Handled; }),
                });
            }
            Some(NodeKind::Human) => {
                let (question, answer) = (given(&attributes.question), given(&attributes.answer));
                impls.extend(quote! {
                    impl __p::Asks for #marker { type Question = #question; type Answer = #answer; }
                });
            }
            Some(NodeKind::Advisory | NodeKind::Observer) => {
                let report = given(&attributes.report);
                impls.extend(quote!(impl __p::Reports for #marker { type Report = #report; }));
            }
            Some(NodeKind::Event) => impls.extend(quote! {
                impl __p::Resumes for #marker {}
                impl<__M> __p::AddsTo<__M> for #marker {}
            }),
            _ => {}
        }
        impls
    }

    /// The struct of reports, so that a `Finish` impl is checked as far as possible.
    fn reports(&self) -> TokenStream {
        let mut names: Vec<&str> = Vec::new();
        let mut fields = TokenStream::new();
        for node in self.graph.nodes.iter().filter(|node| node.reports()) {
            if !names.contains(&node.name.as_str()) {
                let (name, report) = (node.ident, node.attributes.report.as_ref().map(|report| &report.value));
                let report = self.or_unknown(report);
                fields.extend(quote!(pub #name: __p::ReportsOfNode<#report>,));
                names.push(&node.name);
            }
        }
        if names.is_empty() {
            return TokenStream::new();
        }
        let graph = &self.graph.input.ident;
        quote! {
            pub struct __Reports { #fields }
            impl __p::Reporting for #graph { type Reports = __Reports; }
        }
    }

    fn place(&self, place: Place) -> TokenStream {
        let (graph, module, marker) = (&self.graph.input.ident, &self.graph.module, naming::marker(self.graph, place));
        if self.placed.borrow().contains(&marker.to_string()) {
            return TokenStream::new();
        }
        self.placed.borrow_mut().push(marker.to_string());
        let payload = self.payload(place);
        quote! {
            impl __p::Place for #module::#marker {
                type Graph = #graph;
                type Payload = #payload;
                fn put(_: #payload) -> __p::NoToken { ::core::unreachable!() }
            }
        }
    }

    /// The slot that `source` most likely fills.
    fn slot_from(&self, source: &Node<'_>, join: &Node<'_>) -> syn::Ident {
        let feeds = |slot: &&crate::ast::Slot| slot.sources.iter().any(|name| name.unraw() == source.name);
        let slots = join.slots();
        naming::slot_marker(join, slots.iter().find(feeds).unwrap_or(&slots[0]))
    }

    fn forks(&self, index: usize) -> TokenStream {
        let node = &self.graph.nodes[index];
        let (module, name) = (&self.graph.module, node.ident);
        let (mut branches, mut choices, mut known) = (Vec::new(), TokenStream::new(), node.branches().len() > 1);
        let mut chosen: Vec<Place> = Vec::new();
        for (position, branch) in node.branches().iter().enumerate() {
            let places: Vec<Place> =
                branch.iter().filter_map(|target| self.graph.resolve(index, target).ok()).collect();
            known &= places.len() == branch.len();
            match places[..] {
                [place] => branches.push(self.payload(place)),
                _ => branches.push(quote!(__p::Choice<#module::#name, __p::Nth<#position>>)),
            }
            if branch.len() > 1 {
                for (place, target) in places.iter().zip(branch) {
                    if chosen.contains(place) {
                        continue;
                    }
                    chosen.push(*place);
                    let to = naming::marker(self.graph, *place);
                    let spelled = match place {
                        Place::Slot(join, _) if target.slot.is_none() => self.graph.nodes[*join].ident.clone(),
                        _ => to.clone(),
                    };
                    choices.extend(quote! {
                        impl __p::Branch<#module::#spelled> for #module::#name {
                            type To = #module::#to;
                            type Position = __p::Nth<#position>;
                        }
                    });
                }
            }
        }
        let branches = if known { quote!((#(#branches),*)) } else { self.unknown.clone() };
        let choices = if known { choices } else { TokenStream::new() };
        quote! {
            impl __p::Forks for #module::#name {
                type Branches = #branches;
                const ALTERNATIVE: __p::u16 = 0;
                fn tokens(_: Self::Branches) -> __p::Vec<__p::NoToken> { ::core::unreachable!() }
            }
            #choices
        }
    }

    fn payload(&self, place: Place) -> TokenStream {
        match place {
            Place::Exit => self.or_unknown(self.graph.output.as_ref()),
            Place::Node(node) => self.input(&self.graph.nodes[node]),
            Place::Slot(join, slot) => {
                let slot = &self.graph.nodes[join].slots()[slot];
                payload_type(&slot.ty, slot.optional.is_some())
            }
        }
    }

    fn input(&self, node: &Node<'_>) -> TokenStream {
        match node.slots() {
            [] if node.kind == Some(NodeKind::Join) => self.unknown.clone(),
            [] if node.kind == Some(NodeKind::Observer) => quote!(__p::Observation),
            [] => self.or_unknown(node.input()),
            slots => {
                let types = slots.iter().map(|slot| payload_type(&slot.ty, node.attributes.quorum.is_some()));
                quote!((#(#types,)*))
            }
        }
    }

    /// The type, or the code for an unknown type if it is missing or was refused.
    fn or_unknown(&self, ty: Option<&Type>) -> TokenStream {
        ty.filter(|ty| !validate::borrows(ty.to_token_stream()))
            .map_or_else(|| self.unknown.clone(), ToTokens::to_token_stream)
    }
}

/// The type of a slot's payload: the slot's type, or an `Option` of it.
fn payload_type(ty: &Type, is_optional: bool) -> TokenStream {
    if is_optional { quote!(__p::Option<#ty>) } else { ty.to_token_stream() }
}
