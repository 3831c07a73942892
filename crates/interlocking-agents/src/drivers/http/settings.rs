//! The settings of an HTTP model.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use genai::adapter::AdapterKind;
use serde::Deserialize;

use crate::agent::error::AgentErrorKind;
use crate::scripted::optional;

/// The settings of an [`HttpModel`](super::HttpModel). `provider` and `model` are required; all other fields can be
/// left out.
///
/// The settings contain no secret: a key is named by the environment variable that holds it.
///
/// ```
/// # use interlocking_agents::HttpSettings;
/// let settings: HttpSettings = toml::from_str(r#"
///     provider = "anthropic"
///     model = "claude-haiku-4-5"
///     api_key_variable = "ANTHROPIC_API_KEY"
///     time_limit = "10m"
///     prices = { input = 1.0, output = 5.0 }
/// "#)?;
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpSettings {
    /// The provider, which determines the API.
    pub provider: HttpProvider,
    /// The model of turns that name none, as the provider names it. A suffix such as `-low` or `-medium` is removed and
    /// sets how hard the model thinks; a prefix up to `::` is ignored.
    pub model: String,
    /// The address of the API, with its version and without a query, such as `http://127.0.0.1:8080/v1`. Default: the
    /// provider's address.
    /// With `openai` this can be any server that supports OpenAI's Chat Completions, such as a local one.
    #[serde(default)]
    pub base_url: Option<String>,
    /// The name of the environment variable that contains the API key. Default: the provider's [usual
    /// variable](HttpProvider::api_key_variable). If the name is empty, the server needs no key.
    #[serde(default)]
    pub api_key_variable: Option<String>,
    /// The maximum number of tokens of an answer. Default: for Anthropic, the most that the model can write; for
    /// others, the provider's default. An answer that is cut off by the limit is an error.
    #[serde(default)]
    pub max_tokens: Option<u32>,
    /// How the model is made to answer a turn with a schema. Default: the provider's best way.
    #[serde(default)]
    pub answers: HttpAnswers,
    /// The directory in which sessions are kept, created if it is missing: then another process can continue them.
    /// Default: sessions are kept in memory, and end with the agent.
    #[serde(default)]
    pub sessions: Option<PathBuf>,
    /// The prices of tokens. If absent, the cost of a call is unknown.
    #[serde(default)]
    pub prices: Option<HttpPrices>,
    /// How long one call may take, as `"30m"`. Default: no limit.
    #[serde(default, deserialize_with = "optional")]
    pub time_limit: Option<Duration>,
    /// How long the first event of the answer may take. Default: two minutes.
    #[serde(default = "first_event_limit", deserialize_with = "optional")]
    pub first_event_limit: Option<Duration>,
    /// How long there may be no event between the first and the last event. Default: two minutes.
    #[serde(default = "idle_limit", deserialize_with = "optional")]
    pub idle_limit: Option<Duration>,
}

/// A provider and its API. Most other providers support OpenAI's Chat Completions: use [`OpenAi`](Self::OpenAi) with a
/// `base_url`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum HttpProvider {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Chat Completions, and every other provider with this API.
    #[serde(rename = "openai")]
    OpenAi,
    /// OpenAI Responses. The provider is told not to store anything.
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
    /// Google's Gemini.
    Gemini,
    /// Mistral.
    Mistral,
    /// DeepSeek.
    #[serde(rename = "deepseek")]
    DeepSeek,
    /// Groq.
    Groq,
    /// xAI.
    Xai,
    /// OpenRouter, which forwards requests to many providers.
    #[serde(rename = "openrouter")]
    OpenRouter,
}

/// How a model is made to answer a turn with a schema.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HttpAnswers {
    /// In the provider's own way if it has one, and otherwise by the prompt.
    #[default]
    Best,
    /// The schema of an enum becomes one [tool per variant](crate::Schema::decisions), and the model decides by a call.
    /// For other schemas the same as [`Best`](Self::Best).
    Decisions,
    /// The schema is part of the system prompt, and the answer is extracted from the text: for schemas that the
    /// provider refuses, such as recursive ones, and for servers without support for schemas.
    Prompted,
}

/// Dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpPrices {
    /// Tokens sent to the model.
    pub input: f64,
    /// Tokens that the model writes, including those for thinking.
    pub output: f64,
    /// Tokens sent to the model that the provider reads from its cache. Default: the price of other input.
    #[serde(default)]
    pub cached_input: Option<f64>,
}

impl HttpSettings {
    /// The settings for a model of a provider, with defaults for everything else.
    pub fn new(provider: HttpProvider, model: impl Into<String>) -> Self {
        Self {
            provider,
            model: model.into(),
            base_url: None,
            api_key_variable: None,
            max_tokens: None,
            answers: HttpAnswers::Best,
            sessions: None,
            prices: None,
            time_limit: None,
            first_event_limit: first_event_limit(),
            idle_limit: idle_limit(),
        }
    }

