//! A token of whatever graph.

use crate::journal::Encoded;
use crate::mutex::Mutex;
use interlocking_core::frontier::Payload;
use interlocking_core::graph::Token;
use interlocking_core::net::PlaceIndex;
use std::any::Any;
use std::sync::Arc;

/// A token without its type. Only its graph [takes it out](Self::open) again.
pub(crate) struct ErasedToken {
    place: PlaceIndex,
    slot: AnySlot,
}

/// The memory of a token.
enum AnySlot {
    Own(Box<dyn Slot>),
    /// One of those of a fork.
    Branch(Arc<dyn Branches>, usize),
}

/// Where a token was: the memory that another token of the graph can take.
pub(crate) struct EmptySlot<T>(Emptied<T>);

enum Emptied<T> {
    Own(Box<Option<T>>),
    Branch(Arc<Forked<T>>, usize),
}

/// A token, as far as its type does not matter.
trait Slot: Any + Send + Sync {
    fn is_value(&self) -> bool;
    fn copy(&self) -> Option<ErasedToken>;
    fn encode(&self) -> Result<Encoded, serde_json::Error>;
}

/// The tokens of a fork, in one place: so none has an allocation of its own. Each is its branch's alone.
struct Forked<T>(Box<[Mutex<Option<T>>]>);

trait Branches: Any + Send + Sync {
    fn look_at(&self, branch: usize, look: &mut dyn FnMut(&dyn Slot));
}

impl ErasedToken {
    pub(crate) fn new<T: Token>(token: T) -> Self {
        Self { place: token.place(), slot: AnySlot::Own(Box::new(Some(token))) }
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

    /// The token, and where it was.
    ///
    /// # Panics
    ///
    /// The token is of another graph.
    pub(crate) fn open<T: Token>(self) -> (T, EmptySlot<T>) {
        let opened = match self.slot {
            AnySlot::Own(slot) => {
                let slot: Box<dyn Any> = slot;
                let slot = slot.downcast::<Option<T>>().ok();
                slot.and_then(|mut slot| Some((slot.take()?, EmptySlot(Emptied::Own(slot)))))
            }
            AnySlot::Branch(slots, branch) => {
                let slots: Arc<dyn Any + Send + Sync> = slots;
                let slots = slots.downcast::<Forked<T>>().ok();
                slots.and_then(|slots| {
                    let token = slots.0[branch].lock().take()?;
                    Some((token, EmptySlot(Emptied::Branch(slots, branch))))
                })
            }
        };
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
        self.look(|slot| slot.encode())
    }

    fn look<R>(&self, look: impl FnOnce(&dyn Slot) -> R) -> R {
        match &self.slot {
            AnySlot::Own(slot) => look(&**slot),
            AnySlot::Branch(slots, branch) => {
                let (mut look, mut seen) = (Some(look), None);
                slots.look_at(*branch, &mut |slot| seen = look.take().map(|look| look(slot)));
                seen.unwrap_or_else(|| unreachable!("a branch is looked at once"))
            }
        }
    }
}

fn of_a_fork(places: &[PlaceIndex], slots: Arc<dyn Branches>) -> Vec<ErasedToken> {
    let token = |(branch, place): (usize, &PlaceIndex)| ErasedToken {
        place: *place,
        slot: AnySlot::Branch(slots.clone(), branch),
    };
    places.iter().enumerate().map(token).collect()
}

impl<T: Token> EmptySlot<T> {
    /// Puts a token where one was.
    pub(crate) fn fill(self, token: T) -> ErasedToken {
        let place = token.place();
        let slot = match self.0 {
            Emptied::Own(mut slot) => {
                *slot = Some(token);
                AnySlot::Own(slot)
            }
            Emptied::Branch(slots, branch) => {
                *slots.0[branch].lock() = Some(token);
                AnySlot::Branch(slots, branch)
            }
        };
        ErasedToken { place, slot }
    }
}

impl Payload for ErasedToken {
    fn place(&self) -> PlaceIndex {
        self.place
    }

    fn is_value(&self) -> bool {
        self.look(|slot| slot.is_value())
    }

    fn copy(&self) -> Option<Self> {
        self.look(|slot| slot.copy())
    }
}

impl<T: Token> Branches for Forked<T> {
    fn look_at(&self, branch: usize, look: &mut dyn FnMut(&dyn Slot)) {
        look(&*self.0[branch].lock());
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
