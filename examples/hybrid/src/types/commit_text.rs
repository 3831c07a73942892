//! A commit's id as text, for serde.

use interlocking::worktree::CommitId;
use serde::{Deserialize, Deserializer, Serializer, de};

pub(super) fn serialize<S: Serializer>(id: &CommitId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(id)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<CommitId, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
}
