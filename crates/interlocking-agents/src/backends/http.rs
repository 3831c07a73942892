//! Models over HTTP as backends: a kind for each provider.

use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::kind::{Backends, Kind, Make};
use crate::drivers::http::{HttpModel, HttpProvider, HttpSettings};

impl Backends {
    /// The same with a kind for each provider, whose name it has; `gemini` is the program's, so Google's is `google`.
    pub(super) fn with_providers(self) -> Self {
        HttpProvider::ALL.into_iter().fold(self, |kinds, provider| {
            let name = match provider {
                HttpProvider::Gemini => "google",
                other => other.name(),
            };
            kinds.with(name, kind(provider, name))
        })
    }
}

/// Its backends need no settings but a model, which can follow the colon.
fn kind(provider: HttpProvider, name: &'static str) -> Kind {
    Kind::new(move |mut text, _| {
        say(&mut text, "provider", provider.name());
        say(&mut text, "model", "");
        let settings: HttpSettings = serde::Deserialize::deserialize(toml::Deserializer::from(text))?;
        let make: Make = Arc::new(move |_, model| {
            let mut settings = settings.clone();
            if settings.model.is_empty() {
                settings.model = model.ok_or_else(|| format!("it names no model: write {name}:MODEL"))?.to_owned();
            }
            Ok(Arc::new(HttpModel::new(settings)))
        });
        Ok(make)
    })
}

/// Sets a key of a table that is not set.
fn say<'t>(table: &mut Spanned<DeTable<'t>>, key: &'static str, value: &'static str) {
    let span = table.span();
    if !table.get_ref().contains_key(key) {
        let value = DeValue::String(DeString::Borrowed(value));
        let key = Spanned::new(span.clone(), DeString::Borrowed(key));
        table.get_mut().insert(key, Spanned::new(span, value));
    }
}
