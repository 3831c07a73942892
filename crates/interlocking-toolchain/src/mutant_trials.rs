//! Finds out whether the tests notice changes to the code. Each change is made in a checkout, built, tested, and undone.

use crate::execution::RunError;
use crate::failure::FailureType;
use crate::files::{Change, CheckoutFile};
use crate::harness::KnownTests;
use crate::judgement::green_check;
use crate::outcome::{Forgery, TestRun, TestVerdict};
use crate::runner::{Checkout, Runner};
use crate::toolchain::Harness;
use interlocking_rust_source::Edit;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Tries changes to a project, one after another, in a checkout that is used for nothing else.
///
/// ```no_run
/// # async fn example(runner: interlocking_toolchain::Runner) -> Result<(), Box<dyn std::error::Error>> {
/// use interlocking_rust_source::{mutants, sample};
/// use interlocking_toolchain::{Checkout, KnownTests, MutantTrials};
///
/// let names = ["prop_undo".to_owned()];
/// let known = KnownTests { names: &names, test_path: "tests/properties.rs", implementation_path: Some("src/lib.rs") };
/// let text = std::fs::read_to_string("/srv/checkouts/1/src/lib.rs")?;
/// let mut trials = MutantTrials::begin(&runner, Checkout::at("/srv/checkouts/1"), known).await?;
/// for mutant in sample(&mutants("src/lib.rs", &text)?, 20) {
///     if trials.try_edit(&mutant.edit).await?.is_survivor() {
///         println!("no test notices: {mutant}");
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct MutantTrials {
    runner: Runner,
    checkout: Checkout,
    names: Vec<String>,
    test_path: String,
    implementation_path: Option<String>,
}

/// The verdict on a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MutantVerdict {
    /// A test failed with the change.
    Caught {
        /// The tests that failed; only the first of them if each test runs in a process of its own.
        by: Vec<String>,
    },
    /// The tests did not end in time with the change: they notice it, but not by their assertions.
    TimedOut,
    /// The changed code builds, and every test passed.
    Survived,
    /// The changed code does not build, and so says nothing about the tests.
    DidNotBuild {
        /// What the build printed, or the end of it.
        diagnostics: String,
    },
    /// The changed code is not compiled, because of a `cfg` or because no module names the file.
    NotCompiled,
}

impl MutantVerdict {
    /// Whether the tests did not notice the change.
    pub fn is_survivor(&self) -> bool {
        matches!(self, Self::Survived)
    }
}

/// The tests do not pass on the unchanged project, so no change can be judged.
#[derive(Debug, thiserror::Error)]
pub enum NoBaseline {
    /// The project or its tests do not build.
    #[error("the project does not build as it is, so no mutant can be tried:\n{diagnostics}")]
    DidNotBuild {
        /// What the build printed, or the end of it.
        diagnostics: String,
    },
    /// Some tests fail, or are not there.
    #[error("these tests do not pass as the project is, so no mutant can be tried: {}", not_passed.join(", "))]
    NotGreen {
        /// The tests that failed, or should have passed and are not there.
        not_passed: Vec<String>,
    },
    /// No test was run.
    #[error("no test was run, so no mutant can be tried: write tests, or name the command that runs them")]
    NoTests,
    /// The results of tests are forged.
    #[error("no mutant can be tried: {}", tests.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Forged {
        /// The tests whose results are forged.
        tests: Vec<Forgery>,
    },
    /// A command could not be run.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// A change could not be tried.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// A command could not be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The path leads out of the checkout, or not to a regular file.
    #[error("`{path}` is no file of the checkout, relative to it and without links: name one that is")]
    NoFile {
        /// The path.
        path: String,
    },
    /// The file does not have the text that the change was made for.
    #[error(
        "{path} differs from the text that the change was made for: make the change from the file as it is in the checkout"
    )]
    AnotherText {
        /// The path.
        path: String,
    },
    /// The file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

impl MutantTrials {
    /// Runs the tests once on the unchanged project. They must build, and all known and all other tests must pass, except those that
    /// are marked to be skipped.
    ///
    /// Trials write to the checkout's files, and restore them after each trial. If each test runs in a process of its own, a trial's
    /// limit for one test is five times what the slowest took here, at least 20 s, and at most the toolchain's limit: a change that
    /// makes the code loop for ever takes that long.
    ///
    /// # Errors
    ///
    /// [`NoBaseline`] if the tests do not build or do not pass.
    pub async fn begin(runner: &Runner, checkout: Checkout, known: KnownTests<'_>) -> Result<Self, NoBaseline> {
        if runner.toolchain().harness != Harness::Libtest {
            let built = runner.build(&checkout).await?;
            if !built.passed() {
                return Err(NoBaseline::DidNotBuild { diagnostics: built.diagnostics().to_owned() });
            }
        }
        let slowest = Arc::new(AtomicU64::new(0));
        let names = match runner.measuring(slowest.clone()).test(&checkout, known).await? {
            TestRun::DidNotBuild { diagnostics } => return Err(NoBaseline::DidNotBuild { diagnostics }),
            TestRun::Forged { tests } => return Err(NoBaseline::Forged { tests }),
            TestRun::Ran(outcome) => {
                // A test that is skipped says nothing about a change. Whether it may be skipped is for the caller to say.
                let is_run = |name: &&String| outcome.verdict_of(name) != TestVerdict::Ignored;
                let names: Vec<String> = known.names.iter().filter(is_run).cloned().collect();
                let check = green_check(&outcome, names.iter().map(String::as_str));
                let failed = outcome.failed.iter().map(|failure| failure.property_name.clone());
                let not_passed: Vec<String> = failed.chain(check.absent).collect();
                if !not_passed.is_empty() {
                    return Err(NoBaseline::NotGreen { not_passed });
                }
                if outcome.passed.is_empty() || outcome.timed_out {
                    return Err(NoBaseline::NoTests);
                }
                names
            }
        };
        Ok(Self {
            runner: runner.stopping_at_failure(limit_seconds(Duration::from_millis(slowest.load(Ordering::Relaxed)))),
            checkout,
            names,
            test_path: known.test_path.to_owned(),
            implementation_path: known.implementation_path.map(str::to_owned),
        })
    }

