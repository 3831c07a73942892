//! Which commands, for how long, and how their output is read.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::CommandLine;

/// How the project under work is built and tested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Toolchain {
    /// Builds everything, tests included; `cargo build --all-targets` by default (TC-01).
    #[serde(alias = "build_command")]
    pub build_command: CommandLine,
    /// Runs every test, and goes on after a failure; `cargo test --no-fail-fast` by default (TC-02).
    #[serde(alias = "test_command")]
    pub test_command: CommandLine,
    /// How long a build may take, in seconds.
    #[serde(alias = "build_timeout_seconds")]
    pub build_timeout_seconds: u64,
    /// How long a run of the tests may take, in seconds, compiling them included.
    #[serde(alias = "test_timeout_seconds")]
    pub test_timeout_seconds: u64,
    /// What the test command prints.
    pub harness: Harness,
    /// What a stub's body consists of, as Rust expressions; `todo!()` and `unimplemented!()` by default (TC-05).
    #[serde(alias = "stub_markers")]
    pub stub_markers: Vec<String>,
    /// What the name of a property test begins with; `prop_` by default (TC-12).
    #[serde(alias = "property_prefix")]
    pub property_prefix: String,
    /// Environment variables that the commands see besides the ones every build needs. Everything else is
    /// kept from them.
    #[serde(alias = "pass_environment")]
    pub pass_environment: Vec<String>,
}

/// How a test command's output is read (TC-09).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Harness {
    /// Rust's own test harness, with proptest's reports inside: a verdict for each test.
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
            harness: Harness::Libtest,
            stub_markers: vec!["todo!()".to_owned(), "unimplemented!()".to_owned()],
            property_prefix: "prop_".to_owned(),
            pass_environment: Vec::new(),
        }
    }
}

impl Toolchain {
    /// How long a build may take.
    pub fn build_timeout(&self) -> Duration {
        Duration::from_secs(self.build_timeout_seconds)
    }

    /// How long a run of the tests may take.
    pub fn test_timeout(&self) -> Duration {
        Duration::from_secs(self.test_timeout_seconds)
    }
}
