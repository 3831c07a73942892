//! One call of the program, from its preparation to its reply.

use std::io;
use std::path::{Path, PathBuf};

use super::event::Tokens;
use super::home::CallHome;
use super::progress::{End, Progress};
use super::rollout::{Mark, Rollout};
use super::settings::{CodexSettings, configuration};
use super::{command, failure, instructions};
use crate::agent::TurnContext;
use crate::agent::error::{AgentError, AgentErrorKind};
use crate::agent::turn::{Reply, Turn};
use crate::agent::usage::Usage;
use crate::drivers::installation::located;
use crate::drivers::json_lines::LeftOut;
use crate::program::{self, CallLimits, Ended, Invocation, Secret, StopTimeouts, run_protocol};
use crate::schema::strict::StrictSchema;
use crate::sessions::session::{SessionId, SessionOp};

/// A call that is ready to be made.
pub(super) struct Call<'a> {
    turn: &'a Turn,
    /// The home that keeps the session.
    store: PathBuf,
    limits: CallLimits,
    invocation: Invocation,
    schema: Option<StrictSchema>,
    /// Deleted when the call is over.
    _home: CallHome,
    /// The end of the session's file before the call. None if it is unknown.
    mark: Option<Mark>,
}

impl<'a> Call<'a> {
    /// Looks up what the session already knows, and writes the files that the program reads.
    pub(super) async fn prepare(
        settings: &CodexSettings,
        key: Option<Secret>,
        turn: &'a Turn,
    ) -> Result<Self, AgentErrorKind> {
        let homes = settings.homes(key.is_some())?;
        let session = turn.session.origin();
        if let Some(session) = session {
            failure::check_id(session)?;
        }
        let store = homes.of_session(turn.role.as_deref(), session, has);
        let known = Known::of(&store, session, turn.system.as_deref()).await;
        let mark = match turn.session {
            SessionOp::ContinueFrom(_) => known.mark,
            SessionOp::StartFresh(_) | SessionOp::ForkFrom { .. } => Some(Mark::BEGINNING),
        };
        let prompt = match (&turn.system, session) {
            (Some(system), Some(_)) if !known.system => instructions::prompt_with_instructions(system, &turn.prompt),
            _ => turn.prompt.clone(),
        };
        let schema = turn.schema.as_ref().map(|schema| StrictSchema::of(schema.as_value()));
        let home = {
            let schema = schema.as_ref().map(|schema| schema.as_value().to_string());
            CallHome::make(settings, &homes, &store, session, schema.as_deref(), key.is_some())
                .map_err(|error| unusable(&store, &error))?
        };
        let schema_file = schema.as_ref().map(|_| home.schema());
        let invocation = Invocation {
            arguments: command::arguments(settings, turn, schema_file.as_deref(), key.is_some()),
            directory: Some(turn.workspace.clone().unwrap_or_else(|| home.nowhere())),
            sandbox: turn.sandbox.as_deref().map(|sandbox| home.granted(sandbox)),
            input: prompt.into_bytes(),
            ..Invocation::new(
                located(&settings.program),
                command::environment(settings, turn.workspace.as_deref(), home.path(), key),
            )
        };
        Ok(Self { turn, store, limits: settings.limits(), invocation, schema, _home: home, mark })
    }

    /// Starts the program and processes its output to the end.
    pub(super) async fn make(self, context: &TurnContext<'_>) -> Result<Reply, AgentError> {
        let mut progress = Progress::new(context, &self.turn.session, self.turn.workspace.as_deref());
        // The session's file is complete at any time, so SIGTERM is enough to end the program in order.
        let timeouts = StopTimeouts::DEFAULT;
        let called = run_protocol(self.invocation.clone(), &mut progress, context, &self.limits, &timeouts).await;
        let usage = self.usage(&progress).await;
        let outcome = called.and_then(|called| self.outcome(&mut progress, called));
        match (outcome, progress.session.take()) {
            (Ok(text), Some(session)) => {
                let output = text.as_deref().zip(self.schema.as_ref()).and_then(|(text, schema)| schema.read(text));
                Ok(Reply { output, text, ..Reply::new(session, usage) })
            }
            (Ok(_), None) => {
                Err(AgentError::new(failure::from_exit(&self.turn.session, false, None, "it named no session")))
            }
            // A session without a file cannot be continued.
            (Err(kind), Some(session)) if progress.is_announced || self.is_kept(session.clone()).await => {
                Err(AgentError::new(kind).in_session(session, usage))
            }
            (Err(kind), _) => Err(AgentError::new(kind)),
        }
    }

