//! An agent that wraps another agent and makes some of its calls fail.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tokio::sync::Notify;

use super::fault::{End, Fault, INTERRUPTED, REJECTED, Stage};
use super::plan::{FaultPlan, UnusedRule};
use super::spoil;
use crate::agent::capabilities::Capabilities;
use crate::agent::error::{AgentError, AgentErrorKind};
use crate::agent::event::{AgentEvent, AgentEvents};
use crate::agent::turn::{Reply, Turn};
use crate::agent::{Agent, TurnContext};
use crate::sessions::Sessions;
use crate::sessions::session::SessionId;

/// An agent some of whose calls fail as a [`FaultPlan`] says. Otherwise it behaves like the agent that it wraps: it has
/// the same name, and therefore counts as the same provider, the same sessions and the same capabilities.
///
/// The usage of a failed call is reported as a real agent would report it: a rejected call costs nothing; the price of
/// an interrupted call is unknown.
pub struct FaultyAgent {
    inner: Arc<dyn Agent>,
    calls: AtomicU32,
    state: Mutex<State>,
}

struct State {
    plan: FaultPlan,
    injected: Vec<Injected>,
}

/// A fault that has been injected.
#[derive(Debug, Clone, PartialEq)]
pub struct Injected {
    /// The number of the call among all calls of the agent, from 1.
    pub call: u32,
    /// The call's [role](Turn::role).
    pub role: Option<String>,
    /// What went wrong.
    pub fault: Fault,
}

impl FaultyAgent {
    /// Wraps `inner`, with the faults of `plan`.
    pub fn new(inner: Arc<dyn Agent>, plan: FaultPlan) -> Self {
        Self { inner, calls: AtomicU32::new(0), state: Mutex::new(State { plan, injected: Vec::new() }) }
    }

    /// How many calls there were, with and without faults.
    pub fn calls(&self) -> u32 {
        self.calls.load(Ordering::Relaxed)
    }

    /// The faults that have been injected, in the order in which their calls began.
    pub fn injected(&self) -> Vec<Injected> {
        self.state().injected.clone()
    }

    /// How many faults with this [name](Fault::name) have been injected.
    pub fn injected_of(&self, name: &str) -> usize {
        self.state().injected.iter().filter(|injected| injected.fault.name() == name).count()
    }

    /// The rules of the plan that were applied less often than planned. A test that ends without unused rules has seen
    /// every fault that it planned.
    pub fn unused(&self) -> Vec<UnusedRule> {
        self.state().plan.unused()
    }

    /// The fault of the next call, if it has one.
    fn next_fault(&self, turn: &Turn) -> Option<Fault> {
        // The call is counted under the lock, so that the numbers and the records have the same order.
        let mut state = self.state();
        let call = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let fault = state.plan.next_fault(call, turn)?;
        tracing::debug!(call, fault = fault.name(), "injecting a fault");
        state.injected.push(Injected { call, role: turn.role.clone(), fault: fault.clone() });
        Some(fault)
    }

    /// Runs the agent until it has reported `after_events` events or has ended; then the call fails.
    async fn stop_after_events(
        &self,
        context: &TurnContext<'_>,
        turn: &Turn,
        after_events: u32,
        end: End,
    ) -> Result<Reply, AgentError> {
        let mut answered = None;
        if after_events > 0 {
            let meter = Meter { to: context.events, left: AtomicU32::new(after_events), reached: Notify::new() };
            let context = context.with_events(&meter);
            tokio::select! {
                biased;
                outcome = self.inner.run(&context, turn) => match outcome {
                    Ok(reply) => answered = Some(reply.session),
                    // The agent failed by itself before the planned fault.
                    Err(error) => return Err(error),
                },
                () = meter.reached.notified() => {}
            }
        }
        let kind = match end {
            End::Fails(kind) => kind,
            End::Stalls => {
                context.interrupted().await;
                AgentErrorKind::Cancelled
            }
        };
        let session = context.hold.session().or(answered);
        Err(AgentError { kind: Box::new(kind), session, usage: INTERRUPTED })
    }

    /// The state is consistent after every statement, so a poisoned lock can be used.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Forwards a limited number of events, and drops the rest.
struct Meter<'a> {
    to: &'a dyn AgentEvents,
    left: AtomicU32,
    reached: Notify,
}

impl AgentEvents for Meter<'_> {
    fn emit(&self, event: AgentEvent) {
        let take = |left: u32| left.checked_sub(1);
        // Events between the limit and the moment when the agent is stopped are lost.
        if let Ok(before) = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
            self.to.emit(event);
            if before == 1 {
                self.reached.notify_one();
            }
        }
    }
}

/// Corrupts the texts that the agent reports while it works.
struct Lossy<'a>(&'a dyn AgentEvents);

impl AgentEvents for Lossy<'_> {
    fn emit(&self, event: AgentEvent) {
        self.0.emit(match event {
            AgentEvent::Text { text } => AgentEvent::Text { text: spoil::lossy(&text) },
            other => other,
        });
    }
}

#[async_trait]
impl Agent for FaultyAgent {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn sessions(&self) -> &Sessions {
        self.inner.sessions()
    }

    fn confines(&self) -> bool {
        self.inner.confines()
    }

    fn session_store(&self, role: Option<&str>, session: Option<&SessionId>) -> Option<PathBuf> {
        self.inner.session_store(role, session)
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    async fn ready(&self) -> Result<(), AgentError> {
        self.inner.ready().await
    }

    async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<Reply, AgentError> {
        let Some(fault) = self.next_fault(turn) else { return self.inner.run(context, turn).await };
        match fault.stage(turn) {
            Stage::Delayed(time) => {
                tokio::select! {
                    biased;
                    () = context.interrupted() => Err(AgentError { usage: REJECTED, ..AgentErrorKind::Cancelled.into() }),
                    () = tokio::time::sleep(time) => self.inner.run(context, turn).await,
                }
            }
            Stage::Before(kind) => Err(AgentError { usage: REJECTED, ..kind.into() }),
            Stage::AfterEvents(after_events, end) => self.stop_after_events(context, turn, after_events, end).await,
            Stage::Answer(Fault::LossyText) => {
                let reply = self.inner.run(&context.with_events(&Lossy(context.events)), turn).await?;
                Ok(spoil::corrupted(reply, &fault, turn))
            }
            Stage::Answer(fault) => Ok(spoil::corrupted(self.inner.run(context, turn).await?, fault, turn)),
        }
    }
}
