use std::path::Path;
use std::sync::{Arc, Mutex};

use interlocking_agents::{
    AgentError, AgentEvent, Completion, Conversation, NoEvents, Schema, Script, ScriptedAgent, SessionId, SessionOp,
    Slug, Turn,
};
use serde_json::json;

/// A new agent that plays this text; messages call the script `script.toml`.
pub(crate) fn agent(text: &str) -> ScriptedAgent {
    ScriptedAgent::new(Script::parse("script.toml", text).unwrap())
}

pub(crate) fn slug(text: &str) -> Slug {
    Slug::new(text).unwrap()
}

pub(crate) fn id(text: &str) -> SessionId {
    SessionId::new(text).unwrap()
}

pub(crate) fn fresh(prompt: &str) -> Turn {
    Turn::fresh(slug("write"), prompt)
}

pub(crate) fn go_on(session: &str, prompt: &str) -> Turn {
    Turn::new(SessionOp::ContinueFrom(id(session)), prompt)
}

pub(crate) fn fork(parent: &str, prompt: &str) -> Turn {
    Turn::new(SessionOp::ForkFrom { parent: id(parent), slug: slug("fork") }, prompt)
}

pub(crate) fn fresh_in(workspace: &Path, prompt: &str) -> Turn {
    Turn { workspace: Some(workspace.to_owned()), ..fresh(prompt) }
}

pub(crate) async fn run(agent: &ScriptedAgent, turn: Turn) -> Result<Completion, AgentError> {
    Conversation::new(agent).run(turn, &NoEvents).await
}

/// `{"title": string, "words": unsigned}`.
pub(crate) fn article_schema() -> Arc<Schema> {
    Arc::new(
        Schema::new(json!({
            "type": "object",
            "properties": { "title": { "type": "string" }, "words": { "type": "integer", "minimum": 0 } },
            "required": ["title", "words"]
        }))
        .unwrap(),
    )
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
