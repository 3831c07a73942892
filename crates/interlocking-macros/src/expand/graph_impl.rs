//! The impl of `Graph`.

use super::Expansion;
use super::pieces::{at, number, number_of, standing_at};
use crate::ast::Node;
use crate::naming;
use interlocking_core::agent_calls::AgentCalls;
use interlocking_core::lines;
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
        let memory = self.memory();
        let finish = self.finish();
        quote! {
            #[automatically_derived]
            impl __p::Graph for #graph {
                type Entry = #entry_input;
                type Output = #output;
                type Token = __T;
                const NODES: __p::usize = #nodes;
                const EDGES: __p::usize = #edges;
                #agent_calls
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
                fn step<'run>(
                    &'run self,
                    input: __T,
                    entered: __p::Entered<'run, Self>,
                ) -> impl __p::Future<Output = __p::Done<Self>> + __p::Send + 'run {
                    self.chain(input, entered, __p::alone())
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

    /// The worst case of agent calls; nothing where the table sets no bound, which is what the trait says by itself.
    pub(super) fn agent_calls(&self) -> TokenStream {
        let AgentCalls { at_most, exact } = interlocking_soundness::agent_calls(self.net);
        let Some(at_most) = at_most else { return TokenStream::new() };
        let at_most = Literal::u64_unsuffixed(at_most);
        quote!(const AGENT_CALLS: __p::AgentCalls = __p::AgentCalls { at_most: __Y(#at_most), exact: #exact };)
    }

    pub(super) fn join(&self) -> TokenStream {
        let joins = self.graph.nodes.iter().enumerate().filter(|(_, node)| !node.slots().is_empty());
        let arms: Vec<TokenStream> = joins
            .map(|(index, node)| {
                let (name, index) = (node.ident, number(index));
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

    pub(super) fn exhausted(&self) -> TokenStream {
        let routes = self.graph.nodes.iter().enumerate().filter_map(|(index, node)| {
            let target = node.exhausted()?;
            let to = self.place_marker(self.graph.resolve(index, target).ok()?);
            let (name, text, input) = (node.ident, &node.name, self.input(node));
            let alternative = number_of(self.net.nodes()[index].exhausted?);
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

    pub(super) fn memory(&self) -> TokenStream {
        let groups = self.net.memory_groups().iter().enumerate().filter_map(|(index, group)| {
            let of_group = |node: &Node<'_>| node.memory_group().as_ref() == Some(group);
            let (at_node, node) = self.graph.nodes.iter().enumerate().find(|(_, node)| of_group(node))?;
            let (ty, index) = (node.memory_type()?, number(index));
            if node.kind == Some(NodeKind::Observer) {
                // That its report is no memory is said twice already: at its field and at its report.
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
