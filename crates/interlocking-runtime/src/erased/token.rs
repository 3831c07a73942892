//! A token of any graph.

use crate::execution::interruption::encode_caught;
use crate::journal::Encoded;
use crate::mutex::Mutex;
use interlocking_core::frontier::Payload;
use interlocking_core::graph::Token;
use interlocking_core::net::PlaceIndex;
use std::any::Any;
use std::sync::Arc;

/// A token without its type. Once its graph has [taken](Self::take) it, its memory can [hold another token](Self::refill).
pub(crate) struct ErasedToken(Memory);

/// A token's place, and where its payload is.
enum Memory {
    /// The token has memory of its own.
    Own(PlaceIndex, Box<dyn Slot>),
    /// The token is in the memory of a fork, as the token of this branch.
    Forked(PlaceIndex, u32, Arc<dyn Branches>),
}

/// The operations of a token that do not need its type.
trait Slot: Any + Send + Sync {
    fn is_value(&self) -> bool;
    fn copy(&self) -> Option<ErasedToken>;
    fn encode(&self) -> Result<Encoded, serde_json::Error>;
}

/// The tokens of a fork in one allocation, so that none needs its own. Each token belongs to one branch alone.
struct Forked<T>(Box<[Mutex<Option<T>>]>);

trait Branches: Any + Send + Sync {
    fn look_at(&self, branch: u32, look: &mut dyn FnMut(&dyn Slot));
}

impl ErasedToken {
    pub(crate) fn new<T: Token>(token: T) -> Self {
        Self(Memory::Own(token.place(), Box::new(Some(token))))
    }

    /// The tokens of a fork.
    pub(crate) fn all<T: Token>(tokens: Vec<T>) -> Vec<Self> {
        let (mut places, mut slots) = (Vec::with_capacity(tokens.len()), Vec::with_capacity(tokens.len()));
        for token in tokens {
            places.push(token.place());
            slots.push(Mutex::new(Some(token)));
        }
        of_a_fork(&places, Arc::new(Forked(slots.into())))
    }

    /// Takes the token.
    ///
    /// # Panics
    ///
    /// If the token is of another graph, or was taken before.
    pub(crate) fn take<T: Token>(&mut self) -> T {
        let taken = self.with(Option::take).flatten();
        taken.unwrap_or_else(|| unreachable!("a run has tokens of its own graph only, and takes each once"))
    }

    /// Puts another token of the graph into the memory of this one.
    ///
    /// # Panics
    ///
    /// If the memory is of another graph.
    pub(crate) fn refill<T: Token>(mut self, token: T) -> Self {
        let (Memory::Own(place, _) | Memory::Forked(place, ..)) = &mut self.0;
        *place = token.place();
        let filled = self.with(|slot| *slot = Some(token));
        filled.unwrap_or_else(|| unreachable!("a run has tokens of its own graph only"));
        self
    }

    #[inline]
    fn with<T: Token, R>(&mut self, with: impl FnOnce(&mut Option<T>) -> R) -> Option<R> {
        match &mut self.0 {
            Memory::Own(_, slot) => {
                let slot: &mut dyn Any = &mut **slot;
                slot.downcast_mut().map(with)
            }
            Memory::Forked(_, branch, slots) => {
                let slots: &dyn Any = &**slots;
                slots.downcast_ref::<Forked<T>>().map(|slots| with(&mut slots.of(*branch).lock()))
            }
        }
    }

    /// The payload as JSON. Where its serialization panics, that is the error.
    pub(crate) fn encode(&self) -> Result<Encoded, serde_json::Error> {
        encode_caught(|| self.look(|slot| slot.encode()))
    }

    fn look<R>(&self, look: impl FnOnce(&dyn Slot) -> R) -> R {
        match &self.0 {
            Memory::Own(_, slot) => look(&**slot),
            Memory::Forked(_, branch, slots) => {
                let (mut look, mut seen) = (Some(look), None);
                slots.look_at(*branch, &mut |slot| seen = look.take().map(|look| look(slot)));
                seen.unwrap_or_else(|| unreachable!("a branch is looked at once"))
            }
        }
    }
}

fn of_a_fork(places: &[PlaceIndex], slots: Arc<dyn Branches>) -> Vec<ErasedToken> {
    let token = |(branch, place): (u32, &PlaceIndex)| ErasedToken(Memory::Forked(*place, branch, slots.clone()));
    (0..).zip(places).map(token).collect()
}

impl<T> Forked<T> {
    #[inline]
    fn of(&self, branch: u32) -> &Mutex<Option<T>> {
        &self.0[branch as usize]
    }
}

impl Payload for ErasedToken {
    #[inline]
    fn place(&self) -> PlaceIndex {
        match self.0 {
            Memory::Own(place, _) | Memory::Forked(place, ..) => place,
        }
    }

    fn is_value(&self) -> bool {
        self.look(|slot| slot.is_value())
    }

    fn copy(&self) -> Option<Self> {
        self.look(|slot| slot.copy())
    }
}

impl<T: Token> Branches for Forked<T> {
    fn look_at(&self, branch: u32, look: &mut dyn FnMut(&dyn Slot)) {
        look(&*self.of(branch).lock());
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
