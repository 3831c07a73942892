//! Kinds of backends: how an agent is made of its settings.

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
    /// What follows the colon is a file of the backend's own, and not a model.
    pub(super) takes_file: bool,
}

/// An agent that several roles may have.
pub(super) type SharedAgent = Arc<dyn Agent>;

/// Reads settings, which stand in a file of that directory; what is wrong is filed.
type Read = Arc<dyn Fn(&Field<'_>, &Path, &mut Problems) -> Option<Make> + Send + Sync>;

/// Makes an agent of settings that were read, of a file where its kind takes one, and for a model where one is named: others
/// may be asked of it later.
pub(super) type Make = Arc<dyn Fn(Option<&Path>, Option<&str>) -> Result<SharedAgent, String> + Send + Sync>;

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

    /// The same for a kind whose agents play a file, which can follow the colon. Paths in settings are for `make` to resolve,
    /// against the directory that it is given; the file has been.
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

    /// Reads settings that stand in a file of that directory.
    pub(super) fn read(&self, settings: &Field<'_>, directory: &Path, problems: &mut Problems) -> Option<Make> {
        (self.read)(settings, directory, problems)
    }

    /// With default settings; an error says why there are none.
    pub(super) fn usual(&self) -> Result<Make, String> {
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
