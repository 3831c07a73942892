//! What came of an execution of whatever graph.

use crate::erased::token::{EmptySlot, ErasedToken};
use interlocking_core::context::Effects;
use interlocking_core::failure::NodeError;
use interlocking_core::graph::{Done, Graph, Token};
use interlocking_core::route::Step;

/// A [`Done`] without its graph's type.
pub(crate) struct ErasedDone {
    pub(crate) route: Result<Step<ErasedToken>, NodeError>,
    pub(crate) effects: Effects,
}

impl ErasedDone {
    /// The same without its type. A single token lies where the execution's input was, if that is at hand.
    pub(crate) fn new<G: Graph>(done: Done<G>, slot: Option<EmptySlot<G::Token>>) -> Self {
        let Done { route, effects } = done;
        Self { route: route.map(|step| erased(step, slot)), effects }
    }

    /// An execution that has failed.
    pub(crate) fn failed(error: impl Into<NodeError>) -> Self {
        Self { route: Err(error.into()), effects: Effects::default() }
    }
}

/// A step without its tokens' type.
pub(crate) fn erased<T: Token>(step: Step<T>, slot: Option<EmptySlot<T>>) -> Step<ErasedToken> {
    match (step, slot) {
        (Step::One(way, token), Some(slot)) => Step::One(way, slot.fill(token)),
        (Step::One(way, token), None) => Step::One(way, ErasedToken::new(token)),
        (Step::All(way, tokens), _) => Step::All(way, ErasedToken::all(tokens)),
        (Step::Stay, _) => Step::Stay,
    }
}
