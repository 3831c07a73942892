//! The command line and the environment of a call.

use std::ffi::OsString;
use std::path::Path;

use toml::{Table, Value};

use super::instructions;
use super::settings::CodexSettings;
use crate::agent::turn::Turn;
use crate::program::{Environment, Secret};
use crate::sessions::session::SessionOp;

/// The name of the provider that is configured for a `base_url`.
const PROVIDER: &str = "interlocking";

/// The variable in which Codex expects a key for OpenAI. A custom provider is configured to use it as well.
const KEY_VARIABLE: &str = "CODEX_API_KEY";

/// How often Codex repeats a request. Further retries are left to the caller, which knows about other calls.
const RETRIES: u32 = 2;

/// Features that are switched off unless the settings say otherwise, with the reasons.
const FEATURES_OFF: [&str; 5] = [
    // Plugins are fetched from the network at every start.
    "plugins",
    // Codex would retry a failing connection for ever, and the turn would never fail.
    "unbounded_connection_retries",
    // See `agents.enabled` below.
    "multi_agent",
    "multi_agent_v2",
    // This starts a login shell, see below.
    "shell_snapshot",
];

/// The key of the configuration under which MCP servers are.
const MCP_SERVERS: &str = "mcp_servers";

/// The arguments of a call; the prompt goes to standard input.
pub(super) fn arguments(settings: &CodexSettings, turn: &Turn, schema: Option<&Path>, has_key: bool) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = vec!["exec".into()];
    let session = match &turn.session {
        SessionOp::StartFresh(_) => None,
        SessionOp::ContinueFrom(session) => Some(("resume", session)),
        SessionOp::ForkFrom { parent, .. } => Some(("fork", parent)),
    };
    arguments.extend(session.map(|(operation, _)| operation.into()));
    arguments.extend(["--json", "--skip-git-repo-check"].map(OsString::from));
    if !settings.reads_home {
        arguments.extend(["--ignore-user-config", "--ignore-rules"].map(OsString::from));
    }
    for (key, value) in configuration_of(settings, turn, has_key) {
        arguments.extend(["-c".into(), format!("{key}={value}").into()]);
    }
    if let Some(model) = turn.model.as_ref().or(settings.model.as_ref()) {
        arguments.extend(["-m".into(), model.into()]);
    }
    if let Some(schema) = schema {
        arguments.extend(["--output-schema".into(), schema.into()]);
    }
    arguments.extend(session.map(|(_, session)| session.as_str().into()));
    arguments.push("-".into());
    arguments
}

/// The complete environment of the program.
pub(super) fn environment(
    settings: &CodexSettings,
    workspace: Option<&Path>,
    home: &Path,
    key: Option<Secret>,
) -> Environment {
    let environment =
        Environment::of_agent(&settings.inherit, &settings.environment, workspace).set("CODEX_HOME", home);
    let address = settings.base_url().or_else(|| settings.destination());
    let environment = address.iter().fold(environment, |environment, address| environment.without_proxy_for(address));
    match key {
        Some(key) => environment.secret(KEY_VARIABLE, key),
        None => environment,
    }
}

/// The overrides of Codex's configuration, by dotted keys; later entries take precedence.
fn configuration_of(settings: &CodexSettings, turn: &Turn, has_key: bool) -> Vec<(String, Value)> {
    let mut overrides: Vec<(String, Value)> = vec![
        ("approval_policy".to_owned(), "never".into()),
        ("analytics.enabled".to_owned(), false.into()),
        ("check_for_update_on_startup".to_owned(), false.into()),
        // A user's profile is not meant for programs, especially not for programs that may be killed while they run it.
        ("allow_login_shell".to_owned(), false.into()),
        // The tokens of agents that Codex starts itself are not counted anywhere that this crate can see. For some
        // models the features do not decide whether there are such agents.
        ("agents.enabled".to_owned(), false.into()),
    ];
    let features = FEATURES_OFF.iter().map(|feature| (*feature, false));
    let features = features.chain(settings.features.iter().map(|(feature, on)| (feature.as_str(), *on)));
    overrides.extend(features.map(|(feature, on)| (format!("features.{feature}"), on.into())));
    if let Some(url) = settings.base_url() {
        overrides.push(("model_provider".to_owned(), PROVIDER.into()));
        overrides.push((format!("model_providers.{PROVIDER}"), provider(settings, &url, has_key).into()));
    }
    if let Some(effort) = &settings.effort {
        overrides.push(("model_reasoning_effort".to_owned(), effort.as_str().into()));
    }
    if let (Some(system), SessionOp::StartFresh(_)) = (&turn.system, &turn.session)
        && instructions::fit_argument(system)
    {
        overrides.push(("developer_instructions".to_owned(), instructions::developer_message(system).into()));
    }
    let mut config = settings.config.clone();
    if turn.read_only {
        // Nothing confines what the tools of a server change. A key can be a path, such as `mcp_servers.own`.
        config.retain(|key, _| key.split('.').next().map(str::trim) != Some(MCP_SERVERS));
    }
    flattened("", &config, &mut overrides);
    // The following entries cannot be overridden by the settings.
    overrides.push(("sandbox_mode".to_owned(), sandbox_mode(settings, turn).into()));
    overrides.push(("shell_environment_policy.exclude".to_owned(), hidden(settings).into()));
    overrides
}

