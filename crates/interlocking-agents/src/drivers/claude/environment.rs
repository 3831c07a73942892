//! What the program gets from outside: environment variables, and the key, which the agent's commands must not see.

use std::ffi::OsString;
use std::path::Path;

use super::settings::{ClaudeSettings, Credential};
use crate::agent::error::AgentErrorKind;
use crate::program::{Environment, Secret};

/// Switches that make the program connect only to the provider, leave its own installation unchanged, end together with
/// the turn, and use nothing from the prompt and from earlier runs beyond what it is told to use.
const SWITCHES: [&str; 7] = [
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "DISABLE_AUTOUPDATER",
    "DISABLE_TELEMETRY",
    "DISABLE_ERROR_REPORTING",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS",
    // Otherwise an `@` in a prompt would include the file named after it, wherever it is, without a permission.
    "CLAUDE_CODE_DISABLE_FILE_MENTIONS",
    // Otherwise the notes of one session would reach the others.
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY",
];

/// Reads the key from the first line of standard input and passes it to the program through a pipe, which is empty once
/// the key was read. So the key is not in the environment, which the agent's commands inherit, and not in the
/// arguments, which they can read.
pub(super) const PASS_KEY_SCRIPT: &str = "IFS= read -r key && exec \"$@\" 3<<KEY\n$key\nKEY\n";

/// What the program gets in addition to its arguments.
pub(super) struct Surroundings {
    pub(super) environment: Environment,
    /// The key is passed through a pipe, so it comes before the prompt in the input.
    pub(super) key: Option<Secret>,
}

/// None of the usual variables is set.
const NO_KEY: &str = "there is no key: set ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN or CLAUDE_CODE_OAUTH_TOKEN (from `claude setup-token`), or name \
     another variable in `credential`, or set it to the login that is kept in `home`";

/// A key, and how the program reads it.
struct Key {
    secret: Secret,
    /// The variable from which the program reads the key.
    variable: &'static str,
    /// The variable that names the pipe from which the program reads the key, if it supports that.
    descriptor: Option<&'static str>,
}

impl Surroundings {
    /// For a call with its temporary files in `temporary`.
    pub(super) fn new(
        settings: &ClaudeSettings,
        given: Option<&Secret>,
        store: &Path,
        temporary: &Path,
        workspace: Option<&Path>,
    ) -> Result<Self, AgentErrorKind> {
        let environment = Self::without_key(settings, store, temporary, workspace);
        Ok(match key(settings.credential.as_ref(), given)? {
            None => Self { environment, key: None },
            Some(Key { secret, descriptor: Some(descriptor), .. }) if cfg!(unix) => {
                let environment = environment.set(descriptor, "3").redact(secret.clone());
                Self { environment, key: Some(secret) }
            }
            Some(Key { secret, variable, .. }) => Self { environment: environment.secret(variable, secret), key: None },
        })
    }

    /// All environment variables except the key.
    pub(super) fn without_key(
        settings: &ClaudeSettings,
        store: &Path,
        temporary: &Path,
        workspace: Option<&Path>,
    ) -> Environment {
        let mut environment = Environment::of_agent(&settings.inherit, &settings.environment, workspace);
        for switch in SWITCHES {
            environment = environment.set(switch, "1");
        }
        environment = environment
            .set("CLAUDE_CODE_MAX_RETRIES", settings.retries.to_string())
            .set("CLAUDE_CONFIG_DIR", store)
            .set("CLAUDE_CODE_TMPDIR", temporary)
            .set("TMPDIR", temporary);
        if let Some(limit) = settings.request_limit {
            environment = environment.set("API_TIMEOUT_MS", limit.as_millis().to_string());
        }
        let Some(address) = base_url(settings) else { return environment };
        environment.without_proxy_for(&address).set("ANTHROPIC_BASE_URL", address)
    }

    /// The program and its arguments, wrapped so that the program gets the key.
    pub(super) fn program(&self, program: &Path, arguments: Vec<OsString>) -> (OsString, Vec<OsString>) {
        match self.key {
            None => (program.into(), arguments),
            Some(_) => {
                let before = ["-c".into(), PASS_KEY_SCRIPT.into(), "claude".into(), program.into()];
                ("/bin/sh".into(), before.into_iter().chain(arguments).collect())
            }
        }
    }

    /// The first bytes for standard input.
    pub(super) fn first_input(&self) -> Vec<u8> {
        self.key.as_ref().map(|key| format!("{}\n", key.expose()).into_bytes()).unwrap_or_default()
    }
}

