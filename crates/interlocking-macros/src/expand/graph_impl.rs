//! The impl of `Graph`.

use super::Expansion;
use super::pieces::{at, number, number_of, standing_at};
use crate::ast::{Given, Group, Node, Place};
use crate::naming;
use interlocking_core::agent_calls::AgentCalls;
use interlocking_core::lines;
use interlocking_core::net::NodeIndex;
use interlocking_core::table::NodeKind;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

impl Expansion<'_, '_> {
    pub(super) fn graph_impl(&self) -> TokenStream {
        let graph = &self.graph.input.ident;
        let output = &self.graph.output;
        let entry = self.graph.nodes.iter().find(|node| node.attributes.entry.is_some());
        let entry_name = entry.map(|entry| entry.ident);
        let entry_input = entry.and_then(|entry| entry.attributes.input.as_ref()).map(|input| &input.value);
        let (nodes, edges) = (number(self.graph.nodes.len()), number(self.net.table().edge_count()));
        let table = self.net.table();
        let nets = self.nets();
        let (graph_name, output_name) = (&table.graph, &table.output);
        let rows = table.nodes.iter().map(lines::write);
        let listed = self.nodes();
        let agent_calls = self.agent_calls();
        let join = self.join();
        let exhausted = self.exhausted();
        let exhausted_edge = self.exhausted_edge();
        let failed = self.failed();
        let memory = self.memory();
        let finish = self.finish();
        // Where nothing is written, the trait's default holds.
        let has_none_beside = !self.graph.nodes.iter().any(Node::reports);
        let has_nodes_beside = has_none_beside.then(|| {
            quote!(
                const HAS_NODES_BESIDE: __p::bool = false;
            )
        });
        let may_be_chain = self.net.features().may_be_chain().then(|| {
            quote!(
                const MAY_BE_CHAIN: __p::bool = true;
            )
        });
        quote! {
            #[automatically_derived]
            impl __p::Graph for #graph {
                type Entry = #entry_input;
                type Output = #output;
                type Token = __T;
                const NODES: __p::usize = #nodes;
                const EDGES: __p::usize = #edges;
                #agent_calls
                #has_nodes_beside
                #may_be_chain
                fn net() -> &'static __p::Net {
                    static NET: __p::OnceLock<__p::Net> = __p::OnceLock::new();
                    NET.get_or_init(|| __p::net(#graph_name, #output_name, &[#(#rows),*]))
                }
                #nets
                fn enter(entry: #entry_input) -> __T { __T::#entry_name(entry) }
                fn leave(token: __T) -> __O<#output> {
                    if let __T::exit(it) = token { __Y(it) } else { __No }
                }
                #join
                #exhausted
                #exhausted_edge
                #failed
                fn step<'run>(
                    &'run self,
                    input: __T,
                    entered: __p::Entered<'run, Self>,
                ) -> impl __p::Future<Output = __p::Done<Self>> + __p::Send + 'run {
                    __p::Graph::chain(self, input, entered, __p::no_relay())
                }
                fn chain<'run>(
                    &'run self,
                    input: __T,
                    entered: __p::Entered<'run, Self>,
                    relay: &'run mut dyn __p::Relay,
                ) -> impl __p::Future<Output = __p::Done<Self>> + __p::Send + 'run {
                    <#listed as __p::Nodes<Self>>::chain(self, input, entered, relay)
                }
                #memory
                #finish
            }
        }
    }

    /// The worst case of agent calls; no code where the table sets no bound, which is the trait's default.
    pub(super) fn agent_calls(&self) -> TokenStream {
        let rows = self.graph.nodes.iter().enumerate();
        // A graph that may run itself would have to count itself.
        if rows.clone().any(|(_, node)| node.attributes.map.is_some() || node.attributes.depth.is_some()) {
            return TokenStream::new();
        }
        let written = |AgentCalls { at_most, exact }: AgentCalls| {
            let at_most = Literal::u64_unsuffixed(at_most?);
            Some(quote!(__p::AgentCalls { at_most: __Y(#at_most), exact: #exact }))
        };
        let Some(mut calls) = written(interlocking_soundness::own_agent_calls(self.net)) else {
            return TokenStream::new();
        };
        for (index, node) in rows.filter(|(_, node)| node.attributes.graph.is_some()) {
            let starts = NodeIndex::try_from(index).map(|node| interlocking_soundness::starts(self.net, node));
            let Some(starts) = starts.ok().and_then(written) else { return TokenStream::new() };
            let marker = self.node_marker(index);
            let child =
                quote_spanned!(at(node.ident.span())=> <<#marker as __p::Runs>::Child as __p::Graph>::AGENT_CALLS);
            calls.extend(quote!(.with_children(#starts, #child)));
        }
        quote!(const AGENT_CALLS: __p::AgentCalls = #calls;)
    }

    pub(super) fn join(&self) -> TokenStream {
        let joins = self.graph.nodes.iter().enumerate().filter(|(_, node)| !node.slots().is_empty());
        let arms: Vec<TokenStream> = joins
            .map(|(index, node)| {
                let (name, index) = (node.ident, number(index));
                if node.attributes.quorum.is_some() {
                    let joined = self.join_of_some(node);
                    return quote!(#index => #joined,);
                }
                let markers = node.slots().iter().map(|slot| naming::slot_marker(node, slot));
                let bindings: Vec<Ident> = (0..node.slots().len()).map(|nth| format_ident!("s{nth}")).collect();
                quote! {
                    #index => match __p::slots(slots) {
                        __Y([#(__T::#markers(#bindings)),*]) => __Y(__T::#name((#(#bindings),*))),
                        _ => __No,
                    },
                }
            })
            .collect();
        if arms.is_empty() {
            return quote!(
                fn join(_: __u, _: __p::Vec<__T>) -> __O<__T> {
                    __No
                }
            );
        }
        quote! {
            fn join(node: __u, slots: __p::Vec<__T>) -> __O<__T> {
                match node { #(#arms)* _ => __No }
            }
        }
    }

    /// The input of a join with a quorum, from the slots that are filled.
    fn join_of_some(&self, node: &Node<'_>) -> TokenStream {
        let bindings: Vec<Ident> = (0..node.slots().len()).map(|nth| format_ident!("s{nth}")).collect();
        let arms = node.slots().iter().zip(&bindings).map(|(slot, binding)| {
            let marker = naming::slot_marker(node, slot);
            let value = if slot.optional.is_some() { quote!(it) } else { quote!(__Y(it)) };
            quote!(__T::#marker(it) => #binding = #value,)
        });
        let (name, nothing) = (node.ident, bindings.iter().map(|_| quote!(__No)));
        quote!({
            let (#(mut #bindings),*) = (#(#nothing),*);
            for slot in slots {
                match slot { #(#arms)* _ => return __No }
            }
            __Y(__T::#name((#(#bindings),*)))
        })
    }

    /// Whether a place is an optional slot.
    fn is_optional(&self, place: Place) -> bool {
        matches!(place, Place::Slot(join, slot) if self.graph.nodes[join].slots()[slot].optional.is_some())
    }

    /// The step that sends no value to an optional slot, as the run does on a route without a handler.
    fn nothing(&self, place: Place, alternative: u16) -> TokenStream {
        let (to, alternative) = (self.place_marker(place), number_of(alternative));
        quote!(__Y(__p::Step::One(#alternative, <#to as __P>::put(__No))))
    }

    pub(super) fn exhausted(&self) -> TokenStream {
        let routes = self.graph.nodes.iter().enumerate().filter_map(|(index, node)| {
            let target = node.exhausted()?;
            let place = self.graph.resolve(index, target).ok()?;
            let (name, text, input) = (node.ident, &node.name, self.input(node));
            let alternative = self.net.nodes()[index].exhausted?;
            if self.is_optional(place) {
                let step = self.nothing(place, alternative);
                return Some(quote_spanned!(at(target.node.span())=> __T::#name(_) => #step,));
            }
            let (to, alternative) = (self.place_marker(place), number_of(alternative));
            let route = standing_at(quote!(__p::exhausted::<#to, #input>), &target.node);
            Some(quote_spanned! {at(target.node.span())=>
                __T::#name(it) => __Y(#route(#alternative, #text, limit, it)),
            })
        });
        let routes: Vec<TokenStream> = routes.collect();
        if routes.is_empty() {
            return quote! {
                fn exhausted(_: __u, _: __p::Limit, _: __T) -> __O<__p::Step<__T>> { __No }
            };
        }
        quote! {
            fn exhausted(_: __u, limit: __p::Limit, input: __T) -> __O<__p::Step<__T>> {
                match input { #(#routes)* _ => __No }
            }
        }
    }

    /// The exhausted routes of edges; no code where no edge has such a route, which is the trait's default.
    fn exhausted_edge(&self) -> TokenStream {
        let edges = self.graph.nodes.iter().enumerate().flat_map(|(index, node)| {
            let first = self.net.nodes()[index].alternatives.start;
            let edges =
                node.gotos().zip(first..).filter_map(|((to, group), edge)| Some((to, group.exhausted.as_ref()?, edge)));
            edges.map(move |(to, route, edge)| (index, to, route, edge))
        });
        let routes = edges.filter_map(|(index, to, route, edge)| {
            let target = route.value.targets.first()?;
            let spent = self.graph.resolve(index, to).ok()?;
            let place = self.graph.resolve(index, target).ok()?;
            if self.is_optional(place) {
                let route = self.net.alternative(edge)?.times?.exhausted?;
                let (name, step, edge) =
                    (naming::marker(self.graph, spent), self.nothing(place, route), number_of(edge));
                return Some(quote_spanned!(at(target.node.span())=> (#edge, __T::#name(_)) => #step,));
            }
            let place = self.place_marker(place);
            let (name, payload, edge) = (naming::marker(self.graph, spent), self.payload(spent), number_of(edge));
            let route = standing_at(quote!(__p::exhausted_edge::<#place, #payload>), &target.node);
            Some(quote_spanned!(at(target.node.span())=> (#edge, __T::#name(it)) => #route(#edge, it),))
        });
        let routes: Vec<TokenStream> = routes.collect();
        if routes.is_empty() {
            return TokenStream::new();
        }
        quote! {
            fn exhausted_edge(edge: __u, token: __T) -> __O<__p::Step<__T>> {
                match (edge, token) { #(#routes)* _ => __No }
            }
        }
    }

    /// The routes of failures and timeouts; no code where there are none, which is the trait's default.
    pub(super) fn failed(&self) -> TokenStream {
        let routes = self.graph.nodes.iter().enumerate().flat_map(|(index, node)| {
            let (attributes, row) = (&node.attributes, &self.net.nodes()[index]);
            let route = |given: &Option<Given<Group>>, alternative: Option<u16>, step: TokenStream| {
                let target = given.as_ref()?.value.targets.first()?;
                let (place, alternative) = (self.graph.resolve(index, target).ok()?, alternative?);
                if self.is_optional(place) {
                    let (step, alternative) = (self.nothing(place, alternative), number_of(alternative));
                    return Some(quote_spanned!(at(target.node.span())=> #alternative => #step,));
                }
                let (to, alternative) = (self.place_marker(place), number_of(alternative));
                let step = standing_at(quote!(#step::<#to>), &target.node);
                Some(quote_spanned!(at(target.node.span())=> #alternative => __Y(#step(#alternative, failure)),))
            };
            let timed_out = route(&attributes.timed_out, row.timed_out, quote!(__p::timed_out));
            timed_out.into_iter().chain(route(&attributes.failed, row.failed, quote!(__p::failed)))
        });
        let routes: Vec<TokenStream> = routes.collect();
        if routes.is_empty() {
            return TokenStream::new();
        }
        quote! {
            fn failed(route: __u, failure: __p::Failure) -> __O<__p::Step<__T>> {
                match route { #(#routes)* _ => __No }
            }
        }
    }

    pub(super) fn memory(&self) -> TokenStream {
        let groups = self.net.memory_groups().iter().enumerate().filter_map(|(index, group)| {
            let of_group = |node: &Node<'_>| node.memory_group().as_ref() == Some(group);
            let (at_node, node) = self.graph.nodes.iter().enumerate().find(|(_, node)| of_group(node))?;
            let (ty, index) = (node.memory_type()?, number(index));
            if node.kind == Some(NodeKind::Observer) {
                // A report that cannot be a memory is reported twice already: at the field and at the report.
                let marker = self.node_marker(at_node);
                return Some(quote!(#index => __Y(__p::visit::<#marker, _>(visitor)),));
            }
            Some(quote_spanned!(at(ty.span())=> #index => __Y(visitor.visit::<#ty>()),))
        });
        let groups: Vec<TokenStream> = groups.collect();
        if groups.is_empty() {
            return quote!(
                fn visit_memory<__V: __p::MemoryVisitor>(_: __u, _: __V) -> __O<__V::Output> {
                    __No
                }
            );
        }
        quote! {
            fn visit_memory<__V: __p::MemoryVisitor>(group: __u, visitor: __V) -> __O<__V::Output> {
                match group { #(#groups)* _ => __No }
            }
        }
    }
}
