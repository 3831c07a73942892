//! A checked graph as code: markers beside the struct, everything else in one constant.
//!
//! Nothing here can fail. What is written is thin: each function that can be an ordinary one is called in
//! `::interlocking::__private`. Names in the constant begin with two underscores, because the user's own types are
//! spelled among them; what every node needs has a short one, because every byte is compiled in the user's crate.

mod kinds;

use crate::ast::{GraphModel, Node, Place, Target};
use crate::{markers, naming};
use interlocking_core::agent_calls::AgentCalls;
use interlocking_core::lines;
use interlocking_core::net::Net;
use interlocking_core::table::NodeKind;
use proc_macro2::{Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Type;
use syn::spanned::Spanned;

/// All that the derive writes for a graph.
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

/// What lints may say of hand-written code, and not of this.
pub(crate) fn silenced() -> TokenStream {
    quote! {
        #[allow(
            non_camel_case_types, unreachable_pub, unnameable_types, private_interfaces, private_bounds,
            non_local_definitions, dead_code, unused_imports, unused_qualifications, single_use_lifetimes,
            missing_debug_implementations, clippy::all, clippy::pedantic, clippy::nursery
        )]
    }
}

struct Expansion<'m, 'a> {
    graph: &'m GraphModel<'a>,
    net: &'m Net,
}