/// The address that requests go to, if it is certain: not if a settings file or a variable can name another provider.
pub(super) fn destination(settings: &ClaudeSettings) -> Option<String> {
    let mut variables = settings.environment.keys().chain(&settings.inherit);
    let names_provider = |name: &String| name.starts_with("CLAUDE_CODE_USE_") || name == "ANTHROPIC_UNIX_SOCKET";
    if !settings.setting_sources.is_empty() || variables.any(names_provider) {
        return None;
    }
    base_url(settings)
}

/// The address of the provider, if one is configured.
fn base_url(settings: &ClaudeSettings) -> Option<String> {
    let inherited = || std::env::var("ANTHROPIC_BASE_URL").ok().filter(|address| !address.is_empty());
    settings.base_url.clone().or_else(inherited)
}

/// Whether only the driver may set this variable.
pub(super) fn is_reserved(name: &str) -> bool {
    let others = [
        "ANTHROPIC_BASE_URL",
        "API_TIMEOUT_MS",
        "CLAUDE_CODE_MAX_RETRIES",
        "CLAUDE_CODE_TMPDIR",
        "CLAUDE_CONFIG_DIR",
        "TMPDIR",
    ];
    let of_keys = |(variable, descriptor): &(&str, Option<&str>)| *variable == name || *descriptor == Some(name);
    SWITCHES.contains(&name) || others.contains(&name) || KINDS.iter().any(of_keys)
}

/// Whether there is a key.
pub(super) fn look_for_key(credential: Option<&Credential>, given: Option<&Secret>) -> Result<(), AgentErrorKind> {
    key(credential, given).map(drop)
}

fn key(credential: Option<&Credential>, given: Option<&Secret>) -> Result<Option<Key>, AgentErrorKind> {
    let (variable, kind) = match credential {
        Some(Credential::Login) => return Ok(None),
        Some(Credential::ApiKey { variable }) => (variable.as_str(), KINDS[0]),
        Some(Credential::AuthToken { variable }) => (variable.as_str(), KINDS[1]),
        Some(Credential::OauthToken { variable }) => (variable.as_str(), KINDS[2]),
        None if given.is_some() => (KINDS[0].0, KINDS[0]),
        None => {
            let set = KINDS.into_iter().find(|(variable, _)| Secret::from_variable(variable).is_some());
            let kind = set.ok_or_else(|| AgentErrorKind::configuration(NO_KEY))?;
            (kind.0, kind)
        }
    };
    let secret = given.cloned().or_else(|| Secret::from_variable(variable));
    let secret = secret.ok_or_else(|| {
        let unset = format!("there is no key: the variable {variable}, which `credential` names, is not set");
        AgentErrorKind::configuration(unset)
    })?;
    if secret.expose().contains(['\n', '\r']) {
        return Err(AgentErrorKind::configuration(format!(
            "the key in the variable {variable} is of several lines, which no key is"
        )));
    }
    Ok(Some(Key { secret, variable: kind.0, descriptor: kind.1 }))
}

/// The variables from which the program reads keys, and the corresponding variables that name a pipe.
const KINDS: [(&str, Option<&str>); 3] = [
    ("ANTHROPIC_API_KEY", Some("CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR")),
    ("ANTHROPIC_AUTH_TOKEN", None),
    ("CLAUDE_CODE_OAUTH_TOKEN", Some("CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR")),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The switch for real calls asks for it.
    #[test]
    fn the_destination_is_unknown_if_another_provider_can_be_named() {
        let local = Some("http://127.0.0.1:1".to_owned());
        let settings = || ClaudeSettings { base_url: local.clone(), ..ClaudeSettings::default() };
        let harmless = ClaudeSettings { inherit: vec!["CARGO_HOME".to_owned()], ..settings() };
        assert_eq!(destination(&harmless), local);
        let (bedrock, vertex) = ("CLAUDE_CODE_USE_BEDROCK".to_owned(), "CLAUDE_CODE_USE_VERTEX".to_owned());
        for elsewhere in [
            ClaudeSettings { setting_sources: vec!["project".to_owned()], ..settings() },
            ClaudeSettings { environment: [(bedrock, "1".to_owned())].into(), ..settings() },
            ClaudeSettings {
                environment: [("ANTHROPIC_UNIX_SOCKET".to_owned(), "/s".to_owned())].into(),
                ..settings()
            },
            ClaudeSettings { inherit: vec![vertex], ..settings() },
        ] {
            assert_eq!(destination(&elsewhere), None, "{elsewhere:?}");
        }
    }
}
