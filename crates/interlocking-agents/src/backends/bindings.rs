//! Role bindings: gathered from a file and from options, and resolved to agents for the roles that are requested.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use interlocking_document::Limits;

use super::choice::with_role;
use super::file::{self, AgentsFile, Described, Part};
use super::kind::{Backends, Kind, SharedAgent};
use super::problem::{RoleBindingProblem, RoleBindingsError, no_such};
use crate::agent::Agent;
use crate::conversation::nudge::Nudges;
use crate::sessions::lost_session::LostSession;

/// Which agent plays which role; see the [module](super).
///
/// [Options](Self::with_option) take precedence over the [file](Self::read). The order is: the option for the role, the
/// option for all roles, the file's entry for the role, the file's entry for all others.
#[derive(Clone)]
pub struct RoleBindings {
    kinds: Backends,
    backends: BTreeMap<String, Described>,
    /// Options for single roles.
    options: BTreeMap<String, Part>,
    /// The option for all roles.
    option_for_all: Option<Part>,
    roles: BTreeMap<String, Part>,
    others: Option<Part>,
}

/// A role with its agent.
#[derive(Clone)]
pub struct RoleBinding {
    /// The role.
    pub role: String,
    /// The agent. Roles with the same backend share one agent, and therefore its [sessions](Agent::sessions).
    pub agent: Arc<dyn Agent>,
    /// The model, as the agent names it; the agent's default when absent.
    pub model: Option<String>,
    /// When the agent is reminded to decide; the default when absent.
    pub nudges: Option<Nudges>,
    /// What to do with a turn whose session the agent has lost; the default when absent.
    pub lost_session: Option<LostSession>,
    /// Where the binding was made: a place in a file, or an option.
    pub place: String,
}

/// A backend: described in a file, or a kind with its default settings.
struct Found<'c> {
    kind: &'c Kind,
    described: Option<&'c Described>,
}

impl RoleBindings {
    /// No bindings yet, with these kinds of backends.
    pub fn new(backends: Backends) -> Self {
        let (options, option_for_all, roles, others) = Default::default();
        Self { kinds: backends, backends: BTreeMap::new(), options, option_for_all, roles, others }
    }

    /// The same with the bindings of a file.
    ///
    /// # Errors
    ///
    /// [`RoleBindingsError`], with all the problems in the file.
    pub fn read(self, path: impl AsRef<Path>) -> Result<Self, RoleBindingsError> {
        let path = path.as_ref();
        let file = path.display().to_string();
        match Limits::DEFAULT.read(path) {
            Ok(text) => self.parse(&file, &text, path.parent().unwrap_or(Path::new(""))),
            Err(error) => Err(RoleBindingsError::Unreadable { file, reason: error.to_string() }),
        }
    }

    /// The same with the bindings in the text of a file. `name` stands for the file in messages; relative paths are
    /// resolved against `directory`.
    ///
    /// # Errors
    ///
    /// [`RoleBindingsError::Bad`], with all the problems.
    pub fn parse(
        mut self,
        name: &str,
        text: &(impl AsRef<[u8]> + ?Sized),
        directory: &Path,
    ) -> Result<Self, RoleBindingsError> {
        let read = file::read(name, text.as_ref(), directory, &self.kinds);
        let AgentsFile { roles, others, backends } = read.map_err(RoleBindingsError::of_document)?;
        self.roles.extend(roles);
        self.others = others.or(self.others);
        self.backends.extend(backends);
        Ok(self)
    }

    /// The same with one more binding: `ROLE=BACKEND:MODEL`, or `BACKEND:MODEL` for all roles. A later option replaces
    /// an earlier one. `place` says where the binding was made, such as `--agent critic=claude:haiku`.
    ///
    /// # Errors
    ///
    /// [`RoleBindingsError::Bad`] if `text` is not a binding.
    pub fn with_option(self, text: &str, place: impl Into<String>) -> Result<Self, RoleBindingsError> {
        self.with_option_in(Path::new(""), text, place)
    }

    /// The same, resolving a relative path against `directory`.
    ///
    /// # Errors
    ///
    /// The errors of [`with_option`](Self::with_option).
    pub fn with_option_in(
        mut self,
        directory: &Path,
        text: &str,
        place: impl Into<String>,
    ) -> Result<Self, RoleBindingsError> {
        let place = place.into();
        match with_role(text) {
            Ok((role, choice)) => {
                let part = Part { choice, nudges: None, lost_session: None, place, directory: directory.to_owned() };
                match role {
                    Some(role) => drop(self.options.insert(role, part)),
                    None => self.option_for_all = Some(part),
                }
                Ok(self)
            }
            Err(message) => Err(RoleBindingsError::Bad { problems: vec![RoleBindingProblem { place, message }] }),
        }
    }

    /// Whether there is no binding for any role.
    pub fn is_empty(&self) -> bool {
        self.parts().next().is_none()
    }

