//! Who plays the agents of a run: scripted ones, real ones, or some of each.

use crate::whereabouts::Whereabouts;
use hybrid::graph::Hybrid;
use interlocking::agents::backends::Backends;
use interlocking::agents::claude::Credential;
use interlocking::agents::{
    ClaudeCode, ClaudeSettings, Codex, CodexSettings, Gemini, GeminiSettings, Script, ScriptedAgent,
};
use interlocking::cli::CommandError;
use interlocking::runtime::roles::Roles;
use interlocking::toolchain::CommandLine;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// What every build needs to find the toolchain, where it is not where it usually is.
const CARGO: [&str; 3] = ["CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"];

impl Whereabouts {
    /// Who plays which role, each of them ready to work.
    pub(crate) async fn bind_roles(&self, script: Option<Script>) -> Result<Roles, CommandError> {
        let mut roles = match script {
            Some(script) => Roles::all(Arc::new(self.scripted(script)?)),
            None => Roles::new(),
        };
        roles.bind_all::<Hybrid>(&self.players.bindings(self.backends())?).map_err(CommandError::of_role_bindings)?;
        roles.check::<Hybrid>().await.map_err(CommandError::of_roles)?;
        Ok(roles)
    }

    fn scripted(&self, script: Script) -> Result<ScriptedAgent, CommandError> {
        // Real agents know their sessions in another process, too.
        let mut agent = ScriptedAgent::new(script).with_memory(self.agents.join("agents.json"))?;
        for (name, value) in self.build_places() {
            agent = agent.with_env(name, value);
        }
        Ok(agent)
    }

    /// The usual backends. What is usual for a real agent is not enough here: it builds and tests, and what it keeps is
    /// kept with the run's journal, as long as the run may go on.
    fn backends(&self) -> Backends {
        let run = self.clone();
        let (for_codex, for_gemini) = (run.clone(), run.clone());
        Backends::built_in()
            .with_kind("claude", move |settings| Ok(Arc::new(ClaudeCode::new(run.claude(settings)))))
            .with_kind("codex", move |settings| Ok(Arc::new(Codex::new(for_codex.codex(settings)))))
            .with_kind("gemini", move |settings| Ok(Arc::new(Gemini::new(for_gemini.gemini(settings)))))
    }

    fn claude(&self, mut settings: ClaudeSettings) -> ClaudeSettings {
        if settings.allowed_tools == ClaudeSettings::default().allowed_tools {
            for command in [&self.toolchain.build_command, &self.toolchain.test_command] {
                settings.allowed_tools.extend(allowing(command));
            }
        }
        // The sessions of a login are where the login is.
        if settings.home.is_none() && settings.credential != Some(Credential::Login) {
            settings.home = Some(self.agents.join("claude"));
        }
        self.let_build(&mut settings.inherit, &mut settings.environment);
        settings
    }

    fn codex(&self, mut settings: CodexSettings) -> CodexSettings {
        // Its login, where there is no key, is in the home that it has by itself.
        if settings.home.is_none() && settings.api_key_variable.is_some() {
            settings.home = Some(self.agents.join("codex"));
        }
        self.let_build(&mut settings.inherit, &mut settings.environment);
        settings
    }

    fn gemini(&self, mut settings: GeminiSettings) -> GeminiSettings {
        if settings.allowed_tools.is_empty() {
            let commands = [&self.toolchain.build_command, &self.toolchain.test_command];
            settings.allowed_tools = commands.map(|command| format!("run_shell_command({command})")).into();
        }
        settings.home.get_or_insert_with(|| self.agents.join("gemini"));
        self.let_build(&mut settings.inherit, &mut settings.environment);
        settings
    }

    fn let_build(&self, inherit: &mut Vec<String>, environment: &mut BTreeMap<String, String>) {
        inherit.extend(CARGO.map(str::to_owned));
        for (name, value) in self.build_places() {
            environment.entry(name.to_owned()).or_insert(value.to_string_lossy().into_owned());
        }
    }

    /// Cargo as an agent runs it: one place outside the worktrees, and in it one for each of them.
    fn build_places(&self) -> [(&'static str, PathBuf); 2] {
        let place = self.target_directory.join("agents");
        let own = place.join("{workspace-path-hash}");
        [("CARGO_TARGET_DIR", place), ("CARGO_BUILD_BUILD_DIR", own)]
    }
}

/// Claude Code's rules that allow a command, with more arguments or without.
fn allowing(command: &CommandLine) -> [String; 2] {
    [format!("Bash({command})"), format!("Bash({command} *)")]
}
