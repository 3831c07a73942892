//! Which commands, for how long, and how their output is read.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use interlocking_rust_source::SourceRules;
use serde::{Deserialize, Serialize};

use super::cargo_test::{CargoTest, NotCargoTest};
use super::command::CommandLine;

/// The longest that a command may take, in seconds: a year. A clock that counts further may run over.
const LONGEST_SECONDS: u64 = 365 * 24 * 60 * 60;

/// How the project under work is built and tested. By itself, as a crate is that cargo builds. Of times longer than a year
/// a year counts.
///
/// ```
/// use interlocking_toolchain::{CommandLine, Harness, Toolchain};
///
/// let toolchain = Toolchain {
///     build_command: CommandLine::new("npm", &["run", "build"]),
///     test_command: CommandLine::new("npm", &["test"]),
///     harness: Harness::ExitCode,
///     ..Toolchain::default()
/// };
/// assert_ne!(toolchain, Toolchain::default());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Toolchain {
    /// Builds everything, tests included; `cargo build --all-targets` by default (TC-01).
    #[serde(alias = "build_command")]
    pub build_command: CommandLine,
    /// Runs every test, and goes on after a failure; `cargo test --no-fail-fast` by default (TC-02). With
    /// [`Harness::Libtest`] it must be a `cargo test`: it builds the test programs, and each test is run by itself.
    #[serde(alias = "test_command")]
    pub test_command: CommandLine,
    /// How long a build may take, in seconds.
    #[serde(alias = "build_timeout_seconds")]
    pub build_timeout_seconds: u64,
    /// How long a run of the tests may take, in seconds, compiling them included.
    #[serde(alias = "test_timeout_seconds")]
    pub test_timeout_seconds: u64,
    /// How long a single test may take, in seconds, where each is run by itself; 120 by default.
    #[serde(alias = "one_test_timeout_seconds")]
    pub one_test_timeout_seconds: u64,
    /// What the test command prints.
    pub harness: Harness,
    /// Further commands by name, such as a gate for one package. Without an entry `contract` is `cargo test contract` with
    /// [`Harness::Libtest`] (TC-03), and `lint` is `cargo clippy --all-targets -- -D warnings`; `build` and `test` are the fields above.
    pub commands: BTreeMap<String, NamedCommand>,
    /// Environment variables that the commands see besides the ones every build needs. Everything else is
    /// kept from them.
    #[serde(alias = "pass_environment")]
    pub pass_environment: Vec<String>,
    /// Files and directories, by absolute paths, that the commands may read and run besides the checkout, the system's programs
    /// and cargo's.
    #[serde(alias = "readable_paths")]
    pub readable_paths: Vec<PathBuf>,
    /// Whether they have the network; they have not by default, loopback included.
    #[serde(alias = "allow_network")]
    pub allow_network: bool,
    /// What checks of the project's source go by. Whoever makes them reads it here; the runner makes none.
    pub source: SourceRules,
}

/// A command with what belongs to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NamedCommand {
    /// What is run.
    pub command: CommandLine,
    /// How its output is read; by its exit code unless something is said.
    #[serde(default = "exit_code")]
    pub harness: Harness,
    /// How long it may take, in seconds; 600 unless something is said.
    #[serde(default = "ten_minutes", alias = "timeout_seconds")]
    pub timeout_seconds: u64,
}

impl NamedCommand {
    /// A command of which the exit code counts, with ten minutes.
    pub fn new(command: CommandLine) -> Self {
        Self { command, harness: exit_code(), timeout_seconds: ten_minutes() }
    }

    /// How long it may take.
    pub fn timeout(&self) -> Duration {
        seconds(self.timeout_seconds)
    }
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds.min(LONGEST_SECONDS))
}

fn exit_code() -> Harness {
    Harness::ExitCode
}

fn ten_minutes() -> u64 {
    600
}

/// How a test command's output is read (TC-09).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Harness {
    /// Rust's own test harness, with proptest's reports inside: a process and a verdict for each test.
    Libtest,
    /// Nothing but the exit code: every test shares the command's fate.
    ExitCode,
    /// A report in JUnit's XML, as nextest, pytest and others write it.
    Junit {
        /// Where the command leaves it, relative to the directory for artefacts, which is made anew for each run. `{target}` in the command's
        /// arguments is that directory: `["pytest", "--junitxml={target}/report.xml"]`. Nextest has to be told by its configuration; `docs/book/src/verdicts.md` shows how.
        report: PathBuf,
    },
    /// The events of `go test -json`.
    GoTest,
}

impl Default for Toolchain {
    fn default() -> Self {
        Self {
            build_command: CommandLine::new("cargo", &["build", "--all-targets"]),
            test_command: CommandLine::new("cargo", &["test", "--no-fail-fast"]),
            build_timeout_seconds: 600,
            test_timeout_seconds: 600,
            one_test_timeout_seconds: 120,
            harness: Harness::Libtest,
            commands: BTreeMap::new(),
            pass_environment: Vec::new(),
            readable_paths: Vec::new(),
            allow_network: false,
            source: SourceRules::default(),
        }
    }
}

impl Toolchain {
    /// Whether each harness can be used with its command, beginning with the test command's.
    ///
    /// # Errors
    ///
    /// [`NotCargoTest`] for the first that cannot.
    pub fn check(&self) -> Result<(), NotCargoTest> {
        let others = self.commands.values().map(|named| (&named.harness, &named.command));
        for (harness, command) in [(&self.harness, &self.test_command)].into_iter().chain(others) {
            if *harness == Harness::Libtest {
                CargoTest::of(command)?;
            }
        }
        Ok(())
    }

    /// Every command that is configured: the build's, the tests', and those by name.
    pub fn configured(&self) -> impl Iterator<Item = &CommandLine> {
        [&self.build_command, &self.test_command].into_iter().chain(self.commands.values().map(|named| &named.command))
    }

    /// The command of a name: `build`, `test`, one of [`commands`](Self::commands), or `contract` or `lint` as they are by default.
    pub fn named(&self, name: &str) -> Option<NamedCommand> {
        let build = || NamedCommand {
            timeout_seconds: self.build_timeout_seconds,
            ..NamedCommand::new(self.build_command.clone())
        };
        let test = |command: &CommandLine, harness: &Harness| NamedCommand {
            command: command.clone(),
            harness: harness.clone(),
            timeout_seconds: self.test_timeout_seconds,
        };
        match name {
            "build" => Some(build()),
            "test" => Some(test(&self.test_command, &self.harness)),
            _ => self.commands.get(name).cloned().or_else(|| match name {
                "contract" => Some(test(&CommandLine::new("cargo", &["test", "contract"]), &Harness::Libtest)),
                "lint" => Some(NamedCommand::new(CommandLine::new(
                    "cargo",
                    &["clippy", "--all-targets", "--", "-D", "warnings"],
                ))),
                _ => None,
            }),
        }
    }

    /// Every name that [`named`](Self::named) knows, in order.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = ["build", "contract", "lint", "test"].map(str::to_owned).into();
        names.extend(self.commands.keys().cloned());
        names.sort();
        names.dedup();
        names
    }

    /// How long a build may take.
    pub fn build_timeout(&self) -> Duration {
        seconds(self.build_timeout_seconds)
    }

    /// How long a run of the tests may take.
    pub fn test_timeout(&self) -> Duration {
        seconds(self.test_timeout_seconds)
    }

    /// How long a single test may take.
    pub fn one_test_timeout(&self) -> Duration {
        seconds(self.one_test_timeout_seconds)
    }
}
