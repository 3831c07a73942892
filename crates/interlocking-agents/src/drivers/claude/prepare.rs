//! Prepares everything that a call needs before the program is started.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use uuid::Uuid;

use super::arguments::{Call, is_mcp};
use super::environment::Surroundings;
use super::schema::Asked;
use super::settings::{ClaudeSettings, PermissionMode};
use super::store::Store;
use crate::agent::error::{AgentError, AgentErrorKind};
use crate::agent::turn::Turn;
use crate::drivers::call_directory::{CallDirectory, DeletedDirectory};
use crate::drivers::installation::located;
use crate::program::{Environment, Invocation, Secret};
use crate::sessions::SessionError;
use crate::sessions::session::{SessionId, SessionOp};

/// The files that the program is given: the system prompt, and the MCP servers with their secrets.
const SYSTEM: &str = "system.md";
const SERVERS: &str = "mcp.json";

/// A call that is ready to be made.
pub(super) struct Prepared {
    pub(super) invocation: Invocation,
    pub(super) store: Store,
    /// The session that the turn will run in.
    pub(super) session: SessionId,
    /// The requested output, if the turn has a schema.
    pub(super) asked: Option<Asked>,
    /// The program's temporary files, and the files that it is given. They are deleted when this is dropped, so it must
    /// live until the program has ended.
    pub(super) temporary: (DeletedDirectory, CallDirectory),
}

impl Prepared {
    /// Prepares a call for this turn.
    pub(super) fn new(settings: &ClaudeSettings, key: Option<&Secret>, turn: &Turn) -> Result<Self, AgentError> {
        refuse_what_is_unsafe(settings, turn)?;
        let store = Store::new(settings, turn.role.as_deref(), turn.session.origin())?;
        store.make()?;
        let session = session_for(&turn.session)?;
        let temporary = temporary_directory(turn).map_err(|error| not_written(&error))?;
        let surroundings =
            Surroundings::new(settings, key, store.directory(), temporary.path(), turn.workspace.as_deref())?;
        let asked = turn.schema.as_deref().map(|schema| Asked::new(schema, settings.decisions));
        let (system, servers) = (turn.system.as_deref(), mcp_servers(settings, turn));
        let given = CallDirectory::make(store.base(), |new| {
            let system = system.map(|system| new.write(SYSTEM, system)).transpose()?;
            let servers = servers.as_deref().map(|servers| new.write(SERVERS, servers)).transpose()?;
            Ok(system.into_iter().chain(servers).collect())
        })
        .map_err(|error| not_written(&error))?;
        let call = Call {
            settings,
            turn,
            session: &session,
            schema: asked.as_ref().map(|asked| asked.schema.to_string()),
            system: system.map(|_| given.path().join(SYSTEM)),
            mcp_servers: servers.as_ref().map(|_| given.path().join(SERVERS)),
        };
        let arguments = call.arguments()?;
        let program = find(&settings.program, &surroundings.environment)?;
        let (program, arguments) = surroundings.program(&program, arguments);
        let input = [surroundings.first_input(), message(&turn.prompt)].concat();
        let invocation = Invocation {
            arguments,
            // Without a workspace the program runs in an empty directory instead of the current directory of this
            // process.
            directory: Some(turn.workspace.clone().unwrap_or_else(|| temporary.path().join("empty"))),
            sandbox: turn.sandbox.as_deref().map(|sandbox| Arc::new(sandbox.clone().read(given.path()))),
            input,
            stays_open: true,
            ..Invocation::new(program, surroundings.environment)
        };
        Ok(Self { invocation, store, session, asked, temporary: (temporary, given) })
    }
}

/// Refuses settings that the program would accept with a warning, or refuse with a message of its own.
fn refuse_what_is_unsafe(settings: &ClaudeSettings, turn: &Turn) -> Result<(), AgentErrorKind> {
    if settings.permission_mode == PermissionMode::BypassPermissions && turn.sandbox.is_none() && !turn.read_only {
        let reason = "permissions are bypassed in a sandbox alone, and the turn has none: give it one, or use another permission mode";
        return Err(AgentErrorKind::configuration(reason));
    }
    Ok(())
}

/// The session that a turn will run in: a new id, unless the turn continues a session.
fn session_for(operation: &SessionOp) -> Result<SessionId, AgentErrorKind> {
    // The program treats other texts as names, and searches for sessions with that name.
    let known = |session: &SessionId| match Uuid::try_parse(session.as_str()) {
        Ok(_) => Ok(()),
        Err(_) => Err(AgentErrorKind::Session(SessionError::Unknown { session: session.clone() })),
    };
    match operation {
        SessionOp::ContinueFrom(session) => known(session).map(|()| session.clone()),
        SessionOp::ForkFrom { parent, .. } => known(parent).and_then(|()| fresh()),
        SessionOp::StartFresh(_) => fresh(),
    }
}

fn fresh() -> Result<SessionId, AgentErrorKind> {
    let name = Uuid::new_v4().to_string();
    SessionId::new(name).map_err(|error| AgentErrorKind::configuration(error.to_string()))
}

/// Creates a directory for this call; inside the sandbox's directory for temporary files, if there is one.
fn temporary_directory(turn: &Turn) -> io::Result<DeletedDirectory> {
    let mut builder = tempfile::Builder::new();
    // The prefix is short, because the path becomes part of a socket's path, which is limited to about a hundred
    // characters.
    builder.prefix("claude-");
    let within =
        turn.sandbox.as_ref().and_then(|sandbox| sandbox.environment().into_iter().find(|(name, _)| name == "TMPDIR"));
    let directory = match within {
        Some((_, within)) => builder.tempdir_in(PathBuf::from(within))?,
        None => builder.tempdir()?,
    };
    let directory = DeletedDirectory::new(directory.keep());
    std::fs::create_dir(directory.path().join("empty"))?;
    Ok(directory)
}

/// The servers as the program reads them. A read-only turn has none, unless some of their tools are configured as
/// read-only.
fn mcp_servers(settings: &ClaudeSettings, turn: &Turn) -> Option<String> {
    let wanted = !turn.read_only || settings.read_only_tools.iter().any(|tool| is_mcp(tool));
    (wanted && !settings.mcp_servers.is_empty()).then(|| json!({ "mcpServers": settings.mcp_servers }).to_string())
}

/// The prompt as a line of the program's input.
fn message(prompt: &str) -> Vec<u8> {
    // A slash at the very beginning would make the prompt a command of the program.
    let escaped = if prompt.starts_with('/') { format!("\n{prompt}") } else { prompt.to_owned() };
    let message: Value = json!({
        "type": "user",
        "message": { "role": "user", "content": escaped },
        "parent_tool_use_id": null,
        "session_id": "",
    });
    format!("{message}\n").into_bytes()
}

/// The path of the program. If it is missing, the error here is clearer than that of a shell.
pub(super) fn find(program: &Path, environment: &Environment) -> Result<PathBuf, AgentErrorKind> {
    // Outside of Unix the operating system searches for a name.
    let found = environment.find(located(program)).filter(|file| cfg!(not(unix)) || file.is_file());
    found.ok_or_else(|| {
        AgentErrorKind::configuration(format!(
            "there is no program {}: install Claude Code (`npm install -g @anthropic-ai/claude-code`), or set `program` to its path",
            program.display()
        ))
    })
}

fn not_written(error: &io::Error) -> AgentErrorKind {
    AgentErrorKind::configuration(format!("the program's temporary files cannot be written: {error}"))
}
