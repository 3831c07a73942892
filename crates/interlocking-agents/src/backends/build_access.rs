//! Agents that build and test what they write.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::kind::Backends;
use crate::drivers::claude::{ClaudeCode, ClaudeSettings};
use crate::drivers::codex::{Codex, CodexSettings};
use crate::drivers::gemini::{Gemini, GeminiSettings};
use crate::program::WORKSPACE_HASH;

/// What an agent that builds and tests by itself gets beyond the defaults, unless its settings say otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildAccess {
    /// Commands that the agent may run, as typed in a shell, with or without further arguments.
    pub commands: Vec<String>,
    /// Environment variables of this process that the agent inherits.
    pub inherit: Vec<String>,
    /// More environment variables.
    pub environment: BTreeMap<String, String>,
    /// The directory below which each program keeps its sessions, in its own home. If absent, each program uses its
    /// default place.
    pub homes: Option<PathBuf>,
}

/// The variables that a build needs to find a Rust toolchain in an unusual place, and to know whether to build
/// incrementally.
const CARGO: [&str; 4] = ["CARGO_HOME", "CARGO_INCREMENTAL", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"];

impl BuildAccess {
    /// The commands with which an agent inspects its repository and commits its work.
    pub const GIT: [&str; 6] =
        ["git rev-parse", "git branch --show-current", "git status", "git diff", "git add", "git commit"];

    /// Access for cargo builds with these commands. Artefacts lie below `target_directory`, in a separate directory for
    /// each workspace: no agent learns where the artefacts of another agent are, and no agent runs a program that
    /// another agent has built.
    pub fn cargo(commands: impl IntoIterator<Item = String>, target_directory: &Path) -> Self {
        let own = target_directory.join(WORKSPACE_HASH).to_string_lossy().into_owned();
        let environment = ["CARGO_TARGET_DIR", "CARGO_BUILD_BUILD_DIR"].map(|name| (name, own.clone()));
        Self {
            commands: commands.into_iter().collect(),
            inherit: CARGO.map(str::to_owned).into(),
            environment: environment.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            homes: None,
        }
    }

    fn give(&self, inherit: &mut Vec<String>, environment: &mut BTreeMap<String, String>) {
        inherit.extend(self.inherit.iter().cloned());
        for (name, value) in &self.environment {
            environment.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }

    fn home(&self, program: &str) -> Option<PathBuf> {
        self.homes.as_ref().map(|homes| homes.join(program))
    }

    fn claude(&self, mut settings: ClaudeSettings) -> ClaudeSettings {
        if settings.allowed_tools == ClaudeSettings::default().allowed_tools {
            let rules =
                self.commands.iter().flat_map(|command| [format!("Bash({command})"), format!("Bash({command} *)")]);
            settings.allowed_tools.extend(rules);
        }
        // The sessions are where the login or the user's settings are.
        if settings.home.is_none() && !settings.needs_home() {
            settings.home = self.home("claude");
        }
        self.give(&mut settings.inherit, &mut settings.environment);
        settings
    }

    fn codex(&self, mut settings: CodexSettings, has_key: bool) -> CodexSettings {
        // Without a key, Codex uses its login, which is in its default home.
        if settings.home.is_none() && has_key {
            settings.home = self.home("codex");
        }
        self.give(&mut settings.inherit, &mut settings.environment);
        settings
    }

    fn gemini(&self, mut settings: GeminiSettings) -> GeminiSettings {
        if settings.allowed_tools.is_empty() {
            let rules = self.commands.iter().map(|command| format!("run_shell_command({command})"));
            settings.allowed_tools = rules.collect();
        }
        settings.home = settings.home.or_else(|| self.home("gemini"));
        self.give(&mut settings.inherit, &mut settings.environment);
        settings
    }
}

impl Backends {
    /// The [built-in](Self::built_in) backends, whose programs may build. A setting in a file takes precedence over
    /// what is given here.
    pub fn with_build_access(access: &BuildAccess) -> Self {
        let (claude, codex, gemini) = (access.clone(), access.clone(), access.clone());
        Self::built_in()
            .with_kind("claude", move |settings| Ok(Arc::new(ClaudeCode::new(claude.claude(settings)))))
            .with_kind("codex", move |settings: CodexSettings| {
                let has_key = !matches!(settings.key(), Ok(None));
                Ok(Arc::new(Codex::new(codex.codex(settings, has_key))))
            })
            .with_kind("gemini", move |settings| Ok(Arc::new(Gemini::new(gemini.gemini(settings)))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drivers::claude::Credential;

    fn access() -> BuildAccess {
        let commands = ["cargo build --offline", "cargo test"].map(str::to_owned);
        BuildAccess { homes: Some("/homes".into()), ..BuildAccess::cargo(commands, Path::new("/target")) }
    }

    /// Without settings: the commands with and without more arguments, a home for each program, and cargo's
    /// directories.
    #[test]
    fn each_program_may_run_the_commands_in_a_home_of_its_own() {
        let access = access();
        let claude = access.claude(ClaudeSettings::default());
        let usual = ClaudeSettings::default().allowed_tools.len();
        let added =
            ["Bash(cargo build --offline)", "Bash(cargo build --offline *)", "Bash(cargo test)", "Bash(cargo test *)"];
        assert_eq!(claude.allowed_tools[usual..], added);
        let gemini = access.gemini(GeminiSettings::default());
        let allowed = ["run_shell_command(cargo build --offline)", "run_shell_command(cargo test)"];
        assert_eq!(gemini.allowed_tools, allowed);
        let codex = access.codex(CodexSettings::default(), true);
        let homes = [claude.home, codex.home, gemini.home].map(Option::unwrap);
        assert_eq!(homes, ["/homes/claude", "/homes/codex", "/homes/gemini"].map(PathBuf::from));
        for environment in [&claude.environment, &codex.environment, &gemini.environment] {
            assert_eq!(environment["CARGO_TARGET_DIR"], "/target/{workspace-hash}");
            assert_eq!(environment["CARGO_BUILD_BUILD_DIR"], "/target/{workspace-hash}");
        }
        for inherit in [&claude.inherit, &codex.inherit, &gemini.inherit] {
            assert!(CARGO.iter().all(|name| inherit.iter().any(|known| known == name)), "{inherit:?}");
        }
    }

    /// Settings are kept, and a login stays where it is.
    #[test]
    fn what_settings_say_goes_before() {
        let access = access();
        let settings = ClaudeSettings {
            allowed_tools: vec!["Read(./**)".to_owned()],
            credential: Some(Credential::Login),
            environment: [("CARGO_TARGET_DIR".to_owned(), "/mine".to_owned())].into(),
            ..ClaudeSettings::default()
        };
        let claude = access.claude(settings);
        assert_eq!((claude.allowed_tools.as_slice(), claude.home), (&["Read(./**)".to_owned()][..], None));
        assert_eq!(claude.environment["CARGO_TARGET_DIR"], "/mine");
        let gemini = access.gemini(GeminiSettings {
            allowed_tools: vec!["run_shell_command(ls)".to_owned()],
            home: Some("/mine".into()),
            ..GeminiSettings::default()
        });
        assert_eq!(
            (gemini.allowed_tools, gemini.home),
            (vec!["run_shell_command(ls)".to_owned()], Some("/mine".into()))
        );
        assert_eq!(access.codex(CodexSettings::default(), false).home, None);
        let users = ClaudeSettings { setting_sources: vec!["user".to_owned()], ..ClaudeSettings::default() };
        assert_eq!(access.claude(users).home, None, "the user's settings are in the home");
    }
}
