//! How Codex is set up.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Deserializer};

use crate::error::AgentErrorKind;
use crate::program::CallLimits;
use crate::scripted::Delay;

/// How [`Codex`](super::Codex) is set up; every field can be left out.
///
/// No secret stands here: a key is named by the environment variable that holds it.
///
/// ```
/// # use interlocking_agents::CodexSettings;
/// let settings: CodexSettings = toml::from_str(r#"
///     model = "gpt-6-luna"
///     effort = "low"
///     api_key_variable = "OPENAI_API_KEY"
///     config = { web_search = "disabled" }
/// "#)?;
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CodexSettings {
    /// The program: a path, or a name that is looked for in `PATH`. `codex` unless said otherwise.
    pub program: PathBuf,
    /// The model of turns that name none; Codex's own choice where absent.
    pub model: Option<String>,
    /// How hard the model thinks, such as `low` or `high`; the model's default where absent.
    pub effort: Option<String>,
    /// Where Codex keeps its sessions and its login, its `CODEX_HOME`; made if it is not there. Where absent it is the one that
    /// the user's own `codex` has, so that a run that is resumed finds its sessions in whatever process it goes on, and that
    /// `codex resume` shows them: `$CODEX_HOME`, or else `.codex` in the home directory.
    ///
    /// A [sandbox](crate::Turn::sandbox) must grant it for writing.
    pub home: Option<PathBuf>,
    /// Whether the home's `config.toml` and rules count. They do not unless this says so: a run shall not depend on who starts it.
    pub user_config: bool,
    /// The URL of a provider that speaks OpenAI's Responses API, such as `http://127.0.0.1:8080/v1`; OpenAI where absent.
    pub base_url: Option<String>,
    /// The name of the environment variable that holds the API key. Where absent, Codex's login in its home is used, or no key at
    /// all with a `base_url`.
    pub api_key_variable: Option<String>,
    /// How often Codex itself repeats a request that failed, and a stream that broke off; its own default where absent. Only with
    /// a `base_url`: Codex lets nobody change this for OpenAI.
    pub retries: Option<u32>,
    /// More configuration, as in Codex's `config.toml`; it wins over what the driver sets.
    pub config: toml::Table,
    /// Features that are switched on or off on top of the driver's choice, by Codex's names for them.
    pub features: BTreeMap<String, bool>,
    /// Environment variables that are passed on, besides those that every program needs. Codex's commands see them, too.
    pub inherit: Vec<String>,
    /// Whether Codex confines the commands of a turn that brings no [sandbox](crate::Turn::sandbox) with its own: to the workspace
    /// and the directories for temporary files, or to reading. It does unless this says otherwise, as it must where the machine
    /// lets no program make namespaces.
    pub own_sandbox: bool,
    /// How long one call may take, as `"30m"`; any time where absent.
    #[serde(deserialize_with = "duration")]
    pub time_limit: Option<Duration>,
    /// How long Codex may take to say that it has a session; a minute unless said otherwise. It asks no model before.
    #[serde(deserialize_with = "duration")]
    pub first_event_limit: Option<Duration>,
    /// How long Codex may be silent while it runs no command; any time where absent. It says nothing while the model writes, so this
    /// must be longer than the model's longest message takes.
    #[serde(deserialize_with = "duration")]
    pub idle_limit: Option<Duration>,
    /// Refused: Codex cannot limit the steps of a turn.
    pub max_steps: Option<u32>,
    /// Refused: Codex does not know what a turn costs.
    pub max_dollars: Option<f64>,
}

impl Default for CodexSettings {
    fn default() -> Self {
        Self {
            program: "codex".into(),
            model: None,
            effort: None,
            home: None,
            user_config: false,
            base_url: None,
            api_key_variable: None,
            retries: None,
            config: toml::Table::new(),
            features: BTreeMap::new(),
            inherit: Vec::new(),
            own_sandbox: true,
            time_limit: None,
            first_event_limit: Some(Duration::from_secs(60)),
            idle_limit: None,
            max_steps: None,
            max_dollars: None,
        }
    }
}

impl CodexSettings {
    /// Where Codex keeps its sessions.
    pub(super) fn home(&self) -> Result<PathBuf, AgentErrorKind> {
        let variable = || std::env::var_os("CODEX_HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
        let of_the_user = || std::env::home_dir().map(|home| home.join(".codex"));
        let home = self.home.clone().or_else(variable).or_else(of_the_user);
        home.ok_or_else(|| configuration("there is no home directory to keep Codex's sessions in: set `home`"))
    }

    /// What was asked for and cannot be had.
    pub(super) fn refused(&self) -> Result<(), AgentErrorKind> {
        if self.max_steps.is_some() {
            return Err(configuration(
                "Codex cannot limit the steps of a turn: remove `max_steps`; `time_limit` ends a turn that takes too long",
            ));
        }
        if self.max_dollars.is_some() {
            return Err(configuration(
                "Codex does not know what a turn costs, so it cannot limit that: remove `max_dollars`, and set a budget with the \
                 provider",
            ));
        }
        if self.retries.is_some() && self.base_url.is_none() {
            return Err(configuration("`retries` needs a `base_url`: Codex lets nobody change them for OpenAI"));
        }
        Ok(())
    }

    pub(super) fn limits(&self) -> CallLimits {
        CallLimits { whole: self.time_limit, first_event: self.first_event_limit, idle: self.idle_limit }
    }
}

pub(super) fn configuration(reason: impl Into<String>) -> AgentErrorKind {
    AgentErrorKind::Configuration { reason: reason.into() }
}

fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    Option::<Delay>::deserialize(deserializer).map(|delay| delay.map(|Delay(duration)| duration))
}
