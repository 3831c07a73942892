//! The arguments of the program. Every user of this system can read them, so they contain neither the key nor the
//! prompt.

use std::ffi::OsString;
use std::path::PathBuf;

use super::settings::{ClaudeSettings, PermissionMode};
use crate::agent::error::AgentErrorKind;
use crate::agent::turn::Turn;
use crate::sessions::session::{SessionId, SessionOp};

/// The longest argument that Linux accepts, including its terminating byte.
const LONGEST_ARGUMENT: usize = 128 * 1024;

/// The values that determine the arguments.
#[derive(Debug, Clone)]
pub(super) struct Call<'a> {
    pub(super) settings: &'a ClaudeSettings,
    pub(super) turn: &'a Turn,
    /// The session that the turn runs in; a new one for a fresh session and for a fork.
    pub(super) session: &'a SessionId,
    /// The schema as the program accepts it.
    pub(super) schema: Option<String>,
    /// The file with the system prompt, if there is one.
    pub(super) system: Option<PathBuf>,
    /// The file with the MCP servers, if there are any.
    pub(super) mcp_servers: Option<PathBuf>,
}

impl Call<'_> {
    /// The arguments, without the program.
    pub(super) fn arguments(&self) -> Result<Vec<OsString>, AgentErrorKind> {
        let mut arguments = Arguments::default();
        let Self { settings, turn, .. } = self;
        arguments.all(&["--print", "--verbose", "--output-format", "stream-json", "--input-format", "stream-json"]);
        // A long answer is reported in pieces, so that writing it counts as activity.
        arguments.all(&["--include-partial-messages", "--disable-slash-commands", "--strict-mcp-config"]);
        // Otherwise a continued session keeps the system prompt that it began with.
        arguments.with("--system-prompt-snapshot", "off");
        arguments.with("--setting-sources", settings.setting_sources.join(","));
        self.session(&mut arguments);
        if let Some(model) = turn.model.as_ref().or(settings.model.as_ref()) {
            arguments.with("--model", model);
        }
        if !settings.fallback_models.is_empty() {
            arguments.with("--fallback-model", settings.fallback_models.join(","));
        }
        self.permissions(&mut arguments);
        if let Some(file) = &self.mcp_servers {
            arguments.with("--mcp-config", file);
        }
        for directory in &settings.add_directories {
            arguments.with("--add-dir", directory);
        }
        if let Some(file) = &self.system {
            arguments.with("--append-system-prompt-file", file);
        }
        if let Some(turns) = settings.max_steps {
            arguments.with("--max-turns", turns.to_string());
        }
        if let Some(dollars) = settings.max_dollars {
            arguments.with("--max-budget-usd", dollars.to_string());
        }
        if let Some(schema) = &self.schema {
            if schema.len() >= LONGEST_ARGUMENT {
                return Err(AgentErrorKind::configuration(format!(
                    "the schema has {} bytes, and the program takes at most {LONGEST_ARGUMENT}: ask for less at once",
                    schema.len()
                )));
            }
            arguments.with("--json-schema", schema);
        }
        Ok(arguments.0)
    }

    fn session(&self, arguments: &mut Arguments) {
        match &self.turn.session {
            SessionOp::StartFresh(_) => arguments.with("--session-id", self.session.as_str()),
            SessionOp::ContinueFrom(session) => arguments.with("--resume", session.as_str()),
            SessionOp::ForkFrom { parent, .. } => {
                arguments.with("--resume", parent.as_str());
                arguments.all(&["--fork-session"]);
                arguments.with("--session-id", self.session.as_str());
            }
        }
    }

    fn permissions(&self, arguments: &mut Arguments) {
        let settings = self.settings;
        if self.turn.read_only {
            let reading = &settings.read_only_tools;
            let mut built_in: Vec<_> = reading.iter().filter(|tool| !is_mcp(tool)).map(|tool| bare(tool)).collect();
            built_in.dedup();
            arguments.with("--tools", built_in.join(","));
            // The rules for tools that are named without a rule, the other rules, and the read-only tools of servers.
            let kept = settings.allowed_tools.iter().filter(|rule| reading.iter().any(|tool| tool == bare(rule)));
            let rules: Vec<_> = kept.chain(reading.iter().filter(|tool| is_mcp(tool) || bare(tool) != *tool)).collect();
            arguments.list("--allowed-tools", &rules);
            arguments.with("--permission-mode", PermissionMode::DontAsk.name());
        } else {
            arguments.with("--tools", settings.tools.join(","));
            arguments.list("--allowed-tools", &settings.allowed_tools);
            arguments.with("--permission-mode", settings.permission_mode.name());
        }
        arguments.list("--disallowed-tools", &settings.disallowed_tools);
    }
}

/// The tool that a rule is about: `Read` for `Read(./**)`.
fn bare(rule: &str) -> &str {
    rule.split('(').next().unwrap_or(rule)
}

/// Whether a tool comes from an MCP server.
pub(super) fn is_mcp(tool: &str) -> bool {
    tool.starts_with("mcp__")
}

#[derive(Default)]
struct Arguments(Vec<OsString>);

impl Arguments {
    fn all(&mut self, arguments: &[&str]) {
        self.0.extend(arguments.iter().map(OsString::from));
    }

    fn with(&mut self, option: &str, value: impl Into<OsString>) {
        self.0.extend([option.into(), value.into()]);
    }

