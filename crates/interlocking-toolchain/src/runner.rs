//! Builds and tests checkouts with a toolchain.

use super::build_settings::BuildSettings;
use super::cargo_test::{Built, CargoTest};
use super::command::CommandLine;
use super::confinement::{Build, Sandboxes, Unconfined};
use super::dependencies::{has_settings, own_split_debuginfo, settings_to_share};
use super::environment;
use super::execution::{Ending, Finished, RunError};
use super::outcome::{BuildOutcome, TestRun};
use super::recorder::{Programs, Recorder};
use super::report;
use super::temporary::Temporary;
use super::test_programs::Suite;
use super::toolchain::{Harness, NamedCommand, Toolchain};
use crate::canaries::{WithCanaries, with_canaries};
use crate::files::{Change, CheckoutFile};
use crate::harness::{KnownTests, exit_code, go_test, junit};
use interlocking_agents::program::{Environment, Invocation};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{self, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use tokio::sync::{Mutex, MutexGuard};
use tokio::time::Instant;

/// Builds and tests checkouts.
///
/// The commands run in a sandbox with a cleared environment: it has only the variables that builds need (`PATH`, `HOME`, the
/// locations of cargo and rustup, the locale) and those that the toolchain names, so that no secret of the caller reaches code
/// that an agent wrote. Every process that a command starts ends with it.
///
/// Builds by cargo share their artefacts, so those of a runner, of its clones and of [`with_toolchain`](Self::with_toolchain)
/// wait for each other. Their time limits begin after that.
#[derive(Debug, Clone)]
pub struct Runner {
    toolchain: Toolchain,
    target_directory: PathBuf,
    environment: Environment,
    sandboxes: Sandboxes,
    settings: BuildSettings,
    programs: Programs,
    stops_at_failure: bool,
    /// The longest time that a process took for one test, if that is measured.
    slowest_test: Option<Arc<AtomicU64>>,
    /// Held while cargo builds in the target directory.
    building: Arc<Mutex<()>>,
}

/// The files of one commit, in a directory to which no agent has ever been able to write. The caller ensures that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout(PathBuf);

impl Checkout {
    /// The checkout in this directory.
    pub fn at(directory: impl Into<PathBuf>) -> Self {
        Self(directory.into())
    }

    /// The directory of the checkout.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

/// The longest diagnostics of a failed command, in bytes.
const LONGEST_DIAGNOSTICS: usize = 16 * 1024;

/// The message if part of cargo's output was dropped, so that a test program may be missing.
const OUTPUT_CUT_MESSAGE: &str = "cargo printed more than is read, so some of the test programs that it built may not be known; it prints \
    every warning, too: reduce their number";

impl Runner {
    /// A runner for checkouts in `checkouts` that keeps its artefacts below `target_directory`. Records the files outside the
    /// checkouts that affect builds; every command fails if they have changed.
    ///
    /// # Errors
    ///
    /// [`Unconfined`] if this system cannot confine the code under test.
    pub fn new(
        toolchain: Toolchain,
        target_directory: impl AsRef<Path>,
        checkouts: impl AsRef<Path>,
    ) -> Result<Self, Unconfined> {
        let sandboxes = Sandboxes::of_this_system()?;
        Ok(Self::confined(toolchain, target_directory.as_ref(), checkouts.as_ref(), sandboxes))
    }

    /// Like [`new`](Self::new), with as much isolation as this system has.
    pub fn with_weaker_isolation(
        toolchain: Toolchain,
        target_directory: impl AsRef<Path>,
        checkouts: impl AsRef<Path>,
    ) -> Self {
        let sandboxes = Sandboxes::as_far_as_possible();
        Self::confined(toolchain, target_directory.as_ref(), checkouts.as_ref(), sandboxes)
    }

    /// [`with_weaker_isolation`](Self::with_weaker_isolation) if the user accepts that, and [`new`](Self::new) otherwise.
    ///
    /// # Errors
    ///
    /// [`Unconfined`] if this system cannot confine the code under test, and weaker isolation is not accepted.
    pub fn with_weaker_isolation_if(
        toolchain: Toolchain,
        target_directory: impl AsRef<Path>,
        checkouts: impl AsRef<Path>,
        is_accepted: bool,
    ) -> Result<Self, Unconfined> {
        match is_accepted {
            true => Ok(Self::with_weaker_isolation(toolchain, target_directory, checkouts)),
            false => Self::new(toolchain, target_directory, checkouts),
        }
    }

    fn confined(toolchain: Toolchain, target_directory: &Path, checkouts: &Path, sandboxes: Sandboxes) -> Self {
        // Commands have directories of their own, and files are recorded up to the root.
        let absolute = |path: &Path| path::absolute(path).unwrap_or_else(|_| path.to_owned());
        // Builds that agents run have another target directory.
        let target_directory = absolute(target_directory).join("verdicts");
        let environment = environment::of_commands(&toolchain, &target_directory);
        Self {
            toolchain,
            target_directory,
            environment,
            sandboxes,
            settings: BuildSettings::of(&absolute(checkouts)),
            programs: Programs::default(),
            stops_at_failure: false,
            slowest_test: None,
            building: Arc::default(),
        }
    }

    /// A runner that stops at the first failure if each test runs in a process of its own, with this time limit for a single
    /// test if that is less than the toolchain's limit.
    pub(crate) fn stopping_at_failure(&self, test_limit_seconds: u64) -> Self {
        let mut toolchain = self.toolchain.clone();
        toolchain.one_test_timeout_seconds = toolchain.one_test_timeout_seconds.min(test_limit_seconds);
        Self { toolchain, stops_at_failure: true, slowest_test: None, ..self.clone() }
    }

    /// A runner that measures the longest time that a process takes for one test, in milliseconds, if each test runs in a process of
    /// its own.
    pub(crate) fn measuring(&self, slowest_test: Arc<AtomicU64>) -> Self {
        Self { slowest_test: Some(slowest_test), ..self.clone() }
    }

    /// This runner with another toolchain. The files outside the checkouts are those that this runner has recorded, and builds of
    /// both wait for each other.
    #[must_use]
    pub fn with_toolchain(&self, toolchain: Toolchain) -> Self {
        let environment = environment::of_commands(&toolchain, &self.target_directory);
        Self { toolchain, environment, ..self.clone() }
    }

    /// Replaces this system's programs by `recorder`, if there is one, which answers and records each command. For tests: nothing
    /// is started.
    #[must_use]
    pub fn with_recorder(self, recorder: impl Into<Option<Arc<Recorder>>>) -> Self {
        let programs = recorder.into().map_or(self.programs, Programs::Recorded);
        Self { programs, ..self }
    }

    /// The runner's toolchain.
    pub fn toolchain(&self) -> &Toolchain {
        &self.toolchain
    }

    /// Runs the build command in a checkout.
    ///
    /// # Errors
    ///
    /// [`RunError`] if the command could not be run, or its result does not count.
    pub async fn build(&self, checkout: &Checkout) -> Result<BuildOutcome, RunError> {
        let _timed = Timed::begin("build");
        let time_limit = self.toolchain.build_timeout();
        let command = &self.toolchain.build_command;
        let _turn = self.turn_to_build(command).await;
        let finished = self.run(command, checkout, &self.target_directory, time_limit).await?;
        Ok(match finished.ending {
            Ending::Exited(0) => BuildOutcome::Passed,
            Ending::Exited(_) | Ending::Killed => BuildOutcome::Failed { diagnostics: diagnostics(&finished, None) },
            Ending::TimedOut => BuildOutcome::TimedOut { after: time_limit, diagnostics: diagnostics(&finished, None) },
        })
    }

    /// Tests a checkout with the test command: [`run_named`](Self::run_named) with `test`.
    ///
    /// # Errors
    ///
    /// [`RunError`] if a command could not be run, or its result does not count.
    pub async fn test(&self, checkout: &Checkout, known: KnownTests<'_>) -> Result<TestRun, RunError> {
        self.run_named("test", checkout, known).await
    }

    /// Runs the command of a name (`test`, `contract`, `lint`, or a configured one) and reads the verdicts by the command's
    /// harness. A known test without a verdict, because time was up, the test program crashed or there is no such test, counts as
    /// failed. With Rust's own harness, a known test that the command's filters do not choose needs no verdict.
    ///
    /// # Errors
    ///
    /// [`RunError`] if a command could not be run, or its result does not count; [`RunError::UnknownCommand`] for an unknown
    /// name.
    pub async fn run_named(&self, name: &str, checkout: &Checkout, known: KnownTests<'_>) -> Result<TestRun, RunError> {
        let unknown = || RunError::UnknownCommand { name: name.to_owned(), known: self.toolchain.names() };
        let named = self.toolchain.named(name).ok_or_else(unknown)?;
        let _timed = Timed::begin(if name == "test" { "test" } else { "named" });
        if named.harness == Harness::Libtest {
            return self.test_one_by_one(&named, checkout, known).await;
        }
        // This command both builds and tests, so an agent's code can write to its artefacts. They are used for nothing else.
        let own = Temporary::beside(checkout.path())?;
        let command = report::with_target(&named.command, own.path());
        let finished = self.run(&command, checkout, own.path(), named.timeout()).await?;
        let report = match &named.harness {
            Harness::Junit { report } => report::read(own.path(), report),
            Harness::GoTest | Harness::ExitCode | Harness::Libtest => None,
        };
        own.delete().await?;
        Ok(match named.harness {
            Harness::Junit { .. } => TestRun::Ran(junit::read(&finished, report.as_deref(), known)),
            Harness::GoTest => go_test::read(&finished, known)
                .map_or_else(|| TestRun::DidNotBuild { diagnostics: diagnostics(&finished, None) }, TestRun::Ran),
            Harness::ExitCode | Harness::Libtest => TestRun::Ran(exit_code::read(&finished, known)),
        })
    }

    async fn test_one_by_one(
        &self,
        named: &NamedCommand,
        checkout: &Checkout,
        known: KnownTests<'_>,
    ) -> Result<TestRun, RunError> {
        let command = CargoTest::of(&named.command)?;
        // Another test of this checkout may have the file changed until then.
        let turn = self.turn_to_build(&command.build).await;
        let failed = |source| RunError::File { path: checkout.path().join(known.test_path), source };
        let found = CheckoutFile::find(checkout.path(), known.test_path);
        let file = match found.and_then(|file| file.read().map(|text| (file, text))) {
            Ok(file) => Some(file),
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound => None,
                // The commit contains it like this.
                io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::NotADirectory => {
                    return Ok(TestRun::DidNotBuild { diagnostics: format!("{}: {error}", known.test_path) });
                }
                _ => return Err(failed(error)),
            },
        };
        let paired = match file.as_ref().map(|(_, text)| with_canaries(known.test_path, text)).transpose() {
            Ok(paired) => paired.unwrap_or(WithCanaries { text: String::new(), tests: Vec::new() }),
            Err(error) => return Ok(TestRun::DidNotBuild { diagnostics: error.to_string() }),
        };
        let deadline = Instant::now() + named.timeout();
        // Also restored if this future is dropped, so that the next test of this checkout finds what was committed.
        let change = file.as_ref().map(|(file, text)| Change::make(file, text, &paired.text));
        let change = change.transpose().map_err(failed)?;
        let finished = self.run(&command.build, checkout, &self.target_directory, named.timeout()).await;
        // Restored before any test runs: no test may read in the file which name is the canary's.
        change.map(Change::restore).transpose().map_err(failed)?;
        drop(turn);
        let finished = finished?;
        let built = Built::read(&finished.stdout, &self.target_directory);
        if finished.ending != Ending::Exited(0) {
            return Ok(TestRun::DidNotBuild { diagnostics: diagnostics(&finished, Some(&built.rendered)) });
        }
        if finished.is_cut {
            return Ok(TestRun::DidNotBuild { diagnostics: OUTPUT_CUT_MESSAGE.to_owned() });
        }
        if let Some(program) = built.outside.first() {
            let diagnostics = format!(
                "cargo names the test program {}, which is not in {}, where it was to build: remove what names another directory",
                program.display(),
                self.target_directory.display()
            );
            return Ok(TestRun::DidNotBuild { diagnostics });
        }
        let suite = Suite {
            toolchain: &self.toolchain,
            environment: &self.environment,
            sandboxes: &self.sandboxes,
            checkout: checkout.path(),
            known,
            built: &built,
            arguments: &command.arguments,
            is_selective: command.is_selective,
            is_serial: command.is_serial,
            chosen: &command.chosen,
            programs: &self.programs,
            deadline,
            stops_at_failure: self.stops_at_failure,
            slowest_test: self.slowest_test.as_deref(),
        };
        suite.run(&paired.tests).await
    }

    /// Waits until no other command builds with cargo in the target directory. Cargo would wait for that too, but within the
    /// command's time. Other programs may build at the same time.
    async fn turn_to_build(&self, command: &CommandLine) -> Option<MutexGuard<'_, ()>> {
        if command.runs_cargo() { Some(self.building.lock().await) } else { None }
    }

    async fn run(
        &self,
        command: &CommandLine,
        checkout: &Checkout,
        target_directory: &Path,
        time_limit: Duration,
    ) -> Result<Finished, RunError> {
        if let Some(path) = self.settings.changed() {
            return Err(RunError::SettingsChanged { path: path.to_owned() });
        }
        make(target_directory)?;
        let temporary = Temporary::beside(checkout.path())?;
        let build = Build { checkout: checkout.path(), target: target_directory, temporary: temporary.path() };
        let sandbox = self.sandboxes.of_build(&build, &self.toolchain, command.program());
        let own = own_split_debuginfo(checkout.path());
        let environment = self
            .environment
            .clone()
            .set("CARGO_TARGET_DIR", target_directory)
            .set("CARGO_BUILD_BUILD_DIR", target_directory)
            // Go's default cache belongs to the user.
            .set("GOCACHE", target_directory.join("go"))
            .set("CARGO_PROFILE_DEV_SPLIT_DEBUGINFO", &own)
            .set("CARGO_PROFILE_RELEASE_SPLIT_DEBUGINFO", &own);
        let mut arguments: Vec<OsString> = command.arguments().iter().map(Into::into).collect();
        // Another command has artefacts of its own, and a recorder compiles nothing.
        if command.runs_cargo()
            && !has_settings(command.arguments())
            && target_directory == self.target_directory
            && self.programs.are_real()
            && let Some(settings) = settings_to_share(checkout.path(), &self.settings)
        {
            let path = temporary.path().join("dependencies.toml");
            fs::write(&path, settings).map_err(|source| RunError::File { path: path.clone(), source })?;
            // Rustup's choice of a toolchain comes first.
            let first = usize::from(command.arguments().first().is_some_and(|word| word.starts_with('+')));
            arguments.splice(first..first, ["--config".into(), path.into()]);
        }
        let invocation = Invocation {
            arguments,
            directory: Some(checkout.path().to_owned()),
            sandbox: Some(Arc::new(sandbox)),
            ..Invocation::new(command.program(), environment)
        };
        let finished = self.programs.run(&command.to_string(), invocation, time_limit).await?;
        temporary.delete().await?;
        Ok(finished)
    }
}

