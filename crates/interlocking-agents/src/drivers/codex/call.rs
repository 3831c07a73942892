//! One call of the program, from its preparation to its reply.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};

use super::event::Tokens;
use super::home::CallHome;
use super::progress::{End, Progress};
use super::rollout::{Mark, Rollout};
use super::settings::CodexSettings;
use super::{command, failure, instructions};
use crate::agent::TurnContext;
use crate::agent::error::{AgentError, AgentErrorKind};
use crate::agent::turn::{Reply, Turn};
use crate::agent::usage::Usage;
use crate::drivers::homes::Homes;
use crate::drivers::installation::located;
use crate::drivers::json_lines::LeftOut;
use crate::program::{self, CallLimits, Ended, Invocation, Secret, StopTimeouts, run_protocol};
use crate::schema::strict::StrictSchema;
use crate::sessions::session::{SessionId, SessionOp};

/// A call that is ready to be made.
pub(super) struct Call<'a> {
    turn: &'a Turn,
    /// The file of a session that the call continues.
    continued: Option<Rollout>,
    limits: CallLimits,
    invocation: Invocation,
    schema: Option<StrictSchema>,
    /// Deleted when the call is over.
    home: CallHome,
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
        let Known { store, rollout, system: is_told } = Known::of(&homes, turn).await;
        let mark = match turn.session {
            SessionOp::ContinueFrom(_) => rollout.as_ref().and_then(|rollout| rollout.mark().ok()),
            SessionOp::StartFresh(_) | SessionOp::ForkFrom { .. } => Some(Mark::BEGINNING),
        };
        let prompt = match (&turn.system, session) {
            (Some(system), Some(_)) if !is_told => instructions::prompt_with_instructions(system, &turn.prompt),
            (Some(system), None) if !instructions::fit_argument(system) => {
                instructions::prompt_with_instructions(system, &turn.prompt)
            }
            _ => turn.prompt.clone(),
        };
        let schema = turn.schema.as_ref().map(|schema| StrictSchema::of(schema.as_value()));
        let home = {
            let schema = schema.as_ref().map(|schema| schema.as_value().to_string());
            CallHome::make(settings, &homes, &store, rollout.as_ref(), schema.as_deref(), key.is_some())
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
        let continued = rollout.filter(|_| matches!(turn.session, SessionOp::ContinueFrom(_)));
        Ok(Self { turn, continued, limits: settings.limits(), invocation, schema, home, mark })
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
        let find = self.find(session.clone());
        tokio::task::spawn_blocking(move || failure::check_id(&session).is_ok() && find().is_some())
            .await
            .unwrap_or(false)
    }

    async fn recorded(&self, session: SessionId) -> Option<Tokens> {
        let (find, mark) = (self.find(session), self.mark?);
        let reading = tokio::task::spawn_blocking(move || find()?.used_since(mark).ok().flatten());
        reading.await.ok().flatten()
    }

    /// Looks for the file of the call's session.
    fn find(&self, session: SessionId) -> impl FnOnce() -> Option<Rollout> + Send + 'static {
        let (continued, sessions) = (self.continued.clone(), self.home.sessions().to_owned());
        move || continued.or_else(|| Rollout::find_in(&sessions, &session))
    }
}

/// Whether a home contains a session.
pub(super) fn has(home: &Path, session: &SessionId) -> bool {
    failure::check_id(session).is_ok() && Rollout::find(home, session).is_some()
}

/// What is known before a call about the session that it continues or forks.
struct Known {
    /// The home that contains the session; the role's own home if there is no session.
    store: PathBuf,
    /// The session's file. If it is missing or unreadable, nothing is known; Codex itself reports what is wrong with
    /// it.
    rollout: Option<Rollout>,
    /// Whether the session was already given the system instructions of the turn.
    system: bool,
}

impl Known {
    async fn of(homes: &Homes, turn: &Turn) -> Self {
        let nothing = Self { store: homes.of(turn.role.as_deref()), rollout: None, system: false };
        let Some(session) = turn.session.origin().cloned() else { return nothing };
        let (homes, role, system) = (homes.clone(), turn.role.clone(), turn.system.clone());
        let looking =
            tokio::task::spawn_blocking(move || Self::find(&homes, role.as_deref(), &session, system.as_deref()));
        looking.await.unwrap_or(nothing)
    }

    fn find(homes: &Homes, role: Option<&str>, session: &SessionId, system: Option<&str>) -> Self {
        let found = RefCell::new(None);
        let store = homes.of_session(role, Some(session), |home, session| {
            found.replace(Rollout::find(home, session));
            found.borrow().is_some()
        });
        // If all roles share one home, the session was not looked for.
        let rollout = found.into_inner().or_else(|| Rollout::find(&store, session));
        let knows = |system| rollout.as_ref().is_some_and(|rollout| rollout.knows(&store, system).unwrap_or(false));
        Self { system: system.is_some_and(knows), rollout, store }
    }
}

pub(super) fn unusable(home: &Path, error: &io::Error) -> AgentErrorKind {
    AgentErrorKind::configuration(format!("Codex's home {} cannot be used: {error}", home.display()))
}