    /// The time limit for one test, if each test runs in a process of its own.
    pub fn test_limit(&self) -> Duration {
        self.runner.toolchain().one_test_timeout()
    }

    /// Tries a change to Rust source: a generated mutant, or one that an agent claims.
    ///
    /// # Errors
    ///
    /// [`TrialError`] if the change cannot be tried.
    pub async fn try_edit(&mut self, edit: &Edit) -> Result<MutantVerdict, TrialError> {
        let file = self.file(&edit.path)?;
        let text = read(&file)?;
        let another = || TrialError::AnotherText { path: edit.path.clone() };
        let changed = edit.apply(&text).ok_or_else(another)?;
        let verdict = self.judge(&file, &text, &changed).await?;
        if !verdict.is_survivor() {
            return Ok(verdict);
        }
        // A compile error in the same place shows whether the code is compiled at all.
        let broken = edit.with_compile_error(&text).ok_or_else(another)?;
        Ok(match self.judge(&file, &text, &broken).await? {
            MutantVerdict::DidNotBuild { .. } => MutantVerdict::Survived,
            _ => MutantVerdict::NotCompiled,
        })
    }

    /// Tries another text for a file, in any language. The caller ensures that the file is part of what is tested.
    ///
    /// # Errors
    ///
    /// [`TrialError`] if the change cannot be tried.
    pub async fn try_text(&mut self, path: &str, changed: &str) -> Result<MutantVerdict, TrialError> {
        let file = self.file(path)?;
        let text = read(&file)?;
        self.judge(&file, &text, changed).await
    }

    /// A file of the checkout. An agent may have chosen the path.
    fn file(&self, path: &str) -> Result<CheckoutFile, TrialError> {
        CheckoutFile::find(self.checkout.path(), path).map_err(|_| TrialError::NoFile { path: path.to_owned() })
    }

    /// Builds and tests with a changed file, and restores the file, even if this future is dropped.
    async fn judge(&self, file: &CheckoutFile, text: &str, changed: &str) -> Result<MutantVerdict, TrialError> {
        let failed = |source| TrialError::File { path: file.path(), source };
        let change = Change::make(file, text, changed).map_err(failed)?;
        let verdict = self.run().await;
        change.restore().map_err(failed)?;
        Ok(verdict?)
    }

    async fn run(&self) -> Result<MutantVerdict, RunError> {
        // With Rust's own harness the test command tells failed builds from failed tests; with others only the build command
        // does.
        if self.runner.toolchain().harness != Harness::Libtest {
            let built = self.runner.build(&self.checkout).await?;
            if !built.passed() {
                return Ok(MutantVerdict::DidNotBuild { diagnostics: built.diagnostics().to_owned() });
            }
        }
        let known = KnownTests {
            names: &self.names,
            test_path: &self.test_path,
            implementation_path: self.implementation_path.as_deref(),
        };
        Ok(match self.runner.test(&self.checkout, known).await? {
            TestRun::DidNotBuild { diagnostics } => MutantVerdict::DidNotBuild { diagnostics },
            // Forged results do not show that a test has noticed the change.
            TestRun::Forged { .. } => MutantVerdict::Survived,
            TestRun::Ran(outcome) if outcome.all_passed() => MutantVerdict::Survived,
            TestRun::Ran(outcome) => {
                let asserted = outcome.failed.iter().filter(|failure| failure.failure_type != FailureType::Timeout);
                let by: Vec<String> = asserted.map(|failure| failure.property_name.clone()).collect();
                if by.is_empty() { MutantVerdict::TimedOut } else { MutantVerdict::Caught { by } }
            }
        })
    }
}

/// The time limit for one test if the slowest took this long on the unchanged project. Other programs may take more of the machine
/// during a trial.
fn limit_seconds(slowest: Duration) -> u64 {
    const LEAST: u64 = 20;
    const TIMES: u32 = 5;
    slowest.saturating_mul(TIMES).as_secs().saturating_add(1).max(LEAST)
}

fn read(file: &CheckoutFile) -> Result<String, TrialError> {
    file.read().map_err(|source| TrialError::File { path: file.path(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_multiple_of_what_the_slowest_test_took() {
        for (milliseconds, limit) in [(0, 20), (3_800, 20), (4_000, 21), (30_000, 151), (u64::MAX, u64::MAX / 200 + 1)]
        {
            assert_eq!(limit_seconds(Duration::from_millis(milliseconds)), limit, "{milliseconds}");
        }
    }
}
