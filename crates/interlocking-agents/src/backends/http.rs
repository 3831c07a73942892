//! Models over HTTP as backends: a kind for each provider.

use std::sync::Arc;

use interlocking_document::{Key, Node, Text, Value};

use super::kind::{Backends, Kind, Make};
use crate::drivers::http::{HttpModel, HttpProvider, HttpSettings};

impl Backends {
    /// The same with a kind for each provider, named after the provider. `gemini` names the program, so Google's kind
    /// is `google`.
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

/// The kind of a provider. Its backends need no setting but a model, which can also follow the colon.
fn kind(provider: HttpProvider, name: &'static str) -> Kind {
    Kind::new(move |settings, _, problems| {
        let mut node = settings.node().clone();
        set_default(&mut node, "provider", provider.name());
        set_default(&mut node, "model", "");
        let settings: HttpSettings = settings.with_node(&node).read(problems)?;
        let make: Make = Arc::new(move |_, model| {
            let mut settings = settings.clone();
            if settings.model.is_empty() {
                settings.model = model.ok_or_else(|| format!("it names no model: write {name}:MODEL"))?.to_owned();
            }
            Ok(Arc::new(HttpModel::new(settings)))
        });
        Some(make)
    })
}

/// Sets a key of a table unless it is already set.
fn set_default(table: &mut Node, key: &str, value: &str) {
    let position = table.position;
    if let Value::Table(entries) = &mut table.value
        && entries.iter().all(|(set, _)| set.name != key)
    {
        let key = Key { name: key.to_owned(), position };
        entries.push((key, Node { position, value: Value::Text(Text::quoted(value)) }));
    }
}
