//! A token of whatever graph.

use crate::journal::Encoded;
use interlocking_core::frontier::Payload;
use interlocking_core::graph::Token;
use interlocking_core::net::PlaceIndex;
use std::any::Any;

/// A token without its type. Only its graph [takes it out](Self::open) again.
pub(crate) struct ErasedToken {
    place: PlaceIndex,
    slot: Box<dyn Slot>,
}

/// Where a token was: the memory that another token of the graph can take.
pub(crate) struct EmptySlot<T>(Box<Option<T>>);

/// The memory of a token.
trait Slot: Any + Send + Sync {
    fn is_value(&self) -> bool;
    fn copy(&self) -> Option<ErasedToken>;
    fn encode(&self) -> Result<Encoded, serde_json::Error>;
}

impl ErasedToken {
    pub(crate) fn new<T: Token>(token: T) -> Self {
        Self { place: token.place(), slot: Box::new(Some(token)) }
    }

    /// The token, and where it was.
    ///
    /// # Panics
    ///
    /// The token is of another graph.
    pub(crate) fn open<T: Token>(self) -> (T, EmptySlot<T>) {
        let slot: Box<dyn Any> = self.slot;
        let opened = slot.downcast::<Option<T>>().ok().and_then(|mut slot| Some((slot.take()?, EmptySlot(slot))));
        opened.unwrap_or_else(|| unreachable!("a run has tokens of its own graph only"))
    }

    /// The token alone.
    ///
    /// # Panics
    ///
    /// As [`open`](Self::open).
    pub(crate) fn into_typed<T: Token>(self) -> T {
        self.open().0
    }

    /// The payload as JSON.
    pub(crate) fn encode(&self) -> Result<Encoded, serde_json::Error> {
        self.slot.encode()
    }
}

impl<T: Token> EmptySlot<T> {
    /// Puts a token where one was.
    pub(crate) fn fill(mut self, token: T) -> ErasedToken {
        let place = token.place();
        *self.0 = Some(token);
        ErasedToken { place, slot: self.0 }
    }
}

impl Payload for ErasedToken {
    fn place(&self) -> PlaceIndex {
        self.place
    }

    fn is_value(&self) -> bool {
        self.slot.is_value()
    }

    fn copy(&self) -> Option<Self> {
        self.slot.copy()
    }
}

impl<T: Token> Slot for Option<T> {
    fn is_value(&self) -> bool {
        self.as_ref().is_none_or(Payload::is_value)
    }

    fn copy(&self) -> Option<ErasedToken> {
        self.as_ref()?.copy().map(ErasedToken::new)
    }

    fn encode(&self) -> Result<Encoded, serde_json::Error> {
        let mut json = Vec::with_capacity(128);
        if let Some(token) = self {
            token.serialize(&mut serde_json::Serializer::new(&mut json))?;
        }
        let text = String::from_utf8(json).map_err(serde::ser::Error::custom)?;
        Ok(text.into())
    }
}
