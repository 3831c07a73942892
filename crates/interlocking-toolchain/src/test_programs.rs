//! Runs each test of the test programs in a process of its own, and its canary in another.

use super::cargo_test::{Built, Chosen};
use super::confinement::Sandboxes;
use super::execution::{Ending, Finished, RunError};
use super::outcome::{Forgery, TestOutcome, TestRun, names};
use super::recorder::Programs;
use super::temporary::Temporary;
use super::toolchain::Toolchain;
use crate::canaries::PairedTest;
use crate::failure::{FailureType, StructuredFailure};
use crate::harness::{
    KnownTests, bare_failure,
    libtest::{self, OneTest},
    no_verdict,
};
use futures_util::StreamExt;
use interlocking_agents::program::{Environment, Invocation};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;
use tokio::time::Instant;
use uuid::Uuid;

/// The least number of pairs of a test and its canary that agree in a suite in which every test passes, over all its tests. Code
/// that ends its program early at random would have to guess each time whether the test or the canary runs.
const PAIRS: usize = 10;

/// What the processes of a suite share.
pub(super) struct Suite<'a> {
    pub(super) toolchain: &'a Toolchain,
    pub(super) environment: &'a Environment,
    pub(super) sandboxes: &'a Sandboxes,
    pub(super) checkout: &'a Path,
    /// The tests that must have a verdict if they are chosen, and the test file.
    pub(super) known: KnownTests<'a>,
    pub(super) built: &'a Built,
    /// The other arguments of the test programs.
    pub(super) arguments: &'a [String],
    /// Whether these arguments make a test program leave out some of its tests.
    pub(super) is_selective: bool,
    /// Whether only one test runs at a time.
    pub(super) is_serial: bool,
    pub(super) chosen: &'a Chosen,
    pub(super) programs: &'a Programs,
    /// When the time for the whole suite is up.
    pub(super) deadline: Instant,
    /// Whether the suite stops at the first failure.
    pub(super) stops_at_failure: bool,
    /// The longest time that a process took for one test, in milliseconds, if that is measured.
    pub(super) slowest_test: Option<&'a AtomicU64>,
}

/// One test of one program.
struct Job<'a> {
    program: &'a Path,
    package: &'a Path,
    /// The test's name in the outcome.
    name: String,
    /// The name in the program of the test, or of its stand-in.
    path: String,
    /// The test's canary and the canary's name in the program, if the test has one.
    canary: Option<(&'a PairedTest, String)>,
}

/// The result of a job.
enum Judged {
    Passed,
    Ignored,
    Failed(StructuredFailure),
    Forged,
}

