//! Checks whether the program can work as it is configured, before anything runs.

use super::environment::{Surroundings, is_reserved, look_for_key};
use super::prepare::find;
use super::settings::{ClaudeSettings, PermissionMode};
use super::store::Store;
use crate::agent::error::{AgentError, AgentErrorKind};
use crate::drivers::installation::{Required, Version, require_version};
use crate::program::{Environment, Secret};

/// The oldest version that is known to support what the driver needs; the tests run with it.
const REQUIRED: Required = Required {
    name: "Claude Code",
    oldest: Version([2, 1, 330]),
    find: |said| Version::parse(said.lines().next()?),
    remedy: "install @anthropic-ai/claude-code from npm, or set `program`",
};

const SETTING_SOURCES: [&str; 3] = ["user", "project", "local"];

/// Reports everything that is missing or unsupported, all problems together.
pub(super) async fn ready(settings: &ClaudeSettings, key: Option<&Secret>) -> Result<(), AgentError> {
    let mut problems = contradictions(settings);
    if let Err(error) = look_for_key(settings.credential.as_ref(), key) {
        problems.push(reason(error));
    }
    let store = Store::new(settings, None, None).and_then(|store| store.make().map(|()| store));
    match store {
        Err(error) => problems.push(reason(error)),
        Ok(store) => {
            let environment = Surroundings::without_key(settings, store.directory(), &std::env::temp_dir(), None);
            let tested = REQUIRED.oldest;
            match version(settings, environment).await {
                Err(error) => problems.push(reason(error)),
                Ok(found) if found.0[..2] > tested.0[..2] => {
                    tracing::warn!(%found, %tested, "Claude Code is much newer than the version that was tested");
                }
                Ok(_) => {}
            }
        }
    }
    match problems.is_empty() {
        true => Ok(()),
        false => Err(AgentErrorKind::configuration(problems.join("; ")).into()),
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

async fn version(settings: &ClaudeSettings, environment: Environment) -> Result<Version, AgentErrorKind> {
    let program = find(&settings.program, &environment)?;
    require_version(&program, environment, &REQUIRED).await
}

#[cfg(test)]
mod tests {
    use super::*;

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
