//! An agent that records the calls of another agent.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tokio::time::Instant;

use super::change::Scope;
use super::error::{CassetteError, of_file};
use super::placeholders::Placeholders;
use super::snapshot::Snapshot;
use super::tape::{self, Asked, Call, Ended, Failed, Replied, Timed};
use super::text::Text;
use crate::agent::capabilities::Capabilities;
use crate::agent::error::{AgentError, AgentErrorKind};
use crate::agent::event::{AgentEvent, AgentEvents};
use crate::agent::turn::{Reply, Turn};
use crate::agent::{Agent, TurnContext};
use crate::program::Redactor;
use crate::sessions::Sessions;
use crate::sessions::locked::Locked;
use crate::sessions::session::SessionId;
use crate::sessions::state_directory::make_private;

/// An agent that forwards every call to another agent, and records it in a [cassette](super).
///
/// The recorder behaves like the other agent, except for the time that it takes to scan the workspace. A call that
/// cannot be recorded fails with [`Cassette`](AgentErrorKind::Cassette), and so does every later call: a cassette that
/// lacks a call is not continued.
pub struct Recorder {
    agent: Arc<dyn Agent>,
    cassette: PathBuf,
    placeholders: Placeholders,
    scope: Scope,
    recorded: Mutex<Recorded>,
    /// Keeps other recorders out while it is held.
    _locked: Locked,
}

#[derive(Debug, Default)]
struct Recorded {
    calls: usize,
    /// Why the cassette is incomplete.
    failure: Option<CassetteError>,
}

impl Recorder {
    /// How many bytes of files one call may change by default: 32 MiB.
    pub const DEFAULT_LIMIT: u64 = 32 << 20;

    /// Records `agent` in the directory `cassette`. The directory is created if needed; an existing cassette is
    /// replaced.
    ///
    /// # Errors
    ///
    /// The directory contains something else, which is left untouched, is in use by another recorder, or cannot be written.
    pub fn new(agent: Arc<dyn Agent>, cassette: impl AsRef<Path>) -> Result<Self, CassetteError> {
        let cassette = cassette.as_ref();
        let cassette = std::path::absolute(cassette).unwrap_or_else(|_| cassette.to_owned());
        make_private(&cassette).map_err(|error| of_file(&cassette, &error))?;
        let directory = File::open(&cassette).map_err(|error| of_file(&cassette, &error))?;
        match directory.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(CassetteError::Busy { cassette }),
            // Some systems cannot lock directories; then other recorders are not kept out.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        tape::make(&cassette, agent.name())?;
        let scope = Scope { without: Default::default(), limit: Self::DEFAULT_LIMIT };
        let (placeholders, recorded) = Default::default();
        Ok(Self { agent, cassette, placeholders, scope, recorded, _locked: Locked(directory) })
    }

    /// The same, writing `⟦name⟧` instead of `value` everywhere: for values that differ from run to run, such as the
    /// run's id. Choose values that do not occur elsewhere by chance. The player is given its own value of that name.
    #[must_use]
    pub fn with_placeholder(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.placeholders.name(name.into(), value.into());
        self
    }

    /// The same, removing these secrets everywhere except from the names of files.
    #[must_use]
    pub fn with_redactor(mut self, redactor: Redactor) -> Self {
        self.placeholders.redact(redactor);
        self
    }

    /// The same, ignoring files and directories with this name at any depth of the workspace.
    #[must_use]
    pub fn without(mut self, name: impl Into<std::ffi::OsString>) -> Self {
        self.scope.without.insert(name.into());
        self
    }

    /// The same with another limit, in bytes, for the files that one call changes. A larger file is not read.
    #[must_use]
    pub fn with_limit(mut self, bytes: u64) -> Self {
        self.scope.limit = bytes;
        self
    }

    /// How many calls have been recorded.
    ///
    /// # Errors
    ///
    /// Why a call could not be recorded. Callers that waited for a call have already received its error; this method
    /// also reports calls whose future was dropped.
    pub fn calls(&self) -> Result<usize, CassetteError> {
        let recorded = self.recorded();
        recorded.failure.clone().map_or(Ok(recorded.calls), Err)
    }

    /// Takes a snapshot of the workspace before a call.
    async fn take_snapshot(&self, turn: &Turn) -> Result<Snapshot, CassetteError> {
        let (scope, workspace) = (self.scope.clone(), turn.workspace.clone());
        let taken = tokio::task::spawn_blocking(move || scope.take_snapshot(workspace.as_deref()));
        taken.await.unwrap_or_else(|error| Err(of_file(&self.cassette, &std::io::Error::other(error))))
    }

    /// Records a call, or the reason why it could not be recorded. This is synchronous on purpose: a cancelled call is
    /// recorded while its future is dropped, so that the next call of a conversation finds a complete cassette.
    fn record(&self, call: &PendingCall<'_>, ended: Ended) -> Result<(), CassetteError> {
        let mut recorded = self.recorded();
        if let Some(failure) = &recorded.failure {
            return Err(failure.clone());
        }
        let written = self
            .call(call, ended)
            .and_then(|call| tape::add(&self.cassette, self.agent.name(), recorded.calls + 1, &call));
        match &written {
            Ok(()) => recorded.calls += 1,
            Err(failure) => recorded.failure = Some(failure.clone()),
        }
        written
    }

