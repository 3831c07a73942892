//! How Claude Code is set up.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::program::CallLimits;
use crate::scripted::optional;

/// How Claude Code is set up. The defaults are cautious: it reads and edits files in its workspace and runs no command.
///
/// No key stands in here: it is named by the [variable](Credential) that it comes from.
///
/// ```
/// # use interlocking_agents::ClaudeSettings;
/// let settings: ClaudeSettings = serde_json::from_str(r#"{
///     "model": "haiku",
///     "allowed_tools": ["Read(./**)", "Edit(./**)", "Bash(cargo *)"],
///     "max_steps": 30,
///     "credential": { "kind": "api_key", "variable": "REVIEWER_KEY" }
/// }"#)?;
/// assert_eq!(settings.permission_mode.name(), "dontAsk");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClaudeSettings {
    /// The program: a path, or a name that is looked for in `PATH`. `claude`.
    pub program: PathBuf,
    /// The model, as the program takes it (`haiku`, `claude-haiku-5-5`), where a turn names none. The program's own default.
    pub model: Option<String>,
    /// The models that it falls back to while the first is not to be had, in order. None.
    pub fallback_models: Vec<String>,
    /// Where it keeps sessions and everything else of its own (`CLAUDE_CONFIG_DIR`). A session is found again, by another process
    /// too, by who names the same directory. What was said and read stands in it, so it is made for this user alone, and
    /// each role has a directory of its own in it, `roles/ROLE`.
    ///
    /// By default `interlocking/claude` in the user's directory for state: `$XDG_STATE_HOME`, or `~/.local/state`, or
    /// `~/Library/Application Support`. Not the `~/.claude` of the user's own Claude Code, with its login, hooks and memories.
    pub home: Option<PathBuf>,
    /// Where the key comes from. By default the first that is set of `ANTHROPIC_API_KEY`, `ANTHROPIC_AUTH_TOKEN` and
    /// `CLAUDE_CODE_OAUTH_TOKEN`.
    pub credential: Option<Credential>,
    /// The address of the provider. By default that in `ANTHROPIC_BASE_URL`, or else Anthropic's.
    pub base_url: Option<String>,
    /// The built-in tools that it has at all. `Bash`, `Edit`, `Glob`, `Grep`, `Read`, `Write`.
    pub tools: Vec<String>,
    /// What it may do with them without being asked, in the program's own rules; whatever is not allowed is denied, as nobody is
    /// there to be asked. `Read(./**)` and `Edit(./**)`, which is for every tool that changes files, in the workspace alone. A
    /// command that is allowed, such as `Bash(cargo *)`, reads and writes whatever the [sandbox](crate::Turn::sandbox) lets it.
    pub allowed_tools: Vec<String>,
    /// What it may not do, whatever is allowed. Nothing.
    pub disallowed_tools: Vec<String>,
    /// The built-in tools that it has in a turn that is [read-only](crate::Turn::read_only), and of those of MCP servers the ones
    /// that it may use then, such as `mcp__docs__search`. `Read`, `Glob`, `Grep`.
    pub read_only_tools: Vec<String>,
    /// What becomes of what is neither allowed nor denied. It is denied.
    pub permission_mode: PermissionMode,
    /// MCP servers by name, as in the `mcpServers` of the program's own files; there are no others. They get the environment of
    /// the program, and in their settings `${NAME}` stands for a variable of it. None.
    pub mcp_servers: Map<String, Value>,
    /// Which settings files of the program count: `user`, `project`, `local`. None, so that a workspace cannot change how the
    /// agent works that works in it.
    pub setting_sources: Vec<String>,
    /// Directories that its file tools may use beside the workspace. None.
    pub add_directories: Vec<PathBuf>,
    /// How many steps it may take in a call: answers of the model that call tools. Then
    /// [`StepLimit`](crate::AgentErrorKind::StepLimit). Any number.
    pub max_steps: Option<u32>,
    /// What a call may cost, in dollars. Looked at between steps, so that it can end slightly above. Then
    /// [`BudgetLimit`](crate::AgentErrorKind::BudgetLimit). Any amount.
    pub max_dollars: Option<f64>,
    /// How it is asked to decide between the variants of an enum.
    pub decisions: Decisions,
    /// How often the program itself repeats a request that failed in a way that passes, before the call fails. 2: the rest is for
    /// the one who called, who knows about other calls.
    pub retries: u32,
    /// For how long the program waits for an answer of the provider to begin (`"30s"`, `"5m"`). Its own default.
    #[serde(deserialize_with = "optional")]
    pub request_limit: Option<Duration>,
    /// For how long a call may take in all. Any time.
    #[serde(deserialize_with = "optional")]
    pub time_limit: Option<Duration>,
    /// How soon after its start the program must give a sign of life. A minute.
    #[serde(deserialize_with = "optional")]
    pub first_event_limit: Option<Duration>,
    /// For how long it may give no sign of life while it runs no tool. Any time, as [`Nudges::idle`](crate::Nudges::idle) is for
    /// that.
    #[serde(deserialize_with = "optional")]
    pub idle_limit: Option<Duration>,
    /// Variables of this process that the program and the agent's commands get too, such as `CARGO_HOME`. They have
    /// [the few](crate::program::Environment::minimal) that any program needs.
    pub inherit: Vec<String>,
    /// Variables that they get with these values. No secrets: the agent's commands see them.
    /// `{workspace-hash}` in a value stands for [a number of the workspace](crate::program::WORKSPACE_HASH) that the turn is run in.
    pub environment: BTreeMap<String, String>,
}

