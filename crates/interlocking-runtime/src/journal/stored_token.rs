//! The tokens of a replay, with payloads as the journal has recorded them.

use crate::journal::RecordedPayload;
use interlocking_core::frontier::{self, Limit};
use interlocking_core::net::{Net, NodeIndex, PlaceIndex};
use std::sync::Arc;

/// A token whose payload may be known only by its digest.
#[derive(Clone, Debug)]
pub(crate) struct StoredToken {
    pub(crate) place: PlaceIndex,
    pub(crate) content: Content,
    /// Whether it fills an optional slot with no value.
    pub(crate) is_nothing: bool,
}

/// The content of a [`StoredToken`].
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// A recorded payload.
    Stored(RecordedPayload),
    /// The value that a node's exhausted route makes of the input that the node would have taken.
    Exhausted(Arc<(NodeIndex, Limit, Inputs)>),
}

/// The input of a node execution: one token, or one token for each slot.
#[derive(Clone, Debug)]
pub(crate) enum Inputs {
    One(StoredToken),
    Slots(Vec<StoredToken>),
}

impl StoredToken {
    /// A token with a recorded payload.
    pub(crate) fn stored(net: &Net, place: PlaceIndex, payload: RecordedPayload) -> Self {
        let is_nothing = net.place(place).optional && payload.is_null();
        Self { place, content: Content::Stored(payload), is_nothing }
    }
}

impl frontier::Payload for StoredToken {
    fn place(&self) -> PlaceIndex {
        self.place
    }

    fn is_value(&self) -> bool {
        !self.is_nothing
    }

    fn copy(&self) -> Option<Self> {
        Some(self.clone())
    }
}
