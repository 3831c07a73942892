//! A home for the Gemini CLI, a workspace, a model server, and turns in them.

use std::path::PathBuf;
use std::sync::Mutex;

use interlocking_agents::program::Secret;
use interlocking_agents::{
    AgentError, AgentEvent, Completion, Conversation, Gemini, GeminiSettings, SessionId, SessionOp, Slug, Turn,
};
use interlocking_model_server::{ModelServer, Script, programs};
use tempfile::TempDir;

pub(crate) const MODEL: &str = "gemini-2.5-flash";

pub(crate) const KEY: &str = "key-of-the-test";

pub(crate) struct Place {
    pub(crate) directory: TempDir,
    pub(crate) server: ModelServer,
    pub(crate) program: PathBuf,
}

impl Place {
    /// None, with a message on standard error, if the Gemini CLI is not installed.
    pub(crate) fn new(script: Script) -> Option<Self> {
        let program = programs::found(programs::gemini())?;
        let directory = tempfile::tempdir().unwrap();
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

    pub(crate) fn settings(&self) -> GeminiSettings {
        GeminiSettings {
            program: self.program.clone(),
            model: Some(MODEL.to_owned()),
            home: Some(self.home()),
            base_url: Some(self.server.url()),
            retries: 0,
            ..GeminiSettings::default()
        }
    }

    pub(crate) fn gemini(&self) -> Gemini {
        with_key(self.settings())
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

/// A driver that has a key.
pub(crate) fn with_key(settings: GeminiSettings) -> Gemini {
    Gemini::new(settings).with_key(Secret::new(KEY))
}

pub(crate) fn slug() -> Slug {
    Slug::new("test").unwrap()
}

/// Runs a turn and keeps its events.
pub(crate) async fn run(gemini: &Gemini, turn: Turn) -> (Result<Completion, AgentError>, Vec<AgentEvent>) {
    let events = Mutex::new(Vec::new());
    let outcome = Conversation::new(gemini).run(turn, &|event| events.lock().unwrap().push(event)).await;
    (outcome, events.into_inner().unwrap())
}