    /// Adds several values after one option; nothing if there are no values.
    fn list(&mut self, option: &str, values: &[impl AsRef<str>]) {
        if !values.is_empty() {
            self.0.push(option.into());
            self.0.extend(values.iter().map(|value| value.as_ref().into()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sessions::session::Slug;

    const NEW: &str = "78799592-0760-407e-b470-58bcb7b38a18";
    const OLD: &str = "0b1ce9f0-76cf-4d8a-9a6e-0d3a5f4a8e11";

    fn line(settings: &ClaudeSettings, turn: &Turn) -> String {
        let session =
            SessionId::new(if matches!(turn.session, SessionOp::ContinueFrom(_)) { OLD } else { NEW }).unwrap();
        let call = Call { settings, turn, session: &session, schema: None, system: None, mcp_servers: None };
        let arguments = call.arguments().unwrap();
        let shown = arguments.iter().map(|argument| match argument.to_str().unwrap() {
            "" => "''".to_owned(),
            argument => argument.to_owned(),
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    fn turn(session: SessionOp) -> Turn {
        Turn::new(session, "the prompt")
    }

    const ALWAYS: &str = "--print --verbose --output-format stream-json --input-format stream-json --include-partial-messages \
                          --disable-slash-commands --strict-mcp-config --system-prompt-snapshot off --setting-sources ''";
    const CAUTIOUS: &str =
        "--tools Bash,Edit,Glob,Grep,Read,Write --allowed-tools Read(./**) Edit(./**) --permission-mode dontAsk";

    /// PRG-04: each operation has its own option. `--continue` is never used, because it starts a fresh session if
    /// there is nothing to continue.
    #[test]
    fn a_session_is_begun_continued_or_forked_by_its_name() {
        let settings = ClaudeSettings::default();
        let (parent, slug) = (SessionId::new(OLD).unwrap(), Slug::new("write").unwrap());
        for (operation, session) in [
            (SessionOp::StartFresh(slug.clone()), format!("--session-id {NEW}")),
            (SessionOp::ContinueFrom(parent.clone()), format!("--resume {OLD}")),
            (SessionOp::ForkFrom { parent, slug }, format!("--resume {OLD} --fork-session --session-id {NEW}")),
        ] {
            assert_eq!(line(&settings, &turn(operation)), format!("{ALWAYS} {session} {CAUTIOUS}"));
        }
    }

    #[test]
    fn a_turn_that_only_reads_keeps_of_all_rules_those_for_reading() {
        let rules = ["Read(./**)", "Read(//usr/share/doc/**)", "Edit(./**)", "Bash(cargo *)", "mcp__docs__write"];
        let settings = ClaudeSettings {
            allowed_tools: rules.map(str::to_owned).into(),
            read_only_tools: ["Read", "Grep", "mcp__docs__search"].map(str::to_owned).into(),
            disallowed_tools: vec!["Read(./secret/**)".to_owned()],
            permission_mode: PermissionMode::AcceptEdits,
            ..ClaudeSettings::default()
        };
        let turn = Turn { read_only: true, ..turn(SessionOp::StartFresh(Slug::new("read").unwrap())) };
        let rest = "--tools Read,Grep --allowed-tools Read(./**) Read(//usr/share/doc/**) mcp__docs__search \
                    --permission-mode dontAsk --disallowed-tools Read(./secret/**)";
        assert_eq!(line(&settings, &turn), format!("{ALWAYS} --session-id {NEW} {rest}"));
    }

    /// Otherwise the rules for turns that write would allow more than the tool's own rule.
    #[test]
    fn a_tool_that_a_turn_that_only_reads_has_by_a_rule_is_allowed_by_that_rule_alone() {
        let settings = ClaudeSettings {
            allowed_tools: ["Read(./**)", "Bash(cargo *)", "Bash"].map(str::to_owned).into(),
            read_only_tools: ["Read", "Bash(git log *)", "Bash(git show *)"].map(str::to_owned).into(),
            ..ClaudeSettings::default()
        };
        let turn = Turn { read_only: true, ..turn(SessionOp::StartFresh(Slug::new("read").unwrap())) };
        let rest =
            "--tools Read,Bash --allowed-tools Read(./**) Bash(git log *) Bash(git show *) --permission-mode dontAsk";
        assert_eq!(line(&settings, &turn), format!("{ALWAYS} --session-id {NEW} {rest}"));
    }

    #[test]
    fn limits_and_models_are_passed_on_and_the_turns_model_comes_first() {
        let settings = ClaudeSettings {
            model: Some("haiku".to_owned()),
            fallback_models: vec!["sonnet".to_owned(), "opus".to_owned()],
            add_directories: vec!["/data".into()],
            setting_sources: vec!["user".to_owned(), "project".to_owned()],
            max_steps: Some(7),
            max_dollars: Some(0.5),
            ..ClaudeSettings::default()
        };
        let turn = Turn { model: Some("opus".to_owned()), ..turn(SessionOp::StartFresh(Slug::new("x").unwrap())) };
        let line = line(&settings, &turn);
        for part in [
            "--setting-sources user,project ",
            "--model opus --fallback-model sonnet,opus ",
            "--add-dir /data --max-turns 7 --max-budget-usd 0.5",
        ] {
            assert!(line.contains(part), "{part}: {line}");
        }
    }

    #[test]
    fn a_schema_that_is_no_argument_any_more_is_refused() {
        let turn = turn(SessionOp::StartFresh(Slug::new("x").unwrap()));
        let (settings, session) = (ClaudeSettings::default(), SessionId::new(NEW).unwrap());
        let schema = Some("x".repeat(LONGEST_ARGUMENT));
        let call =
            Call { settings: &settings, turn: &turn, session: &session, schema, system: None, mcp_servers: None };
        let error = call.arguments().unwrap_err().to_string();
        assert!(error.contains(&format!("the schema has {LONGEST_ARGUMENT} bytes")), "{error}");
    }
}
