//! Which commands, for how long, and how their output is read.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::cargo_test::{CargoTest, NotCargoTest};
use super::command::CommandLine;

/// How the project under work is built and tested.
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
    /// For checks of the source: what a stub's body consists of, as Rust expressions; `todo!()` and `unimplemented!()` by default (TC-05).
    #[serde(alias = "stub_markers")]
    pub stub_markers: Vec<String>,
    /// For checks of the source: what the name of a property test begins with; `prop_` by default (TC-12).
    #[serde(alias = "property_prefix")]
    pub property_prefix: String,
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
    /// For checks of the source: what code may contain although a verdict on code with it can be talked round, each as a refusal names it: `unsafe`,
    /// `std::process`, `#[no_mangle]`.
    pub allow: Vec<String>,
}

/// How a test command's output is read (TC-09).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Harness {
    /// Rust's own test harness, with proptest's reports inside: a process and a verdict for each test.
    Libtest,
    /// Nothing but the exit code: every test shares the command's fate.
    ExitCode,
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
            stub_markers: vec!["todo!()".to_owned(), "unimplemented!()".to_owned()],
            property_prefix: "prop_".to_owned(),
            pass_environment: Vec::new(),
            readable_paths: Vec::new(),
            allow_network: false,
            allow: Vec::new(),
        }
    }
}

impl Toolchain {
    /// Whether the harness can be used with the test command.
    ///
    /// # Errors
    ///
    /// [`NotCargoTest`].
    pub fn check(&self) -> Result<(), NotCargoTest> {
        match self.harness {
            Harness::Libtest => CargoTest::of(&self.test_command).map(drop),
            Harness::ExitCode => Ok(()),
        }
    }

    /// How long a build may take.
    pub fn build_timeout(&self) -> Duration {
        Duration::from_secs(self.build_timeout_seconds)
    }

    /// How long a run of the tests may take.
    pub fn test_timeout(&self) -> Duration {
        Duration::from_secs(self.test_timeout_seconds)
    }

    /// How long a single test may take.
    pub fn one_test_timeout(&self) -> Duration {
        Duration::from_secs(self.one_test_timeout_seconds)
    }
}
