//! The code of a checked graph: markers beside the struct, everything else in one constant.
//!
//! Nothing here can fail. The generated code is thin: it calls ordinary functions of `::interlocking::__private` where
//! it can. Names in the constant begin with two underscores, because the user's own types appear among them. Names that
//! every node uses are short, because every byte is compiled in the user's crate.

mod graph_impl;
mod kinds;
mod nodes;
mod pieces;
mod token;

pub(crate) use self::pieces::{at, standing_at, with_lifetime};
use self::pieces::{number, number_of};
use crate::ast::{GraphModel, Node, Place, Target};
use crate::{markers, naming};
use interlocking_core::net::Net;
use interlocking_core::table::NodeKind;
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Type;
use syn::spanned::Spanned;

/// The whole generated code of a graph.
pub(crate) fn graph(graph: &GraphModel<'_>, net: &Net) -> TokenStream {
    let expansion = Expansion { graph, net };
    let markers = markers::module(graph);
    let nodes = (0..graph.nodes.len()).map(|index| expansion.node(index));
    let exit = expansion.place_impl(Place::Exit, &graph.output);
    let token = expansion.token();
    let reports = expansion.reports();
    let graph_impl = expansion.graph_impl();
    let lints = silenced();
    quote! {
        #markers
        #lints
        const _: () = {
            use ::interlocking::__private::{
                self as __p, Edge as __E, Field as __F, Node as __N, None as __No, Option as __O, Place as __P,
                Some as __Y, load as __get, store as __put, u16 as __u,
            };
            #token
            #(#nodes)*
            #exit
            #reports
            #graph_impl
        };
    }
}

/// The lints that are allowed in generated code.
pub(crate) fn silenced() -> TokenStream {
    quote! {
        #[allow(
            non_camel_case_types, unreachable_pub, unnameable_types, private_interfaces, private_bounds,
            non_local_definitions, dead_code, unused_imports, unused_qualifications, single_use_lifetimes,
            missing_debug_implementations, deprecated, clippy::all, clippy::pedantic, clippy::nursery
        )]
    }
}

struct Expansion<'m, 'a> {
    graph: &'m GraphModel<'a>,
    net: &'m Net,
}

