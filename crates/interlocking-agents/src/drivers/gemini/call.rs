//! One call of the program, from its preparation to its reply.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::command::{self, Origin};
use super::event::Stats;
use super::failure;
use super::home::{CallHome, Home};
use super::progress::Progress;
use super::record::Mark;
use super::settings::GeminiSettings;
use crate::agent::TurnContext;
use crate::agent::error::{AgentError, AgentErrorKind};
use crate::agent::turn::{Reply, Turn};
use crate::agent::usage::Usage;
use crate::drivers::installation::located;
use crate::drivers::prose;
use crate::program::{self, CallLimits, Invocation, Secret, StopTimeouts, run_protocol};
use crate::schema::Schema;
use crate::sessions::SessionError;
use crate::sessions::session::{SessionId, SessionOp};

/// A call that is ready to be made.
pub(super) struct Call<'a> {
    turn: &'a Turn,
    limits: CallLimits,
    invocation: Invocation,
    home: Home,
    mark: Mark,
    /// Deleted when the call is over.
    _call_home: CallHome,
}

/// How much of its standard input the program reads, in bytes. It ignores the rest.
const LONGEST_PROMPT: usize = 8 * 1024 * 1024;

impl<'a> Call<'a> {
    /// Writes the files that the program reads.
    pub(super) async fn prepare(
        settings: &GeminiSettings,
        key: Secret,
        turn: &'a Turn,
    ) -> Result<Self, AgentErrorKind> {
        let home = Home::open(settings, turn.role.as_deref(), turn.session.origin())?;
        match &turn.workspace {
            Some(workspace) if !settings.workspace_settings => refuse_settings(workspace, TRUST)?,
            Some(_) => {}
            None => home.around_nowhere().try_for_each(|directory| refuse_settings(&directory, ""))?,
        }
        let file = match &turn.session {
            SessionOp::StartFresh(_) => None,
            SessionOp::ContinueFrom(session) | SessionOp::ForkFrom { parent: session, .. } => {
                Some(known(&home, session).await?)
            }
        };
        let origin = match (&turn.session, &file) {
            (SessionOp::ContinueFrom(session), _) => Origin::Session(session.as_str()),
            (_, Some(file)) => Origin::Copy(file),
            (_, None) => Origin::Nothing,
        };
        let mark = match (&origin, &file) {
            (Origin::Session(_), Some(file)) => Mark::end_of(file),
            (_, Some(file)) => Mark::CopyOf(file.clone()),
            (_, None) => Mark::Nothing,
        };
        let input = prompt(turn)?;
        let call_home = home.for_call(settings, turn.system.as_deref(), command::only_reads(turn))?;
        let invocation = Invocation {
            arguments: command::arguments(settings, turn, &origin),
            directory: Some(turn.workspace.clone().unwrap_or_else(|| home.nowhere())),
            sandbox: turn.sandbox.as_deref().map(|sandbox| Arc::new(sandbox.clone().write(call_home.path()))),
            input: input.into_bytes(),
            ..Invocation::new(
                located(&settings.program),
                command::environment(settings, turn.workspace.as_deref(), key, &call_home),
            )
        };
        Ok(Self { turn, limits: settings.limits(), invocation, home, mark, _call_home: call_home })
    }

    /// Starts the program and processes its output to the end.
    pub(super) async fn make(self, context: &TurnContext<'_>) -> Result<Reply, AgentError> {
        let mut progress = Progress::new(context, &self.turn.session, self.turn.workspace.as_deref());
        // The program has no command to stop a turn.
        let timeouts = StopTimeouts::DEFAULT;
        let called = run_protocol(self.invocation.clone(), &mut progress, context, &self.limits, &timeouts).await;
        let usage = self.usage(&progress).await;
        let outcome = called.and_then(|called| self.outcome(&mut progress, called));
        match (outcome, progress.session.take()) {
            (Ok(text), Some(session)) => {
                let output = self.turn.schema.as_ref().and_then(|schema| prose::find(&text, schema));
                let text = Some(text).filter(|text| !text.is_empty());
                Ok(Reply { output, text, ..Reply::new(session, usage) })
            }
            (Ok(_), None) => {
                let message = "the Gemini CLI named no session".to_owned();
                Err(AgentError::new(AgentErrorKind::Other { message, transient: false }))
            }
            (Err(kind), Some(session)) => Err(AgentError::new(kind).in_session(session, usage)),
            (Err(kind), None) => Err(AgentError::new(kind)),
        }
    }

