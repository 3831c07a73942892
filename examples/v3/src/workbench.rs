//! What handlers work with that is no part of the protocol: commands that build and test, and files of commits.

use crate::checks::Violation;
use crate::checks::build::build_violations;
use interlocking::prelude::NodeError;
use interlocking::rust_source::{Denied, StubMarkers, test_functions};
use interlocking::toolchain::{
    BuildOutcome, Checkout, CommandLine, FailureType, KnownTests, NamedCommand, Recorder, Runner, StructuredFailure,
    TestOutcome, TestRun, Toolchain,
};
use interlocking::workspaces::{FilePath, FreshCheckout, in_repository};
use interlocking::worktree::{CommitId, Repository};
use std::path::PathBuf;
use std::sync::Arc;

/// The longest file that is read, in bytes.
pub(crate) const LONGEST: u64 = 2 << 20;

/// What the command is called that runs the tests of one file.
const SUITE: &str = "suite";

/// How work is built and tested, and what may not be in it.
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
    /// Whether it goes on where this system cannot keep the agents' code in its place while it is built and tested.
    pub accept_weaker_isolation: bool,
    /// Who answers in the place of programs, and notes what was asked, in a test.
    pub recorder: Option<Arc<Recorder>>,
}

/// What came of a run of tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// What came of each test.
    pub outcome: TestOutcome,
    /// Why there is no verdict, if there is none: the tests do not build, or something answers for them.
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

    /// The tests that have failed otherwise than at a stub: what they test is there, and wrong.
    pub fn broken(&self) -> Vec<String> {
        let is_at_stub = |failed: &&StructuredFailure| failed.failure_type != FailureType::UndefinedHit;
        self.outcome.failed.iter().filter(is_at_stub).map(|failed| failed.property_name.clone()).collect()
    }

    /// Whether nothing has failed but at stubs, which others have yet to fill.
    pub fn is_free_of_failures(&self) -> bool {
        self.none.is_none() && self.broken().is_empty() && !self.outcome.timed_out
    }

    /// What has failed, at stubs too.
    pub fn failing(&self) -> Vec<String> {
        self.outcome.failed.iter().map(|failed| failed.property_name.clone()).collect()
    }

    /// What that said.
    pub fn details(&self) -> String {
        let said = self.outcome.failed.iter().map(|failed| format!("{}: {}", failed.property_name, failed.message));
        self.none.iter().cloned().chain(said).collect::<Vec<_>>().join("\n")
    }
}

impl Workbench {
    /// The usual one of a cargo project.
    pub fn cargo(target_directory: PathBuf, checkouts: PathBuf) -> Self {
        Self {
            toolchain: Toolchain::default(),
            suite_command: CommandLine::new("cargo", &["test", "--no-fail-fast", "--test", "{name}"]),
            denied: Denied { unsafe_code: true, ..Denied::default() },
            target_directory,
            checkouts,
            accept_weaker_isolation: false,
            recorder: None,
        }
    }

    /// Builds and tests as a user says. The command called `suite`, if there is one, runs the tests of one file: `{path}` in it is the file,
    /// `{name}` its name without directory and ending.
    pub fn use_toolchain(&mut self, toolchain: Toolchain) {
        if let Some(suite) = toolchain.commands.get(SUITE) {
            self.suite_command = suite.command.clone();
        }
        self.toolchain = toolchain;
    }

    /// What an agent may run to build and test, as one types it: of the command for one file what stands before that file.
    pub fn commands(&self) -> Vec<String> {
        let others = self.toolchain.commands.iter().filter(|(name, _)| *name != SUITE).map(|(_, other)| &other.command);
        let whole = [&self.toolchain.build_command, &self.toolchain.test_command].into_iter().chain(others);
        let suite = Vec::from(self.suite_command.clone());
        let before = suite.iter().take_while(|word| !word.contains('{')).cloned().collect::<Vec<_>>();
        whole.map(ToString::to_string).chain([before.join(" ")]).collect()
    }

    /// Builds a checkout.
    ///
    /// # Errors
    ///
    /// Where no build could be run at all.
    pub async fn build(&self, checkout: &FreshCheckout) -> Result<BuildOutcome, NodeError> {
        Ok(self.runner(self.toolchain.clone())?.build(&Checkout::at(checkout.path())).await?)
    }

    /// Runs the tests of one file.
    ///
    /// # Errors
    ///
    /// Where no test could be run at all.
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

    /// Runs every test, of which those of one file are known by name.
    ///
    /// # Errors
    ///
    /// Where no test could be run at all.
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
        if let Some(text) = text_in(checkout, file).await?.filter(|_| file.is_rust()) {
            match test_functions(file.as_str(), &text) {
                Ok(found) => known.extend(found.into_iter().map(|test| test.name)),
                Err(error) => return Ok(Verdict::without(error.to_string())),
            }
        }
        known.sort();
        known.dedup();
        let known = KnownTests { names: &known, test_path: file.as_str(), implementation_path: None };
        let run = self.runner(toolchain)?.run_named(command, &Checkout::at(checkout.path()), known).await;
        Ok(match run? {
            TestRun::DidNotBuild { diagnostics } => Verdict::without(diagnostics),
            TestRun::Forged { tests } => {
                Verdict::without(tests.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
            }
            TestRun::Ran(outcome) => Verdict { outcome, none: None },
        })
    }

    fn runner(&self, toolchain: Toolchain) -> Result<Runner, NodeError> {
        let (target, checkouts) = (&self.target_directory, &self.checkouts);
        let runner = Runner::with_weaker_isolation_if(toolchain, target, checkouts, self.accept_weaker_isolation)?;
        Ok(match &self.recorder {
            Some(recorder) => runner.with_recorder(recorder.clone()),
            None => runner,
        })
    }

    /// What differs between two commits of what decides how everything is built, and agents may not change (V3-80).
    ///
    /// # Errors
    ///
    /// Where the repository cannot be read.
    pub async fn build_violations(
        &self,
        repository: Repository,
        before: CommitId,
        now: CommitId,
    ) -> Result<Vec<Violation>, NodeError> {
        let allowed = self.toolchain.source.allow.clone();
        in_repository(repository, move |repository| build_violations(repository, (before, now), &allowed)).await
    }

    /// What stands for what is not written yet.
    ///
    /// # Errors
    ///
    /// Where a marker that is configured is no Rust expression.
    pub fn markers(&self) -> Result<StubMarkers, NodeError> {
        Ok(self.toolchain.source.markers()?)
    }
}

/// A file of a checkout as text; none if it is not there.
pub(crate) async fn text_in(checkout: &FreshCheckout, file: &FilePath) -> Result<Option<String>, NodeError> {
    let bytes = checkout.read_file(file.in_repository(), LONGEST).await?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// Whether one commit is another, or below it; not, where either is not there.
pub(crate) async fn is_below(repository: Repository, older: CommitId, newer: CommitId) -> Result<bool, NodeError> {
    in_repository(repository, move |repository| {
        let is_there = |commit| repository.commit(commit).is_ok();
        Ok(is_there(older) && is_there(newer) && repository.is_ancestor(older, newer)?)
    })
    .await
}
