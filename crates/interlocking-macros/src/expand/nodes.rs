//! The nodes as one type, whose `chain` runs them.

use super::Expansion;
use super::pieces::number;
use proc_macro2::TokenStream;
use quote::quote;

impl Expansion<'_, '_> {
    /// The nodes as the type whose `chain` runs them: a tuple of sixteen markers, or of such tuples.
    pub(super) fn nodes(&self) -> TokenStream {
        let graph = &self.graph.input.ident;
        let padding = quote!(__p::Padding<#graph>);
        let filled = |types: Vec<TokenStream>| {
            let missing = BLOCK - types.len();
            let types = types.into_iter().chain(std::iter::repeat_n(padding.clone(), missing));
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
}

/// How many nodes, or blocks of nodes, one tuple has.
const BLOCK: usize = 16;

/// Consecutive nodes as a type, with the first and the last of their places.
struct Block {
    nodes: TokenStream,
    first: usize,
    last: usize,
}