impl Suite<'_> {
    /// Runs all tests of all programs, and those that are `paired` together with their canaries.
    pub(super) async fn run(&self, paired: &[PairedTest]) -> Result<TestRun, RunError> {
        let mut jobs = Vec::new();
        let (mut compiled, mut names) = (BTreeSet::new(), Vec::new());
        for (program, package) in &self.built.tests {
            let finished = self.list(program, package, &[]).await?;
            let Some(listed) = libtest::listed(&finished) else {
                return Ok(TestRun::Ran(self.unlisted(program, &finished)));
            };
            let mut of_program = jobs_of(program, package, &listed, paired);
            let pairs = of_program.iter().filter_map(|job| job.canary.as_ref());
            compiled.extend(pairs.map(|(test, _)| test.stand_in.clone()));
            names.extend(of_program.iter().map(|job| job.name.clone()));
            if self.is_selective {
                let finished = self.list(program, package, self.arguments).await?;
                let Some(selected) = libtest::listed(&finished) else {
                    return Ok(TestRun::Ran(self.unlisted(program, &finished)));
                };
                of_program.retain(|job| selected.contains(&job.path));
            }
            jobs.extend(of_program);
        }
        let failed = self.missing(paired, &compiled, &names);
        let mut outcome = TestOutcome { failed, ..TestOutcome::default() };
        jobs.retain(|job| self.chosen.has(&job.name));
        let (mut forged, mut again) = (BTreeSet::new(), Vec::new());
        for (job, judged) in jobs.iter().zip(self.round(jobs.iter().collect()).await?) {
            match judged {
                Judged::Passed => {
                    outcome.passed.push(job.name.clone());
                    again.extend(job.canary.is_some().then_some(job));
                }
                Judged::Ignored => outcome.ignored.push(job.name.clone()),
                Judged::Failed(failure) => outcome.failed.push(failure),
                Judged::Forged => {
                    forged.insert(job.name.clone());
                }
            }
        }
        for _ in 0..further_rounds(again.len()) {
            if !outcome.failed.is_empty() || !forged.is_empty() {
                break;
            }
            for (job, judged) in again.iter().zip(self.round(again.clone()).await?) {
                match judged {
                    Judged::Passed | Judged::Ignored => {}
                    Judged::Failed(failure) => {
                        outcome.passed.retain(|passed| *passed != job.name);
                        outcome.failed.push(failure);
                    }
                    Judged::Forged => {
                        forged.insert(job.name.clone());
                    }
                }
            }
        }
        outcome.timed_out = outcome.failed.iter().any(|failure| failure.failure_type == FailureType::Timeout);
        // A suite that stops at the first failure is asked whether there is one.
        if forged.is_empty() || self.stops_at_failure && !outcome.failed.is_empty() {
            return Ok(TestRun::Ran(outcome));
        }
        Ok(TestRun::Forged { tests: forged.into_iter().map(|test| Forgery { test }).collect() })
    }

    /// The failures of chosen tests that no program has: of the test file's those that are not `compiled`, by their stand-ins, and
    /// of the known ones those that are not `listed`.
    fn missing(&self, paired: &[PairedTest], compiled: &BTreeSet<String>, listed: &[String]) -> Vec<StructuredFailure> {
        let failed = |name: &String, message| bare_failure(name, FailureType::ParseError, message);
        let left_out = paired.iter().filter(|test| !compiled.contains(&test.stand_in)).map(|test| &test.name);
        let left_out: Vec<&String> = left_out.filter(|name| self.chosen.has(name)).collect();
        let is_there = |name: &String| listed.iter().chain(left_out.iter().copied()).any(|found| names(found, name));
        let absent = self.known.names.iter().filter(|name| self.chosen.has(name) && !is_there(name));
        let of_file = left_out
            .iter()
            .map(|name| failed(name, "it is in the file, but no test program has it: it is not compiled"));
        of_file.chain(absent.map(|name| failed(name, "no test program has it"))).collect()
    }

    /// Runs every job once, as many at a time as there are processors. Returns the results in the order of the jobs, up to the
    /// first failure if the suite stops there.
    async fn round(&self, jobs: Vec<&Job<'_>>) -> Result<Vec<Judged>, RunError> {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let at_once = if self.is_serial { 1 } else { processors };
        let mut judging = Vec::with_capacity(jobs.len());
        for job in jobs {
            judging.push(self.judge(job));
        }
        let mut running = futures_util::stream::iter(judging).buffered(at_once);
        let mut judged = Vec::new();
        while let Some(one) = running.next().await {
            judged.push(one?);
            if self.stops_at_failure && matches!(judged.last(), Some(Judged::Failed(_))) {
                break;
            }
        }
        Ok(judged)
    }

    async fn judge(&self, job: &Job<'_>) -> Result<Judged, RunError> {
        // The order is random, so that a test cannot tell itself from its canary even by the time.
        let canary_first = match &job.canary {
            Some((_, canary)) if Uuid::new_v4().as_bytes()[0] & 1 == 0 => Some(self.start(job, canary).await?),
            _ => None,
        };
        let finished = self.start(job, &job.path).await?;
        let expects_panic = libtest::expects_panic(&finished.stdout, &job.path);
        match libtest::one(&finished, &job.path, &job.name, self.known.test_path) {
            OneTest::Passed => {}
            OneTest::Ignored => return Ok(Judged::Ignored),
            OneTest::Failed(failure) => return Ok(Judged::Failed(failure)),
        }
        let Some((test, canary)) = &job.canary else { return Ok(Judged::Passed) };
        let finished = match canary_first {
            Some(finished) => finished,
            None => self.start(job, canary).await?,
        };
        Ok(match libtest::one(&finished, canary, &job.name, self.known.test_path) {
            OneTest::Passed | OneTest::Ignored => Judged::Forged,
            OneTest::Failed(_) if finished.stdout.contains(&test.nonce) => Judged::Passed,
            OneTest::Failed(_) if test.may_expect_panic && expects_panic => Judged::Passed,
            // The canary failed inside the test: the test passes in one run and fails in another.
            OneTest::Failed(failure) => Judged::Failed(failure),
        })
    }

    /// Runs one test of the program by its name.
    async fn start(&self, job: &Job<'_>, path: &str) -> Result<Finished, RunError> {
        let mut arguments: Vec<OsString> = vec![path.into(), "--exact".into(), "--test-threads=2".into()];
        arguments.extend(self.arguments.iter().map(OsString::from));
        let began = Instant::now();
        let left = self.deadline.saturating_duration_since(began);
        let limit = left.min(self.toolchain.one_test_timeout());
        let finished = self.process(job.program, job.package, arguments, limit).await;
        if let Some(slowest) = self.slowest_test {
            let took = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
            slowest.fetch_max(took, Ordering::Relaxed);
        }
        finished
    }

    /// Makes a program list its tests, or those that it would run with these arguments.
    async fn list(&self, program: &Path, package: &Path, selecting: &[String]) -> Result<Finished, RunError> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        let mut arguments: Vec<OsString> = vec!["--list".into(), "--format=terse".into()];
        arguments.extend(selecting.iter().map(OsString::from));
        self.process(program, package, arguments, left).await
    }

    /// The outcome if a program has not listed its tests.
    fn unlisted(&self, program: &Path, finished: &Finished) -> TestOutcome {
        let program = format!("the test program {}", program.display());
        let why = match finished.ending {
            Ending::Exited(code) => {
                format!("{program} exited with {code} instead of listing its tests, as Rust's own harness does")
            }
            Ending::Killed => format!("{program} was ended by a signal before it had listed its tests"),
            Ending::TimedOut => {
                format!("the time for building and testing was up before {program} had listed its tests")
            }
        };
        let chosen: Vec<String> = self.known.names.iter().filter(|name| self.chosen.has(name)).cloned().collect();
        no_verdict(finished, KnownTests { names: &chosen, ..self.known }, &why)
    }

    async fn process(
        &self,
        program: &Path,
        package: &Path,
        arguments: Vec<OsString>,
        time_limit: Duration,
    ) -> Result<Finished, RunError> {
        let temporary = Temporary::beside(self.checkout)?;
        let mut programs: Vec<PathBuf> = self.built.others.clone();
        programs.push(program.to_owned());
        let sandbox = self
            .sandboxes
            .of_test(self.checkout, self.known.hidden(), &programs, temporary.path(), self.toolchain)
            .map_err(|source| RunError::File { path: self.checkout.to_owned(), source })?;
        let environment = self.environment.clone().set("CARGO_MANIFEST_DIR", package).without("CARGO_TARGET_DIR");
        let invocation = Invocation {
            arguments,
            directory: Some(package.to_owned()),
            sandbox: Some(Arc::new(sandbox)),
            ..Invocation::new(program, environment)
        };
        let finished = self.programs.run(&program.display().to_string(), invocation, time_limit).await?;
        temporary.delete().await?;
        Ok(finished)
    }
}

