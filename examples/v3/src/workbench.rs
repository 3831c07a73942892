//! Tools of handlers that are not part of the protocol: commands that build and test, and files of commits.

use crate::checks::Violation;
use crate::checks::build::build_violations;
use interlocking::prelude::NodeError;
use interlocking::rust_source::{Denied, StubMarkers, test_functions};
use interlocking::toolchain::{
    BuildOutcome, Checkout, CommandLine, FailureType, Harness, KnownTests, NamedCommand, Recorder, Runner,
    StructuredFailure, TestOutcome, TestRun, Toolchain, Unconfined,
};
use interlocking::workspaces::{FilePath, FreshCheckout, in_repository};
use interlocking::worktree::{CommitId, Repository};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// The name of the command that runs the tests of one file.
const SUITE: &str = "suite";

/// How work is built and tested, and what it may not contain.
#[derive(Clone, Debug)]
pub struct Workbench {
    /// Its commands.
    pub toolchain: Toolchain,
    /// The command that runs the tests of one file. `{path}` in it is the file, `{name}` its name without directory and ending.
    pub suite_command: CommandLine,
    /// What the implementation may not use.
    pub denied: Denied,
    /// Where builds put their artefacts.
    pub target_directory: PathBuf,
    /// The directory around the checkouts that are built.
    pub checkouts: PathBuf,
    /// Whether a run goes on if this system cannot confine the agents' code while it is built and tested.
    pub accept_weaker_isolation: bool,
    /// In a test: records the commands and returns prepared results in place of programs.
    pub recorder: Option<Arc<Recorder>>,
    /// Made once, from the other fields: it has noted what decides how everything is built.
    runner: OnceLock<Result<Runner, Unconfined>>,
}

/// The result of a run of tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The result of each test.
    pub outcome: TestOutcome,
    /// Why there is no verdict, if there is none: the tests do not build, or code fakes their results.
    pub none: Option<String>,
}

impl Verdict {
    fn without(reason: String) -> Self {
        Self { none: Some(reason), ..Self::default() }
    }

    /// Whether every test has passed, and there is at least one.
    pub fn is_green(&self) -> bool {
        self.none.is_none() && self.outcome.all_passed() && !self.outcome.passed.is_empty()
    }

    /// The tests that have failed other than at a stub: the tested code exists, and is wrong.
    pub fn broken(&self) -> Vec<String> {
        let is_at_stub = |failed: &&StructuredFailure| failed.failure_type != FailureType::UndefinedHit;
        self.outcome.failed.iter().filter(is_at_stub).map(|failed| failed.property_name.clone()).collect()
    }

    /// Whether tests have failed only at stubs, which other nodes have yet to fill.
    pub fn is_free_of_failures(&self) -> bool {
        self.none.is_none() && self.broken().is_empty() && !self.outcome.timed_out
    }

    /// The failed tests, including those that failed at stubs.
    pub fn failing(&self) -> Vec<String> {
        self.outcome.failed.iter().map(|failed| failed.property_name.clone()).collect()
    }

    /// Their messages.
    pub fn details(&self) -> String {
        let said = self.outcome.failed.iter().map(|failed| format!("{}: {}", failed.property_name, failed.message));
        self.none.iter().cloned().chain(said).collect::<Vec<_>>().join("\n")
    }
}

impl Workbench {
    /// The default workbench of a cargo project.
    pub fn cargo(target_directory: PathBuf, checkouts: PathBuf) -> Self {
        Self {
            toolchain: Toolchain::default(),
            suite_command: CommandLine::new("cargo", &["test", "--no-fail-fast", "--test", "{name}"]),
            denied: Denied { unsafe_code: true, ..Denied::default() },
            target_directory,
            checkouts,
            accept_weaker_isolation: false,
            recorder: None,
            runner: OnceLock::new(),
        }
    }

    /// Builds and tests with the user's toolchain. The command called `suite`, if there is one, runs the tests of one file:
    /// `{path}` in it is the file, `{name}` its name without directory and ending.
    pub fn use_toolchain(&mut self, toolchain: Toolchain) {
        if let Some(suite) = toolchain.commands.get(SUITE) {
            self.suite_command = suite.command.clone();
        }
        self.toolchain = toolchain;
    }

    /// The commands with which an agent may build and test, as one types them: of the command for one file, the part before that
    /// file.
    pub fn commands(&self) -> Vec<String> {
        let others = self.toolchain.commands.iter().filter(|(name, _)| *name != SUITE).map(|(_, other)| &other.command);
        let whole = [&self.toolchain.build_command, &self.toolchain.test_command].into_iter().chain(others);
        let suite = Vec::from(self.suite_command.clone());
        let before = suite.iter().take_while(|word| !word.contains('{')).cloned().collect::<Vec<_>>();
        whole.map(ToString::to_string).chain([before.join(" ")]).collect()
    }

