//! How the Gemini CLI is set up.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::command;
use crate::agent::error::AgentErrorKind;
use crate::drivers::homes::Homes;
use crate::program::{CallLimits, Secret};
use crate::scripted::optional;
use crate::sessions::state_directory::state_directory;

/// How [`Gemini`](super::Gemini) is set up; every field can be left out. The defaults are cautious: it reads and edits files in its
/// workspace and runs no command.
///
/// No secret stands here: the key is named by the environment variable that holds it.
///
/// ```
/// # use interlocking_agents::GeminiSettings;
/// let settings: GeminiSettings = toml::from_str(r#"
///     model = "gemini-2.5-flash"
///     allowed_tools = ["run_shell_command(cargo)"]
///     max_steps = 30
///     time_limit = "20m"
/// "#)?;
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GeminiSettings {
    /// The program: a path, or a name that is looked for in `PATH`. By default `gemini`. It wants `node` in `PATH`.
    pub program: PathBuf,
    /// The model of turns that name none; the program's own choice where absent.
    pub model: Option<String>,
    /// Where sessions are kept, with all that was said in them; made for this user alone if it is not there. A session is found
    /// again, by another process too, by who names the same directory. Where absent it is `interlocking/gemini` in the user's
    /// directory for state: `$XDG_STATE_HOME`, or `~/.local/state`, or `~/Library/Application Support`. It is not the `~/.gemini` of
    /// the user's own Gemini CLI, with its login, extensions and memories.
    ///
    /// Each role has a directory of its own in it, `roles/ROLE`, which a [sandbox](crate::Turn::sandbox) must grant for writing.
    pub home: Option<PathBuf>,
    /// The environment variable that holds the API key. `GEMINI_API_KEY`.
    pub api_key_variable: String,
    /// The address of the provider; where absent that in `GOOGLE_GEMINI_BASE_URL`, or else Google's.
    pub base_url: Option<String>,
    /// What it may do without being asked; as nobody is there to be asked, it may do nothing else.
    pub permissions: GeminiPermissions,
    /// Tools that it may use beside what its permissions allow, by the program's names for them, such as
    /// `run_shell_command(cargo)` for commands that begin with `cargo`. Not in a turn that is [read-only](crate::Turn::read_only).
    /// None.
    pub allowed_tools: Vec<String>,
    /// Tools that it does not have at all, such as `google_web_search`. None.
    pub excluded_tools: Vec<String>,
    /// MCP servers by name, as in the `mcpServers` of the program's own settings. None.
    pub mcp_servers: Map<String, Value>,
    /// How many steps it may take in a call: answers of the model. Then [`StepLimit`](crate::AgentErrorKind::StepLimit). Any number.
    pub max_steps: Option<u32>,
    /// How often the program itself repeats a request that failed in a way that passes, up to 9. Twice: the rest is for the one who
    /// called, who knows about other calls. It waits 5 s before the first repetition, and longer before each other one.
    pub retries: u32,
    /// More of the program's own settings, by groups as in its `settings.json`. Where they clash the driver's count. None.
    pub config: Map<String, Value>,
    /// Whether what a workspace brings counts: `settings.json`, `.env`, `policies`, `extensions` and `agents` in its `.gemini`. They
    /// would override all that stands here, and could have programs run, so that a turn in a workspace that has one is refused.
    pub workspace_settings: bool,
    /// Variables of this process that the program and its commands get, too, beside
    /// [the few](crate::program::Environment::minimal) that any program needs. From its commands the program keeps those whose name
    /// looks like a secret's.
    pub inherit: Vec<String>,
    /// Variables that they get with these values. No secrets.
    /// `{workspace-hash}` in a value stands for [a number of the workspace](crate::program::WORKSPACE_HASH) that the turn is run in.
    pub environment: BTreeMap<String, String>,
    /// How long one call may take, as `"30m"`; any time where absent.
    #[serde(deserialize_with = "optional")]
    pub time_limit: Option<Duration>,
    /// How long the program may take to say that it has a session; by default a minute. It asks no model before.
    #[serde(deserialize_with = "optional")]
    pub first_event_limit: Option<Duration>,
    /// How long it may be silent while it runs no tool; any time where absent. It says nothing while it repeats a request.
    #[serde(deserialize_with = "optional")]
    pub idle_limit: Option<Duration>,
    /// Refused: the program does not know what a turn costs.
    pub max_dollars: Option<f64>,
}

