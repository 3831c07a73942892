//! Tokens as a replay moves them: by what the journal holds of their payloads.

use crate::journal::RecordedPayload;
use interlocking_core::frontier::{self, Limit};
use interlocking_core::net::{NodeIndex, PlaceIndex};
use std::sync::Arc;

/// A token whose payload need not be here.
#[derive(Clone, Debug)]
pub(crate) struct StoredToken {
    pub(crate) place: PlaceIndex,
    pub(crate) content: Content,
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

impl frontier::Payload for StoredToken {
    fn place(&self) -> PlaceIndex {
        self.place
    }

    fn copy(&self) -> Option<Self> {
        Some(self.clone())
    }
}
