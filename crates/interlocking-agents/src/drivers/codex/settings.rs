//! The settings of Codex.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use crate::agent::error::AgentErrorKind;
use crate::drivers::homes::Homes;
use crate::program::{CallLimits, Secret};
use crate::scripted::optional;
use crate::sessions::state_directory::state_directory;

/// The settings of [`Codex`](super::Codex); every field can be left out.
///
/// The settings contain no key, only the name of the variable that holds it.
///
/// ```
/// # use interlocking_agents::CodexSettings;
/// let settings: CodexSettings = toml::from_str(r#"
///     model = "gpt-6-luna"
///     effort = "low"
///     api_key_variable = "REVIEWER_KEY"
///     config = { web_search = "disabled" }
/// "#)?;
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CodexSettings {
    /// The program: a path, or a name that is looked up in `PATH`. Default: `codex`.
    pub program: PathBuf,
    /// The model, as the program names it (`gpt-6-luna`), for turns that name none. Default: the program's default.
    pub model: Option<String>,
    /// How hard the model thinks, such as `low` or `high`. Default: the model's default.
    pub effort: Option<String>,
    /// The directory in which sessions are kept. Another process with the same home finds the sessions again. The home
    /// contains the conversations, so it is created for this user alone, and each role has its own directory
    /// `roles/ROLE` in it. All roles share the home if a login or `reads_home` requires that. What else the program
    /// keeps (`CODEX_HOME`) lasts for a call.
    ///
    /// Default: `interlocking/codex` in the user's directory for state: `$XDG_STATE_HOME`, or `~/.local/state`, or
    /// `~/Library/Application Support`. It is not the `~/.codex` of the user's own Codex, with its login, instructions
    /// and memories.
    pub home: Option<PathBuf>,
    /// Whether the home is the program's (`CODEX_HOME`), and everything in it applies: `config.toml`, rules, variables,
    /// instructions and skills. Default: no, so that the settings decide everything. An agent that can write there then
    /// decides what later calls do. The MCP servers of the home's `config.toml` are available in a
    /// [read-only](crate::Turn::read_only) turn, too, and nothing confines what their tools change. Another provider
    /// can be named there, so where only [calls on this machine](crate::real_calls) are permitted, no call is.
    pub reads_home: bool,
    /// The environment variable of this process that contains the API key. Default: the first of `OPENAI_API_KEY` and
    /// `CODEX_API_KEY` that is set. If neither is set, the login in the home is used, which `codex login` with
    /// `CODEX_HOME` set to the home creates. It has to be in the file `auth.json`: one that Codex keeps in the system's
    /// key ring (`cli_auth_credentials_store`) may depend on the path of `CODEX_HOME`, which is new in each call. The
    /// agent's commands do not get the key; they can read what is in the home unless a sandbox forbids it.
    pub api_key_variable: Option<String>,
    /// The address of a provider with OpenAI's Responses API, such as `http://127.0.0.1:8080/v1`. Default: the address
    /// in `OPENAI_BASE_URL`, or else OpenAI's.
    pub base_url: Option<String>,
    /// How often the program itself repeats a request after a transient error or a broken stream, before the call
    /// fails. Default with a `base_url`: 2. For OpenAI itself the program does not allow changing it, so the setting is
    /// refused.
    pub retries: Option<u32>,
    /// Further configuration of the program, as in its `config.toml`. It overrides what the driver sets, except what a
    /// turn may do and which keys are hidden from commands. MCP servers (`mcp_servers`) are left out of a
    /// [read-only](crate::Turn::read_only) turn; those of a [home that is read](Self::reads_home) are not. Default:
    /// none. If it names a provider (`model_provider`, `model_providers`) or a profile, no call is permitted where only
    /// [calls on this machine](crate::real_calls) are.
    pub config: toml::Table,
    /// Features of the program that are switched on or off, by the program's names. These are off by default:
    /// `plugins`, `multi_agent`, `multi_agent_v2`, `shell_snapshot` and `unbounded_connection_retries`, which cost time
    /// at every start, spend tokens that are not counted, run the user's profile, or never end. For agents of the
    /// program's own, `config` has to say `agents.enabled = true` as well.
    pub features: BTreeMap<String, bool>,
    /// Whether the program uses its own sandbox for its commands in a turn without a [sandbox](crate::Turn::sandbox).
    /// It then allows writing in the workspace and in the directories for temporary files, or only reading, and no
    /// network. Default: yes. On a machine that does not let programs create namespaces, the commands fail unless this
    /// is switched off; then they may do everything.
    pub own_sandbox: bool,
    /// How long one call may take, as `"30m"`. Default: no limit.
    #[serde(deserialize_with = "optional")]
    pub time_limit: Option<Duration>,
    /// How long the program may take to report a session; it does not call a model before that. Default: one minute.
    #[serde(deserialize_with = "optional")]
    pub first_event_limit: Option<Duration>,
    /// How long the program may be silent while it runs no tool. Default: no limit, because
    /// [`Nudges::idle`](crate::Nudges::idle) serves that purpose. Both limits must be longer than the model needs for
    /// its longest message: the program is silent while the model writes a message.
    #[serde(deserialize_with = "optional")]
    pub idle_limit: Option<Duration>,
    /// Variables of this process that the program and the agent's commands inherit, such as `CARGO_HOME`, in addition
    /// to [the few](crate::program::Environment::minimal) that any program needs.
    pub inherit: Vec<String>,
    /// Further variables with their values. Do not put secrets here: the agent's commands see them. `{workspace-hash}`
    /// in a value is replaced by [a hash of the workspace](crate::program::WORKSPACE_HASH) of the turn.
    pub environment: BTreeMap<String, String>,
    /// Refused: the program cannot limit the steps of a call.
    pub max_steps: Option<u32>,
    /// Refused: the program does not know what a call costs.
    pub max_dollars: Option<f64>,
}

