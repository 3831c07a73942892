//! The difference between two versions of a public API.

use super::PublicApi;
use super::item::{ApiItem, ApiKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// A change of a public API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApiChange {
    /// The kind of the change.
    pub change: Change,
    /// The item in the later version, or in the earlier one if the item was removed.
    pub item: ApiItem,
}

/// The kind of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Change {
    /// The item was added.
    Added,
    /// The item was removed.
    Removed,
    /// The item's signature has changed.
    Changed {
        /// The earlier signature.
        was: String,
    },
}

impl fmt::Display for ApiChange {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ApiItem { path, signature, file, line, column, .. } = &self.item;
        write!(out, "{file}:{line}:{column}: ")?;
        match &self.change {
            Change::Added => {
                write!(out, "`{path}` is new in the interface: `{signature}`; make it private, or agree on it first")
            }
            Change::Removed => write!(out, "`{path}` is gone from the interface: `{signature}`; put it back"),
            Change::Changed { was } => write!(out, "`{path}` is `{signature}` now; it was `{was}`: put that back"),
        }
    }
}

impl PublicApi {
    /// All changes since an earlier version, sorted by the items' paths (TC-07). The positions of items make no difference.
    pub fn changes_since(&self, before: &Self) -> Vec<ApiChange> {
        let (then, now) = (by_key(before), by_key(self));
        let mut keys: Vec<_> = then.keys().chain(now.keys()).collect();
        keys.sort();
        keys.dedup();
        keys.into_iter().flat_map(|key| differing(then.get(key), now.get(key))).collect()
    }
}

fn by_key(api: &PublicApi) -> BTreeMap<(&str, ApiKind), Vec<&ApiItem>> {
    let mut all: BTreeMap<_, Vec<&ApiItem>> = BTreeMap::new();
    for item in &api.items {
        all.entry((item.path.as_str(), item.kind)).or_default().push(item);
    }
    all
}

fn differing(then: Option<&Vec<&ApiItem>>, now: Option<&Vec<&ApiItem>>) -> Vec<ApiChange> {
    let without = |these: Option<&Vec<&ApiItem>>, those: Option<&Vec<&ApiItem>>| -> Vec<ApiItem> {
        let is_there = |item: &&ApiItem| those.into_iter().flatten().any(|other| other.signature == item.signature);
        these.into_iter().flatten().filter(|item| !is_there(item)).map(|item| (*item).clone()).collect()
    };
    let (gone, new) = (without(then, now), without(now, then));
    match (&gone[..], &new[..]) {
        ([was], [item]) if item.kind != ApiKind::Implementation => {
            vec![ApiChange { change: Change::Changed { was: was.signature.clone() }, item: item.clone() }]
        }
        _ => {
            let gone = gone.into_iter().map(|item| ApiChange { change: Change::Removed, item });
            gone.chain(new.into_iter().map(|item| ApiChange { change: Change::Added, item })).collect()
        }
    }
}