impl Expansion<'_, '_> {
    /// The impls of one node: itself, its places, its edges, and what else its row says.
    fn node(&self, index: usize) -> TokenStream {
        let node = &self.graph.nodes[index];
        let span = at(node.ident.span());
        let (name, marker, graph) = (node.ident, self.node_marker(index), &self.graph.input.ident);
        let (input, ty) = (self.input(node), &node.field.ty);
        let number = number(index);
        let places: TokenStream = match node.slots() {
            [] => self.place_impl(Place::Node(index), &input),
            slots => {
                slots.iter().enumerate().map(|(at, slot)| self.place_impl(Place::Slot(index, at), &slot.ty)).collect()
            }
        };
        let edges: TokenStream =
            node.gotos().enumerate().map(|(nth, (target, _))| self.edge(index, nth, target)).collect();
        let forks = node.attributes.fork.as_ref().map(|_| self.forks(index));
        let llm = node.attributes.prompt.as_ref().zip(node.attributes.output.as_ref()).map(|(prompt, output)| {
            let (prompt, output) = (with_lifetime(&prompt.value), &output.value);
            quote_spanned!(span=> impl __p::LLM for #marker { type Prompt<'a> = #prompt; type Output = #output; })
        });
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
                    match it { __T::#name(it) => it, _ => __p::astray() }
                }
            }
            impl __F for #marker {
                type Kind = #ty;
                fn of(it: &#graph) -> &#ty { &it.#name }
            }
            #places #edges #forks #llm #memory #works #more
        }
    }

    fn place_impl(&self, place: Place, payload: &impl ToTokens) -> TokenStream {
        let (graph, module, variant) = (&self.graph.input.ident, &self.graph.module, naming::marker(self.graph, place));
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

    /// The fork of a node: one payload a branch, a `Choice` where the branch has alternatives.
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

    /// The token: a variant a place, and one for the full set of each join, which lies in no place.
    fn token(&self) -> TokenStream {
        let (mut variants, mut places, mut copies, mut stores) =
            (TokenStream::new(), TokenStream::new(), TokenStream::new(), TokenStream::new());
        let mut lanes: Vec<Lane> = Vec::new();
        for (index, place) in self.places().into_iter().enumerate() {
            let (name, payload, index_text) = (naming::marker(self.graph, place), self.payload(place), number(index));
            let span = at(name.span());
            variants.extend(quote_spanned!(span=> #name(#payload),));
            places.extend(quote_spanned!(span=> Self::#name(_) => #index_text,));
            if self.net.places()[index].kept {
                let keep = standing_at(quote!(__p::keep), &payload);
                copies.extend(quote_spanned!(span=> Self::#name(it) => __Y(Self::#name(#keep(it))),));
            }
            let text = payload.to_string();
            // The one token that may be spelled alike and mean something else.
            let lane = lanes.iter_mut().find(|lane| lane.text == text && !text.contains("$crate"));
            match lane {
                Some(lane) => lane.places.push((index, name)),
                None => {
                    lanes.push(Lane { text, payload, marker: self.place_marker(place), places: vec![(index, name)] })
                }
            }
        }
        stores.extend(lanes.iter().map(Lane::store));
        let loads = lanes.iter().map(Lane::load);
        for join in self.graph.nodes.iter().filter(|node| !node.slots().is_empty()) {
            let (name, input) = (join.ident, self.input(join));
            variants.extend(quote!(#name(#input),));
            places.extend(quote!(Self::#name(_) => __p::NO_PLACE,));
            stores.extend(quote!(Self::#name(_) => __p::not_stored::<__S>(),));
        }
        let addressed = self.addressed();
        let copies = if copies.is_empty() { quote!(__No) } else { quote!(match self { #copies _ => __No }) };
        quote! {
            pub enum __T { #variants }
            #[automatically_derived]
            impl __p::Payload for __T {
                fn place(&self) -> __u { match self { #places } }
                fn copy(&self) -> __O<Self> { #copies }
            }
            #[automatically_derived]
            impl __p::Addressed for __T {
                fn node(&self) -> __u { #addressed }
            }
            #[automatically_derived]
            impl __p::Token for __T {
                fn serialize<__S: __p::Serializer>(&self, s: __S) -> __p::Result<__S::Ok, __S::Error> {
                    match self { #stores }
                }
                fn deserialize<'de, __D: __p::Deserializer<'de>>(
                    place: __u,
                    d: __D,
                ) -> __p::Result<Self, __D::Error> {
                    match place { #(#loads)* _ => __p::unknown_place::<_, __D>(place) }
                }
            }
        }
    }

    /// Which node runs on a token: where no join comes before it, places and nodes are numbered alike.
    fn addressed(&self) -> TokenStream {
        if self.graph.nodes.iter().all(|node| node.slots().is_empty()) {
            return quote!(__p::Payload::place(self));
        }
        let arms = self.graph.nodes.iter().enumerate().map(|(index, node)| {
            let (name, index) = (node.ident, number(index));
            quote!(Self::#name(_) => #index,)
        });
        quote!(match self { #(#arms)* _ => __p::NO_PLACE })
    }

    fn graph_impl(&self) -> TokenStream {
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
    fn agent_calls(&self) -> TokenStream {
        let AgentCalls { at_most, exact } = interlocking_soundness::agent_calls(self.net);
        let Some(at_most) = at_most else { return TokenStream::new() };
        let at_most = Literal::u64_unsuffixed(at_most);
        quote!(const AGENT_CALLS: __p::AgentCalls = __p::AgentCalls { at_most: __Y(#at_most), exact: #exact };)
    }

    /// The nodes as the type whose `chain` runs them: a tuple of sixteen markers, or of such tuples.
    fn nodes(&self) -> TokenStream {
        let graph = &self.graph.input.ident;
        let nobody = quote!(__p::Nobody<#graph>);
        let filled = |types: Vec<TokenStream>| {
            let missing = BLOCK - types.len();
            let types = types.into_iter().chain(std::iter::repeat_n(nobody.clone(), missing));
            quote!((#(#types),*))
        };
        let mut place = 0;
        let markers = self.graph.nodes.iter().enumerate().map(|(index, node)| {
            let first = place;
            place += node.slots().len().max(1);
            Block { nodes: self.node_marker(index), first, last: place - 1 }
        });
        let (mut blocks, mut each): (Vec<Block>, usize) = (markers.collect(), 1);
        loop {
            let is_last = blocks.len() <= BLOCK;
            let mut larger = Vec::new();
            let mut first_node = 0;
            while !blocks.is_empty() {
                let rest = blocks.split_off(blocks.len().min(BLOCK));
                let (first, last) = match (is_last, blocks.first(), blocks.last()) {
                    (false, Some(one), Some(other)) => (one.first, other.last),
                    _ => (0, usize::from(u16::MAX)),
                };
                let types = filled(blocks.into_iter().map(|block| block.nodes).collect());
                let (node, [from, to]) = (number(first_node), [number(first), number(last)]);
                let nodes = if each == 1 {
                    quote!(__p::Few<#types, #node, #from, #to>)
                } else {
                    let each = number(each);
                    quote!(__p::Many<#types, #node, #each, #from, #to>)
                };
                larger.push(Block { nodes, first, last });
                first_node += BLOCK * each;
                blocks = rest;
            }
            if is_last {
                return larger.into_iter().map(|block| block.nodes).collect();
            }
            (blocks, each) = (larger, each * BLOCK);
        }
    }

    fn join(&self) -> TokenStream {
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

    fn exhausted(&self) -> TokenStream {
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

    fn memory(&self) -> TokenStream {
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

    /// The marker that handlers write for `target`: the join's where the table names the join alone.
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
            Place::Slot(join, slot) => self.graph.nodes[join].slots()[slot].ty.to_token_stream(),
        }
    }

    fn input(&self, node: &Node<'_>) -> TokenStream {
        if node.kind == Some(NodeKind::Join) {
            let types = node.slots().iter().map(|slot| &slot.ty);
            return quote!((#(#types),*));
        }
        if node.kind == Some(NodeKind::Observer) {
            return quote!(__W);
        }
        node.input().map(ToTokens::to_token_stream).unwrap_or_default()
    }
}

/// The places whose payload is spelled alike: one arm of the codec.
struct Lane {
    text: String,
    payload: TokenStream,
    /// Of the first place.
    marker: TokenStream,
    places: Vec<(usize, Ident)>,
}

impl Lane {
    /// A type that cannot be stored is reported here, where it is first spelled.
    fn store(&self) -> TokenStream {
        let variants = self.places.iter().map(|(_, name)| quote_spanned!(at(name.span())=> Self::#name(it)));
        let store = standing_at(quote!(__put), &self.payload);
        let arguments = quote_spanned!(at(self.payload.span())=> (it, s));
        quote!(#(#variants)|* => #store #arguments,)
    }

    fn load(&self) -> TokenStream {
        let (marker, indices) = (&self.marker, self.places.iter().map(|(index, _)| number(*index)));
        let Some(((_, last), rest)) = self.places.split_last() else { return TokenStream::new() };
        let rest = rest.iter().map(|(index, name)| {
            let index = number(*index);
            quote_spanned!(at(name.span())=> #index => Self::#name(it),)
        });
        let last = if rest.len() == 0 {
            quote_spanned!(at(last.span())=> Self::#last(it))
        } else {
            quote_spanned!(at(last.span())=> match place { #(#rest)* _ => Self::#last(it) })
        };
        quote!(#(#indices)|* => __get::<#marker, _>(d, |it| #last),)
    }
}

/// How many nodes, or blocks of them, one tuple has.
const BLOCK: usize = 16;

/// Nodes that follow each other, as a type, with the first and the last of their places.
struct Block {
    nodes: TokenStream,
    first: usize,
    last: usize,
}

/// Where `span` is, but resolved as the derive's own: its locals must not depend on where the user's tokens come from.
pub(crate) fn at(span: Span) -> Span {
    Span::call_site().located_at(span)
}

fn number(number: usize) -> Literal {
    Literal::usize_unsuffixed(number)
}

fn number_of(number: u16) -> Literal {
    Literal::u16_unsuffixed(number)
}

/// `code` as if it stood where `place` begins in the user's: an error about any part of it is shown there, and once.
fn standing_at(code: TokenStream, place: &impl ToTokens) -> TokenStream {
    let Some(first) = place.to_token_stream().into_iter().next() else { return code };
    let here = |mut token: TokenTree| {
        token.set_span(first.span());
        token
    };
    code.into_iter().map(here).collect()
}

/// The type with its elided lifetimes spelled `'a`.
pub(crate) fn with_lifetime(ty: &Type) -> TokenStream {
    let mut written = TokenStream::new();
    let mut tokens = ty.to_token_stream().into_iter().peekable();
    rewrite(&mut tokens, &mut written);
    written
}

fn rewrite(tokens: &mut std::iter::Peekable<proc_macro2::token_stream::IntoIter>, written: &mut TokenStream) {
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) => {
                let mut inner = TokenStream::new();
                rewrite(&mut group.stream().into_iter().peekable(), &mut inner);
                let mut again = proc_macro2::Group::new(group.delimiter(), inner);
                again.set_span(group.span());
                TokenTree::Group(again).to_tokens(written);
            }
            TokenTree::Ident(ident) if ident == "_" && written_ends_lifetime(written) => {
                Ident::new("a", ident.span()).to_tokens(written);
            }
            TokenTree::Punct(punct) if punct.as_char() == '&' => {
                let span = punct.span();
                punct.to_tokens(written);
                if !matches!(tokens.peek(), Some(TokenTree::Punct(next)) if next.as_char() == '\'') {
                    quote_spanned!(span=> 'a).to_tokens(written);
                }
            }
            token => token.to_tokens(written),
        }
    }
}

fn written_ends_lifetime(written: &TokenStream) -> bool {
    let last = written.clone().into_iter().last();
    matches!(last, Some(TokenTree::Punct(punct)) if punct.as_char() == '\'')
}