    /// Binds the requested roles that have a binding. Each backend that is needed is made once, or once for each file if
    /// it plays a file.
    ///
    /// # Errors
    ///
    /// [`RoleBindingsError::Bad`] with all problems: a role that is not requested, a backend that does not exist, an
    /// agent that cannot be made.
    pub fn bind<'r>(
        &self,
        asked_for: impl IntoIterator<Item = &'r str>,
    ) -> Result<Vec<RoleBinding>, RoleBindingsError> {
        let asked_for: Vec<&str> = asked_for.into_iter().collect();
        let mut problems = self.problems(&asked_for);
        // Each backend is made at most once for each file, even if making it fails.
        let mut made: BTreeMap<_, Result<SharedAgent, ()>> = BTreeMap::new();
        let mut bound = Vec::new();
        for role in asked_for {
            let Some(part) = self.part(role) else { continue };
            let Ok(found) = self.find(part) else { continue };
            let rest = part.choice.rest.as_deref();
            let (file, model) = if found.kind.takes_file { (rest, None) } else { (None, rest) };
            let file = file.map(|file| part.directory.join(file));
            let backend = part.choice.backend.as_str();
            let agent = made.entry((backend, file.clone())).or_insert_with(|| {
                let made = found.make(backend, file.as_deref(), model);
                made.map_err(|message| {
                    let place = found.described.map_or(&part.place, |described| &described.place);
                    problems.push(RoleBindingProblem::new(place, format!("backend `{backend}`: {message}")));
                })
            });
            let Ok(agent) = agent.clone() else { continue };
            // An option chooses the agent of a role; the role's other settings still come from the file.
            let in_file = self.roles.get(role);
            let nudges = part.nudges.or(in_file.and_then(|part| part.nudges));
            let lost_session = part.lost_session.or(in_file.and_then(|part| part.lost_session));
            let model = model.map(str::to_owned);
            bound.push(RoleBinding {
                role: role.to_owned(),
                agent,
                model,
                nudges,
                lost_session,
                place: part.place.clone(),
            });
        }
        if problems.is_empty() { Ok(bound) } else { Err(RoleBindingsError::Bad { problems }) }
    }

    /// The entry that applies to a role.
    fn part(&self, role: &str) -> Option<&Part> {
        let option = self.options.get(role).or(self.option_for_all.as_ref());
        option.or_else(|| self.roles.get(role)).or(self.others.as_ref())
    }

    /// All entries, with their role.
    fn parts(&self) -> impl Iterator<Item = (Option<&str>, &Part)> {
        let named = self.options.iter().chain(&self.roles).map(|(role, part)| (Some(role.as_str()), part));
        let unnamed = self.option_for_all.iter().chain(&self.others).map(|part| (None, part));
        named.chain(unnamed)
    }

    /// Reports roles that are not requested and backends that do not exist.
    fn problems(&self, asked_for: &[&str]) -> Vec<RoleBindingProblem> {
        let mut problems = Vec::new();
        for (role, part) in self.parts() {
            if let Some(role) = role.filter(|role| !asked_for.contains(role)) {
                let message = match asked_for {
                    [] => format!("there is no role `{role}`: the graph asks for none"),
                    _ => no_such("role", role, " in the graph", asked_for.iter().copied()),
                };
                problems.push(RoleBindingProblem::new(&part.place, message));
            }
            if let Err(message) = self.find(part) {
                let hint = match asked_for.contains(&part.choice.backend.as_str()) {
                    true => format!("; it is a role: write {}=BACKEND", part.choice.backend),
                    false => String::new(),
                };
                problems.push(RoleBindingProblem::new(&part.place, message + &hint));
            }
        }
        problems
    }

    fn find(&self, part: &Part) -> Result<Found<'_>, String> {
        let name = part.choice.backend.as_str();
        let described = self.backends.get(name);
        match self.kinds.get(described.map_or(name, |described| &described.kind)) {
            Some(kind) => Ok(Found { kind, described }),
            None => {
                let known: Vec<&str> = self.backends.keys().map(String::as_str).chain(self.kinds.names()).collect();
                Err(no_such("backend", name, "", known))
            }
        }
    }
}

impl Found<'_> {
    fn make(&self, name: &str, file: Option<&Path>, model: Option<&str>) -> Result<Arc<dyn Agent>, String> {
        let default;
        let make = match self.described {
            Some(described) => &described.make,
            None => {
                default = self
                    .kind
                    .with_defaults()
                    .map_err(|message| format!("{message} in a file, under [backends.{name}]"))?;
                &default
            }
        };
        make(file, model)
    }
}

impl Default for RoleBindings {
    /// No bindings yet, with the [built-in](Backends::built_in) backends.
    fn default() -> Self {
        Self::new(Backends::built_in())
    }
}

impl fmt::Debug for RoleBindings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> =
            self.parts().map(|(role, part)| format!("{}={}", role.unwrap_or("*"), part.choice)).collect();
        f.debug_struct("RoleBindings").field("kinds", &self.kinds).field("parts", &parts).finish()
    }
}

impl fmt::Debug for RoleBinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RoleBinding")
            .field("role", &self.role)
            .field("agent", &self.agent.name())
            .field("model", &self.model)
            .finish()
    }
}