    /// Whether test runs give verdicts on single tests, by name.
    pub fn names_tests(&self) -> bool {
        self.toolchain.harness != Harness::ExitCode
    }

    /// Builds a checkout.
    ///
    /// # Errors
    ///
    /// If no build could be run at all.
    pub async fn build(&self, checkout: &FreshCheckout) -> Result<BuildOutcome, NodeError> {
        Ok(self.runner()?.build(&Checkout::at(checkout.path())).await?)
    }

    /// Runs the tests of one file.
    ///
    /// # Errors
    ///
    /// If no test could be run at all.
    pub async fn suite(
        &self,
        checkout: &FreshCheckout,
        file: &FilePath,
        names: &[String],
    ) -> Result<Verdict, NodeError> {
        let words = Vec::from(self.suite_command.clone());
        let words: Vec<String> =
            words.iter().map(|word| word.replace("{path}", file.as_str()).replace("{name}", file.stem())).collect();
        let suite = NamedCommand {
            harness: self.toolchain.harness.clone(),
            timeout_seconds: self.toolchain.test_timeout_seconds,
            ..NamedCommand::new(words.try_into()?)
        };
        let mut toolchain = self.toolchain.clone();
        toolchain.commands.insert(SUITE.to_owned(), suite);
        self.tests(SUITE, toolchain, checkout, file, names).await
    }

    /// Runs every test; those of one file are known by name.
    ///
    /// # Errors
    ///
    /// If no test could be run at all.
    pub async fn every_test(&self, checkout: &FreshCheckout, file: &FilePath) -> Result<Verdict, NodeError> {
        self.tests("test", self.toolchain.clone(), checkout, file, &[]).await
    }

    async fn tests(
        &self,
        command: &str,
        toolchain: Toolchain,
        checkout: &FreshCheckout,
        file: &FilePath,
        names: &[String],
    ) -> Result<Verdict, NodeError> {
        let mut known = names.to_vec();
        let text = match checkout.text(file.in_repository()).await? {
            Ok(text) => text.filter(|_| file.is_rust()),
            Err(error) => return Ok(Verdict::without(error.to_string())),
        };
        if let Some(text) = text {
            match test_functions(file.as_str(), &text) {
                Ok(found) => known.extend(found.into_iter().map(|test| test.name)),
                Err(error) => return Ok(Verdict::without(error.to_string())),
            }
        }
        known.sort();
        known.dedup();
        let known = KnownTests { names: &known, test_path: file.as_str(), implementation_path: None };
        let runner = self.runner()?.with_toolchain(toolchain);
        let run = runner.run_named(command, &Checkout::at(checkout.path()), known).await;
        Ok(match run? {
            TestRun::DidNotBuild { diagnostics } => Verdict::without(diagnostics),
            TestRun::Forged { tests } => {
                Verdict::without(tests.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
            }
            TestRun::Ran(outcome) => Verdict { outcome, none: None },
        })
    }

    /// The runner of every command. The first call notes the files outside the checkouts that decide how everything is built.
    pub(crate) fn runner(&self) -> Result<&Runner, Unconfined> {
        let make = || {
            let (toolchain, target, checkouts) = (self.toolchain.clone(), &self.target_directory, &self.checkouts);
            let runner = Runner::with_weaker_isolation_if(toolchain, target, checkouts, self.accept_weaker_isolation)?;
            Ok(runner.with_recorder(self.recorder.clone()))
        };
        self.runner.get_or_init(make).as_ref().map_err(Clone::clone)
    }

    /// The changes between two commits to files that decide how everything is built, which agents may not make (V3-80).
    ///
    /// # Errors
    ///
    /// If the repository cannot be read.
    pub async fn build_violations(
        &self,
        repository: Repository,
        before: CommitId,
        now: CommitId,
    ) -> Result<Vec<Violation>, NodeError> {
        let allowed = self.toolchain.source.allow.clone();
        in_repository(repository, move |repository| build_violations(repository, (before, now), &allowed)).await
    }

    /// The markers of code that is not written yet.
    ///
    /// # Errors
    ///
    /// If a configured marker is not a Rust expression.
    pub fn markers(&self) -> Result<StubMarkers, NodeError> {
        Ok(self.toolchain.source.markers()?)
    }
}
