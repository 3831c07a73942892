//! What a run needs of its graph's type, for any graph.

use crate::context::memory_store::{MemoryStore, memories};
use crate::context::services::{Kept, RunServices, UntypedServices};
use crate::erased::done::erased_step;
use crate::erased::read::{Unreadable, read, read_token};
use crate::erased::shared::ErasedShared;
use crate::erased::token::ErasedToken;
use crate::execution::shared::Shared;
use crate::journal::Encoded;
use interlocking_core::context::Effects;
use interlocking_core::failure::Failure;
use interlocking_core::frontier::Limit;
use interlocking_core::graph::{Graph, Stored, Value};
use interlocking_core::net::{AlternativeIndex, Net, Nets, NodeIndex, PlaceIndex};
use interlocking_core::route::Step;
use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;

/// The entry value or the output of a run.
pub(crate) type AnyValue = Box<dyn Any + Send + Sync>;

/// The graph that a run executes.
pub(crate) type AnyGraph = Arc<dyn Any + Send + Sync>;

/// What a graph's type provides without a value of the graph. The methods panic if they get a value of another graph.
pub(crate) trait GraphType: Sync {
    fn net(&self) -> &'static Net;
    /// The nets of the graph and of all graphs below it.
    fn nets(&self) -> Nets;
    /// The token that a run starts with.
    fn enter(&self, entry: AnyValue) -> ErasedToken;
    /// The output, if the token lies at the exit.
    fn leave(&self, token: ErasedToken) -> Option<AnyValue>;
    /// See [`Graph::join`].
    fn join(&self, node: NodeIndex, slots: Vec<ErasedToken>) -> Option<ErasedToken>;
    /// See [`Graph::exhausted`].
    fn exhausted(&self, node: NodeIndex, limit: Limit, input: ErasedToken) -> Option<Step<ErasedToken>>;
    /// See [`Graph::exhausted_edge`].
    fn exhausted_edge(&self, edge: AlternativeIndex, token: ErasedToken) -> Option<Step<ErasedToken>>;
    /// See [`Graph::failed`].
    fn failed(&self, route: AlternativeIndex, failure: Failure) -> Option<Step<ErasedToken>>;
    /// The tokens for advisory nodes that an execution starts.
    fn take_spawned(&self, effects: &mut Effects) -> Vec<ErasedToken>;
    /// Reads the payload of a token that lies in `place`.
    fn read_token(&self, place: PlaceIndex, json: &str) -> Result<ErasedToken, Unreadable>;
    fn read_entry(&self, json: &str) -> Result<AnyValue, String>;
    fn read_output(&self, json: &str) -> Result<AnyValue, String>;
    fn encode_entry(&self, entry: &AnyValue) -> Result<Encoded, serde_json::Error>;
    fn encode_output(&self, output: &AnyValue) -> Result<Encoded, serde_json::Error>;
    /// The cells of all memory groups, in order.
    fn memories(&self) -> Box<[Box<dyn MemoryStore>]>;
    /// What every execution of a run of `graph` needs. `kept` is what handlers may ask for again: the entry value, and by place
    /// the last input.
    fn shared(
        &self,
        graph: AnyGraph,
        untyped: UntypedServices,
        kept: Option<(AnyValue, Vec<Option<Encoded>>)>,
        memories: Box<[Box<dyn MemoryStore>]>,
    ) -> Arc<dyn ErasedShared>;
}

/// The type of graph `G`.
pub(crate) fn graph_type<G: Graph>() -> &'static dyn GraphType {
    &TypeOf::<G>(PhantomData)
}

struct TypeOf<G>(PhantomData<fn() -> G>);

/// The value with its type.
///
/// # Panics
///
/// If the value is of another type.
pub(crate) fn typed<T: 'static>(value: AnyValue) -> T {
    value.downcast().map_or_else(|_| unreachable!("a run has values of its own graph only"), |value| *value)
}

fn encode<T: Value>(value: &AnyValue) -> Result<Encoded, serde_json::Error> {
    let value: Option<&T> = value.downcast_ref();
    let value = value.unwrap_or_else(|| unreachable!("a run has values of its own graph only"));
    serde_json::to_string(&Stored(value)).map(Into::into)
}

impl<G: Graph> GraphType for TypeOf<G> {
    fn net(&self) -> &'static Net {
        G::net()
    }

    fn nets(&self) -> Nets {
        Nets::of::<G>()
    }

    fn enter(&self, entry: AnyValue) -> ErasedToken {
        ErasedToken::new(G::enter(typed(entry)))
    }

    fn leave(&self, mut token: ErasedToken) -> Option<AnyValue> {
        Some(Box::new(G::leave(token.take())?))
    }

    fn join(&self, node: NodeIndex, slots: Vec<ErasedToken>) -> Option<ErasedToken> {
        let mut tokens = Vec::with_capacity(slots.len());
        for mut slot in slots {
            tokens.push(slot.take());
        }
        G::join(node, tokens).map(ErasedToken::new)
    }

    fn exhausted(&self, node: NodeIndex, limit: Limit, mut input: ErasedToken) -> Option<Step<ErasedToken>> {
        G::exhausted(node, limit, input.take()).map(|step| erased_step(step, Some(input)))
    }

    fn exhausted_edge(&self, edge: AlternativeIndex, mut token: ErasedToken) -> Option<Step<ErasedToken>> {
        G::exhausted_edge(edge, token.take()).map(|step| erased_step(step, Some(token)))
    }

    fn failed(&self, route: AlternativeIndex, failure: Failure) -> Option<Step<ErasedToken>> {
        G::failed(route, failure).map(|step| erased_step(step, None))
    }

    fn take_spawned(&self, effects: &mut Effects) -> Vec<ErasedToken> {
        let mut tokens = Vec::new();
        if const { G::HAS_NODES_BESIDE } {
            for token in effects.take_spawned() {
                tokens.extend(token.downcast::<G::Token>().ok().map(|token| ErasedToken::new(*token)));
            }
        }
        tokens
    }

    fn read_token(&self, place: PlaceIndex, json: &str) -> Result<ErasedToken, Unreadable> {
        read_token::<G>(place, json).map(ErasedToken::new)
    }

    fn read_entry(&self, json: &str) -> Result<AnyValue, String> {
        Ok(Box::new(read::<Stored<G::Entry>>(json)?.0))
    }

    fn read_output(&self, json: &str) -> Result<AnyValue, String> {
        Ok(Box::new(read::<Stored<G::Output>>(json)?.0))
    }

    fn encode_entry(&self, entry: &AnyValue) -> Result<Encoded, serde_json::Error> {
        encode::<G::Entry>(entry)
    }

    fn encode_output(&self, output: &AnyValue) -> Result<Encoded, serde_json::Error> {
        encode::<G::Output>(output)
    }

    fn memories(&self) -> Box<[Box<dyn MemoryStore>]> {
        memories::<G>()
    }

    fn shared(
        &self,
        graph: AnyGraph,
        untyped: UntypedServices,
        kept: Option<(AnyValue, Vec<Option<Encoded>>)>,
        memories: Box<[Box<dyn MemoryStore>]>,
    ) -> Arc<dyn ErasedShared> {
        let Ok(graph) = graph.downcast::<G>() else { unreachable!("a run executes its own graph") };
        let kept = kept.map(|(entry, inputs)| Box::new(Kept { entry: typed(entry), inputs: inputs.into() }));
        Arc::new(Shared::new(RunServices { graph, untyped, kept, memories }))
    }
}