/// What the program may do without being asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GeminiPermissions {
    /// Read, and search the web. A turn that is [read-only](crate::Turn::read_only) has no more than these.
    Read,
    /// Change files of the workspace, too.
    #[default]
    Edit,
    /// Everything, commands included. Wants a [sandbox](crate::Turn::sandbox).
    Everything,
}

impl Default for GeminiSettings {
    fn default() -> Self {
        Self {
            program: "gemini".into(),
            model: None,
            home: None,
            api_key_variable: "GEMINI_API_KEY".to_owned(),
            base_url: None,
            permissions: GeminiPermissions::default(),
            allowed_tools: Vec::new(),
            excluded_tools: Vec::new(),
            mcp_servers: Map::new(),
            max_steps: None,
            retries: 2,
            config: Map::new(),
            workspace_settings: false,
            inherit: Vec::new(),
            environment: BTreeMap::new(),
            time_limit: None,
            first_event_limit: Some(Duration::from_secs(60)),
            idle_limit: None,
            max_dollars: None,
        }
    }
}

impl GeminiSettings {
    /// Where each role's sessions are kept.
    pub(super) fn homes(&self) -> Result<Homes, AgentErrorKind> {
        let base = self.home()?;
        Ok(Homes::new(std::path::absolute(&base).unwrap_or(base), false, self.home.is_none()))
    }

    fn home(&self) -> Result<PathBuf, AgentErrorKind> {
        let usual = || state_directory().map(|directory| directory.join("interlocking").join("gemini"));
        let home = self.home.clone().or_else(usual);
        home.ok_or_else(|| configuration("there is no home directory to keep Gemini's sessions in: set `home`"))
    }

    /// Where requests go; none for Google's own address.
    pub(super) fn base_url(&self) -> Option<String> {
        let variable = || std::env::var(command::BASE_URL).ok().filter(|url| !url.is_empty());
        self.base_url.clone().or_else(variable)
    }

    /// The key in the variable that is named for it.
    pub(super) fn key(&self) -> Result<Secret, AgentErrorKind> {
        let variable = &self.api_key_variable;
        Secret::from_variable(variable).ok_or_else(|| {
            configuration(format!(
                "the environment variable {variable} holds no API key: set it, or change `api_key_variable`"
            ))
        })
    }

    /// What was asked for and cannot be had.
    pub(super) fn refused(&self) -> Result<(), AgentErrorKind> {
        if self.max_dollars.is_some() {
            return Err(configuration(
                "the Gemini CLI does not know what a turn costs, so it cannot limit that: remove `max_dollars`, and set a budget \
                 with the provider",
            ));
        }
        if self.retries > 9 {
            return Err(configuration("the Gemini CLI repeats a request at most 9 times: lower `retries`"));
        }
        if self.max_steps == Some(0) {
            return Err(configuration("a turn of no steps asks nothing: raise `max_steps`"));
        }
        if cfg!(not(unix)) {
            return Err(configuration("the Gemini CLI is driven on Unix systems alone"));
        }
        Ok(())
    }

    pub(super) fn limits(&self) -> CallLimits {
        CallLimits { whole: self.time_limit, first_event: self.first_event_limit, idle: self.idle_limit }
    }
}

impl GeminiPermissions {
    /// As the program calls it.
    pub(super) fn approval_mode(self) -> &'static str {
        match self {
            Self::Read => "default",
            Self::Edit => "auto_edit",
            Self::Everything => "yolo",
        }
    }
}

pub(super) fn configuration(reason: impl Into<String>) -> AgentErrorKind {
    AgentErrorKind::Configuration { reason: reason.into() }
}
