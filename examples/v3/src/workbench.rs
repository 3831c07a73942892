//! Tools of handlers that are not part of the protocol: commands that build and test, and files of commits.

use crate::checks::Violation;
use crate::checks::build::build_violations;
use interlocking::prelude::NodeError;
use interlocking::rust_source::{Denied, StubMarkers, test_functions};
use interlocking::toolchain::{
    BuildOutcome, Checkout, CommandLine, FailureType, Harness, KnownTests, NamedCommand, Runner, StructuredFailure,
    TestOutcome, TestRun, Toolchain,
};
use interlocking::workspaces::{FilePath, FreshCheckout, in_repository};
use interlocking::worktree::{CommitId, Repository};

/// The name of the command that runs the tests of one file.
const SUITE: &str = "suite";

/// How work is built and tested, and what it may not contain.
#[derive(Clone, Debug)]
pub struct Workbench {
    /// Runs the commands.
    pub runner: Runner,
    /// Runs the tests of one file. `{path}` in it is the file, `{name}` its name without directory and ending.
    pub suite: NamedCommand,
    /// What the implementation may not use.
    pub denied: Denied,
}

/// Nothing says how the tests of one file are run and judged.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSuite {
    /// The toolchain has no command for them.
    #[error(
        "nothing says how the tests of one file are run: write it as `commands.suite`, where `{{path}}` is the file, and `{{name}}` its name \
         without directory and ending"
    )]
    NoCommand,
    /// By its exit code alone, the command would say less of a test than the test command does.
    #[error(
        "`commands.suite` is judged by its exit code alone, but `testCommand` has another harness: write `harness = …` in `commands.suite`"
    )]
    ExitCodeAlone,
}

/// The command that runs the tests of one file: the toolchain's `suite`, or `cargo test --test` if cargo runs the project's tests.
///
/// # Errors
///
/// [`NoSuite`] if there is neither, or if only `suite` is judged by its exit code.
pub fn suite_of(toolchain: &Toolchain) -> Result<NamedCommand, NoSuite> {
    match toolchain.commands.get(SUITE) {
        Some(suite) if suite.harness == Harness::ExitCode && toolchain.harness != Harness::ExitCode => {
            Err(NoSuite::ExitCodeAlone)
        }
        Some(suite) => Ok(suite.clone()),
        None if toolchain.test_command.runs_cargo() => Ok(NamedCommand {
            command: CommandLine::new(
                toolchain.test_command.program(),
                &["test", "--no-fail-fast", "--test", "{name}"],
            ),
            harness: Harness::Libtest,
            timeout_seconds: toolchain.test_timeout_seconds,
        }),
        None => Err(NoSuite::NoCommand),
    }
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
    /// The workbench of a runner, with its toolchain.
    ///
    /// # Errors
    ///
    /// [`NoSuite`] if the toolchain does not say how the tests of one file are run and judged.
    pub fn new(runner: Runner) -> Result<Self, NoSuite> {
        let suite = suite_of(runner.toolchain())?;
        Ok(Self { runner, suite, denied: Denied { unsafe_code: true, ..Denied::default() } })
    }

    /// The commands with which an agent may build and test, as one types them: of the command for one file, the part before that
    /// file.
    pub fn commands(&self) -> Vec<String> {
        let toolchain = self.runner.toolchain();
        let others = toolchain.commands.iter().filter(|(name, _)| *name != SUITE).map(|(_, other)| &other.command);
        let whole = [&toolchain.build_command, &toolchain.test_command].into_iter().chain(others);
        let suite = Vec::from(self.suite.command.clone());
        let before = suite.iter().take_while(|word| !word.contains('{')).cloned().collect::<Vec<_>>();
        whole.map(ToString::to_string).chain([before.join(" ")]).collect()
    }

    /// Whether runs of one file's tests give verdicts on single tests, by name.
    pub fn names_tests(&self) -> bool {
        self.suite.harness != Harness::ExitCode
    }

    /// Builds a checkout.
    ///
    /// # Errors
    ///
    /// If no build could be run at all.
    pub async fn build(&self, checkout: &FreshCheckout) -> Result<BuildOutcome, NodeError> {
        Ok(self.runner.build(&Checkout::at(checkout.path())).await?)
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
        let words = Vec::from(self.suite.command.clone());
        let words: Vec<String> =
            words.iter().map(|word| word.replace("{path}", file.as_str()).replace("{name}", file.stem())).collect();
        let suite = NamedCommand { command: words.try_into()?, ..self.suite.clone() };
        let mut toolchain = self.runner.toolchain().clone();
        toolchain.commands.insert(SUITE.to_owned(), suite);
        self.tests(SUITE, toolchain, checkout, file, names).await
    }

    /// Runs every test; those of one file are known by name.
    ///
    /// # Errors
    ///
    /// If no test could be run at all.
    pub async fn every_test(&self, checkout: &FreshCheckout, file: &FilePath) -> Result<Verdict, NodeError> {
        self.tests("test", self.runner.toolchain().clone(), checkout, file, &[]).await
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
            // Other languages need not be written in UTF-8.
            Err(error) if error.is_file && !file.is_rust() => None,
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
        let runner = self.runner.with_toolchain(toolchain);
        let run = runner.run_named(command, &Checkout::at(checkout.path()), known).await;
        Ok(match run? {
            TestRun::DidNotBuild { diagnostics } => Verdict::without(diagnostics),
            TestRun::Forged { tests } => {
                Verdict::without(tests.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
            }
            TestRun::Ran(outcome) => Verdict { outcome, none: None },
        })
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
        let allowed = self.runner.toolchain().source.allow.clone();
        in_repository(repository, move |repository| build_violations(repository, (before, now), &allowed)).await
    }

    /// The markers of code that is not written yet.
    ///
    /// # Errors
    ///
    /// If a configured marker is not a Rust expression.
    pub fn markers(&self) -> Result<StubMarkers, NodeError> {
        Ok(self.runner.toolchain().source.markers()?)
    }
}
