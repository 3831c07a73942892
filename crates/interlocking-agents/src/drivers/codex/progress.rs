//! The state of a call while it runs.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::event::{Event, Item, Tokens, What, repetition};
use super::failure;
use crate::agent::TurnContext;
use crate::agent::error::AgentErrorKind;
use crate::agent::event::AgentEvent;
use crate::conversation::activity::Working;
use crate::drivers::json_lines::{JsonLines, Read};
use crate::drivers::named_session;
use crate::drivers::running_tools::RunningTools;
use crate::drivers::shortened::{LONGEST_EFFECT, shorten};
use crate::program::{Line, LineOutcome, LineProtocol};
use crate::sessions::session::{SessionId, SessionOp};

/// What Codex has reported so far.
pub(super) struct Progress<'a> {
    context: &'a TurnContext<'a>,
    operation: &'a SessionOp,
    /// The workspace with links resolved, as Codex names files.
    workspace: Option<PathBuf>,
    /// The session that Codex has named.
    pub(super) session: Option<SessionId>,
    /// Whether it is announced.
    pub(super) is_announced: bool,
    /// The last message of the model.
    pub(super) text: Option<String>,
    pub(super) end: Option<End>,
    /// Why the driver stopped reading the program's output.
    pub(super) broken: Option<AgentErrorKind>,
    /// Reads the program's lines, and tracks which of them were left out.
    pub(super) lines: JsonLines,
    /// Commands and tools that are running, by the ids of their items.
    working: RunningTools<Working<'a>>,
    repetitions: u32,
}

/// The end of a turn as Codex reports it.
#[derive(Debug)]
pub(super) enum End {
    /// The turn succeeded; with the tokens of the whole session.
    Completed(Tokens),
    /// The turn failed.
    Failed(AgentErrorKind),
}

impl<'a> Progress<'a> {
    pub(super) fn new(context: &'a TurnContext<'a>, operation: &'a SessionOp, workspace: Option<&Path>) -> Self {
        let workspace = workspace.map(|path| path.canonicalize().unwrap_or_else(|_| path.to_owned()));
        let (session, text, end, broken) = (None, None, None, None);
        let (lines, working) = (JsonLines::default(), RunningTools::new());
        let (is_announced, repetitions) = (false, 0);
        Self { context, operation, workspace, session, is_announced, text, end, broken, lines, working, repetitions }
    }

    /// Processes one event.
    ///
    /// # Errors
    ///
    /// The session is not the expected one, or is in use.
    fn take(&mut self, event: Event) -> Result<(), AgentErrorKind> {
        if !matches!(event, Event::ThreadStarted { .. } | Event::Other) {
            self.announce()?;
        }
        match event {
            Event::ThreadStarted { thread_id } => self.named(thread_id)?,
            Event::ItemStarted { item } => self.item_started(item),
            Event::ItemCompleted { item } => self.item_completed(item),
            Event::TurnCompleted { usage } => self.end = Some(End::Completed(usage)),
            Event::TurnFailed { error } => self.end = Some(End::Failed(failure::from_turn(&error.message))),
            Event::Error(error) => {
                // Any other error is repeated as the failure of the turn.
                if let Some((attempt, reason)) = repetition(&error.message) {
                    self.repetitions += 1;
                    let (attempt, reason) = (attempt.unwrap_or(self.repetitions), reason.to_owned());
                    self.context.emit(AgentEvent::ProviderRetry { attempt, reason });
                }
            }
            Event::TurnStarted | Event::Other => {}
        }
        Ok(())
    }

    fn named(&mut self, id: String) -> Result<(), AgentErrorKind> {
        // Codex silently starts a fresh session if the id is taken for the name of a session that does not exist.
        let session = named_session::checked("Codex", id, self.operation, self.session.as_ref())?;
        self.session = Some(session);
        match self.operation {
            SessionOp::ContinueFrom(_) => self.announce(),
            // Codex writes the file of a new session between this event and the next.
            SessionOp::StartFresh(_) | SessionOp::ForkFrom { .. } => Ok(()),
        }
    }

    /// Announces that the session has started.
    fn announce(&mut self) -> Result<(), AgentErrorKind> {
        if let Some(session) = self.session.as_ref().filter(|_| !self.is_announced) {
            self.context.started(session).map_err(|error| *error.kind)?;
            self.is_announced = true;
        }
        Ok(())
    }

    fn item_started(&mut self, item: Item) {
        let (name, input) = match item.what {
            What::CommandExecution { command, .. } => ("command".to_owned(), json!({ "command": command })),
            What::McpToolCall { server, tool, arguments } => (format!("{server}.{tool}"), arguments),
            What::WebSearch { query } => ("web_search".to_owned(), json!({ "query": query })),
            What::AgentMessage { .. } | What::FileChange { .. } | What::Other => return,
        };
        self.context.emit(AgentEvent::ToolUse { name, input });
        self.working.begin(item.id, self.context.working());
    }

    fn item_completed(&mut self, item: Item) {
        self.working.end(&item.id);
        match item.what {
            What::AgentMessage { text } => {
                self.context.emit(AgentEvent::Text { text: text.clone() });
                self.text = Some(text);
            }
            What::CommandExecution { command, exit_code } => {
                self.context.emit(AgentEvent::CommandRun { command: words(command), exit: exit_code });
            }
            What::FileChange { changes, status } if status == "completed" => {
                for change in changes {
                    let path = PathBuf::from(change.path);
                    // For a file that was moved, Codex reports only the old name, as if the file had been changed.
                    let is_gone = change.kind == "delete" || !path.exists();
                    let path = self.relative(path);
                    self.context.emit(match is_gone {
                        true => AgentEvent::FileRemoved { path },
                        false => AgentEvent::FileWritten { path },
                    });
                }
            }
            What::FileChange { .. } | What::McpToolCall { .. } | What::WebSearch { .. } | What::Other => {}
        }
    }

    fn relative(&self, path: PathBuf) -> PathBuf {
        match self.workspace.as_ref().and_then(|workspace| path.strip_prefix(workspace).ok()) {
            Some(relative) => relative.to_owned(),
            None => path,
        }
    }
}

/// The words of a command; one word if it is not understood, or if it is too long. A word takes far more memory than its
/// letters.
fn words(mut command: String) -> Vec<String> {
    if command.len() <= LONGEST_EFFECT
        && let Some(words) = shlex::split(&command)
    {
        return words;
    }
    shorten(&mut command, LONGEST_EFFECT);
    vec![command]
}

impl LineProtocol for Progress<'_> {
    fn on_line(&mut self, line: Line<'_>) -> LineOutcome {
        // A line that is not an event is activity, too.
        let event = match self.lines.read(line, Event::parse) {
            Read::Event(event) => event,
            Read::Other => return LineOutcome::Progress,
            Read::LeftOut => {
                self.working.forget();
                return LineOutcome::Progress;
            }
        };
        match self.take(event) {
            // The turn is over. The program ends by itself in a moment; otherwise it is stopped.
            Ok(()) if self.end.is_some() => LineOutcome::Done,
            Ok(()) => LineOutcome::Progress,
            Err(kind) => {
                self.broken = Some(kind);
                LineOutcome::Stop
            }
        }
    }

    fn is_working(&self) -> bool {
        !self.working.is_empty()
    }
}
