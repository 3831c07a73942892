//! The commands of a project, their time limits, and how their output is read.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use interlocking_rust_source::{SourceRules, is_identifier};
use serde::{Deserialize, Serialize};

use super::cargo_test::CargoTest;
use super::command::CommandLine;

/// The longest time limit, in seconds: a year. A longer one could overflow a clock.
const LONGEST_SECONDS: u64 = 365 * 24 * 60 * 60;

/// How a project is built and tested. The default is for a crate that cargo builds. Time limits longer than a year count as a
/// year.
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
    /// [`Harness::Libtest`] it must be a `cargo test`: it builds the test programs, and each test runs in a process of its own.
    #[serde(alias = "test_command")]
    pub test_command: CommandLine,
    /// The time limit for a build, in seconds; 600 by default.
    #[serde(alias = "build_timeout_seconds")]
    pub build_timeout_seconds: u64,
    /// The time limit for a run of the tests including their compilation, in seconds; 600 by default.
    #[serde(alias = "test_timeout_seconds")]
    pub test_timeout_seconds: u64,
    /// The time limit for a single test if each runs in a process of its own, in seconds; 120 by default.
    #[serde(alias = "one_test_timeout_seconds")]
    pub one_test_timeout_seconds: u64,
    /// How the test command's output is read.
    pub harness: Harness,
    /// Further commands by name, such as a gate for one package. Without an entry, `contract` is `cargo test contract` with
    /// [`Harness::Libtest`] (TC-03), and `lint` is `cargo clippy --all-targets -- -D warnings`. `build` and `test` are the fields
    /// above, and [`check`](Self::check) refuses them here.
    pub commands: BTreeMap<String, NamedCommand>,
    /// Environment variables that the commands see, besides those that every build needs. They see no others.
    #[serde(alias = "pass_environment")]
    pub pass_environment: Vec<String>,
    /// Absolute paths of files and directories that the commands may read and execute, besides the checkout, the system's
    /// programs and cargo's.
    #[serde(alias = "readable_paths")]
    pub readable_paths: Vec<PathBuf>,
    /// Whether the commands may use the network. By default they may not, and loopback is cut off too.
    #[serde(alias = "allow_network")]
    pub allow_network: bool,
    /// The rules for checks of the project's source. They are only stored here; the runner makes no such checks.
    pub source: SourceRules,
}

/// A command with its harness and time limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NamedCommand {
    /// The command.
    pub command: CommandLine,
    /// How the command's output is read; by default only the exit code counts.
    #[serde(default = "exit_code")]
    pub harness: Harness,
    /// The command's time limit in seconds; 600 by default.
    #[serde(default = "ten_minutes", alias = "timeout_seconds")]
    pub timeout_seconds: u64,
}

/// A toolchain cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct ToolchainError {
    /// All its mistakes.
    pub mistakes: Vec<ToolchainMistake>,
}

/// A value of a toolchain that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{field}`: {message}")]
pub struct ToolchainMistake {
    /// The value's field, such as `testCommand`, or `commands.lint.timeoutSeconds`.
    pub field: String,
    /// What is wrong, and what to write.
    pub message: String,
}

impl NamedCommand {
    /// A command of which only the exit code counts, with a time limit of ten minutes.
    pub fn new(command: CommandLine) -> Self {
        Self { command, harness: exit_code(), timeout_seconds: ten_minutes() }
    }

    /// The command's time limit.
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
    /// Rust's own test harness, with proptest's reports: a process and a verdict for each test.
    Libtest,
    /// Only the exit code: every test has the verdict of the whole command.
    ExitCode,
    /// A report in JUnit's XML, as nextest, pytest and others write it.
    Junit {
        /// The path of the report, relative to the directory for artefacts, which is created anew for each run. `{target}` in the
        /// command's arguments stands for that directory: `["pytest", "--junitxml={target}/report.xml"]`. Nextest takes the path
        /// from its configuration; `docs/book/src/verdicts.md` shows how.
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

const NEVER_BUILT: &str = "it is never run; write it as `buildCommand`, with its limit as `buildTimeoutSeconds`";

const NEVER_TESTED: &str = "it is never run; write it as `testCommand`, with its limit as `testTimeoutSeconds` and its harness as \
    `harness`";

fn check_command(field: &str, command: &CommandLine, harness: &Harness, add: &mut impl FnMut(&str, String)) {
    if *harness == Harness::Libtest
        && let Err(error) = CargoTest::of(command)
    {
        add(field, error.to_string());
    }
}

fn check_limit(field: &str, seconds: u64, add: &mut impl FnMut(&str, String)) {
    if seconds == 0 {
        add(field, "nothing finishes in no time; use at least 1".to_owned());
    }
}

impl Toolchain {
    /// Checks that each command is one that can be run, with a harness that can be used with it and in some time, and that paths,
    /// markers and prefixes are such.
    ///
    /// # Errors
    ///
    /// [`ToolchainError`] with every mistake.
    pub fn check(&self) -> Result<(), ToolchainError> {
        let mut mistakes = Vec::new();
        let mut add = |field: &str, message: String| {
            mistakes.push(ToolchainMistake { field: field.to_owned(), message });
        };
        check_command("testCommand", &self.test_command, &self.harness, &mut add);
        check_limit("buildTimeoutSeconds", self.build_timeout_seconds, &mut add);
        check_limit("testTimeoutSeconds", self.test_timeout_seconds, &mut add);
        check_limit("oneTestTimeoutSeconds", self.one_test_timeout_seconds, &mut add);
        for (name, named) in &self.commands {
            match name.as_str() {
                "build" => add("commands.build", NEVER_BUILT.to_owned()),
                "test" => add("commands.test", NEVER_TESTED.to_owned()),
                _ => {
                    check_command(&format!("commands.{name}.command"), &named.command, &named.harness, &mut add);
                    check_limit(&format!("commands.{name}.timeoutSeconds"), named.timeout_seconds, &mut add);
                }
            }
        }
        if self.readable_paths.iter().any(|path| !path.is_absolute()) {
            add("readablePaths", "not absolute; write each from the root, such as `/opt/tools`".to_owned());
        }
        if let Err(error) = self.source.markers() {
            add("source.stubMarkers", error.to_string());
        }
        if !is_identifier(&self.source.property_prefix) {
            let message = "not the beginning of a function's name; use one such as `prop_`";
            add("source.propertyPrefix", message.to_owned());
        }
        if mistakes.is_empty() { Ok(()) } else { Err(ToolchainError { mistakes }) }
    }

    /// Every configured command: the build command, the test command, and [`commands`](Self::commands).
    pub fn configured(&self) -> impl Iterator<Item = &CommandLine> {
        [&self.build_command, &self.test_command].into_iter().chain(self.commands.values().map(|named| &named.command))
    }

    /// The command of a name: `build`, `test`, one of [`commands`](Self::commands), or the default `contract` or `lint`.
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

    /// Every name that [`named`](Self::named) accepts, sorted.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = ["build", "contract", "lint", "test"].map(str::to_owned).into();
        names.extend(self.commands.keys().cloned());
        names.sort();
        names.dedup();
        names
    }

    /// The time limit for a build.
    pub fn build_timeout(&self) -> Duration {
        seconds(self.build_timeout_seconds)
    }

    /// The time limit for a run of the tests.
    pub fn test_timeout(&self) -> Duration {
        seconds(self.test_timeout_seconds)
    }

    /// The time limit for a single test.
    pub fn one_test_timeout(&self) -> Duration {
        seconds(self.one_test_timeout_seconds)
    }
}