    /// What the call used up. The program does not report prices, and reports nothing if it is stopped.
    async fn usage(&self, progress: &Progress<'_>) -> Usage {
        let reported = progress.end.as_ref().and_then(|end| end.stats);
        let stats = match reported {
            Some(stats) => stats,
            None => self.recorded(progress.session.clone()).await.unwrap_or_default(),
        };
        Usage {
            calls: 1,
            input_tokens: stats.input_tokens,
            output_tokens: stats.written(),
            unpriced_calls: 1,
            ..Usage::default()
        }
    }

    async fn recorded(&self, session: Option<SessionId>) -> Option<Stats> {
        let (home, mark, session) = (self.home.clone(), self.mark.clone(), session?);
        let reading = tokio::task::spawn_blocking(move || mark.used_since(&home.session_file(&session)?).ok());
        reading.await.ok().flatten()
    }

    /// The last text of a turn that ended well.
    fn outcome(&self, progress: &mut Progress<'_>, called: program::Call) -> Result<String, AgentErrorKind> {
        if let Some(kind) = progress.broken.take().or(called.stop_reason) {
            return Err(kind);
        }
        let left_out = progress.lines.left_out();
        let Some(end) = &progress.end else {
            return Err(failure::from_exit(&self.turn.session, &called.ended, left_out));
        };
        match (&end.failure, &progress.complaint) {
            (Some(failure), _) => Err(failure::from_turn(failure, &called.ended.stderr)),
            // The program reports a loop as a success.
            (None, Some(complaint)) if !end.succeeded || progress.text.is_empty() => {
                Err(failure::from_complaint(complaint))
            }
            (None, None) if !end.succeeded => Err(failure::from_exit(&self.turn.session, &called.ended, left_out)),
            (None, _) => Ok(std::mem::take(&mut progress.text)),
        }
    }
}

/// The file of a session that must exist.
async fn known(home: &Home, session: &SessionId) -> Result<std::path::PathBuf, AgentErrorKind> {
    let (home, id) = (home.clone(), session.clone());
    let file = tokio::task::spawn_blocking(move || home.session_file(&id)).await.ok().flatten();
    file.ok_or_else(|| SessionError::Unknown { session: session.clone() }.into())
}

/// The prompt for the program.
fn prompt(turn: &Turn) -> Result<String, AgentErrorKind> {
    let demand = turn.schema.as_ref().map(|schema| demand(schema)).unwrap_or_default();
    // A prompt that begins with a slash would be a command to the program itself.
    let heading = if turn.prompt.starts_with('/') { "# Your task\n\n" } else { "" };
    let prompt = format!("{heading}{}{demand}", turn.prompt);
    if prompt.trim().is_empty() {
        return Err(AgentErrorKind::configuration("the Gemini CLI takes no empty prompt"));
    }
    if prompt.len() > LONGEST_PROMPT {
        return Err(AgentErrorKind::PromptTooLong);
    }
    Ok(prompt)
}

/// The part of a prompt that describes the answer.
fn demand(schema: &Schema) -> String {
    format!(
        "\n\n# Your answer\n\nWhen everything is done, answer with one JSON document in a fenced block that begins with ```json, and \
         write nothing after it. It must be valid under this JSON schema:\n\n```json\n{:#}\n```\n",
        schema.as_value()
    )
}

/// What to do about the settings of a workspace that is trusted.
const TRUST: &str = ", or set `workspace_settings = true` if it is trusted";

/// Refuses a directory with settings that would override those of the driver.
///
/// A link counts as what it may lead to: for the program it can lead elsewhere than for this process, as one through
/// `/proc/self/cwd` does.
fn refuse_settings(directory: &Path, otherwise: &str) -> Result<(), AgentErrorKind> {
    let own = directory.join(".gemini");
    let names = ["settings.json", ".env", "policies", "extensions", "agents"];
    let brought = match own.is_symlink() {
        true => Some(own),
        false => names.into_iter().map(|name| own.join(name)).find(|path| may_exist(path)),
    };
    brought.map_or(Ok(()), |path| {
        let path = path.display();
        Err(AgentErrorKind::configuration(format!(
            "{path} would override how the Gemini CLI is set up: remove it{otherwise}"
        )))
    })
}

/// Whether there is something at a path, or this cannot be determined. Links are not followed.
fn may_exist(path: &Path) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    path.symlink_metadata().map_or_else(|error| !matches!(error.kind(), NotFound | NotADirectory), |_| true)
}
