//! The token type of a graph, and how tokens are stored.

use super::Expansion;
use super::pieces::{at, number, standing_at};
use crate::naming;
use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};

impl Expansion<'_, '_> {
    /// The token type: one variant per place, and one for the full set of each join's slots, which lies in no place.
    pub(super) fn token(&self) -> TokenStream {
        let (mut variants, mut places, mut copies, mut stores) =
            (TokenStream::new(), TokenStream::new(), TokenStream::new(), TokenStream::new());
        let mut optional = TokenStream::new();
        let mut lanes: Vec<Lane> = Vec::new();
        for (index, place) in self.places().into_iter().enumerate() {
            let (name, payload, index_text) = (naming::marker(self.graph, place), self.payload(place), number(index));
            let span = at(name.span());
            variants.extend(quote_spanned!(span=> #name(#payload),));
            places.extend(quote_spanned!(span=> Self::#name(_) => #index_text,));
            if self.net.places()[index].optional {
                optional.extend(quote_spanned!(span=> Self::#name(it) => it.is_some(),));
            }
            if self.net.places()[index].kept {
                let keep = standing_at(quote!(__p::keep), &payload);
                copies.extend(quote_spanned!(span=> Self::#name(it) => __Y(Self::#name(#keep(it))),));
            }
            let text = payload.to_string();
            // `$crate` is the only token that may be spelled alike and mean something else.
            let lane = lanes.iter_mut().find(|lane| lane.text == text && !text.contains("$crate"));
            match lane {
                Some(lane) => lane.places.push((index, name)),
                None => lanes.push(Lane { text, marker: self.place_marker(place), places: vec![(index, name)] }),
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
        let is_value = (!optional.is_empty())
            .then(|| quote!(fn is_value(&self) -> __p::bool { match self { #optional _ => true } }));
        quote! {
            pub enum __T { #variants }
            #[automatically_derived]
            impl __p::Payload for __T {
                fn place(&self) -> __u { match self { #places } }
                fn copy(&self) -> __O<Self> { #copies }
                #is_value
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

    /// Which node consumes a token. Without joins, places and nodes have the same numbers.
    pub(super) fn addressed(&self) -> TokenStream {
        if self.graph.nodes.iter().all(|node| node.slots().is_empty()) {
            return quote!(__p::Payload::place(self));
        }
        let arms = self.graph.nodes.iter().enumerate().map(|(index, node)| {
            let (name, index) = (node.ident, number(index));
            quote!(Self::#name(_) => #index,)
        });
        quote!(match self { #(#arms)* _ => __p::NO_PLACE })
    }
}

/// The places whose payload type is spelled alike: one match arm for storing and one for loading.
struct Lane {
    text: String,
    /// The marker of the first place.
    marker: TokenStream,
    places: Vec<(usize, Ident)>,
}

impl Lane {
    fn store(&self) -> TokenStream {
        let variants = self.places.iter().map(|(_, name)| quote_spanned!(at(name.span())=> Self::#name(it)));
        let marker = &self.marker;
        quote!(#(#variants)|* => __put::<#marker, _>(it, s),)
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