/// Where the key comes from, and how it is sent.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Credential {
    /// An API key, sent as `x-api-key`. The agent's commands do not see it.
    ApiKey {
        /// The variable of this process that has it.
        variable: String,
    },
    /// What `claude setup-token` gave to who has a subscription. The agent's commands do not see it.
    OauthToken {
        /// The variable of this process that has it.
        variable: String,
    },
    /// A token for a gateway, sent as `Authorization: Bearer`. The program takes it from its environment alone, which the agent's
    /// commands inherit: **they see it**.
    AuthToken {
        /// The variable of this process that has it.
        variable: String,
    },
    /// The login that is kept in the [`home`](ClaudeSettings::home), by `claude auth login` with
    /// `CLAUDE_CONFIG_DIR` set to it. All roles share the home then, and can read each other's sessions. The agent's commands can read what is kept there unless a sandbox forbids it.
    Login,
}

/// What becomes of a tool call that no rule allows or denies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PermissionMode {
    /// It is denied.
    #[default]
    DontAsk,
    /// In the workspace and the added directories files are changed; the rest is denied.
    AcceptEdits,
    /// Nothing is changed.
    Plan,
    /// Everything is done. Not for root, and not without a sandbox: refused otherwise.
    BypassPermissions,
}

/// How a decision between the variants of an enum is asked for (CON-38, PRG-07).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decisions {
    /// With a schema whose `oneOf` has them all.
    #[default]
    OneOf,
    /// With a field for each variant, of which one is filled in: for a provider or a model that takes no `oneOf`.
    Fields,
}

impl ClaudeSettings {
    /// The program's limits on time.
    pub(super) fn limits(&self) -> CallLimits {
        CallLimits { whole: self.time_limit, first_event: self.first_event_limit, idle: self.idle_limit }
    }
}

impl Default for ClaudeSettings {
    fn default() -> Self {
        let list = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Self {
            program: "claude".into(),
            model: None,
            fallback_models: Vec::new(),
            home: None,
            credential: None,
            base_url: None,
            tools: list(&["Bash", "Edit", "Glob", "Grep", "Read", "Write"]),
            allowed_tools: list(&["Read(./**)", "Edit(./**)"]),
            disallowed_tools: Vec::new(),
            read_only_tools: list(&["Read", "Glob", "Grep"]),
            permission_mode: PermissionMode::default(),
            mcp_servers: Map::new(),
            setting_sources: Vec::new(),
            add_directories: Vec::new(),
            max_steps: None,
            max_dollars: None,
            decisions: Decisions::default(),
            retries: 2,
            request_limit: None,
            time_limit: None,
            first_event_limit: Some(Duration::from_secs(60)),
            idle_limit: None,
            inherit: Vec::new(),
            environment: BTreeMap::new(),
        }
    }
}

impl PermissionMode {
    /// As the program calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::DontAsk => "dontAsk",
            Self::AcceptEdits => "acceptEdits",
            Self::Plan => "plan",
            Self::BypassPermissions => "bypassPermissions",
        }
    }
}
