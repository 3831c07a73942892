//! Tokens as a replay moves them: by what the journal holds of their payloads.

use crate::journal::RecordedPayload;
use interlocking_core::frontier::{self, Limit};
use interlocking_core::net::{Net, NodeIndex, PlaceIndex};
use std::sync::Arc;

/// A token whose payload need not be here.
#[derive(Clone, Debug)]
pub(crate) struct StoredToken {
    pub(crate) place: PlaceIndex,
    pub(crate) content: Content,
    /// Whether it fills an optional slot with nothing.
    pub(crate) is_nothing: bool,
}

/// What a [`StoredToken`] stands for.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// A recorded payload.
    Stored(RecordedPayload),
    /// What an entry beyond a node's bounds makes of the input that the node would have had.
    Exhausted(Arc<(NodeIndex, Limit, Inputs)>),
}

/// What a node execution consumes: one token, or one a slot.
#[derive(Clone, Debug)]
pub(crate) enum Inputs {
    One(StoredToken),
    Slots(Vec<StoredToken>),
}

impl StoredToken {
    /// A recorded payload, in its place.
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
