//! What travels: payloads, tokens and memories.

use crate::frontier::Payload;
use crate::net::PlaceIndex;
use serde::de::DeserializeOwned;
use serde::{Deserializer, Serialize, Serializer};

/// What travels along edges and is journaled: owned serde data.
///
/// Implemented for every type that qualifies.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot travel along an edge",
    label = "needs `Serialize`, `DeserializeOwned`, `Send` and `Sync`",
    note = "derive the first two: `#[derive(serde::Serialize, serde::Deserialize)]`"
)]
pub trait Value: Serialize + DeserializeOwned + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + Send + Sync + 'static> Value for T {}

/// A memory that nodes of one run share: starts as its default and survives loops.
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
    /// The deserializer's, or that the graph has no such place.
    fn deserialize<'de, D: Deserializer<'de>>(place: PlaceIndex, deserializer: D) -> Result<Self, D::Error>;
}

/// Called with the type of a memory group.
pub trait MemoryVisitor {
    /// What it gives back.
    type Output;

    /// Visits memory type `M`.
    fn visit<M: Memory>(self) -> Self::Output;
}
