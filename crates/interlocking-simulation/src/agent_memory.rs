//! The memory of the agent.

use crate::asked::Asking;
use interlocking_agents::SessionId;
use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::By;
use std::collections::BTreeMap;

/// What the agent remembers. It outlives the processes that ask the agent.
#[derive(Default)]
pub(crate) struct AgentMemory {
    pub(crate) sessions: BTreeMap<SessionId, SessionMemory>,
    /// By execution: its latest session.
    pub(crate) latest: BTreeMap<(RunId, By), SessionId>,
    /// By execution: how many acts have ended.
    pub(crate) done: BTreeMap<(RunId, By), usize>,
}

/// One session.
pub(crate) struct SessionMemory {
    /// The last request in it.
    pub(crate) about: Asking,
    /// The executor that used it last.
    pub(crate) executor: u32,
    pub(crate) is_lost: bool,
}

impl AgentMemory {
    /// The latest session of the node before this execution, unless that session is lost.
    pub(crate) fn earlier(&self, run: &RunId, by: &By) -> Option<SessionId> {
        let mut earlier = self.latest.range(..(run.clone(), by.clone())).rev();
        let of_node = |((of, other), _): &(&(RunId, By), &SessionId)| of == run && other.node == by.node;
        let is_known = |session: &SessionId| self.sessions.get(session).is_some_and(|memory| !memory.is_lost);
        earlier.next().filter(of_node).map(|(_, session)| session.clone()).filter(is_known)
    }
}
