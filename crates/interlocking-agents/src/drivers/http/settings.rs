//! What an HTTP model is set up with.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use genai::adapter::AdapterKind;
use serde::Deserialize;

use super::failure::configuration;
use crate::agent::error::AgentErrorKind;
use crate::scripted::optional;

/// How an [`HttpModel`](super::HttpModel) is set up; `provider` and `model` must be said, everything else can be left out.
///
/// No secret stands here: a key is named by the environment variable that holds it.
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
    /// Whose API is spoken.
    pub provider: HttpProvider,
    /// The model of turns that name none, in the provider's naming. An ending `-low`, `-medium` or the like is taken off, and
    /// asks for that much thinking; what stands before a `::` is ignored.
    pub model: String,
    /// Where the API is, with its version, such as `http://127.0.0.1:8080/v1`; the provider's own address where absent. Through
    /// `openai` any server is asked that speaks OpenAI's Chat Completions, such as one on the own machine.
    #[serde(default)]
    pub base_url: Option<String>,
    /// The name of the environment variable that holds the API key; the provider's
    /// [usual one](HttpProvider::api_key_variable) where absent. An empty name: the server wants no key.
    #[serde(default)]
    pub api_key_variable: Option<String>,
    /// The most tokens of one answer; where absent, the most that the model can write for Anthropic, and the provider's default
    /// for others. An answer that is cut off by it is an error.
    #[serde(default)]
    pub max_tokens: Option<u32>,
    /// How the model is made to answer a turn that has a schema; by default as the provider does it best.
    #[serde(default)]
    pub answers: HttpAnswers,
    /// The directory that keeps the sessions, made if it is missing: then another process can go on with them. Where absent
    /// they are kept in memory, and end with the agent.
    #[serde(default)]
    pub sessions: Option<PathBuf>,
    /// What tokens cost; where absent, nobody knows what a call cost.
    #[serde(default)]
    pub prices: Option<HttpPrices>,
    /// How long one call may take, as `"30m"`; any time where absent.
    #[serde(default, deserialize_with = "optional")]
    pub time_limit: Option<Duration>,
    /// How long the first event of the answer may take; by default two minutes.
    #[serde(default = "first_event_limit", deserialize_with = "optional")]
    pub first_event_limit: Option<Duration>,
    /// How long there may be no event between the first and the last; by default two minutes.
    #[serde(default = "idle_limit", deserialize_with = "optional")]
    pub idle_limit: Option<Duration>,
}

/// Whose API is spoken. Most others speak OpenAI's Chat Completions: [`OpenAi`](Self::OpenAi) with a `base_url`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum HttpProvider {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Chat Completions, and whatever else speaks it.
    #[serde(rename = "openai")]
    OpenAi,
    /// OpenAI Responses. Nothing is stored there.
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
    /// OpenRouter, which passes on to many.
    #[serde(rename = "openrouter")]
    OpenRouter,
}

/// How a model is made to answer a turn that has a schema.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HttpAnswers {
    /// By the provider's own means where it has some, and else by the prompt.
    #[default]
    Best,
    /// The schema of a sum type becomes one [tool per variant](crate::Schema::decisions), and the model decides by a call. Any
    /// other schema is answered as by [`Best`](Self::Best).
    Decisions,
    /// The schema is a part of the system prompt, and the answer is looked for in the text: for schemas that the provider
    /// refuses, such as recursive ones, and servers that know no schemas.
    Prompted,
}

/// Dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpPrices {
    /// Tokens that are sent.
    pub input: f64,
    /// Tokens that the model writes, thinking included.
    pub output: f64,
    /// Tokens that are sent and come from the provider's cache; as other input where absent.
    #[serde(default)]
    pub cached_input: Option<f64>,
}

impl HttpSettings {
    /// The settings of a provider's model, with everything else left out.
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

    /// Where requests go.
    pub(super) fn address(&self) -> &str {
        self.base_url.as_deref().unwrap_or_else(|| self.provider.base_url())
    }

    /// What no provider can do.
    pub(super) fn check(&self) -> Result<(), AgentErrorKind> {
        if self.model.trim().is_empty() {
            return Err(configuration("`model` is empty: name a model of the provider's"));
        }
        if self.max_tokens == Some(0) {
            return Err(configuration("`max_tokens` = 0 leaves no room for an answer"));
        }
        let limits = [self.time_limit, self.first_event_limit, self.idle_limit];
        if limits.contains(&Some(Duration::ZERO)) {
            return Err(configuration(
                "a limit of 0 leaves no time for an answer: leave `time_limit` out, or set a longer one",
            ));
        }
        if let Some(HttpPrices { input, output, cached_input }) = self.prices {
            let bad =
                [input, output, cached_input.unwrap_or(0.0)].into_iter().find(|price| !(0.0..=1e6).contains(price));
            if let Some(bad) = bad {
                return Err(configuration(format!("`prices` has {bad} in it: write dollars for a million tokens")));
            }
        }
        Ok(())
    }

    /// The environment variable that holds the key; none if there is no key.
    pub(super) fn key_variable(&self) -> Option<&str> {
        let name = self.api_key_variable.as_deref().unwrap_or_else(|| self.provider.api_key_variable());
        (!name.is_empty()).then_some(name)
    }
}

impl HttpProvider {
    /// All of them.
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

    /// The name in settings, which is also the agent's.
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

    /// The environment variable that holds its key, unless settings name another.
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

    /// Where its API is.
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

    /// Whether it holds its models to a JSON schema. DeepSeek knows none, only that the answer is JSON.
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
