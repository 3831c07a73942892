//! The settings of the Gemini CLI.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::command;
use crate::agent::error::AgentErrorKind;
use crate::drivers::homes::Homes;
use crate::program::{CallLimits, Secret};
use crate::scripted::optional;
use crate::sessions::state_directory::state_directory;

/// The settings of [`Gemini`](super::Gemini); every field can be left out. The defaults are cautious: the agent reads
/// and edits files in its workspace and runs no commands.
///
/// The settings contain no secret: the key is named by the environment variable that holds it.
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
    /// The program: a path, or a name that is looked up in `PATH`. Default: `gemini`. It needs `node` in `PATH`.
    pub program: PathBuf,
    /// The model of turns that name none. Default: the program's choice.
    pub model: Option<String>,
    /// The directory in which sessions are kept, with their conversations; created for this user alone if it does not
    /// exist. Another process with the same home finds the sessions again. Default: `interlocking/gemini` in the user's
    /// directory for state: `$XDG_STATE_HOME`, or `~/.local/state`, or `~/Library/Application Support`. It is not the
    /// `~/.gemini` of the user's own Gemini CLI, with its login, extensions and memories.
    ///
    /// Each role has its own directory in it, `roles/ROLE`. [`grants`](super::Gemini::grants) gives a
    /// [sandbox](crate::Turn::sandbox) access to the sessions in it.
    pub home: Option<PathBuf>,
    /// The environment variable that contains the API key. Default: `GEMINI_API_KEY`.
    pub api_key_variable: String,
    /// The address of the provider. Default: the address in `GOOGLE_GEMINI_BASE_URL`, or else Google's.
    pub base_url: Option<String>,
    /// What the agent may do without a question. It may do nothing else, because there is no user to ask.
    pub permissions: GeminiPermissions,
    /// Tools that the agent may use in addition to its permissions, by the program's names, such as
    /// `run_shell_command(cargo)` for commands that begin with `cargo`. They do not apply to a
    /// [read-only](crate::Turn::read_only) turn or one without a workspace. Default: none.
    pub allowed_tools: Vec<String>,
    /// Tools that are not available at all, such as `google_web_search`. Default: none.
    pub excluded_tools: Vec<String>,
    /// MCP servers by name, as in the `mcpServers` of the program's own settings. A [read-only](crate::Turn::read_only)
    /// turn or one without a workspace has none of them, but those of the workspace if [its
    /// settings](Self::workspace_settings) apply. Default: none.
    pub mcp_servers: Map<String, Value>,
    /// How many steps a call may take: answers of the model. A call that exceeds the limit fails with
    /// [`StepLimit`](crate::AgentErrorKind::StepLimit). Default: no limit.
    pub max_steps: Option<u32>,
    /// How often the program itself repeats a request after a transient error, up to 9 times. Default: 2. Further
    /// retries are left to the caller, which knows about other calls. The program waits 5 s before the first retry, and
    /// longer before each further one.
    pub retries: u32,
    /// Further settings of the program, by groups as in its `settings.json`. The driver's settings take precedence. MCP
    /// servers in it (`mcpServers`) are treated like [those above](Self::mcp_servers). Default: none.
    pub config: Map<String, Value>,
    /// Whether the files in a workspace's `.gemini` apply: `settings.json`, `.env`, `policies`, `extensions` and
    /// `agents`. They would override these settings, and could start programs, so a turn in a workspace with such a
    /// file, or whose `.gemini` is a link, is refused by default. If they apply, the MCP servers that they name are
    /// available in a [read-only](crate::Turn::read_only) turn, too, and nothing confines what the tools of these
    /// servers change.
    pub workspace_settings: bool,
    /// Variables of this process that the program and its commands inherit, in addition to [the
    /// few](crate::program::Environment::minimal) that any program needs. The program hides those from its commands
    /// whose names look like a secret's.
    pub inherit: Vec<String>,
    /// Further variables with their values. Do not put secrets here. `{workspace-hash}` in a value is replaced by [a
    /// hash of the workspace](crate::program::WORKSPACE_HASH) of the turn.
    pub environment: BTreeMap<String, String>,
    /// How long one call may take, as `"30m"`. Default: no limit.
    #[serde(deserialize_with = "optional")]
    pub time_limit: Option<Duration>,
    /// How long the program may take to report a session. It does not call a model before that. Default: one minute.
    #[serde(deserialize_with = "optional")]
    pub first_event_limit: Option<Duration>,
    /// How long the program may be silent while it runs no tool. Default: no limit. The program is silent while it
    /// repeats a request.
    #[serde(deserialize_with = "optional")]
    pub idle_limit: Option<Duration>,
    /// Refused: the program does not know what a turn costs.
    pub max_dollars: Option<f64>,
}

