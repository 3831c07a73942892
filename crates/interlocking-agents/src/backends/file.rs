//! The file that says who plays what: from TOML to what a [`RoleBindings`](super::RoleBindings) gathers.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Deserializer, de};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::choice::Choice;
use super::kind::{Backends, Make};
use super::nearest::{listed, no_such};
use super::problem::RoleBindingProblem;
use crate::conversation::nudge::Nudges;
use crate::scripted::Delay;
use crate::sessions::lost_session::LostSession;

/// Who plays a role, and where that was said.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) choice: Choice,
    pub(super) nudges: Option<Nudges>,
    pub(super) lost_session: Option<LostSession>,
    pub(super) place: String,
    /// Where a relative path is looked for.
    pub(super) directory: PathBuf,
}

/// A backend that was described.
#[derive(Clone)]
pub(super) struct Described {
    pub(super) kind: String,
    pub(super) make: Make,
    pub(super) place: String,
}

/// What a file says.
#[derive(Default)]
pub(super) struct AgentsFile {
    pub(super) roles: BTreeMap<String, Part>,
    pub(super) others: Option<Part>,
    pub(super) backends: BTreeMap<String, Described>,
}

/// A file that is read.
struct Reading<'t> {
    name: &'t str,
    text: &'t str,
    directory: &'t Path,
    kinds: &'t Backends,
    /// Each with its place in the text.
    problems: Vec<(usize, RoleBindingProblem)>,
}

/// A role's table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRole {
    agent: Spanned<String>,
    nudges: Option<RawNudges>,
    lost_session: Option<LostSession>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawNudges {
    idle: Option<Idle>,
    limit: Option<u32>,
}

/// A duration, or "never".
struct Idle(Option<Duration>);

type Entry<'t> = (Spanned<toml::de::DeString<'t>>, Spanned<DeValue<'t>>);

/// Reads a file's text. `name` stands for it in messages; relative paths in it are of `directory`.
pub(super) fn read(
    name: &str,
    text: &str,
    directory: &Path,
    kinds: &Backends,
) -> Result<AgentsFile, Vec<RoleBindingProblem>> {
    let mut reading = Reading { name, text, directory, kinds, problems: Vec::new() };
    let mut file = AgentsFile::default();
    match DeTable::parse(text) {
        Ok(table) => reading.file(table.into_inner(), &mut file),
        Err(error) => reading.refuse(error.span(), error.message().to_owned()),
    }
    if reading.problems.is_empty() {
        return Ok(file);
    }
    // TOML's tables are in the order of their names.
    reading.problems.sort_by_key(|(offset, _)| *offset);
    Err(reading.problems.into_iter().map(|(_, problem)| problem).collect())
}

impl<'t> Reading<'t> {
    fn place(&self, span: Option<Range<usize>>) -> String {
        let before = self.text.bytes().take(span.map_or(0, |span| span.start));
        format!("{}:{}", self.name, 1 + before.filter(|byte| *byte == b'\n').count())
    }

    fn refuse(&mut self, span: Option<Range<usize>>, message: String) {
        let place = self.place(span.clone());
        self.problems.push((span.map_or(0, |span| span.start), RoleBindingProblem { place, message }));
    }

    fn file(&mut self, table: DeTable<'t>, file: &mut AgentsFile) {
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "others" => file.others = self.part(value, "others"),
                "roles" => {
                    for (role, part) in self.entries(value, "roles") {
                        let role = role.into_inner().into_owned();
                        let part = self.part(part, &format!("roles.{role}"));
                        file.roles.extend(part.map(|part| (role, part)));
                    }
                }
                "backends" => {
                    for (name, backend) in self.entries(value, "backends") {
                        let name = name.into_inner().into_owned();
                        let described = self.backend(&name, backend);
                        file.backends.extend(described.map(|described| (name, described)));
                    }
                }
                other => {
                    let message = no_such("key", other, "", ["backends", "others", "roles"]);
                    self.refuse(Some(key.span()), message);
                }
            }
        }
    }

    fn entries(&mut self, value: Spanned<DeValue<'t>>, field: &str) -> Vec<Entry<'t>> {
        let span = value.span();
        match value.into_inner() {
            DeValue::Table(table) => table.into_iter().collect(),
            _ => {
                self.refuse(Some(span), format!("`{field}` must be a table: `[{field}]`"));
                Vec::new()
            }
        }
    }

    fn part(&mut self, value: Spanned<DeValue<'t>>, field: &str) -> Option<Part> {
        let span = value.span();
        let (agent, nudges, lost_session) = match value.into_inner() {
            DeValue::String(text) => (Spanned::new(span, text.into_owned()), None, None),
            DeValue::Table(table) => {
                let table = toml::Deserializer::from(Spanned::new(span.clone(), table));
                match RawRole::deserialize(table) {
                    Ok(RawRole { agent, nudges, lost_session }) => {
                        (agent, nudges.map(RawNudges::over_default), lost_session)
                    }
                    Err(error) => {
                        let message = format!("`{field}`: {}", error.message());
                        self.refuse(error.span().or(Some(span)), message);
                        return None;
                    }
                }
            }
            _ => {
                let message = format!("`{field}` must be an agent, such as \"claude:haiku\", or a table with `agent`");
                self.refuse(Some(span), message);
                return None;
            }
        };
        let span = agent.span();
        match Choice::parse(agent.get_ref()) {
            Ok(choice) => {
                let directory = self.directory.to_owned();
                Some(Part { choice, nudges, lost_session, place: self.place(Some(span)), directory })
            }
            Err(message) => {
                self.refuse(Some(span), format!("`{field}`: {message}"));
                None
            }
        }
    }

    fn backend(&mut self, name: &str, value: Spanned<DeValue<'t>>) -> Option<Described> {
        let (field, span) = (format!("backends.{name}"), value.span());
        if name.is_empty() || name.contains([':', '=']) {
            self.refuse(Some(span), format!("{name:?} cannot name a backend: it must have neither `:` nor `=`"));
            return None;
        }
        let mut kind = None;
        let mut settings = DeTable::new();
        for (key, value) in self.entries(value, &field) {
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("kind", DeValue::String(text)) => kind = Some(Spanned::new(value.span(), text.to_string())),
                ("kind", _) => {
                    self.refuse(Some(value.span()), format!("`{field}.kind` must be the name of a kind"));
                    return None;
                }
                _ => drop(settings.insert(key, value)),
            }
        }
        let kinds = self.kinds;
        let (kind, kind_span) = match kind {
            Some(kind) => (kind.get_ref().clone(), kind.span()),
            None if kinds.get(name).is_some() => (name.to_owned(), span.clone()),
            None => {
                let message =
                    format!("`{field}` says no `kind`, and is none itself; the kinds are {}", listed(kinds.names()));
                self.refuse(Some(span), message);
                return None;
            }
        };
        let Some(found) = kinds.get(&kind) else {
            let message = format!("`{field}.kind`: {}", no_such("kind", &kind, "", kinds.names()));
            self.refuse(Some(kind_span), message);
            return None;
        };
        match found.read(Spanned::new(span.clone(), settings), self.directory) {
            Ok(make) => Some(Described { kind, make, place: self.place(Some(span)) }),
            Err(error) => {
                let message = format!("`{field}`: {}", error.message());
                self.refuse(error.span().or(Some(span)), message);
                None
            }
        }
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
