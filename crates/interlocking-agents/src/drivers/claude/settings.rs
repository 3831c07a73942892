//! The settings of Claude Code.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::program::CallLimits;
use crate::scripted::optional;

/// The settings of Claude Code. The defaults are cautious: the agent reads and edits files in its workspace and runs no
/// commands.
///
/// The settings contain no key, only the name of the [variable](Credential) that holds it.
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
    /// The program: a path, or a name that is looked up in `PATH`. Default: `claude`.
    pub program: PathBuf,
    /// The model, as the program names it (`haiku`, `claude-haiku-5-5`), for turns that name none. Default: the
    /// program's default.
    pub model: Option<String>,
    /// The models to use instead, in order, while the first model is unavailable. Default: none.
    pub fallback_models: Vec<String>,
    /// The directory in which the program keeps sessions and all its other data (`CLAUDE_CONFIG_DIR`). Another process
    /// with the same home finds the sessions again. The home contains the conversations, so it is created for this user
    /// alone, and each role has its own directory `roles/ROLE` in it.
    ///
    /// Default: `interlocking/claude` in the user's directory for state: `$XDG_STATE_HOME`, or `~/.local/state`, or
    /// `~/Library/Application Support`. It is not the `~/.claude` of the user's own Claude Code, with its login, hooks
    /// and memories.
    pub home: Option<PathBuf>,
    /// The source of the key. Default: the first of `ANTHROPIC_API_KEY`, `ANTHROPIC_AUTH_TOKEN` and
    /// `CLAUDE_CODE_OAUTH_TOKEN` that is set.
    pub credential: Option<Credential>,
    /// The address of the provider. Default: the address in `ANTHROPIC_BASE_URL`, or else Anthropic's.
    pub base_url: Option<String>,
    /// The built-in tools that are available. Default: `Bash`, `Edit`, `Glob`, `Grep`, `Read`, `Write`.
    pub tools: Vec<String>,
    /// What the agent may do with its tools without a question, in the program's own rules. Everything else is denied,
    /// because there is no user to ask. Default: `Read(./**)` and `Edit(./**)`, which applies to every tool that
    /// changes files, in the workspace alone. A command that is allowed, such as `Bash(cargo *)`, reads and writes
    /// whatever the [sandbox](crate::Turn::sandbox) permits.
    pub allowed_tools: Vec<String>,
    /// What the agent may not do, even if it is allowed elsewhere. Default: nothing.
    pub disallowed_tools: Vec<String>,
    /// The built-in tools that are available in a [read-only](crate::Turn::read_only) turn, and the tools of MCP
    /// servers that may be used there, such as `mcp__docs__search`. [`allowed_tools`](Self::allowed_tools) says what the
    /// agent may do with a built-in tool; if the tool is given by a rule, such as `Bash(git log *)`, that rule alone does.
    /// Default: `Read`, `Glob`, `Grep`.
    pub read_only_tools: Vec<String>,
    /// What to do with a tool call that is neither allowed nor denied. Default: it is denied.
    pub permission_mode: PermissionMode,
    /// MCP servers by name, as in the `mcpServers` of the program's own files; there are no others. They get the
    /// environment of the program, and `${NAME}` in their settings stands for one of its variables. Default: none.
    pub mcp_servers: Map<String, Value>,
    /// Which settings files of the program apply: `user`, `project`, `local`. Default: none, so that a workspace cannot
    /// change how the agent works in it.
    pub setting_sources: Vec<String>,
    /// Directories that the file tools may use in addition to the workspace. Default: none.
    pub add_directories: Vec<PathBuf>,
    /// How many steps a call may take: answers of the model that call tools. A call that exceeds the limit fails with
    /// [`StepLimit`](crate::AgentErrorKind::StepLimit). Default: no limit.
    pub max_steps: Option<u32>,
    /// What a call may cost, in dollars. This is checked between steps, so the cost can be slightly higher. A call that
    /// exceeds the limit fails with [`BudgetLimit`](crate::AgentErrorKind::BudgetLimit). Default: no limit.
    pub max_dollars: Option<f64>,
    /// How the agent is asked to decide between the variants of an enum.
    pub decisions: Decisions,
    /// How often the program itself repeats a request after a transient error, before the call fails. Default: 2.
    /// Further retries are left to the caller, which knows about other calls.
    pub retries: u32,
    /// How long the program waits for the beginning of the provider's answer (`"30s"`, `"5m"`). Default: the program's
    /// default.
    #[serde(deserialize_with = "optional")]
    pub request_limit: Option<Duration>,
    /// How long a call may take in total. Default: no limit.
    #[serde(deserialize_with = "optional")]
    pub time_limit: Option<Duration>,
    /// How soon after its start the program must show activity. Default: one minute.
    #[serde(deserialize_with = "optional")]
    pub first_event_limit: Option<Duration>,
    /// How long the program may show no activity while it runs no tool. Default: no limit, because
    /// [`Nudges::idle`](crate::Nudges::idle) serves that purpose.
    #[serde(deserialize_with = "optional")]
    pub idle_limit: Option<Duration>,
    /// Variables of this process that the program and the agent's commands inherit, such as `CARGO_HOME`, in addition
    /// to [the few](crate::program::Environment::minimal) that any program needs.
    pub inherit: Vec<String>,
    /// Further variables with their values. Do not put secrets here: the agent's commands see them. `{workspace-hash}`
    /// in a value is replaced by [a hash of the workspace](crate::program::WORKSPACE_HASH) of the turn.
    pub environment: BTreeMap<String, String>,
}

