//! The data of a run: payloads, tokens and memories.

use crate::frontier::Payload;
use crate::net::PlaceIndex;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Data that travels along edges and is written to the journal: owned serde data.
///
/// Implemented for every type that qualifies. Serde's traits are not supertraits, so that the compiler reports a type
/// without them in one error, this trait's own. [`Stored`] gives generic code the serde impls.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot travel along an edge: it is not serde data",
    label = "a run stores this and reads it again",
    note = "write `#[derive(serde::Serialize, serde::Deserialize)]` on `{Self}`; a type of another crate may have a feature `serde`"
)]
pub trait Value: Sized + Send + Sync + 'static {
    /// Writes it.
    #[doc(hidden)]
    fn store<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;

    /// Reads it.
    #[doc(hidden)]
    fn load<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + Send + Sync + 'static> Value for T {
    fn store<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.serialize(serializer)
    }

    fn load<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::deserialize(deserializer)
    }
}

/// A [`Value`] with serde's traits: `Stored(&value)` can be serialized, `Stored<T>` deserialized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored<T>(pub T);

impl<T: Value> Serialize for Stored<&T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.store(serializer)
    }
}

impl<'de, T: Value> Deserialize<'de> for Stored<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::load(deserializer).map(Self)
    }
}

/// A memory that nodes of one run share. It starts as its default value and keeps its value across visits.
pub trait Memory: Value + Default + Clone {}

impl<T: Value + Default + Clone> Memory for T {}

/// A graph's tokens: payloads that know their place and can be stored.
pub trait Token: Payload + Send + Sync + 'static {
    /// Writes the payload, without the place.
    ///
    /// # Errors
    ///
    /// The serializer's.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;

    /// Reads the payload of a token that lies in `place`.
    ///
    /// # Errors
    ///
    /// The deserializer's, or an error where the graph has no such place.
    fn deserialize<'de, D: Deserializer<'de>>(place: PlaceIndex, deserializer: D) -> Result<Self, D::Error>;
}

/// Called with the type of a memory group.
pub trait MemoryVisitor {
    /// What it gives back.
    type Output;

    /// Visits memory type `M`.
    fn visit<M: Memory>(self) -> Self::Output;
}
