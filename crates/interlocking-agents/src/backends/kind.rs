//! Kinds of backends: how an agent is made of its settings.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::agent::Agent;

/// The kinds of backends that a program knows, by name.
///
/// ```
/// # use std::sync::Arc;
/// # use interlocking_agents::{Agent, Script, ScriptedAgent};
/// use interlocking_agents::backends::Backends;
///
/// #[derive(serde::Deserialize)]
/// #[serde(deny_unknown_fields)]
/// struct ParrotSettings { #[serde(default)] loud: bool }
///
/// # fn parrot(_: ParrotSettings) -> ScriptedAgent { ScriptedAgent::new(Script::parse("", "").unwrap()) }
/// let backends = Backends::built_in().with_kind("parrot", |settings: ParrotSettings| Ok(Arc::new(parrot(settings))));
/// ```
#[derive(Clone)]
pub struct Backends(BTreeMap<&'static str, Kind>);

/// How backends of a kind are made.
#[derive(Clone)]
pub(super) struct Kind {
    /// Reads settings; an error has its place in the text.
    read: Arc<dyn Fn(toml::Deserializer<'_>, &Path) -> Result<Make, toml::de::Error> + Send + Sync>,
    /// What follows the colon is a file of the backend's own, and not a model.
    pub(super) takes_file: bool,
}

/// Makes an agent of settings that were read, and of a file where its kind takes one.
pub(super) type Make = Arc<dyn Fn(Option<&Path>) -> Result<Arc<dyn Agent>, String> + Send + Sync>;

impl Backends {
    /// None at all.
    pub fn none() -> Self {
        Self(BTreeMap::new())
    }

    /// The same with one more kind, whose agents are made of settings `S`. Settings should refuse unknown fields, and have a
    /// default for every field without which an agent can be made: then the kind needs no file. What `make` refuses is told
    /// with the place where the backend was described.
    #[must_use]
    pub fn with_kind<S: DeserializeOwned + Clone + Send + Sync + 'static>(
        mut self,
        name: &'static str,
        make: impl Fn(S) -> Result<Arc<dyn Agent>, String> + Send + Sync + 'static,
    ) -> Self {
        let make = Arc::new(make);
        let read = move |text: toml::Deserializer<'_>, _: &Path| {
            let (settings, make) = (S::deserialize(text)?, make.clone());
            let make: Make = Arc::new(move |_| make(settings.clone()));
            Ok(make)
        };
        self.0.insert(name, Kind { read: Arc::new(read), takes_file: false });
        self
    }

    /// The same for a kind whose agents play a file, which can follow the colon. Paths in settings are for `make` to resolve,
    /// against the directory that it is given; the file has been.
    #[must_use]
    pub(super) fn with_files<S: DeserializeOwned + Clone + Send + Sync + 'static>(
        mut self,
        name: &'static str,
        make: fn(S, &Path, Option<&Path>) -> Result<Arc<dyn Agent>, String>,
    ) -> Self {
        let read = move |text: toml::Deserializer<'_>, directory: &Path| {
            let (settings, directory) = (S::deserialize(text)?, directory.to_owned());
            let make: Make = Arc::new(move |file| make(settings.clone(), &directory, file));
            Ok(make)
        };
        self.0.insert(name, Kind { read: Arc::new(read), takes_file: true });
        self
    }

    /// The names of the kinds.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().copied()
    }

    pub(super) fn get(&self, name: &str) -> Option<&Kind> {
        self.0.get(name)
    }
}

impl Kind {
    /// Reads settings that stand in a file of that directory.
    pub(super) fn read(&self, text: toml::Deserializer<'_>, directory: &Path) -> Result<Make, toml::de::Error> {
        (self.read)(text, directory)
    }

    /// With default settings.
    pub(super) fn usual(&self) -> Result<Make, toml::de::Error> {
        self.read(toml::Deserializer::parse("")?, Path::new(""))
    }
}

impl fmt::Debug for Backends {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}
