//! An agent that repeats recorded calls.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::Instant;

use super::change::Prepared;
use super::drift::drift;
use super::error::CassetteError;
use super::placeholders::{NoValue, Placeholders, Varying};
use super::tape::{self, Asked, Call, Ended, Failed, Replied, Timed};
use crate::agent::error::{AgentError, AgentErrorKind};
use crate::agent::event::AgentEvent;
use crate::agent::turn::{Reply, Turn};
use crate::agent::{Agent, TurnContext};
use crate::program::Redactor;
use crate::sessions::Sessions;

/// An agent that plays a [cassette](super): it repeats what the recorded agent did, and needs neither that agent nor a
/// network.
pub struct Replayer {
    cassette: PathBuf,
    agent: String,
    calls: Vec<Call>,
    placeholders: Placeholders,
    is_paced: bool,
    sessions: Sessions,
    /// Which calls have been played.
    played: Mutex<Vec<bool>>,
}

impl Replayer {
    /// Opens the directory `cassette` and reads all of it.
    ///
    /// # Errors
    ///
    /// There is no cassette, it is damaged, or it has another format.
    pub fn open(cassette: impl AsRef<Path>) -> Result<Self, CassetteError> {
        let cassette = cassette.as_ref().to_owned();
        let (header, calls) = tape::read(&cassette)?;
        let played = Mutex::new(vec![false; calls.len()]);
        let (placeholders, sessions) = Default::default();
        Ok(Self { cassette, agent: header.agent, calls, placeholders, is_paced: false, sessions, played })
    }

    /// The same with this run's value for a placeholder that was [recorded](super::Recorder::with_placeholder).
    #[must_use]
    pub fn with_placeholder(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.placeholders.name(name.into(), value.into());
        self
    }

    /// The same, removing these secrets from prompts before they are compared with prompts that were [recorded without
    /// them](super::Recorder::with_redactor).
    #[must_use]
    pub fn with_redactor(mut self, redactor: Redactor) -> Self {
        self.placeholders.redact(redactor);
        self
    }

    /// The same, taking as long as the recorded agent took; by default a call takes no time. Needs a Tokio runtime with
    /// time enabled.
    #[must_use]
    pub fn at_recorded_pace(mut self) -> Self {
        self.is_paced = true;
        self
    }

    /// The files of the calls that have not been played. A test can assert that there are none.
    pub fn unplayed(&self) -> Vec<PathBuf> {
        let played = self.played();
        let numbers = played.iter().enumerate().filter(|(_, is_played)| !**is_played);
        numbers.map(|(index, _)| self.file(index)).collect()
    }

    /// Finds the call that answers this turn and marks it as played, so that concurrent turns never get the same call.
    ///
    /// Of several matching calls, the first from a workspace of the same name is taken, or else the first.
    fn take(&self, turn: &Turn, varying: &Varying<'_>) -> Result<usize, CassetteError> {
        let asked = Asked::of(turn, varying);
        let workspace = super::name_of(turn.workspace.as_deref(), varying);
        let mut played = self.played();
        let left: Vec<_> = self.calls.iter().enumerate().filter(|(index, _)| !played[*index]).collect();
        let alike = || left.iter().filter(|(_, call)| call.asked == asked);
        let found = alike().find(|(_, call)| call.workspace == workspace).or_else(|| alike().next());
        match found {
            Some((index, _)) => {
                played[*index] = true;
                Ok(*index)
            }
            None => Err(CassetteError::Drifted(Box::new(drift(&self.cassette, &asked, &left)))),
        }
    }

    async fn play(
        &self,
        context: &TurnContext<'_>,
        turn: &Turn,
        call: &Call,
        PreparedCall { events, files, ended }: PreparedCall,
    ) -> Result<Reply, AgentError> {
        let began = Instant::now();
        let is_cancelled = matches!(&ended, Played::Failed(error) if *error.kind == AgentErrorKind::Cancelled);
        // Events after the interruption are left out.
        let stopped = |error: AgentError| AgentError { kind: Box::new(AgentErrorKind::Cancelled), ..error };
        let mut files = Some(files);
        let mut make = || files.take().map_or(Ok(()), |files| make(&files, turn.workspace.as_deref()));
        for (after, event) in events {
            if self.pause(context, began + after).await.is_err() && !is_cancelled {
                return Err(stopped(ended.into_error()));
            }
            match event {
                AgentEvent::Started { session } => context.started(&session)?,
                event => {
                    // The files are changed before the events that report the changes.
                    make()?;
                    context.emit(event);
                }
            }
        }
        make()?;
        if !is_cancelled && self.pause(context, began + Duration::from_millis(call.took_ms)).await.is_err() {
            return Err(stopped(ended.into_error()));
        }
        match ended {
            Played::Replied(reply) => Ok(reply),
            Played::Failed(error) => {
                if is_cancelled {
                    context.interrupted().await;
                }
                Err(error)
            }
            Played::CutOff => std::future::pending().await,
        }
    }

