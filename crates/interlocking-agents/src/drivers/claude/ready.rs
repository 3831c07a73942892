//! Checks whether the program can work as it is configured, before anything runs.

use std::fmt;
use std::str::FromStr;

use super::environment::{Surroundings, is_reserved, look_for_key};
use super::prepare::find;
use super::settings::{ClaudeSettings, PermissionMode};
use super::store::Store;
use crate::agent::error::{AgentError, AgentErrorKind};
use crate::drivers::installation::version_output;
use crate::program::{Environment, Secret};

/// The oldest version that is known to support what the driver needs; the tests run with it.
const KNOWN: Version = Version(2, 1, 330);

const SETTING_SOURCES: [&str; 3] = ["user", "project", "local"];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Version(u32, u32, u32);

/// Reports everything that is missing or unsupported, all problems together.
pub(super) async fn ready(settings: &ClaudeSettings, key: Option<&Secret>) -> Result<(), AgentError> {
    let mut problems = contradictions(settings);
    if let Err(error) = look_for_key(settings.credential.as_ref(), key) {
        problems.push(error.to_string());
    }
    let store = Store::new(settings, None, None).and_then(|store| store.make().map(|()| store));
    match store {
        Err(error) => problems.push(error.to_string()),
        Ok(store) => {
            let environment = Surroundings::without_key(settings, store.directory(), &std::env::temp_dir(), None);
            match version(settings, environment).await {
                Err(problem) => problems.push(problem),
                Ok(found) if found < KNOWN => problems.push(format!(
                    "{} is version {found}, but version {KNOWN} or later is needed: update it",
                    settings.program.display()
                )),
                Ok(found) if (found.0, found.1) > (KNOWN.0, KNOWN.1) => {
                    tracing::warn!(%found, tested = %KNOWN, "Claude Code is much newer than the version that was tested");
                }
                Ok(_) => {}
            }
        }
    }
    match problems.is_empty() {
        true => Ok(()),
        false => Err(AgentError::new(AgentErrorKind::Configuration { reason: problems.join("; ") })),
    }
}

/// Settings that the program would refuse or ignore.
fn contradictions(settings: &ClaudeSettings) -> Vec<String> {
    let mut problems = Vec::new();
    if settings.max_steps == Some(0) {
        problems.push("`max_steps` is 0, so nothing could be done: leave it out for any number".to_owned());
    }
    if settings.max_dollars.is_some_and(|dollars| !(dollars.is_finite() && dollars > 0.0)) {
        problems.push("`max_dollars` is no amount of money: leave it out for any amount".to_owned());
    }
    for source in settings.setting_sources.iter().filter(|source| !SETTING_SOURCES.contains(&source.as_str())) {
        problems.push(format!("`setting_sources` has {source:?}; there are {}", SETTING_SOURCES.join(", ")));
    }
    for name in settings.environment.keys().chain(&settings.inherit).filter(|name| is_reserved(name)) {
        problems.push(format!("the variable {name} is set by the driver: use the setting that is for it"));
    }
    if settings.permission_mode == PermissionMode::BypassPermissions && is_root() {
        problems.push(
            "the program does not bypass permissions for root: run as another user, or allow what is needed".to_owned(),
        );
    }
    problems
}

#[cfg(unix)]
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[cfg(not(unix))]
fn is_root() -> bool {
    false
}

fn reason(kind: AgentErrorKind) -> String {
    match kind {
        AgentErrorKind::Configuration { reason } => reason,
        other => other.to_string(),
    }
}

async fn version(settings: &ClaudeSettings, environment: Environment) -> Result<Version, String> {
    let program = find(&settings.program, &environment).map_err(reason)?;
    let (said, ended) = version_output(&program, environment).await.map_err(reason)?;
    let first = said.lines().next().unwrap_or_default();
    first
        .parse()
        .map_err(|()| format!("{} does not say its version, but {first:?} {}", program.display(), ended.stderr))
}

impl FromStr for Version {
    type Err = ();

    /// Parses `2.1.330 (Claude Code)`.
    fn from_str(text: &str) -> Result<Self, ()> {
        let mut numbers = text.split_whitespace().next().ok_or(())?.splitn(3, '.').map(|part| {
            let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
            digits.parse().map_err(|_| ())
        });
        let mut next = || numbers.next().unwrap_or(Err(()));
        Ok(Self(next()?, next()?, next()?))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}.{}", self.0, self.1, self.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_compared() {
        assert_eq!("2.1.330 (Claude Code)".parse(), Ok(KNOWN));
        assert_eq!("3.0.0-beta.1 (Claude Code)".parse(), Ok(Version(3, 0, 0)));
        assert!("2.1.9".parse::<Version>().unwrap() < KNOWN);
        for bad in ["", "Claude Code", "2.1", "v2.1.330"] {
            assert!(bad.parse::<Version>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn all_contradictions_are_found_at_once() {
        let settings = ClaudeSettings {
            max_steps: Some(0),
            max_dollars: Some(f64::NAN),
            setting_sources: vec!["project".to_owned(), "global".to_owned()],
            environment: [("ANTHROPIC_API_KEY".to_owned(), "x".to_owned())].into(),
            ..ClaudeSettings::default()
        };
        assert_eq!(contradictions(&settings).len(), 4);
        assert_eq!(contradictions(&ClaudeSettings::default()), Vec::<String>::new());
    }
}
