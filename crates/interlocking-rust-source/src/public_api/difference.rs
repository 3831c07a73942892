//! How two versions of an interface differ.

use super::PublicApi;
use super::item::{ApiItem, ApiKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Something of an interface that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApiChange {
    /// What became of it.
    pub change: Change,
    /// The item: as it is now, or as it was, if it is gone.
    pub item: ApiItem,
}

/// What became of an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Change {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It has another signature.
    Changed {
        /// The signature before.
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
    /// Everything that differs from an earlier version, in the order of the items' paths (TC-07). Where items stand makes no difference.
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