/// The number of rounds that follow the first one, in which this many pairs of a test and its canary agreed.
fn further_rounds(pairs: usize) -> usize {
    if pairs == 0 { 0 } else { PAIRS.div_ceil(pairs) - 1 }
}

/// The jobs of one program. A test with a stand-in is not run itself.
fn jobs_of<'a>(program: &'a Path, package: &'a Path, listed: &[String], paired: &'a [PairedTest]) -> Vec<Job<'a>> {
    let mut jobs = Vec::new();
    let mut own: BTreeSet<String> = BTreeSet::new();
    for test in paired {
        let base = test.name.rsplit("::").next().unwrap_or(&test.name);
        for path in listed.iter().filter(|path| last(path) == test.stand_in) {
            let modules = path.strip_suffix(test.stand_in.as_str()).unwrap_or_default();
            let (name, canary) = (format!("{modules}{base}"), format!("{modules}{}", test.canary));
            own.extend([name.clone(), path.clone(), canary.clone()]);
            jobs.push(Job { program, package, name, path: path.clone(), canary: Some((test, canary)) });
        }
    }
    let others = listed.iter().filter(|path| !own.contains(*path));
    jobs.extend(others.map(|path| Job { program, package, name: path.clone(), path: path.clone(), canary: None }));
    jobs
}

/// A name without its modules.
fn last(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_pairs_agree_however_many_tests_there_are() {
        for (pairs, rounds) in [(0, 0), (1, 9), (3, 3), (9, 1), (10, 0), (11, 0)] {
            assert_eq!(further_rounds(pairs), rounds, "{pairs}");
        }
    }
}
