//! The usage of one agent turn of a node execution: each call is admitted first, and booked however the turn ends.

use crate::context::services::UntypedServices;
use crate::limits::allowance::Pass;
use crate::mutex::Mutex;
use async_trait::async_trait;
use interlocking_agents::{AgentError, AgentEvent, CallGate, CallPermit, CallRefused, SessionId, Usage};
use interlocking_core::frontier::Execution;
use std::sync::MutexGuard;

/// Books the usage of a turn. A turn that is interrupted by a timeout or a cancellation may have made a call whose price stays
/// unknown.
pub(crate) struct UsageGuard<'run> {
    untyped: &'run UntypedServices,
    execution: Execution,
    agent: &'run str,
    role: &'run str,
    so_far: Mutex<SoFar>,
    settled: bool,
}

#[derive(Default)]
struct SoFar {
    session: Option<SessionId>,
    /// The usage of the calls that have ended.
    usage: Usage,
    /// Whether any call was made, and whether one is in progress.
    called: bool,
    calling: bool,
}

/// A call in progress.
struct Call<'b>(Pass<'b>);

impl<'run> UsageGuard<'run> {
    pub(crate) fn new(untyped: &'run UntypedServices, execution: Execution, agent: &'run str, role: &'run str) -> Self {
        Self { untyped, execution, agent, role, so_far: Mutex::default(), settled: false }
    }

    pub(crate) fn note(&self, event: &AgentEvent) {
        match event {
            AgentEvent::Started { session } => self.so_far().session = Some(session.clone()),
            AgentEvent::Finished { usage, .. } => {
                let mut so_far = self.so_far();
                so_far.usage += *usage;
                so_far.calling = false;
            }
            _ => {}
        }
    }

    /// The turn has ended without an interruption.
    pub(crate) fn settle(mut self, session: Option<SessionId>, spent: Usage) {
        self.settled = true;
        // A turn that was refused before its first call used nothing.
        if self.so_far().called {
            self.untyped.book_call(self.execution, self.agent, self.role, session, spent);
        }
    }

    fn so_far(&self) -> MutexGuard<'_, SoFar> {
        self.so_far.lock()
    }
}

#[async_trait]
impl CallGate for UsageGuard<'_> {
    async fn acquire(&self, _agent: &str) -> Result<Box<dyn CallPermit + '_>, CallRefused> {
        match self.untyped.settings.allowance().admit(self.agent).await {
            Ok(pass) => {
                let mut so_far = self.so_far();
                (so_far.called, so_far.calling) = (true, true);
                Ok(Box::new(Call(pass)))
            }
            Err(stopped) => Err(CallRefused { reason: stopped.to_string() }),
        }
    }
}

impl CallPermit for Call<'_> {
    fn ended(self: Box<Self>, outcome: Result<Usage, &AgentError>) -> bool {
        self.0.ended(outcome)
    }
}

impl Drop for UsageGuard<'_> {
    fn drop(&mut self) {
        if self.settled {
            return;
        }
        let SoFar { session, mut usage, called, calling } = std::mem::take(self.so_far.get_mut());
        if calling {
            usage += Usage { calls: 1, unpriced_calls: 1, ..Usage::default() };
        }
        if called {
            self.untyped.book_call(self.execution, self.agent, self.role, session, usage);
        }
    }
}
