//! Joins that need not wait for all of their slots.

use super::names::Names;
use super::{JoinQuorum, NetError};
use crate::table::{NodeKind, NodeRow, Quorum, Target};

/// Checks what a row says of a quorum, of the region cleared at the quorum, and of optional slots.
pub(super) fn fits(row: &NodeRow) -> Result<(), NetError> {
    let wrong = |reason: String| Err(NetError::Unfit { node: row.name.clone(), reason });
    let slots = row.slots.len();
    let values = match (row.quorum, row.kind) {
        (Some(Quorum::AtLeast(values)), NodeKind::Join) => values,
        (Some(Quorum::Enough), NodeKind::Join) => {
            return wrong("what is `enough` a map's handler says: give the quorum of a join as a number".into());
        }
        (Some(_), kind) if kind != NodeKind::Map => {
            return wrong("only a map node or a join waits for several: take its `quorum` away".into());
        }
        _ if !row.cancels.is_empty() => {
            return wrong(
                "only a join with a `quorum` clears something by itself: say `cancels` where it leads on".into(),
            );
        }
        _ => {
            return match row.slots.iter().find(|slot| slot.optional) {
                None => Ok(()),
                Some(slot) => wrong(format!(
                    "slot `{}` is optional, and nothing counts its values: give the join a `quorum`",
                    slot.name
                )),
            };
        }
    };
    match usize::try_from(values) {
        Ok(0) => return wrong("a quorum of 0 is reached by nothing: the least is 1".into()),
        Ok(all) if all == slots => {
            return wrong(format!("a quorum of {all} is all of its slots, which every join waits for: take it away"));
        }
        Ok(some) if some < slots => {}
        _ => return wrong(format!("its {slots} slots never come to a quorum of {values}")),
    }
    if let Some(slot) = row.slots.iter().find(|slot| slot.latched) {
        return wrong(format!(
            "slot `{}` is latched, and a join with a quorum keeps nothing for later rounds: take `latched` away",
            slot.name
        ));
    }
    if row.cancels.is_empty() {
        return wrong(
            "what comes after its quorum would be a second token: say what is cleared then, `cancels(…)`".into(),
        );
    }
    match row.cancels.iter().find(|name| Target::from(name.as_str()).node == row.name) {
        Some(name) => {
            wrong(format!("its own `cancels` names `{name}`, and when it fires it is cleared whole: leave it out"))
        }
        None => Ok(()),
    }
}

impl Names<'_> {
    /// The quorum of a join, and the region it clears. The join's own slots are excluded, also from `*`.
    pub(super) fn join_quorum(&self, row: &NodeRow, index: usize) -> Result<Option<JoinQuorum>, NetError> {
        let (Some(Quorum::AtLeast(values)), NodeKind::Join) = (row.quorum, row.kind) else { return Ok(None) };
        let Some(mut clears) = self.region(row, &row.cancels)? else { return Ok(None) };
        let first = usize::from(self.first[index]);
        for place in first..first + row.slots.len() {
            clears.places.remove(place);
        }
        clears.nodes.remove(index);
        // No join has more slots than there are places.
        Ok(Some(JoinQuorum { values: u16::try_from(values).unwrap_or(u16::MAX), clears }))
    }
}
