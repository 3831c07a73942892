//! Kinds of backends: how an agent is made from its settings.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use interlocking_document::{Field, Node, Position, Problems, Value};
use serde::de::DeserializeOwned;

use crate::agent::Agent;

/// The kinds of backends that a program knows, by name.
///
/// ```
/// # use std::sync::Arc;
/// # use interlocking_agents::{Agent, Script, ScriptedAgent};
/// use interlocking_agents::backends::Backends;
///
/// #[derive(Clone, serde::Deserialize)]
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
    read: Read,
    /// Whether the text after the colon is a file for the agent instead of a model.
    pub(super) takes_file: bool,
}

/// An agent that several roles may share.
pub(super) type SharedAgent = Arc<dyn Agent>;

/// Reads settings that are part of a file in the given directory; problems are added to the list.
type Read = Arc<dyn Fn(&Field<'_>, &Path, &mut Problems) -> Option<Make> + Send + Sync>;

/// Makes an agent from settings that were read, a file if the kind takes one, and a model if one is named. Turns may
/// request other models later.
pub(super) type Make = Arc<dyn Fn(Option<&Path>, Option<&str>) -> Result<SharedAgent, String> + Send + Sync>;

impl Backends {
    /// No kinds.
    pub fn none() -> Self {
        Self(BTreeMap::new())
    }

    /// The same with one more kind, whose agents are made from settings `S`. The settings should refuse unknown fields,
    /// and have a default for every field that the agent can do without: then the kind needs no file. An error of
    /// `make` is reported at the place where the backend was described.
    #[must_use]
    pub fn with_kind<S: DeserializeOwned + Clone + Send + Sync + 'static>(
        self,
        name: &'static str,
        make: impl Fn(S) -> Result<Arc<dyn Agent>, String> + Send + Sync + 'static,
    ) -> Self {
        let make = Arc::new(make);
        let kind = Kind::new(move |settings, _, problems| {
            let (settings, make) = (settings.read::<S>(problems)?, make.clone());
            let make: Make = Arc::new(move |_, _| make(settings.clone()));
            Some(make)
        });
        self.with(name, kind)
    }

    /// The same for a kind whose agents play a file, which can follow the colon. The path of the file is already
    /// resolved. `make` resolves paths in the settings against the directory that it is given.
    pub(super) fn with_files<S: DeserializeOwned + Clone + Send + Sync + 'static>(
        self,
        name: &'static str,
        make: fn(S, &Path, Option<&Path>) -> Result<SharedAgent, String>,
    ) -> Self {
        let kind = Kind::new(move |settings, directory, problems| {
            let (settings, directory) = (settings.read::<S>(problems)?, directory.to_owned());
            let make: Make = Arc::new(move |file, _| make(settings.clone(), &directory, file));
            Some(make)
        });
        self.with(name, Kind { takes_file: true, ..kind })
    }

    pub(super) fn with(mut self, name: &'static str, kind: Kind) -> Self {
        self.0.insert(name, kind);
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
    pub(super) fn new(read: impl Fn(&Field<'_>, &Path, &mut Problems) -> Option<Make> + Send + Sync + 'static) -> Self {
        Self { read: Arc::new(read), takes_file: false }
    }

    /// Reads settings that are part of a file in `directory`.
    pub(super) fn read(&self, settings: &Field<'_>, directory: &Path, problems: &mut Problems) -> Option<Make> {
        (self.read)(settings, directory, problems)
    }

    /// The kind with default settings; an error says why it needs settings.
    pub(super) fn with_defaults(&self) -> Result<Make, String> {
        let settings = Node { position: Position::START, value: Value::Table(Vec::new()) };
        let mut problems = Problems::of("");
        let make = self.read(&Field::of(&settings), Path::new(""), &mut problems);
        make.ok_or_else(|| problems.into_iter().map(|problem| problem.message).collect::<Vec<_>>().join("; "))
    }
}

impl fmt::Debug for Backends {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}
