//! The kinds of backends that come with this crate.

use std::sync::Arc;

use super::kind::Backends;
use super::scripted;
use crate::drivers::claude::ClaudeCode;
use crate::drivers::codex::Codex;
use crate::drivers::gemini::Gemini;

impl Backends {
    /// The kinds of this crate: `claude`, `codex`, `gemini`, `scripted`, and with the feature `http` the providers of
    /// models: `anthropic`, `openai`, `openai-responses`, `google`, `mistral`, `deepseek`, `groq`, `xai`, `openrouter`.
    pub fn built_in() -> Self {
        let kinds = Self::none()
            .with_kind("claude", |settings| Ok(Arc::new(ClaudeCode::new(settings))))
            .with_kind("codex", |settings| Ok(Arc::new(Codex::new(settings))))
            .with_kind("gemini", |settings| Ok(Arc::new(Gemini::new(settings))))
            .with_files("scripted", scripted::make);
        #[cfg(feature = "http")]
        let kinds = kinds.with_providers();
        kinds
    }
}
