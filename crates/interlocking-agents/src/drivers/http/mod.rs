//! Models over HTTP, without a program and without tools: for nodes that only think.
//!
//! [`HttpModel`] uses the APIs of the [providers](HttpProvider) through the `genai` crate; `docs/book/src/http.md`
//! describes the drawbacks of that. It sends a prompt, and requests the schema of the answer in the way that the
//! provider enforces.
//!
//! | | |
//! |---|---|
//! | workspace | The model neither sees nor changes it: [`works`](Capabilities::works) is false. The agent starts no program, so any sandbox [confines](Agent::confines) it. A turn's workspace only ties its session to that workspace. A turn that is to change files must not use this agent: it changes nothing. |
//! | sessions | A provider remembers nothing, so the agent keeps the conversation and sends it again with each call, without prompts that were refused. It is kept in memory, or in files if [`sessions`](HttpSettings::sessions) names a directory. An unknown session is [`SessionError::Unknown`](crate::SessionError::Unknown). |
//! | schemas | The provider enforces the schema of an answer; [`HttpAnswers`] has the alternatives. Constraints that the provider's dialect cannot express are removed from what is sent, and checked in the answer. |
//! | decisions | With [`HttpAnswers::Decisions`] the variants of an enum are tools, and their calls are [`Reply::decisions`]. |
//! | usage | Tokens as the provider counts them; money if [`prices`](HttpSettings::prices) are set. The usage of a call that was interrupted is unknown. |
//! | keys | They come from the environment when a call is made. No settings, message or log contains them. Redirects are not followed, so that a key is sent to no other server. |
//!
//! | what the provider does | [`AgentErrorKind`] |
//! |---|---|
//! | 401, 402, 403, 404, other 4xx; no quota; the model refuses | `Refused` |
//! | 429 | `RateLimited`, with `retry-after` or Google's `retryDelay` |
//! | 5xx, 529; an error in mid-stream | `Overloaded` |
//! | 413; a 4xx that says that the prompt is too long; the context is full | `PromptTooLong` |
//! | no connection, one that breaks, 408 | `Connection` |
//! | no event within the [first](HttpSettings::first_event_limit) limit | `NoFirstEvent` |
//! | silence for the [idle](HttpSettings::idle_limit) limit | `Idle` |
//! | an answer that takes longer than [`time_limit`](HttpSettings::time_limit) | `TimedOut` |
//! | a malformed answer | `Other`, transient |
//! | an answer that is cut off by [`max_tokens`](HttpSettings::max_tokens) | `Other`, permanent |
//! | 3xx; no key; invalid settings | `Configuration` |

mod bounds;
mod call;
mod client;
mod dialect;
mod failure;
mod frame_log;
mod history;
mod prompt;
mod relay;
mod reply;
mod settings;

use std::fmt;
use std::sync::OnceLock;

use async_trait::async_trait;

pub use settings::{HttpAnswers, HttpPrices, HttpProvider, HttpSettings};

use crate::agent::capabilities::{Capabilities, SchemaSupport};
use crate::agent::error::{AgentError, AgentErrorKind};
use crate::agent::turn::{Reply, Turn};
use crate::agent::{Agent, TurnContext};
use crate::program::{Redactor, Secret};
use crate::real_calls::permitted;
use crate::sessions::Sessions;
use client::Connection;
use failure::Failure;
use history::Histories;
use prompt::Form;

/// An agent that calls a model over HTTP. The [module](self) describes it.
pub struct HttpModel {
    settings: HttpSettings,
    key: Option<Secret>,
    connection: OnceLock<Connection>,
    histories: Histories,
    sessions: Sessions,
}

impl HttpModel {
    /// An agent with these settings. Nothing is checked before [`ready`](Agent::ready).
    pub fn new(settings: HttpSettings) -> Self {
        let histories = Histories::new(settings.sessions.clone());
        let sessions = settings.sessions.as_ref().map_or_else(Sessions::new, Sessions::in_directory);
        Self { settings, key: None, connection: OnceLock::new(), histories, sessions }
    }

    /// The same with a key that does not come from the environment.
    pub fn with_key(self, key: Secret) -> Self {
        Self { key: Some(key), ..self }
    }