    /// The address that requests go to.
    pub(super) fn address(&self) -> &str {
        self.base_url.as_deref().unwrap_or_else(|| self.provider.base_url())
    }

    /// Refuses settings that no provider supports.
    pub(super) fn check(&self) -> Result<(), AgentErrorKind> {
        if self.model.trim().is_empty() {
            return Err(AgentErrorKind::configuration("`model` is empty: name a model of the provider's"));
        }
        if self.max_tokens == Some(0) {
            return Err(AgentErrorKind::configuration("`max_tokens` = 0 leaves no room for an answer"));
        }
        let limits = [self.time_limit, self.first_event_limit, self.idle_limit];
        if limits.contains(&Some(Duration::ZERO)) {
            return Err(AgentErrorKind::configuration(
                "a limit of 0 leaves no time for an answer: leave `time_limit` out, or set a longer one",
            ));
        }
        if let Some(HttpPrices { input, output, cached_input }) = self.prices {
            let bad =
                [input, output, cached_input.unwrap_or(0.0)].into_iter().find(|price| !(0.0..=1e6).contains(price));
            if let Some(bad) = bad {
                return Err(AgentErrorKind::configuration(format!(
                    "`prices` has {bad} in it: write dollars for a million tokens"
                )));
            }
        }
        Ok(())
    }

    /// The environment variable that contains the key; none if there is no key.
    pub(super) fn key_variable(&self) -> Option<&str> {
        let name = self.api_key_variable.as_deref().unwrap_or_else(|| self.provider.api_key_variable());
        (!name.is_empty()).then_some(name)
    }
}

impl HttpProvider {
    /// All providers.
    pub const ALL: [Self; 9] = [
        Self::Anthropic,
        Self::OpenAi,
        Self::OpenAiResponses,
        Self::Gemini,
        Self::Mistral,
        Self::DeepSeek,
        Self::Groq,
        Self::Xai,
        Self::OpenRouter,
    ];

    /// The name in settings, which is also the agent's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::OpenAiResponses => "openai-responses",
            Self::Gemini => "gemini",
            Self::Mistral => "mistral",
            Self::DeepSeek => "deepseek",
            Self::Groq => "groq",
            Self::Xai => "xai",
            Self::OpenRouter => "openrouter",
        }
    }

    /// The environment variable that contains the key, unless the settings name another.
    pub fn api_key_variable(self) -> &'static str {
        match self {
            Self::Anthropic => "ANTHROPIC_API_KEY",
            Self::OpenAi | Self::OpenAiResponses => "OPENAI_API_KEY",
            Self::Gemini => "GEMINI_API_KEY",
            Self::Mistral => "MISTRAL_API_KEY",
            Self::DeepSeek => "DEEPSEEK_API_KEY",
            Self::Groq => "GROQ_API_KEY",
            Self::Xai => "XAI_API_KEY",
            Self::OpenRouter => "OPENROUTER_API_KEY",
        }
    }

    /// The address of the provider's API.
    pub fn base_url(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com/v1",
            Self::OpenAi | Self::OpenAiResponses => "https://api.openai.com/v1",
            Self::Gemini => "https://generativelanguage.googleapis.com/v1beta",
            Self::Mistral => "https://api.mistral.ai/v1",
            Self::DeepSeek => "https://api.deepseek.com/v1",
            Self::Groq => "https://api.groq.com/openai/v1",
            Self::Xai => "https://api.x.ai/v1",
            Self::OpenRouter => "https://openrouter.ai/api/v1",
        }
    }

    /// Whether the provider enforces a JSON schema. DeepSeek only enforces that the answer is JSON.
    pub fn enforces_schemas(self) -> bool {
        !matches!(self, Self::DeepSeek)
    }

    pub(super) fn adapter(self) -> AdapterKind {
        match self {
            Self::Anthropic => AdapterKind::Anthropic,
            Self::OpenAi => AdapterKind::OpenAI,
            Self::OpenAiResponses => AdapterKind::OpenAIResp,
            Self::Gemini => AdapterKind::Gemini,
            Self::Mistral => AdapterKind::Mistral,
            Self::DeepSeek => AdapterKind::DeepSeek,
            Self::Groq => AdapterKind::Groq,
            Self::Xai => AdapterKind::Xai,
            Self::OpenRouter => AdapterKind::OpenRouter,
        }
    }
}

impl fmt::Display for HttpProvider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

#[expect(clippy::unnecessary_wraps, reason = "serde's default of a field that can be absent")]
fn first_event_limit() -> Option<Duration> {
    Some(Duration::from_secs(120))
}

#[expect(clippy::unnecessary_wraps, reason = "serde's default of a field that can be absent")]
fn idle_limit() -> Option<Duration> {
    Some(Duration::from_secs(120))
}