fn provider(settings: &CodexSettings, url: &str, has_key: bool) -> Table {
    let mut provider = Table::new();
    provider.insert("name".to_owned(), PROVIDER.into());
    provider.insert("base_url".to_owned(), url.into());
    provider.insert("wire_api".to_owned(), "responses".into());
    provider.insert("supports_websockets".to_owned(), false.into());
    if has_key {
        provider.insert("env_key".to_owned(), KEY_VARIABLE.into());
    }
    for name in ["request_max_retries", "stream_max_retries"] {
        let retries = settings.retries.unwrap_or(RETRIES);
        provider.insert(name.to_owned(), i64::from(retries).into());
    }
    provider
}

/// Codex's own sandbox does not work inside another sandbox, so it is switched off if the turn has a sandbox, or if the
/// settings say so. Otherwise a turn without a workspace is read-only.
fn sandbox_mode(settings: &CodexSettings, turn: &Turn) -> &'static str {
    match (turn.sandbox.is_some() || !settings.own_sandbox, turn.read_only || turn.workspace.is_none()) {
        (true, _) => "danger-full-access",
        (false, true) => "read-only",
        (false, false) => "workspace-write",
    }
}

/// The variables that Codex hides from the commands that it runs: those that hold a key, and those in the settings.
fn hidden(settings: &CodexSettings) -> Vec<Value> {
    let own = settings.config.get("shell_environment_policy").and_then(|policy| policy.get("exclude")?.as_array());
    let mut hidden = own.cloned().unwrap_or_default();
    hidden.extend(settings.key_variables().map(Value::from));
    hidden
}

/// The leaves of a table, so that a single leaf can be overridden without losing the others.
fn flattened(prefix: &str, table: &Table, overrides: &mut Vec<(String, Value)>) {
    for (key, value) in table {
        let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        match value {
            // A key that contains a dot cannot be part of a path.
            Value::Table(inner) if !inner.is_empty() && inner.keys().all(|key| is_bare(key)) => {
                flattened(&path, inner, overrides);
            }
            value => overrides.push((path, value.clone())),
        }
    }
}

fn is_bare(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|character| character.is_ascii_alphanumeric() || "_-".contains(character))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sessions::session::Slug;

    #[test]
    fn a_turn_that_only_reads_has_no_mcp_servers() {
        let config =
            "'mcp_servers.third' = { command = 'c' }\n[mcp_servers.own]\ncommand = 'a'\n[tools]\nweb_search = true";
        let settings = CodexSettings { config: toml::from_str(config).unwrap(), ..CodexSettings::default() };
        let given = |read_only| {
            let turn = Turn { read_only, ..Turn::fresh(Slug::new("x").unwrap(), "Read.") };
            let keys = configuration_of(&settings, &turn, false).into_iter().map(|(key, _)| key);
            let of_settings = keys.filter(|key| key.starts_with(MCP_SERVERS) || key.starts_with("tools"));
            of_settings.collect::<Vec<_>>()
        };
        assert_eq!(given(false), ["mcp_servers.own.command", "mcp_servers.third.command", "tools.web_search"]);
        assert_eq!(given(true), ["tools.web_search"]);
    }

    #[test]
    fn a_server_on_this_machine_is_not_contacted_through_a_proxy() {
        let settings = CodexSettings {
            base_url: Some("http://127.0.0.1:9/v1".to_owned()),
            environment: [("HTTP_PROXY", "http://proxy:80"), ("NO_PROXY", ".example.com"), ("no_proxy", "")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            ..CodexSettings::default()
        };
        let environment = environment(&settings, None, Path::new("/home"), None);
        for name in ["NO_PROXY", "no_proxy"] {
            assert_eq!(environment.get(name).unwrap(), ".example.com,127.0.0.1,localhost,::1");
        }
    }
}
