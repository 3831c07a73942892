//! A commit's id as text, for serde.

use interlocking::worktree::CommitId;
use serde::{Deserialize, Deserializer, Serializer, de};

pub(super) fn serialize<S: Serializer>(id: &CommitId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(id)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<CommitId, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
}

/// The same for an optional commit.
pub(super) mod option {
    use super::{CommitId, Deserialize as _, Deserializer, Serializer, de};

    pub(in super::super) fn serialize<S: Serializer>(id: &Option<CommitId>, serializer: S) -> Result<S::Ok, S::Error> {
        match id {
            Some(id) => serializer.collect_str(id),
            None => serializer.serialize_none(),
        }
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<CommitId>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| text.parse().map_err(de::Error::custom)).transpose()
    }
}