    fn call(
        &self,
        PendingCall { turn, before, tap, .. }: &PendingCall<'_>,
        ended: Ended,
    ) -> Result<Call, CassetteError> {
        let took = tap.began.elapsed();
        let workspace = turn.workspace.as_deref();
        let varying = self.placeholders.of(workspace);
        let files = self.scope.changes(before, workspace, &varying)?;
        let json = |value: serde_json::Result<serde_json::Value>| {
            value.map_err(|error| of_file(&self.cassette, &error.into()))
        };
        let mut events = Vec::new();
        for (after_ms, event) in tap.events().iter() {
            let value = json(serde_json::to_value(event))?;
            let event = if matches!(event, AgentEvent::Started { .. }) { value } else { varying.encoded_value(value) };
            events.push(Timed { after_ms: *after_ms, event });
        }
        let ended = match ended {
            Ended::Replied(Replied { session, output, decisions, text, usage }) => {
                let output = output.map(|output| varying.encoded_value(output));
                let decisions = json(serde_json::to_value(decisions))?;
                let decisions = varying.encoded_value(decisions);
                let decisions =
                    serde_json::from_value(decisions).map_err(|error| of_file(&self.cassette, &error.into()))?;
                let text = text.map(|Text(text)| Text(varying.encoded(&text)));
                Ended::Replied(Replied { session, output, decisions, text, usage })
            }
            Ended::Failed(failed) => Ended::Failed(Failed { error: varying.encoded_value(failed.error), ..failed }),
            Ended::CutOff => Ended::CutOff,
        };
        Ok(Call {
            asked: Asked::of(turn, &varying),
            model: turn.model.clone(),
            workspace: super::name_of(workspace, &varying),
            events,
            files,
            took_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            ended,
        })
    }

    /// The state is consistent after every statement, so a poisoned lock can be used.
    fn recorded(&self) -> MutexGuard<'_, Recorded> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Agent for Recorder {
    fn name(&self) -> &str {
        self.agent.name()
    }

    fn sessions(&self) -> &Sessions {
        self.agent.sessions()
    }

    fn confines(&self) -> bool {
        self.agent.confines()
    }

    fn session_store(&self, role: Option<&str>, session: Option<&SessionId>) -> Option<PathBuf> {
        self.agent.session_store(role, session)
    }

    fn capabilities(&self) -> Capabilities {
        self.agent.capabilities()
    }

    async fn ready(&self) -> Result<(), AgentError> {
        self.agent.ready().await
    }

    async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<Reply, AgentError> {
        let before = {
            let _working = context.working();
            self.take_snapshot(turn).await?
        };
        let tap = Tap { outer: context.events, began: Instant::now(), events: Mutex::default() };
        let pending = PendingCall { recorder: self, turn, before, tap: &tap, is_over: false };
        let outcome = self.agent.run(&context.with_events(&tap), turn).await;
        let ended = match &outcome {
            // No call was made, so there is nothing to record.
            Err(error) if matches!(*error.kind, AgentErrorKind::Forbidden(_)) => {
                pending.ignored();
                return outcome;
            }
            Ok(reply) => {
                let Reply { session, output, decisions, text, usage } = reply.clone();
                Ended::Replied(Replied { session, output, decisions, text: text.map(Text), usage })
            }
            Err(AgentError { kind, session, usage }) => match serde_json::to_value(kind) {
                Ok(error) => Ended::Failed(Failed { error, session: session.clone(), usage: *usage }),
                Err(error) => {
                    let failure = of_file(&self.cassette, &error.into());
                    self.recorded().failure.get_or_insert(failure);
                    Ended::CutOff
                }
            },
        };
        let _working = context.working();
        match (pending.ended(ended), &outcome) {
            (Ok(()), _) => outcome,
            // The call was paid for although it could not be recorded.
            (Err(failure), Ok(reply)) => Err(AgentError::new(failure).in_session(reply.session.clone(), reply.usage)),
            (Err(failure), Err(error)) => Err(AgentError { kind: Box::new(failure.into()), ..error.clone() }),
        }
    }
}

/// A call in progress. If it is dropped before its end, it is recorded as cut off.
struct PendingCall<'a> {
    recorder: &'a Recorder,
    turn: &'a Turn,
    before: Snapshot,
    tap: &'a Tap<'a>,
    is_over: bool,
}

impl PendingCall<'_> {
    fn ended(mut self, ended: Ended) -> Result<(), CassetteError> {
        self.is_over = true;
        self.recorder.record(&self, ended)
    }

    fn ignored(mut self) {
        self.is_over = true;
    }
}

impl Drop for PendingCall<'_> {
    fn drop(&mut self) {
        if !self.is_over
            && let Err(error) = self.recorder.record(self, Ended::CutOff)
        {
            tracing::warn!(%error, "a call that was interrupted is not in the cassette");
        }
    }
}

/// Records the events of a call, and forwards them.
struct Tap<'a> {
    outer: &'a dyn AgentEvents,
    began: Instant,
    /// The events, with milliseconds since the beginning of the call.
    events: Mutex<Vec<(u64, AgentEvent)>>,
}

impl Tap<'_> {
    fn events(&self) -> MutexGuard<'_, Vec<(u64, AgentEvent)>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AgentEvents for Tap<'_> {
    fn emit(&self, event: AgentEvent) {
        let after = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.events().push((after, event.clone()));
        self.outer.emit(event);
    }
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Recorder").field("agent", &self.agent.name()).field("cassette", &self.cassette).finish()
    }
}
