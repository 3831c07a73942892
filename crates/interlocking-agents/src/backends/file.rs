//! Reads the file that binds roles to agents: from TOML to the data of a [`RoleBindings`](super::RoleBindings).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use interlocking_document::{Document, Field, Position, Problems, Source, Value, listed};
use serde::{Deserialize, Deserializer, de};

use super::choice::Choice;
use super::kind::{Backends, Make};
use super::problem::no_such;
use crate::conversation::nudge::Nudges;
use crate::scripted::Delay;
use crate::sessions::lost_session::LostSession;

/// The agent and settings for a role, and where they were given.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) choice: Choice,
    pub(super) nudges: Option<Nudges>,
    pub(super) lost_session: Option<LostSession>,
    pub(super) place: String,
    /// The directory against which a relative path is resolved.
    pub(super) directory: PathBuf,
}

/// A backend that is described in a file.
#[derive(Clone)]
pub(super) struct Described {
    pub(super) kind: String,
    pub(super) make: Make,
    pub(super) place: String,
}

/// The contents of a file.
#[derive(Default)]
pub(super) struct AgentsFile {
    pub(super) roles: BTreeMap<String, Part>,
    pub(super) others: Option<Part>,
    pub(super) backends: BTreeMap<String, Described>,
}

/// What is needed to read a file.
struct Reading<'t> {
    name: &'t str,
    directory: &'t Path,
    kinds: &'t Backends,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawNudges {
    idle: Option<Idle>,
    limit: Option<u32>,
}

/// A duration, or "never".
struct Idle(Option<Duration>);

/// Reads a file's text. `name` stands for the file in messages; relative paths in it are resolved against `directory`.
pub(super) fn read(name: &str, text: &[u8], directory: &Path, kinds: &Backends) -> Result<AgentsFile, Problems> {
    let reading = Reading { name, directory, kinds };
    Document::toml(Source::new(name, text))?.read(|root, problems| reading.file(&root, problems))
}

impl Reading<'_> {
    fn file(&self, root: &Field<'_>, problems: &mut Problems) -> Option<AgentsFile> {
        let mut fields = root.fields(problems)?;
        let mut file = AgentsFile::default();
        for (name, backend) in fields.take("backends").and_then(|all| all.entries(problems)).into_iter().flatten() {
            let described = self.backend(&name.name, &backend, problems);
            file.backends.extend(described.map(|described| (name.name.clone(), described)));
        }
        file.others = fields.take("others").and_then(|others| self.part(&others, problems));
        for (role, part) in fields.take("roles").and_then(|all| all.entries(problems)).into_iter().flatten() {
            let part = self.part(&part, problems);
            file.roles.extend(part.map(|part| (role.name.clone(), part)));
        }
        fields.finish(problems);
        Some(file)
    }

    fn place(&self, position: Position) -> String {
        position.of(self.name).to_string()
    }

    fn part(&self, field: &Field<'_>, problems: &mut Problems) -> Option<Part> {
        let (agent, nudges, lost_session) = match &field.node().value {
            Value::Text(_) => (Some(field.clone()), Some(None), Some(None)),
            Value::Table(_) => {
                let mut fields = field.fields(problems)?;
                let agent = fields.require("agent", problems);
                let nudges = fields.optional::<Option<RawNudges>>("nudges", None, problems);
                let lost_session = fields.optional("lost_session", None, problems);
                fields.finish(problems);
                (agent, nudges, lost_session)
            }
            _ => {
                field.expected("an agent, such as \"claude:haiku\", or a table with `agent`", problems);
                return None;
            }
        };
        let agent = agent?;
        let choice = Choice::parse(&agent.text(problems)?.content);
        let choice = choice.map_err(|message| agent.refuse(message, problems)).ok()?;
        let (nudges, directory) = (nudges?.map(RawNudges::over_default), self.directory.to_owned());
        Some(Part { choice, nudges, lost_session: lost_session?, place: self.place(agent.position()), directory })
    }

    fn backend(&self, name: &str, field: &Field<'_>, problems: &mut Problems) -> Option<Described> {
        if name.is_empty() || name.contains([':', '=']) {
            field.refuse("no backend can be named so: it must have neither `:` nor `=`", problems);
            return None;
        }
        let mut fields = field.fields(problems)?;
        let kind = match fields.take("kind") {
            Some(kind) => {
                let name = &kind.text(problems)?.content;
                if self.kinds.get(name).is_none() {
                    kind.refuse(no_such("kind", name, "", self.kinds.names()), problems);
                }
                name
            }
            None if self.kinds.get(name).is_some() => name,
            None => {
                let kinds = listed(self.kinds.names());
                field.refuse(format!("it has no `kind`, and its name is not a kind; the kinds are {kinds}"), problems);
                return None;
            }
        };
        let settings = fields.rest();
        let make = self.kinds.get(kind)?.read(&field.with_node(&settings), self.directory, problems)?;
        Some(Described { kind: kind.to_owned(), make, place: self.place(field.position()) })
    }
}

impl RawNudges {
    fn over_default(self) -> Nudges {
        let nudges = Nudges::DEFAULT;
        let nudges = match self.idle {
            Some(Idle(idle)) => nudges.with_idle(idle),
            None => nudges,
        };
        self.limit.map_or(nudges, |limit| nudges.with_limit(limit))
    }
}

impl<'de> Deserialize<'de> for Idle {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == "never" {
            return Ok(Self(None));
        }
        let delay = Delay::deserialize(de::value::StringDeserializer::<D::Error>::new(text))?;
        Ok(Self(Some(delay.0)))
    }
}