/// What the program may do without a question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GeminiPermissions {
    /// Read, and search the web. A [read-only](crate::Turn::read_only) turn, or one without a workspace, has only these
    /// permissions.
    Read,
    /// Also change files in the workspace.
    #[default]
    Edit,
    /// Everything, including commands. Use it only in a [sandbox](crate::Turn::sandbox).
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
    /// The directories in which the sessions of the roles are kept.
    pub(super) fn homes(&self) -> Result<Homes, AgentErrorKind> {
        let base = self.home()?;
        Ok(Homes::new(std::path::absolute(&base).unwrap_or(base), false, self.home.is_none()))
    }

    fn home(&self) -> Result<PathBuf, AgentErrorKind> {
        let usual = || state_directory().map(|directory| directory.join("interlocking").join("gemini"));
        let home = self.home.clone().or_else(usual);
        home.ok_or_else(|| {
            AgentErrorKind::configuration("there is no home directory to keep Gemini's sessions in: set `home`")
        })
    }

    /// The address that requests go to; none for Google's own address.
    pub(super) fn base_url(&self) -> Option<String> {
        let variable = || std::env::var(command::BASE_URL).ok().filter(|url| !url.is_empty());
        self.base_url.clone().or_else(variable)
    }

    /// The address that the requests of a turn in `workspace` go to, if it is certain: not if the workspace's settings can
    /// name another provider.
    pub(super) fn destination(&self, workspace: Option<&Path>) -> Option<String> {
        if self.workspace_settings && workspace.is_some() { None } else { self.base_url() }
    }

    /// The key from the configured variable.
    pub(super) fn key(&self) -> Result<Secret, AgentErrorKind> {
        let variable = &self.api_key_variable;
        Secret::from_variable(variable).ok_or_else(|| {
            AgentErrorKind::configuration(format!(
                "the environment variable {variable} holds no API key: set it, or change `api_key_variable`"
            ))
        })
    }

    /// Refuses settings that the program does not support.
    pub(super) fn refused(&self) -> Result<(), AgentErrorKind> {
        if self.max_dollars.is_some() {
            return Err(AgentErrorKind::configuration(
                "the Gemini CLI does not know what a turn costs, so it cannot limit that: remove `max_dollars`, and set a budget \
                 with the provider",
            ));
        }
        if self.retries > 9 {
            return Err(AgentErrorKind::configuration(
                "the Gemini CLI repeats a request at most 9 times: lower `retries`",
            ));
        }
        if self.max_steps == Some(0) {
            return Err(AgentErrorKind::configuration("a turn of no steps asks nothing: raise `max_steps`"));
        }
        if cfg!(not(unix)) {
            return Err(AgentErrorKind::configuration("the Gemini CLI is driven on Unix systems alone"));
        }
        Ok(())
    }

    pub(super) fn limits(&self) -> CallLimits {
        CallLimits { total: self.time_limit, first_event: self.first_event_limit, idle: self.idle_limit }
    }
}

impl GeminiPermissions {
    /// The program's name for the permissions.
    pub(super) fn approval_mode(self) -> &'static str {
        match self {
            Self::Read => "default",
            Self::Edit => "auto_edit",
            Self::Everything => "yolo",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The switch for real calls asks for it.
    #[test]
    fn the_destination_is_unknown_if_a_workspace_can_name_another_provider() {
        let local = Some("http://127.0.0.1:1".to_owned());
        let settings = |workspace_settings| GeminiSettings {
            base_url: local.clone(),
            workspace_settings,
            ..GeminiSettings::default()
        };
        let workspace = Some(Path::new("/work"));
        let destinations = [(false, workspace), (true, None), (true, workspace)]
            .map(|(trusted, workspace)| settings(trusted).destination(workspace));
        assert_eq!(destinations, [local.clone(), local.clone(), None]);
    }
}
