use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use interlocking_agents::program::Secret;
use interlocking_agents::{
    AgentError, AgentEvent, ClaudeCode, ClaudeSettings, Completion, Conversation, Schema, SessionId, SessionOp, Slug,
    Turn,
};
use interlocking_model_server::{ModelServer, Script, programs};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A key that is searched for in all places where it must not be.
pub(crate) const CANARY: &str = "sk-ant-canary-5e1f0c";

/// The real program, with a model that plays a script, a workspace and a directory for sessions.
pub(crate) struct Bench {
    pub(crate) server: ModelServer,
    program: PathBuf,
    directory: TempDir,
}

impl Bench {
    /// None if the program is not installed.
    pub(crate) fn new(script: Script) -> Option<Self> {
        let program = programs::found(programs::claude())?;
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("workspace")).unwrap();
        Some(Self { server: ModelServer::start(script).unwrap(), program, directory })
    }

    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.directory().join("workspace")
    }

    /// Another workspace.
    pub(crate) fn another(&self, name: &str) -> PathBuf {
        let workspace = self.directory().join(name);
        std::fs::create_dir(&workspace).unwrap();
        workspace
    }

    pub(crate) fn settings(&self) -> ClaudeSettings {
        ClaudeSettings {
            program: self.program.clone(),
            model: Some("haiku".to_owned()),
            home: Some(self.directory().join("state")),
            base_url: Some(self.server.url().to_owned()),
            retries: 1,
            ..ClaudeSettings::default()
        }
    }

    pub(crate) fn agent(&self) -> ClaudeCode {
        self.agent_with(self.settings())
    }

    pub(crate) fn agent_with(&self, settings: ClaudeSettings) -> ClaudeCode {
        ClaudeCode::new(settings).with_key(Secret::new(CANARY))
    }

    pub(crate) fn fresh(&self, prompt: &str) -> Turn {
        self.turn(SessionOp::StartFresh(slug("write")), prompt)
    }

    pub(crate) fn turn(&self, session: SessionOp, prompt: &str) -> Turn {
        Turn { workspace: Some(self.workspace()), ..Turn::new(session, prompt) }
    }
}

pub(crate) fn slug(text: &str) -> Slug {
    Slug::new(text).unwrap()
}

pub(crate) fn fork(parent: &SessionId) -> SessionOp {
    SessionOp::ForkFrom { parent: parent.clone(), slug: slug("fork") }
}

pub(crate) async fn run(agent: &ClaudeCode, turn: Turn) -> Result<Completion, AgentError> {
    Conversation::new(agent).run(turn, &|_event: AgentEvent| {}).await
}

/// `{"title": string, "words": unsigned}`.
pub(crate) fn article() -> Arc<Schema> {
    schema(json!({
        "type": "object",
        "properties": { "title": { "type": "string" }, "words": { "type": "integer", "minimum": 0 } },
        "required": ["title", "words"],
    }))
}

pub(crate) fn schema(value: Value) -> Arc<Schema> {
    Arc::new(Schema::new(value).unwrap())
}

/// Collects events.
#[derive(Clone, Default)]
pub(crate) struct Recorded(Arc<Mutex<Vec<AgentEvent>>>);

impl Recorded {
    pub(crate) fn events(&self) -> Vec<AgentEvent> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn sink(&self) -> impl Fn(AgentEvent) + Send + Sync + use<> {
        let kept = Arc::clone(&self.0);
        move |event| kept.lock().unwrap().push(event)
    }
}
