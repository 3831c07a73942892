//! The kinds of backends that come with this crate: a line each.

use std::sync::Arc;

use super::kind::Backends;
use super::scripted;
use crate::claude::ClaudeCode;

impl Backends {
    /// Those of this crate.
    pub fn built_in() -> Self {
        Self::none()
            .with_files("scripted", scripted::make)
            .with_kind("claude", |settings| Ok(Arc::new(ClaudeCode::new(settings))))
    }
}