    /// The last text of a turn that ended well.
    fn outcome(&self, progress: &mut Progress<'_>, called: program::Call) -> Result<Option<String>, AgentErrorKind> {
        if let Some(kind) = progress.broken.take().or(called.stop_reason) {
            return Err(kind);
        }
        match progress.end.take() {
            Some(End::Completed(_)) => Ok(progress.text.take()),
            Some(End::Failed(kind)) => Err(kind),
            None => {
                let Ended { exit, stderr, .. } = &called.ended;
                let said = LeftOut::explain(progress.lines.left_out(), stderr, "");
                Err(failure::from_exit(&self.turn.session, progress.session.is_some(), *exit, &said))
            }
        }
    }

    /// What the call used up. Codex does not report prices.
    async fn usage(&self, progress: &Progress<'_>) -> Usage {
        let recorded = match &progress.session {
            Some(session) => self.recorded(session.clone()).await,
            None => None,
        };
        let tokens = recorded.or(match (&progress.end, &self.turn.session) {
            // The session contains only this call.
            (Some(End::Completed(tokens)), SessionOp::StartFresh(_)) => Some(*tokens),
            _ => None,
        });
        if tokens.is_none() && progress.session.is_some() {
            tracing::debug!("Codex left no record of the tokens of a call");
        }
        let Tokens { input_tokens, output_tokens } = tokens.unwrap_or_default();
        Usage { calls: 1, input_tokens, output_tokens, unpriced_calls: 1, ..Usage::default() }
    }

    async fn is_kept(&self, session: SessionId) -> bool {
        let store = self.store.clone();
        tokio::task::spawn_blocking(move || has(&store, &session)).await.unwrap_or(false)
    }

    async fn recorded(&self, session: SessionId) -> Option<Tokens> {
        let (store, mark) = (self.store.clone(), self.mark?);
        let reading =
            tokio::task::spawn_blocking(move || Rollout::find(&store, &session)?.used_since(mark).ok().flatten());
        reading.await.ok().flatten()
    }
}

/// Whether a home contains a session.
pub(super) fn has(home: &Path, session: &SessionId) -> bool {
    failure::check_id(session).is_ok() && Rollout::find(home, session).is_some()
}

/// What is known about a session before a call.
struct Known {
    mark: Option<Mark>,
    /// Whether the session was already given these system instructions.
    system: bool,
}

impl Known {
    /// If the file is missing or unreadable, nothing is known; Codex itself reports what is wrong with the file.
    async fn of(home: &Path, session: Option<&SessionId>, system: Option<&str>) -> Self {
        let nothing = Self { mark: None, system: false };
        let Some(session) = session.cloned() else { return nothing };
        let (home, system) = (home.to_owned(), system.map(str::to_owned));
        let reading = tokio::task::spawn_blocking(move || {
            let rollout = Rollout::find(&home, &session)?;
            let system = system.is_some_and(|system| rollout.knows(&home, &system).unwrap_or(false));
            Some(Self { mark: rollout.mark().ok(), system })
        });
        reading.await.ok().flatten().unwrap_or(nothing)
    }
}

pub(super) fn unusable(home: &Path, error: &io::Error) -> AgentErrorKind {
    configuration(format!("Codex's home {} cannot be used: {error}", home.display()))
}
