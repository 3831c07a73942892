//! What the agent remembers.

use crate::asked::Asking;
use interlocking_agents::SessionId;
use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::By;
use std::collections::BTreeMap;

/// What the agent remembers, whatever becomes of the processes that ask it.
#[derive(Default)]
pub(crate) struct Minds {
    pub(crate) sessions: BTreeMap<SessionId, Mind>,
    /// By execution: its latest session.
    pub(crate) latest: BTreeMap<(RunId, By), SessionId>,
    /// By execution: how many acts have come to their end.
    pub(crate) done: BTreeMap<(RunId, By), usize>,
}

/// One session.
pub(crate) struct Mind {
    /// What it was asked last.
    pub(crate) about: Asking,
    /// The executor that used it last.
    pub(crate) executor: u32,
    pub(crate) is_lost: bool,
}

impl Minds {
    /// The latest session of the node before this execution, if it is known still.
    pub(crate) fn earlier(&self, run: &RunId, by: &By) -> Option<SessionId> {
        let mut earlier = self.latest.range(..(run.clone(), by.clone())).rev();
        let of_node = |((of, other), _): &(&(RunId, By), &SessionId)| of == run && other.node == by.node;
        let is_known = |session: &SessionId| self.sessions.get(session).is_some_and(|mind| !mind.is_lost);
        earlier.next().filter(of_node).map(|(_, session)| session.clone()).filter(is_known)
    }
}
