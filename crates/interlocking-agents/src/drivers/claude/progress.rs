//! Processes the program's output while a turn runs.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::line::{self, Block, Event, MessageEvent, RateLimitEvent, System};
use super::outcome::Hints;
use super::results::Results;
use super::store::Store;
use crate::agent::TurnContext;
use crate::agent::error::AgentError;
use crate::agent::event::AgentEvent;
use crate::conversation::activity::Working;
use crate::drivers::json_lines::{JsonLines, Read};
use crate::drivers::running_tools::RunningTools;
use crate::drivers::shortened::{LONGEST_EFFECT, shorten};
use crate::drivers::untrusted_files::Search;
use crate::program::{Line, LineOutcome, LineProtocol};
use crate::sessions::session::SessionId;

/// The tool that the program makes from the schema.
const OUTPUT_TOOL: &str = "StructuredOutput";

/// The program's first wait between two attempts, which doubles each time. A much longer wait was requested by the
/// provider.
const FIRST_BACKOFF: Duration = Duration::from_millis(500);

/// The state of a call, whose output is read line by line.
pub(super) struct Progress<'a> {
    context: &'a TurnContext<'a>,
    workspace: Option<&'a Path>,
    store: &'a Store,
    /// Looks for the session whenever the program says that it begins, and has one limit for the whole call.
    search: Search,
    /// The session that the turn should run in.
    session: SessionId,
    /// Whether the session existed before the call.
    existed: bool,
    started: bool,
    /// Why the session cannot be used.
    pub(super) refused: Option<AgentError>,
    /// Tool calls that have not ended, by their ids.
    running: RunningTools<Running<'a>>,
    pub(super) results: Results,
    /// Reads the program's lines, and tracks which of them were left out.
    pub(super) lines: JsonLines,
    /// The last output that the model gave, valid or not.
    pub(super) attempted: Option<Value>,
    /// The last plain text of the model.
    pub(super) text: Option<String>,
    pub(super) hints: Hints,
    /// Whether the program has written anything.
    pub(super) anything: bool,
}

/// A tool that is running.
struct Running<'a> {
    effect: Option<Effect>,
    _working: Working<'a>,
}

/// What a tool does, if its end is reported as an event.
enum Effect {
    Writes(PathBuf),
    Runs(String),
}

impl<'a> Progress<'a> {
    pub(super) fn new(
        context: &'a TurnContext<'a>,
        workspace: Option<&'a Path>,
        store: &'a Store,
        session: SessionId,
        existed: bool,
    ) -> Self {
        Self {
            context,
            workspace,
            store,
            search: Search::new(),
            session,
            existed,
            started: false,
            refused: None,
            running: RunningTools::new(),
            results: Results::default(),
            lines: JsonLines::default(),
            attempted: None,
            text: None,
            hints: Hints::default(),
            anything: false,
        }
    }

    /// The session that the turn runs in, whether or not it can be continued.
    pub(super) fn named(&self) -> &SessionId {
        &self.session
    }

    /// The session, if it can be continued.
    pub(super) fn session(&self) -> Option<SessionId> {
        let is_there = self.started || self.existed || self.store.has(&self.session, &mut Search::new());
        is_there.then(|| self.session.clone())
    }

    /// Announces that the session has started, once it is certain that it can be continued.
    fn start(&mut self, named: Option<&str>, is_sure: bool) {
        if self.started || self.refused.is_some() {
            return;
        }
        if let Some(named) = named.filter(|named| *named != self.session.as_str()) {
            match SessionId::new(named) {
                // The registry decides whether this session may be used.
                Ok(other) => self.session = other,
                Err(_) => return,
            }
        }
        if is_sure || self.existed || self.store.has(&self.session, &mut self.search) {
            match self.context.started(&self.session) {
                Ok(()) => self.started = true,
                Err(error) => self.refused = Some(error),
            }
        }
    }

    fn system(&mut self, system: &System) {
        match system.subtype.as_str() {
            // The program prints this shortly before it has written the session's file.
            "init" => self.start(system.session_id.as_deref(), false),
            "api_retry" => {
                self.start(system.session_id.as_deref(), true);
                let attempt = system.attempt.unwrap_or(1);
                self.note_delay(attempt, system.retry_delay_ms);
                let error = system.error.as_ref().map(said).unwrap_or_else(|| "no reason was given".to_owned());
                let reason = match system.error_status {
                    Some(status) => format!("{error} (status {status})"),
                    None => error,
                };
                self.context.emit(AgentEvent::ProviderRetry { attempt, reason });
            }
            _ => {}
        }
    }

    fn note_delay(&mut self, attempt: u32, delay_ms: Option<f64>) {
        let own = FIRST_BACKOFF * 2_u32.saturating_pow(attempt.saturating_sub(1).min(6));
        let delay = delay_ms.and_then(|delay| Duration::try_from_secs_f64(delay / 1000.0).ok());
        self.hints.retry_after = delay.filter(|delay| *delay > own * 2);
    }