    fn key(&self) -> Result<Secret, AgentErrorKind> {
        self.key.clone().map_or_else(|| client::key_of(&self.settings), Ok)
    }

    /// Whether the settings are valid, and the model may be called at all.
    fn check(&self) -> Result<(), AgentErrorKind> {
        self.settings.check()?;
        client::base_url(&self.settings)?;
        Ok(permitted(self.name(), Some(self.settings.address()))?)
    }

    fn connection(&self) -> Result<&Connection, AgentErrorKind> {
        if self.connection.get().is_none() {
            // If two calls arrive here at once, one of the two connections is dropped.
            let _ = self.connection.set(Connection::new(&self.settings)?);
        }
        self.connection.get().ok_or_else(|| AgentErrorKind::configuration("there is no HTTP client"))
    }
}

impl fmt::Debug for HttpModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("HttpModel").field("settings", &self.settings).finish_non_exhaustive()
    }
}

#[async_trait]
impl Agent for HttpModel {
    /// The provider's name.
    fn name(&self) -> &str {
        self.settings.provider.name()
    }

    fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// The agent starts no programs.
    fn confines(&self) -> bool {
        true
    }

    fn capabilities(&self) -> Capabilities {
        let schemas = if self.settings.prompts() { SchemaSupport::Prompted } else { SchemaSupport::Enforced };
        Capabilities {
            schemas,
            works: false,
            costs: self.settings.prices.is_some(),
            limits_steps: false,
            limits_money: false,
            // An interrupted call ends at once, and the provider does not report its usage.
            interrupts: false,
            ..Capabilities::ALL
        }
    }

    async fn ready(&self) -> Result<(), AgentError> {
        self.check()?;
        self.key()?;
        self.connection()?;
        Ok(self.histories.ready()?)
    }

    async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<Reply, AgentError> {
        self.check()?;
        let (key, connection) = (self.key()?, self.connection()?);
        let relay = connection.relay(client::redactor(&key)).await?;
        let client = connection.client(&relay)?;
        let (session, exchanges) = self.histories.ask(&turn.session, &turn.prompt)?;
        let model = turn.model.as_deref().unwrap_or(&self.settings.model);
        tracing::debug!(provider = self.name(), model, %session, exchanges = exchanges.len(), "asking a model");
        context.started(&session)?;

        let form = Form::of(turn, &self.settings);
        let request = prompt::request(turn, &exchanges, &form, &self.settings);
        let options = prompt::options(&form, &self.settings);
        let target = connection.target(&self.settings, &key, model);
        let call = call::call(&relay, &client, target, request, options, &self.settings, context.activity);
        let outcome = tokio::select! {
            biased;
            () = context.interrupted() => Err(Failure::begun(AgentErrorKind::Cancelled)),
            outcome = call => outcome,
        };
        match outcome {
            Ok(answer) => {
                let usage = reply::usage(&answer.usage, self.settings.prices.as_ref());
                let answered = self.histories.answer(&session, exchanges, reply::history_text(&answer));
                answered.map_err(|kind| AgentError::new(kind).in_session(session.clone(), usage))?;
                Ok(reply::reply(context, answer, &form, session, usage))
            }
            Err(failure) => {
                if failure.refuses_prompt()
                    && let Err(error) = self.histories.withdraw(&session, &exchanges)
                {
                    tracing::warn!(%session, %error, "a prompt that was refused stays in its session");
                }
                let usage = reply::spent(&failure.spent, self.settings.prices.as_ref());
                Err(AgentError::new(redacted(failure.kind, relay.redactor())).in_session(session, usage))
            }
        }
    }
}

/// The same error without the key, which a provider may repeat in its message.
fn redacted(mut kind: AgentErrorKind, redactor: &Redactor) -> AgentErrorKind {
    match &mut kind {
        AgentErrorKind::Refused { reason: words }
        | AgentErrorKind::Connection { reason: words }
        | AgentErrorKind::Configuration { reason: words }
        | AgentErrorKind::Other { message: words, .. } => redactor.string(words),
        _ => {}
    }
    kind
}
