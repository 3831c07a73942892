//! Do the tests notice when the code changes? Each change is made in a checkout, built and tested, and taken back.

use crate::execution::RunError;
use crate::failure::FailureType;
use crate::files::{self, Restore};
use crate::harness::KnownTests;
use crate::judgement::green_check;
use crate::outcome::{Forgery, TestRun};
use crate::runner::{Checkout, Runner};
use crate::toolchain::Harness;
use interlocking_rust_source::Edit;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
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
    test_limit: Option<Duration>,
    checkout: Checkout,
    names: Vec<String>,
    test_path: String,
    implementation_path: Option<String>,
}

/// What came of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MutantVerdict {
    /// A test failed with it.
    Caught {
        /// The tests that failed; where each is run by itself, the first of them.
        by: Vec<String>,
    },
    /// The tests did not end in time with it: they notice, but not by what they assert.
    TimedOut,
    /// It was built, and every test passed.
    Survived,
    /// It does not build, and so tells nothing of the tests.
    DidNotBuild {
        /// What the build printed, its end if it was long.
        diagnostics: String,
    },
    /// What it changes is not part of what is built, because of a `cfg` or since no module names the file.
    NotCompiled,
}

impl MutantVerdict {
    /// Whether the code was changed and the tests did not notice.
    pub fn is_survivor(&self) -> bool {
        matches!(self, Self::Survived)
    }
}

/// Without any change the tests do not pass: no change can be told from the original.
#[derive(Debug, thiserror::Error)]
pub enum NoBaseline {
    /// They do not build.
    #[error("the project does not build as it is, so no mutant can be tried:\n{diagnostics}")]
    DidNotBuild {
        /// What was printed, its end if it was long.
        diagnostics: String,
    },
    /// Some fail, or are not run.
    #[error("these tests do not pass as the project is, so no mutant can be tried: {}", not_passed.join(", "))]
    NotGreen {
        /// The tests that failed, or were to pass and were not run.
        not_passed: Vec<String>,
    },
    /// There is none.
    #[error("no test was run, so no mutant can be tried: write tests, or name the command that runs them")]
    NoTests,
    /// They are not to be believed.
    #[error("no mutant can be tried, for {}", tests.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Forged {
        /// Each test that was answered for.
        tests: Vec<Forgery>,
    },
    /// No command could be run.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// A change could not be tried at all.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// No command could be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The path leads elsewhere, or to no regular file.
    #[error("`{path}` is no file of the checkout, relative to it and without links: name one that is")]
    NoFile {
        /// The path.
        path: String,
    },
    /// The file is not the text that the change was made for.
    #[error("{path} is not the text that the change is for: make the change from the file as it is in the checkout")]
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
    /// Runs the tests once as the project is. They must build and pass, each of the known ones and every other.
    ///
    /// The checkout's files are written to, and are what they were after each trial.
    ///
    /// # Errors
    ///
    /// [`NoBaseline`] where they do not.
    pub async fn begin(runner: &Runner, checkout: Checkout, known: KnownTests<'_>) -> Result<Self, NoBaseline> {
        if runner.toolchain().harness != Harness::Libtest {
            let built = runner.build(&checkout).await?;
            if !built.passed() {
                return Err(NoBaseline::DidNotBuild { diagnostics: built.diagnostics().to_owned() });
            }
        }
        match runner.test(&checkout, known).await? {
            TestRun::DidNotBuild { diagnostics } => return Err(NoBaseline::DidNotBuild { diagnostics }),
            TestRun::Forged { tests } => return Err(NoBaseline::Forged { tests }),
            TestRun::Ran(outcome) => {
                let check = green_check(&outcome, known.names.iter().map(String::as_str));
                let failed = outcome.failed.iter().map(|failure| failure.property_name.clone());
                let not_passed: Vec<String> = failed.chain(check.absent).collect();
                if !not_passed.is_empty() {
                    return Err(NoBaseline::NotGreen { not_passed });
                }
                if outcome.passed.is_empty() || outcome.timed_out {
                    return Err(NoBaseline::NoTests);
                }
            }
        }
        Ok(Self {
            runner: runner.until_a_failure(None),
            test_limit: None,
            checkout,
            names: known.names.to_vec(),
            test_path: known.test_path.to_owned(),
            implementation_path: known.implementation_path.map(str::to_owned),
        })
    }

    /// The same with this long for a single test, rounded up to seconds, where that is less than the toolchain gives: a change that makes
    /// the code loop for ever takes this long. It should be several times what the slowest test takes. Where a command runs all
    /// tests together, the toolchain's limit for it stands.
    #[must_use]
    pub fn with_test_limit(self, limit: Duration) -> Self {
        Self { runner: self.runner.until_a_failure(Some(limit)), test_limit: Some(limit), ..self }
    }

    /// The longest that a single test may take, if that was said.
    pub fn test_limit(&self) -> Option<Duration> {
        self.test_limit
    }

    /// Tries a change to Rust source: a mutant of our own making, or one that somebody claims.
    ///
    /// # Errors
    ///
    /// [`TrialError`] where it cannot be tried.
    pub async fn try_edit(&mut self, edit: &Edit) -> Result<MutantVerdict, TrialError> {
        let file = self.file(&edit.path)?;
        let text = read(&file)?;
        let another = || TrialError::AnotherText { path: edit.path.clone() };
        let changed = edit.apply(&text).ok_or_else(another)?;
        let verdict = self.judge(&file, &text, &changed).await?;
        if !verdict.is_survivor() {
            return Ok(verdict);
        }
        // Nobody notices a change to what is not compiled.
        let broken = edit.with_compile_error(&text).ok_or_else(another)?;
        Ok(match self.judge(&file, &text, &broken).await? {
            MutantVerdict::DidNotBuild { .. } => MutantVerdict::Survived,
            _ => MutantVerdict::NotCompiled,
        })
    }

    /// Tries a file with another text, in whatever language. That the file is part of what is tested is up to the caller.
    ///
    /// # Errors
    ///
    /// [`TrialError`] where it cannot be tried.
    pub async fn try_text(&mut self, path: &str, changed: &str) -> Result<MutantVerdict, TrialError> {
        let file = self.file(path)?;
        let text = read(&file)?;
        self.judge(&file, &text, changed).await
    }

    /// Where a file of the checkout is. The path may be an agent's.
    fn file(&self, path: &str) -> Result<PathBuf, TrialError> {
        files::locate(self.checkout.path(), path).map_err(|_| TrialError::NoFile { path: path.to_owned() })
    }

    /// Builds and tests with a file changed, which is then what it was, also when nobody waits for this any more.
    async fn judge(&self, file: &Path, text: &str, changed: &str) -> Result<MutantVerdict, TrialError> {
        let restore = Restore { file, text };
        write(file, changed)?;
        let verdict = self.run().await;
        restore.now().map_err(|source| TrialError::File { path: file.to_owned(), source })?;
        Ok(verdict?)
    }

    async fn run(&self) -> Result<MutantVerdict, RunError> {
        // Rust's own harness tells a build that fails from tests that do; of other commands only the build's own is clear.
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
            // That every test was answered for is not that one has noticed.
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

fn read(file: &Path) -> Result<String, TrialError> {
    files::read(file).map_err(|source| TrialError::File { path: file.to_owned(), source })
}

fn write(file: &Path, text: &str) -> Result<(), TrialError> {
    fs::write(file, text).map_err(|source| TrialError::File { path: file.to_owned(), source })
}
