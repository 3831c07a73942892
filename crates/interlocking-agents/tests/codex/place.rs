//! A home for Codex, a workspace, a model server, and turns in them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use interlocking_agents::{
    AgentError, AgentEvent, Codex, CodexSettings, Completion, Conversation, SessionId, SessionOp, Slug, Turn,
};
use interlocking_model_server::{ModelServer, Script, programs};
use tempfile::TempDir;

/// A model that calls its tools directly, and not through programs that it writes.
pub(crate) const MODEL: &str = "gpt-5.5";

pub(crate) struct Place {
    pub(crate) directory: TempDir,
    pub(crate) server: ModelServer,
    program: PathBuf,
}

impl Place {
    /// None, with a message on standard error, if Codex is not installed.
    pub(crate) fn new(script: Script) -> Option<Self> {
        let program = programs::found(programs::codex())?;
        // Codex accepts no home below the directory for temporary files.
        let directory = tempfile::Builder::new().prefix("codex-").tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        std::fs::create_dir(directory.path().join("work")).unwrap();
        Some(Self { directory, server: ModelServer::start(script).unwrap(), program })
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.directory.path().join("home")
    }

    /// The directory with the directories of calls.
    pub(crate) fn calls(&self) -> PathBuf {
        self.directory.path().join("home.calls")
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.directory.path().join("work")
    }

    pub(crate) fn read(&self, file: impl AsRef<Path>) -> String {
        std::fs::read_to_string(self.work().join(file)).unwrap()
    }

    pub(crate) fn settings(&self) -> CodexSettings {
        CodexSettings {
            program: self.program.clone(),
            model: Some(MODEL.to_owned()),
            home: Some(self.home()),
            base_url: Some(format!("{}/v1", self.server.url())),
            retries: Some(1),
            ..CodexSettings::default()
        }
    }

    pub(crate) fn codex(&self) -> Codex {
        Codex::new(self.settings())
    }

    pub(crate) fn turn(&self, session: SessionOp, prompt: &str) -> Turn {
        Turn { workspace: Some(self.work()), ..Turn::new(session, prompt) }
    }

    pub(crate) fn fresh(&self, prompt: &str) -> Turn {
        self.turn(SessionOp::StartFresh(slug()), prompt)
    }

    pub(crate) fn go_on(&self, session: &SessionId, prompt: &str) -> Turn {
        self.turn(SessionOp::ContinueFrom(session.clone()), prompt)
    }

    pub(crate) fn fork(&self, parent: &SessionId, prompt: &str) -> Turn {
        self.turn(SessionOp::ForkFrom { parent: parent.clone(), slug: slug() }, prompt)
    }
}

pub(crate) fn slug() -> Slug {
    Slug::new("test").unwrap()
}

/// Runs a turn and keeps its events.
pub(crate) async fn run(codex: &Codex, turn: Turn) -> (Result<Completion, AgentError>, Vec<AgentEvent>) {
    let events = Events::default();
    let outcome = Conversation::new(codex).run(turn, &events.sink()).await;
    (outcome, events.all())
}

/// Collects events.
#[derive(Clone, Default)]
pub(crate) struct Events(Arc<Mutex<Vec<AgentEvent>>>);

impl Events {
    pub(crate) fn all(&self) -> Vec<AgentEvent> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn sink(&self) -> impl Fn(AgentEvent) + Send + Sync + use<> {
        let kept = Arc::clone(&self.0);
        move |event| kept.lock().unwrap().push(event)
    }
}
