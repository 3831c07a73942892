//! The state of a call while it runs.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::event::{Event, Failure, Stats};
use crate::agent::TurnContext;
use crate::agent::error::AgentErrorKind;
use crate::agent::event::AgentEvent;
use crate::agent::turn::Reply;
use crate::conversation::activity::Working;
use crate::drivers::json_lines::{JsonLines, Read};
use crate::drivers::named_session;
use crate::drivers::running_tools::RunningTools;
use crate::drivers::shortened::{LONGEST_REASON, shorten};
use crate::program::{Line, LineOutcome, LineProtocol};
use crate::sessions::session::{SessionId, SessionOp};

/// What the program has reported so far.
pub(super) struct Progress<'a> {
    context: &'a TurnContext<'a>,
    operation: &'a SessionOp,
    /// The workspace with links resolved.
    workspace: Option<PathBuf>,
    pub(super) session: Option<SessionId>,
    /// The model's text since the last tool call.
    pub(super) text: String,
    /// The last warning or error.
    pub(super) complaint: Option<String>,
    pub(super) end: Option<End>,
    /// Why the driver stopped reading the program's output.
    pub(super) broken: Option<AgentErrorKind>,
    /// Reads the program's lines, and tracks which of them were left out.
    pub(super) lines: JsonLines,
    tools: RunningTools<Tool<'a>>,
    /// Whether a tool was used since the model's last text.
    used_a_tool: bool,
}

/// The end of a turn as the program reports it.
pub(super) struct End {
    pub(super) succeeded: bool,
    pub(super) failure: Option<Failure>,
    pub(super) stats: Option<Stats>,
}

/// The longest file name that is reported, in bytes: the system's limit.
const LONGEST_PATH: usize = 4096;

/// A tool that is running.
struct Tool<'a> {
    /// The file that the tool changes, if it succeeds.
    file: Option<PathBuf>,
    _working: Working<'a>,
}

impl<'a> Progress<'a> {
    pub(super) fn new(context: &'a TurnContext<'a>, operation: &'a SessionOp, workspace: Option<&Path>) -> Self {
        let workspace = workspace.map(|path| path.canonicalize().unwrap_or_else(|_| path.to_owned()));
        Self {
            context,
            operation,
            workspace,
            session: None,
            text: String::new(),
            complaint: None,
            end: None,
            broken: None,
            lines: JsonLines::default(),
            tools: RunningTools::new(),
            used_a_tool: false,
        }
    }

    /// Processes one event.
    ///
    /// # Errors
    ///
    /// The session is not the expected one, or the text is too long.
    fn take(&mut self, event: Event) -> Result<LineOutcome, AgentErrorKind> {
        match event {
            Event::Init { session_id } => self.started(session_id)?,
            Event::Message { role, content } if role == "assistant" => self.said(content)?,
            Event::ToolUse { tool_name, tool_id, parameters } => self.uses(tool_name, tool_id, parameters),
            Event::ToolResult { tool_id, status } => self.used(&tool_id, &status),
            Event::Error { message, severity } => {
                tracing::debug!(severity, "the Gemini CLI complains");
                let mut complaint = message;
                shorten(&mut complaint, LONGEST_REASON);
                self.complaint = Some(complaint);
            }
            Event::Result { status, error, stats } => {
                self.end = Some(End { succeeded: status == "success", failure: error, stats });
                return Ok(LineOutcome::Done);
            }
            Event::Message { .. } | Event::Other => {}
        }
        Ok(LineOutcome::Progress)
    }

    fn started(&mut self, id: String) -> Result<(), AgentErrorKind> {
        let session = named_session::checked("the Gemini CLI", id, self.operation, self.session.as_ref())?;
        self.context.started(&session).map_err(|error| *error.kind)?;
        self.session = Some(session);
        Ok(())
    }

    /// # Errors
    ///
    /// The text is longer than any model writes.
    fn said(&mut self, text: String) -> Result<(), AgentErrorKind> {
        if std::mem::take(&mut self.used_a_tool) {
            self.text.clear();
        }
        if self.text.len() + text.len() > Reply::LONGEST_TEXT {
            return Err(Reply::too_long());
        }
        self.text.push_str(&text);
        self.context.emit(AgentEvent::Text { text });
        Ok(())
    }

    fn uses(&mut self, name: String, id: String, input: Value) {
        self.used_a_tool = true;
        let writes = matches!(&*name, "write_file" | "replace");
        let file = input["file_path"]
            .as_str()
            .filter(|path| writes && path.len() <= LONGEST_PATH)
            .map(|path| self.relative(Path::new(path)));
        self.context.emit(AgentEvent::ToolUse { name, input });
        self.tools.begin(id, Tool { file, _working: self.context.working() });
    }

    fn used(&mut self, id: &str, status: &str) {
        let tool = self.tools.end(id);
        if let Some(path) = tool.and_then(|tool| tool.file).filter(|_| status == "success") {
            self.context.emit(AgentEvent::FileWritten { path });
        }
    }

    fn relative(&self, path: &Path) -> PathBuf {
        let inside = self.workspace.as_ref().and_then(|workspace| path.strip_prefix(workspace).ok());
        inside.unwrap_or(path).to_owned()
    }
}

impl LineProtocol for Progress<'_> {
    fn on_line(&mut self, line: Line<'_>) -> LineOutcome {
        // A line that is not an event is activity, too.
        let event = match self.lines.read(line, Event::parse) {
            Read::Event(event) => event,
            Read::Other => return LineOutcome::Progress,
            Read::LeftOut => {
                self.tools.forget();
                return LineOutcome::Progress;
            }
        };
        self.take(event).unwrap_or_else(|kind| {
            self.broken = Some(kind);
            LineOutcome::Stop
        })
    }

    fn is_working(&self) -> bool {
        !self.tools.is_empty()
    }
}