    /// Waits until the recorded time, if calls are paced. `Err` if the turn is to end.
    async fn pause(&self, context: &TurnContext<'_>, until: Instant) -> Result<(), ()> {
        if !self.is_paced {
            return Ok(());
        }
        tokio::select! {
            biased;
            () = context.interrupted() => Err(()),
            () = tokio::time::sleep_until(until) => Ok(()),
        }
    }

    fn file(&self, index: usize) -> PathBuf {
        tape::file_of(&self.cassette, index + 1)
    }

    /// The list is consistent after every statement, so a poisoned lock can be used.
    fn played(&self) -> MutexGuard<'_, Vec<bool>> {
        self.played.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Agent for Replayer {
    /// The name of the recorded agent.
    fn name(&self) -> &str {
        &self.agent
    }

    fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// A replayer starts no programs.
    fn confines(&self) -> bool {
        true
    }

    async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<Reply, AgentError> {
        let varying = self.placeholders.of(turn.workspace.as_deref());
        let index = self.take(turn, &varying)?;
        let (call, file) = (&self.calls[index], self.file(index));
        tracing::debug!(call = index + 1, "playing a call");
        // The whole call is prepared before any of it is played.
        let prepared = PreparedCall::of(call, &varying).map_err(|problem| match problem {
            Problem::NoValue(NoValue(placeholder)) => CassetteError::NoValue { file, placeholder },
            Problem::Damaged(error) => tape::damaged(&file, error.to_string()),
        })?;
        self.play(context, turn, call, prepared).await
    }
}

/// A call, prepared for this run.
struct PreparedCall {
    events: Vec<(Duration, AgentEvent)>,
    files: Vec<Prepared>,
    ended: Played,
}

enum Played {
    Replied(Reply),
    Failed(AgentError),
    CutOff,
}

enum Problem {
    NoValue(NoValue),
    Damaged(serde_json::Error),
}

impl PreparedCall {
    fn of(call: &Call, varying: &Varying<'_>) -> Result<Self, Problem> {
        let event = |timed: &Timed| -> Result<_, Problem> {
            let event = match &timed.event {
                started if started["event"] == "started" => started.clone(),
                event => varying.decoded_value(event.clone())?,
            };
            Ok((Duration::from_millis(timed.after_ms), serde_json::from_value(event)?))
        };
        let events = call.events.iter().map(event).collect::<Result<_, _>>()?;
        let files = call.files.iter().map(|change| change.prepared(varying)).collect::<Result<_, _>>()?;
        let ended = match &call.ended {
            Ended::Replied(Replied { session, output, decisions, text, usage }) => {
                let decisions = varying.decoded_value(serde_json::to_value(decisions)?)?;
                Played::Replied(Reply {
                    session: session.clone(),
                    output: output.clone().map(|output| varying.decoded_value(output)).transpose()?,
                    decisions: serde_json::from_value(decisions)?,
                    text: text.as_ref().map(|text| varying.decoded(&text.0)).transpose()?,
                    usage: *usage,
                })
            }
            Ended::Failed(Failed { error, session, usage }) => {
                let kind = serde_json::from_value(varying.decoded_value(error.clone())?)?;
                Played::Failed(AgentError { kind, session: session.clone(), usage: *usage })
            }
            Ended::CutOff => Played::CutOff,
        };
        Ok(Self { events, files, ended })
    }
}

impl Played {
    /// The error of a call that is not played to its end, with the recorded session and usage.
    fn into_error(self) -> AgentError {
        match self {
            Self::Replied(reply) => AgentError::new(AgentErrorKind::Cancelled).in_session(reply.session, reply.usage),
            Self::Failed(error) => error,
            Self::CutOff => AgentError::new(AgentErrorKind::Cancelled),
        }
    }
}

/// Applies the recorded changes. This is synchronous on purpose: a turn that is cancelled changes nothing afterwards.
fn make(files: &[Prepared], workspace: Option<&Path>) -> Result<(), CassetteError> {
    match workspace {
        Some(workspace) => files.iter().try_for_each(|file| file.make(workspace)),
        // A call without a workspace has changed nothing.
        None => Ok(()),
    }
}

impl From<NoValue> for Problem {
    fn from(problem: NoValue) -> Self {
        Self::NoValue(problem)
    }
}

impl From<serde_json::Error> for Problem {
    fn from(problem: serde_json::Error) -> Self {
        Self::Damaged(problem)
    }
}

impl std::fmt::Debug for Replayer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Replayer").field("agent", &self.agent).field("cassette", &self.cassette).finish()
    }
}