/// The source of the key, and how it is sent.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Credential {
    /// An API key, sent as `x-api-key`. The agent's commands do not see it.
    ApiKey {
        /// The variable of this process that contains the key.
        variable: String,
    },
    /// A token that `claude setup-token` created for a subscription. The agent's commands do not see it.
    OauthToken {
        /// The variable of this process that contains the token.
        variable: String,
    },
    /// A token for a gateway, sent as `Authorization: Bearer`. The program reads it only from its environment, which
    /// the agent's commands inherit: **they see it**.
    AuthToken {
        /// The variable of this process that contains the token.
        variable: String,
    },
    /// The login in the [`home`](ClaudeSettings::home), which `claude auth login` with `CLAUDE_CONFIG_DIR` set to the
    /// home creates. All roles then share the home, and can read each other's sessions. The agent's commands can read
    /// the login unless a sandbox forbids it.
    Login,
}

/// What to do with a tool call that no rule allows or denies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PermissionMode {
    /// It is denied.
    #[default]
    DontAsk,
    /// Changes to files in the workspace and the added directories are allowed; everything else is denied.
    AcceptEdits,
    /// Nothing may be changed.
    Plan,
    /// Everything is allowed. Refused for root, and without a sandbox.
    BypassPermissions,
}

/// How the agent is asked for a decision between the variants of an enum (CON-38, PRG-07).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decisions {
    /// With a schema whose `oneOf` contains all variants.
    #[default]
    OneOf,
    /// With a field for each variant, of which exactly one is to be filled in: for a provider or a model that does not
    /// support `oneOf`.
    Fields,
}

impl ClaudeSettings {
    /// The program's limits on time.
    pub(super) fn limits(&self) -> CallLimits {
        CallLimits { total: self.time_limit, first_event: self.first_event_limit, idle: self.idle_limit }
    }

    /// Whether all calls need the home itself: a login is renewed in place, so copies of it would become invalid, and
    /// the user's settings are in the home, too.
    pub(crate) fn needs_home(&self) -> bool {
        self.credential == Some(Credential::Login) || self.setting_sources.iter().any(|source| source == "user")
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
    /// The program's name for the mode.
    pub fn name(self) -> &'static str {
        match self {
            Self::DontAsk => "dontAsk",
            Self::AcceptEdits => "acceptEdits",
            Self::Plan => "plan",
            Self::BypassPermissions => "bypassPermissions",
        }
    }
}
