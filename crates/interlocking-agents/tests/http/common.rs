use std::sync::{Arc, Mutex};

use interlocking_agents::program::Secret;
use interlocking_agents::{
    AgentError, AgentEvent, Completion, Conversation, HttpModel, HttpProvider, HttpSettings, NoEvents, Schema,
    SessionId, SessionOp, Slug, Turn,
};
use interlocking_model_server::{ModelServer, Reaction, Rule, Script};
use schemars::JsonSchema;
use serde_json::json;

/// The key of all models here; it must not appear anywhere else.
pub(crate) const KEY: &str = "sk-canary-7f3a91";

pub(crate) fn key() -> Secret {
    Secret::new(KEY)
}

/// One provider for each of the dialects.
pub(crate) const PROVIDERS: [HttpProvider; 4] =
    [HttpProvider::Anthropic, HttpProvider::OpenAi, HttpProvider::OpenAiResponses, HttpProvider::Gemini];

/// A server that always reacts like this.
pub(crate) fn always(reaction: Reaction) -> ModelServer {
    ModelServer::start(Script::new().rule(Rule::any().reply(reaction))).unwrap()
}

pub(crate) fn settings(server: &ModelServer, provider: HttpProvider) -> HttpSettings {
    HttpSettings { base_url: Some(format!("{}/v1", server.url())), ..HttpSettings::new(provider, "model-x") }
}

pub(crate) fn model(server: &ModelServer, provider: HttpProvider) -> HttpModel {
    HttpModel::new(settings(server, provider)).with_key(key())
}

pub(crate) fn fresh(prompt: &str) -> Turn {
    Turn::fresh(Slug::new("think").unwrap(), prompt)
}

pub(crate) fn go_on(session: &SessionId, prompt: &str) -> Turn {
    Turn::new(SessionOp::ContinueFrom(session.clone()), prompt)
}

pub(crate) fn fork(parent: &SessionId, prompt: &str) -> Turn {
    Turn::new(SessionOp::ForkFrom { parent: parent.clone(), slug: Slug::new("fork").unwrap() }, prompt)
}

/// Runs one call without corrections.
pub(crate) async fn run(model: &HttpModel, turn: Turn) -> Result<Completion, AgentError> {
    Conversation::new(model).with_corrections(0).run(turn, &NoEvents).await
}

/// The schema as schemars makes it.
pub(crate) fn schema<T: JsonSchema>() -> Option<Arc<Schema>> {
    Some(Arc::new(Schema::new(schemars::schema_for!(T).to_value()).unwrap()))
}

pub(crate) fn article() -> Option<Arc<Schema>> {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": { "title": { "type": "string" }, "words": { "type": "integer", "minimum": 0, "format": "uint" } },
        "required": ["title"]
    });
    Some(Arc::new(Schema::new(schema).unwrap()))
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum Verdict {
    /// It is good as it is.
    Approved,
    /// It has to be done again.
    Rejected { reasons: Vec<String> },
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
