//! The result of an execution of any graph.

use crate::erased::token::ErasedToken;
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
    /// Removes the type. A single token is put into `memory`, which held the execution's input.
    #[inline]
    pub(crate) fn new<G: Graph>(done: Done<G>, memory: Option<ErasedToken>) -> Self {
        let Done { route, effects } = done;
        Self { route: route.map(|step| erased_step(step, memory)), effects }
    }

    /// An execution that has failed.
    pub(crate) fn failed(error: impl Into<NodeError>) -> Self {
        Self { route: Err(error.into()), effects: Effects::default() }
    }
}

/// A step without its tokens' type.
#[inline]
pub(crate) fn erased_step<T: Token>(step: Step<T>, memory: Option<ErasedToken>) -> Step<ErasedToken> {
    match (step, memory) {
        (Step::One(way, token), Some(memory)) => Step::One(way, memory.refill(token)),
        (Step::One(way, token), None) => Step::One(way, ErasedToken::new(token)),
        (Step::All(way, tokens), _) => Step::All(way, ErasedToken::all(tokens)),
        (Step::Stay, _) => Step::Stay,
    }
}