impl Expansion<'_, '_> {
    /// The impls of one node: for the node itself, its places, its edges, and the other attributes of its row.
    fn node(&self, index: usize) -> TokenStream {
        let node = &self.graph.nodes[index];
        let span = at(node.ident.span());
        let (name, marker, graph) = (node.ident, self.node_marker(index), &self.graph.input.ident);
        let (input, ty) = (self.input(node), &node.field.ty);
        let number = number(index);
        let places: TokenStream = match node.slots() {
            [] => self.place_impl(Place::Node(index), &input),
            slots => (0..slots.len())
                .map(|at| self.place_impl(Place::Slot(index, at), &self.payload(Place::Slot(index, at))))
                .collect(),
        };
        let edges: TokenStream =
            node.gotos().enumerate().map(|(nth, (target, _))| self.edge(index, nth, target)).collect();
        let forks = node.attributes.fork.as_ref().map(|_| self.forks(index));
        let memory = node.memory_type().map(|ty| {
            let group = number_of(self.net.nodes()[index].memory.unwrap_or_default());
            quote_spanned!(span=> impl __p::Remembers for #marker { type Memory = #ty; const GROUP: __u = #group; })
        });
        let works = node.attributes.workspace.as_ref().map(|_| quote_spanned!(span=> impl __p::Works for #marker {}));
        let more = self.of_its_kind(index);
        quote_spanned! {span=>
            impl __N for #marker {
                type Graph = #graph;
                type Input = #input;
                const INDEX: __u = #number;
                #[inline]
                fn take(it: __T) -> #input {
                    match it { __T::#name(it) => it, _ => __p::wrong_node() }
                }
            }
            impl __F for #marker {
                type Kind = #ty;
                fn of(it: &#graph) -> &#ty { &it.#name }
            }
            #places #edges #forks #memory #works #more
        }
    }

    fn place_impl(&self, place: Place, payload: &impl ToTokens) -> TokenStream {
        let (graph, module, variant) = (&self.graph.input.ident, &self.graph.module, naming::marker(self.graph, place));
        let end = match place {
            Place::Exit => Some(quote!(Ending)),
            Place::Node(index) if self.graph.nodes[index].attributes.entry.is_some() => Some(quote!(Beginning)),
            Place::Node(_) | Place::Slot(..) => None,
        };
        if let Some(end) = end {
            return quote_spanned! {at(variant.span())=>
                impl __p::EndPlace for #module::#variant {
                    type Graph = #graph;
                    type End = __p::#end;
                    fn put(it: #payload) -> __T { __T::#variant(it) }
                }
            };
        }
        quote_spanned! {at(variant.span())=>
            impl __P for #module::#variant {
                type Graph = #graph;
                type Payload = #payload;
                fn put(it: #payload) -> __T { __T::#variant(it) }
            }
        }
    }

    /// The `nth` goto of a node.
    fn edge(&self, source: usize, nth: usize, target: &Target) -> TokenStream {
        let Ok(place) = self.graph.resolve(source, target) else { return TokenStream::new() };
        let (marker, to, spelled) =
            (self.node_marker(source), self.place_marker(place), self.spelled_marker(place, target));
        let alternative = number(usize::from(self.net.nodes()[source].alternatives.start) + nth);
        quote_spanned! {at(target.node.span())=>
            impl __E<#spelled> for #marker { type To = #to; const ALTERNATIVE: __u = #alternative; }
        }
    }

    /// The fork of a node: one payload per branch, a `Choice` where the branch has alternatives.
    fn forks(&self, source: usize) -> TokenStream {
        let node = &self.graph.nodes[source];
        let span = at(node.attributes.fork.as_ref().map_or(node.ident.span(), |fork| fork.key.span()));
        let marker = self.node_marker(source);
        let (mut types, mut bindings, mut tokens, mut choices) =
            (Vec::new(), Vec::new(), Vec::new(), TokenStream::new());
        for (position, branch) in node.branches().iter().enumerate() {
            let binding = format_ident!("b{position}", span = span);
            let position = number(position);
            let places: Vec<(Place, &Target)> =
                branch.iter().filter_map(|target| Some((self.graph.resolve(source, target).ok()?, target))).collect();
            if let [(place, _)] = places[..] {
                let to = naming::marker(self.graph, place);
                types.push(self.payload(place));
                tokens.push(quote_spanned!(span=> __T::#to(#binding)));
            } else {
                types.push(quote_spanned!(span=> __p::Choice<#marker, __p::Nth<#position>>));
                tokens.push(quote_spanned!(span=> #binding.into_token()));
                for (place, target) in places {
                    let (to, spelled) = (self.place_marker(place), self.spelled_marker(place, target));
                    choices.extend(quote_spanned! {at(target.node.span())=>
                        impl __p::Branch<#spelled> for #marker { type To = #to; type Position = __p::Nth<#position>; }
                    });
                }
            }
            bindings.push(binding);
        }
        let alternative = number(usize::from(self.net.nodes()[source].alternatives.start) + node.gotos().count());
        quote_spanned! {span=>
            impl __p::Forks for #marker {
                type Branches = (#(#types),*);
                const ALTERNATIVE: __u = #alternative;
                fn tokens((#(#bindings),*): Self::Branches) -> __p::Vec<__T> {
                    __p::Vec::from([#(#tokens),*])
                }
            }
            #choices
        }
    }

    /// The places in the net's order.
    fn places(&self) -> Vec<Place> {
        let mut places = Vec::new();
        for (index, node) in self.graph.nodes.iter().enumerate() {
            match node.slots().len() {
                0 => places.push(Place::Node(index)),
                slots => places.extend((0..slots).map(|slot| Place::Slot(index, slot))),
            }
        }
        places.push(Place::Exit);
        places
    }

    fn node_marker(&self, index: usize) -> TokenStream {
        let (module, ident) = (&self.graph.module, self.graph.nodes[index].ident);
        quote_spanned!(at(ident.span())=> #module::#ident)
    }

    fn place_marker(&self, place: Place) -> TokenStream {
        let (module, ident) = (&self.graph.module, naming::marker(self.graph, place));
        quote_spanned!(at(ident.span())=> #module::#ident)
    }

    /// The marker that handlers write for `target`: that of the join where the table names only the join.
    fn spelled_marker(&self, place: Place, target: &Target) -> TokenStream {
        match place {
            Place::Slot(join, _) if target.slot.is_none() => self.node_marker(join),
            _ => self.place_marker(place),
        }
    }

    fn payload(&self, place: Place) -> TokenStream {
        match place {
            Place::Exit => self.graph.output.to_token_stream(),
            Place::Node(node) => self.input(&self.graph.nodes[node]),
            Place::Slot(join, slot) => {
                let slot = &self.graph.nodes[join].slots()[slot];
                payload_type(&slot.ty, slot.optional.is_some())
            }
        }
    }

    fn input(&self, node: &Node<'_>) -> TokenStream {
        if node.kind == Some(NodeKind::Join) {
            let types = node.slots().iter().map(|slot| payload_type(&slot.ty, node.attributes.quorum.is_some()));
            return quote!((#(#types),*));
        }
        if node.kind == Some(NodeKind::Observer) {
            return quote!(__W);
        }
        node.input().map(ToTokens::to_token_stream).unwrap_or_default()
    }
}

/// The type of a slot's payload: the slot's type, or an `Option` of it.
fn payload_type(ty: &Type, is_optional: bool) -> TokenStream {
    if is_optional { quote_spanned!(at(ty.span())=> __O<#ty>) } else { ty.to_token_stream() }
}