/// Logs how long a build or a run of the tests took, whatever its result.
struct Timed {
    what: &'static str,
    since: Instant,
}

impl Timed {
    fn begin(what: &'static str) -> Self {
        Self { what, since: Instant::now() }
    }
}

impl Drop for Timed {
    fn drop(&mut self) {
        let microseconds = u64::try_from(self.since.elapsed().as_micros()).unwrap_or(u64::MAX);
        tracing::debug!(what = self.what, microseconds, "a verdict took");
    }
}

fn make(directory: &Path) -> Result<(), RunError> {
    fs::create_dir_all(directory).map_err(|source| RunError::File { path: directory.to_owned(), source })
}

/// The output of a failed command, with standard error last, because tools explain themselves there. `rendered` replaces a
/// standard output that is for programs.
fn diagnostics(finished: &Finished, rendered: Option<&str>) -> String {
    let mut text = String::new();
    for stream in [rendered.unwrap_or(&finished.stdout), &finished.stderr] {
        if !stream.trim().is_empty() {
            text.push_str(stream.trim_end());
            text.push('\n');
        }
    }
    if finished.ending == Ending::TimedOut {
        text.push_str("(stopped: out of time)\n");
    }
    text.split_off(text.ceil_char_boundary(text.len().saturating_sub(LONGEST_DIAGNOSTICS)))
}