impl Default for CodexSettings {
    fn default() -> Self {
        Self {
            program: "codex".into(),
            model: None,
            effort: None,
            home: None,
            reads_home: false,
            api_key_variable: None,
            base_url: None,
            retries: None,
            config: toml::Table::new(),
            features: BTreeMap::new(),
            own_sandbox: true,
            time_limit: None,
            first_event_limit: Some(Duration::from_secs(60)),
            idle_limit: None,
            inherit: Vec::new(),
            environment: BTreeMap::new(),
            max_steps: None,
            max_dollars: None,
        }
    }
}

/// The variables that may contain the key by default.
const KEYS: [&str; 2] = ["OPENAI_API_KEY", "CODEX_API_KEY"];

const BASE_URL: &str = "OPENAI_BASE_URL";

/// The keys of the program's configuration that can decide which provider is called. A profile can name one.
const DECIDE_PROVIDER: [&str; 4] = ["model_provider", "model_providers", "profile", "profiles"];

impl CodexSettings {
    /// The homes in which the program keeps its sessions. Without a key all roles share one home, because they need its
    /// login.
    pub(super) fn homes(&self, has_key: bool) -> Result<Homes, AgentErrorKind> {
        let are_shared = self.reads_home || !has_key;
        Ok(Homes::new(self.home_directory()?, are_shared, self.home.is_none()))
    }

    fn home_directory(&self) -> Result<PathBuf, AgentErrorKind> {
        let home = match &self.home {
            Some(home) => Some(std::path::absolute(home).unwrap_or_else(|_| home.clone())),
            None => state_directory().map(|directory| directory.join("interlocking").join("codex")),
        };
        home.ok_or_else(|| {
            AgentErrorKind::configuration(
                "there is no place to keep Codex's sessions: set `home`, or the variable HOME",
            )
        })
    }

    /// Refuses settings that the program does not support.
    pub(super) fn refused(&self) -> Result<(), AgentErrorKind> {
        if self.max_steps.is_some() {
            return Err(AgentErrorKind::configuration(
                "Codex cannot limit the steps of a call: remove `max_steps`; `time_limit` ends one that takes too long",
            ));
        }
        if self.max_dollars.is_some() {
            return Err(AgentErrorKind::configuration(
                "Codex does not know what a call costs: remove `max_dollars`, and set a limit with the provider",
            ));
        }
        if self.retries.is_some() && self.base_url().is_none() {
            return Err(AgentErrorKind::configuration(
                "Codex has no setting for how often it repeats requests to OpenAI: remove `retries`, or set a `base_url`",
            ));
        }
        Ok(())
    }

    pub(super) fn base_url(&self) -> Option<String> {
        self.base_url.clone().or_else(|| std::env::var(BASE_URL).ok()).filter(|url| !url.is_empty())
    }

    /// The address that requests go to, if it is certain: not if the configuration or the home can name another provider.
    pub(super) fn destination(&self) -> Option<String> {
        // A key can be a path, such as `model_providers.own`.
        let names_provider = |key: &String| DECIDE_PROVIDER.contains(&key.split('.').next().unwrap_or(key).trim());
        if self.reads_home || self.config.keys().any(names_provider) {
            return None;
        }
        let configured = || self.config.get("openai_base_url").and_then(toml::Value::as_str).map(str::to_owned);
        self.base_url().or_else(configured)
    }

    /// The key from the environment, if there is one.
    pub(crate) fn key(&self) -> Result<Option<Secret>, AgentErrorKind> {
        let value = |variable: &str| std::env::var(variable).ok().filter(|key| !key.is_empty()).map(Secret::new);
        let Some(variable) = &self.api_key_variable else { return Ok(KEYS.into_iter().find_map(value)) };
        value(variable).map(Some).ok_or_else(|| {
            AgentErrorKind::configuration(format!(
                "the variable {variable} holds no API key: set it, or change `api_key_variable`"
            ))
        })
    }

    /// The names of variables that may contain a key.
    pub(super) fn key_variables(&self) -> impl Iterator<Item = &str> {
        KEYS.into_iter().chain(self.api_key_variable.as_deref())
    }

    pub(super) fn limits(&self) -> CallLimits {
        CallLimits { total: self.time_limit, first_event: self.first_event_limit, idle: self.idle_limit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The switch for real calls asks for it.
    #[test]
    fn the_destination_is_unknown_if_another_provider_can_be_named() {
        let local = Some("http://127.0.0.1:1/v1".to_owned());
        let settings = |config: &str| CodexSettings {
            base_url: local.clone(),
            config: toml::from_str(config).unwrap(),
            ..CodexSettings::default()
        };
        assert_eq!(settings("web_search = 'disabled'").destination(), local);
        for config in [
            "model_provider = 'openai'",
            "[model_providers.interlocking]\nbase_url = 'https://api.openai.com/v1'",
            "'model_providers.interlocking.base_url' = 'https://api.openai.com/v1'",
            "profile = 'other'",
            "profiles.other.model_provider = 'openai'",
        ] {
            assert_eq!(settings(config).destination(), None, "{config}");
        }
        assert_eq!(CodexSettings { reads_home: true, ..settings("") }.destination(), None);
    }
}
