//! How Codex is set up.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use crate::agent::error::AgentErrorKind;
use crate::drivers::homes::Homes;
use crate::program::{CallLimits, Secret};
use crate::scripted::optional;
use crate::sessions::state_directory::state_directory;

/// How [`Codex`](super::Codex) is set up; every field can be left out.
///
/// No key stands in here: it is named by the variable that it comes from.
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
    /// The program: a path, or a name that is looked for in `PATH`. `codex`.
    pub program: PathBuf,
    /// The model, as the program takes it (`gpt-6-luna`), where a turn names none. The program's own default.
    pub model: Option<String>,
    /// How hard the model thinks, such as `low` or `high`. The model's own default.
    pub effort: Option<String>,
    /// Where it keeps sessions and everything else of its own (`CODEX_HOME`). A session is found again, by another process too, by
    /// who names the same directory. What was said and read stands in it, so it is made for this user alone, and each role has
    /// a directory of its own in it, `roles/ROLE`, unless it is needed as a whole: for a login, or by `reads_home`.
    ///
    /// By default `interlocking/codex` in the user's directory for state: `$XDG_STATE_HOME`, or `~/.local/state`, or
    /// `~/Library/Application Support`. Not the `~/.codex` of the user's own Codex, with its login, instructions and memories.
    pub home: Option<PathBuf>,
    /// Whether the `config.toml` and the rules in its home count. No, so that settings say everything.
    pub reads_home: bool,
    /// The variable of this process that has the API key. By default the first that is set of `OPENAI_API_KEY` and
    /// `CODEX_API_KEY`; without any the login counts that is kept in the home, by `codex login` with `CODEX_HOME` set to it. The
    /// agent's commands do not get the key; they can read what is kept in the home unless a sandbox forbids it.
    pub api_key_variable: Option<String>,
    /// The address of a provider that speaks OpenAI's Responses API, such as `http://127.0.0.1:8080/v1`. By default that
    /// in `OPENAI_BASE_URL`, or else OpenAI's.
    pub base_url: Option<String>,
    /// How often the program itself repeats a request that failed in a way that passes, or a stream that broke off, before the call
    /// fails. 2, with a `base_url`; for OpenAI itself the program lets nobody change it, so that saying so is refused.
    pub retries: Option<u32>,
    /// More of the program's configuration, as in its `config.toml`. It wins over what the driver sets, but for what a turn may do
    /// and for keeping the key from commands. None.
    pub config: toml::Table,
    /// Features of the program that are switched on or off, by its names for them. Off are `plugins`, `multi_agent`,
    /// `multi_agent_v2`, `shell_snapshot` and `unbounded_connection_retries`, which cost time at every start, spend tokens that nobody
    /// counts, run the user's profile, or never come to an end.
    pub features: BTreeMap<String, bool>,
    /// Whether the program confines its commands by its own means in a turn that brings no [sandbox](crate::Turn::sandbox): to
    /// writing in the workspace and in the directories for temporary files, without network, or to reading. Yes. Where a machine
    /// lets no program make namespaces, its commands fail unless this is switched off; then they may do everything.
    pub own_sandbox: bool,
    /// How long one call may take, as `"30m"`. Any time.
    #[serde(deserialize_with = "optional")]
    pub time_limit: Option<Duration>,
    /// How long the program may take to say that it has a session; it asks no model before. A minute.
    #[serde(deserialize_with = "optional")]
    pub first_event_limit: Option<Duration>,
    /// How long it may be silent while it runs no tool. Any time, as [`Nudges::idle`](crate::Nudges::idle) is for that. Either must be
    /// longer than the longest message of the model takes: the program says nothing while it is written.
    #[serde(deserialize_with = "optional")]
    pub idle_limit: Option<Duration>,
    /// Variables of this process that the program and the agent's commands get too, such as `CARGO_HOME`. They have
    /// [the few](crate::program::Environment::minimal) that any program needs.
    pub inherit: Vec<String>,
    /// Variables that they get with these values. No secrets: the agent's commands see them.
    /// `{workspace-hash}` in a value stands for [a number of the workspace](crate::program::WORKSPACE_HASH) that the turn is run in.
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

/// Where the key is looked for unless it is said.
const KEYS: [&str; 2] = ["OPENAI_API_KEY", "CODEX_API_KEY"];

const BASE_URL: &str = "OPENAI_BASE_URL";

impl CodexSettings {
    /// Where the program keeps its sessions. Without a key all roles need the login that is kept there.
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
            configuration("there is no place to keep Codex's sessions: set `home`, or the variable HOME")
        })
    }

    /// What was asked for and cannot be had.
    pub(super) fn refused(&self) -> Result<(), AgentErrorKind> {
        if self.max_steps.is_some() {
            return Err(configuration(
                "Codex cannot limit the steps of a call: remove `max_steps`; `time_limit` ends one that takes too long",
            ));
        }
        if self.max_dollars.is_some() {
            return Err(configuration(
                "Codex does not know what a call costs: remove `max_dollars`, and set a limit with the provider",
            ));
        }
        if self.retries.is_some() && self.base_url().is_none() {
            return Err(configuration(
                "Codex lets nobody change how often it repeats requests to OpenAI: remove `retries`, or set a `base_url`",
            ));
        }
        Ok(())
    }

    pub(super) fn base_url(&self) -> Option<String> {
        self.base_url.clone().or_else(|| std::env::var(BASE_URL).ok()).filter(|url| !url.is_empty())
    }

    /// Where requests go, if that was said in any way.
    pub(super) fn destination(&self) -> Option<String> {
        let configured = || self.config.get("openai_base_url").and_then(toml::Value::as_str).map(str::to_owned);
        self.base_url().or_else(configured)
    }

    /// The key in the environment, if there is one.
    pub(super) fn key(&self) -> Result<Option<Secret>, AgentErrorKind> {
        let value = |variable: &str| std::env::var(variable).ok().filter(|key| !key.is_empty()).map(Secret::new);
        let Some(variable) = &self.api_key_variable else { return Ok(KEYS.into_iter().find_map(value)) };
        value(variable).map(Some).ok_or_else(|| {
            configuration(format!("the variable {variable} holds no API key: set it, or change `api_key_variable`"))
        })
    }

    /// Names of variables that may hold a key.
    pub(super) fn key_variables(&self) -> impl Iterator<Item = &str> {
        KEYS.into_iter().chain(self.api_key_variable.as_deref())
    }

    pub(super) fn limits(&self) -> CallLimits {
        CallLimits { whole: self.time_limit, first_event: self.first_event_limit, idle: self.idle_limit }
    }
}

pub(super) fn configuration(reason: impl Into<String>) -> AgentErrorKind {
    AgentErrorKind::Configuration { reason: reason.into() }
}
