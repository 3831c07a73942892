//! Checks sessions of agents, and the usage of their calls.

use super::{Facts, Oracle, key, same};
use crate::dialogue::AGENT;
use crate::tables::TIMEOUT_MS;
use interlocking_agents::{LedgerEntry, SessionId};
use interlocking_core::failure::FailureKind;
use interlocking_core::table::NodeKind;
use interlocking_runtime::journal::By;

impl Oracle<'_> {
    pub(super) fn session(
        &mut self,
        by: &By,
        conversation: u32,
        agent: &str,
        session: &SessionId,
        facts: &Facts<'_>,
    ) -> Result<(), String> {
        let execution = self.runs(by)?;
        self.seen.sessions += 1;
        if !self.net.row(execution.node).is_prompted() {
            return Err(format!("{by} has a session, and no agent"));
        }
        same("the conversation", conversation, 1)?;
        same("the agent", agent, AGENT)?;
        match facts.opened.contains(&(self.run.clone(), by.clone(), session.clone())) {
            true => Ok(()),
            false => Err(format!("the agent never was in {session} for {by}")),
        }
    }

    /// Checks the usage of an execution without an outcome.
    pub(super) fn spent(&mut self, by: &By, calls: &[LedgerEntry]) -> Result<(), String> {
        let execution = self.execution(by)?;
        self.seen.spent += 1;
        let began = self.executions.contains_key(&key(execution)) || self.beside.contains_key(&key(execution));
        let began = began || self.net.row(execution.node).kind == NodeKind::Event;
        if !began || !self.net.row(execution.node).is_prompted() {
            return Err(format!("{by} has cost something, and never asked"));
        }
        if self.outcomes.contains_key(&key(execution)) {
            return Err(format!("{by} has cost something beside its outcome"));
        }
        if calls.is_empty() { Err(format!("{by} has cost nothing")) } else { Ok(()) }
    }

    /// Whether a failure says that the run has no calls left.
    pub(super) fn is_refused(&self, message: &str, facts: &Facts<'_>) -> bool {
        facts.bounded && (message.starts_with("the budget of ") || message.starts_with("the provider of agent "))
    }

    /// Whether an execution timed out because it had to wait for the agent's provider or for other calls.
    pub(super) fn is_held_up(&self, by: &By, kind: &FailureKind, facts: &Facts<'_>) -> bool {
        *kind == FailureKind::Timeout { limit_ms: TIMEOUT_MS }
            && facts.held_up.contains(&(self.run.clone(), by.clone()))
    }
}