    fn assistant(&mut self, said: MessageEvent) {
        self.start(said.session_id.as_deref(), true);
        if said.is_api_error_message {
            self.hints.api_error = said.error.as_ref().and_then(Value::as_str).map(str::to_owned);
            return;
        }
        for block in said.message.content {
            match block {
                Block::Text { text } => {
                    self.text = Some(text.clone());
                    self.context.emit(AgentEvent::Text { text });
                }
                Block::ToolUse { name, input, .. } if name == OUTPUT_TOOL => self.attempted = Some(input),
                Block::ToolUse { id, name, input } => {
                    let effect = self.effect(&name, &input);
                    self.context.emit(AgentEvent::ToolUse { name, input });
                    self.running.begin(id, Running { effect, _working: self.context.working() });
                }
                Block::ToolResult { .. } | Block::Other => {}
            }
        }
    }

    fn user(&mut self, said: MessageEvent) {
        for block in said.message.content {
            let Block::ToolResult { tool_use_id, content, is_error } = block else { continue };
            let Some(effect) = self.running.end(&tool_use_id).and_then(|tool| tool.effect) else { continue };
            if let Some(event) = event_for(effect, &content, is_error) {
                self.context.emit(event);
            }
        }
    }

    fn effect(&self, tool: &str, input: &Value) -> Option<Effect> {
        let text_of = |field: &str| {
            let mut text = input.get(field)?.as_str()?.to_owned();
            shorten(&mut text, LONGEST_EFFECT);
            Some(text)
        };
        match tool {
            "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => {
                let path = text_of("file_path").or_else(|| text_of("notebook_path"))?;
                Some(Effect::Writes(self.relative(Path::new(&path))))
            }
            "Bash" => text_of("command").map(Effect::Runs),
            _ => None,
        }
    }

    /// The path relative to the workspace, or unchanged if it is outside.
    fn relative(&self, path: &Path) -> PathBuf {
        let Some(workspace) = self.workspace else { return path.to_owned() };
        let inside = path.strip_prefix(workspace).map(Path::to_owned);
        inside
            .or_else(|_| {
                path.strip_prefix(workspace.canonicalize()?).map(Path::to_owned).map_err(std::io::Error::other)
            })
            .unwrap_or_else(|_: std::io::Error| path.to_owned())
    }

    fn rate_limit(&mut self, event: &RateLimitEvent) {
        let Some(info) = &event.rate_limit_info else { return };
        if info.status.as_deref() == Some("rejected") {
            let resets = info.resets_at.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            self.hints.retry_after = resets.map(|resets| resets.saturating_sub(now));
        }
    }
}

impl LineProtocol for Progress<'_> {
    fn on_line(&mut self, line: Line<'_>) -> LineOutcome {
        self.anything = true;
        // Any line shows activity.
        self.context.activity.record();
        let event = match self.lines.read(line, Event::read) {
            Read::Event(event) => event,
            Read::Other => Event::Other,
            Read::LeftOut => {
                self.running.forget();
                let is_end = matches!(line, Line::Whole(line) if line::ends_turn(line));
                return if is_end { LineOutcome::Done } else { LineOutcome::Progress };
            }
        };
        match event {
            Event::System(system) => self.system(&system),
            Event::Assistant(said) => self.assistant(said),
            Event::User(said) => self.user(said),
            Event::RateLimitEvent(event) => self.rate_limit(&event),
            Event::Result(result) => {
                let is_own = result.origin.is_none();
                self.results.add(*result);
                if is_own {
                    return LineOutcome::Done;
                }
            }
            Event::Other => {}
        }
        if self.refused.is_some() { LineOutcome::Stop } else { LineOutcome::Progress }
    }

    fn interruption(&mut self) -> Option<Vec<u8>> {
        let request = json!({
            "type": "control_request",
            "request_id": "interrupt",
            "request": { "subtype": "interrupt" },
        });
        Some(format!("{request}\n").into_bytes())
    }

    fn is_working(&self) -> bool {
        !self.running.is_empty()
    }
}

/// The event for a tool call that has ended.
fn event_for(effect: Effect, content: &Value, is_error: bool) -> Option<AgentEvent> {
    match effect {
        Effect::Writes(path) => (!is_error).then_some(AgentEvent::FileWritten { path }),
        Effect::Runs(command) => {
            let exit = if is_error { exit_code(content)? } else { Some(0) };
            Some(AgentEvent::CommandRun { command: vec![command], exit })
        }
    }
}

/// The exit code at the beginning of a failed command's result. None if the command was denied and never ran.
fn exit_code(content: &Value) -> Option<Option<i32>> {
    let text = said(content);
    match text.strip_prefix("Exit code ") {
        Some(rest) => {
            let digits: String = rest.chars().take_while(|digit| digit.is_ascii_digit() || *digit == '-').collect();
            Some(digits.parse().ok())
        }
        // The command was killed, by the program's own limit or by an interruption.
        None if text.contains("timed out") || text.contains("interrupted") => Some(None),
        None => None,
    }
}

/// A text, the texts in a list of blocks, or any other value as JSON.
fn said(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str)).collect::<Vec<_>>().join("\n")
        }
        other => other.to_string(),
    }
}
