//! Rust's own test harness.
//!
//! A test's verdict is read from a process that ran the test alone, and combines three things: the exit code of the process, the
//! harness's line for the test, and the harness's counts. Each test program prints `running N tests`, a verdict per test, the
//! captured output of the failed tests, their names, and a summary. Captured output is whatever the tests print, so it may
//! imitate any of this. Hence a section of captured output must begin with the name of a failed test, and the verdicts are
//! compared with the counts.

use super::panics::explain;
use super::{KnownTests, LONGEST_TEXT, WHOLE_SUITE, bare_failure, end_of};
use crate::execution::{Ending, Finished};
use crate::failure::{FailureType, StructuredFailure};
use crate::outcome::{TestOutcome, TestVerdict};

/// The result of a process that ran one test alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OneTest {
    /// The test ran to its end and did not fail.
    Passed,
    /// The test is marked `#[ignore]`.
    Ignored,
    /// The test failed, or did not run to its end.
    Failed(StructuredFailure),
}

/// Reads the result of the test that its program calls `path`; the outcome calls it `name`.
pub fn one(finished: &Finished, path: &str, name: &str, test_path: &str) -> OneTest {
    let names = [path.to_owned()];
    let known = KnownTests { names: &names, test_path, implementation_path: None };
    let unfinished = || {
        let timed_out = finished.ending == Ending::TimedOut;
        let failure_type = if timed_out { FailureType::Timeout } else { FailureType::ParseError };
        bare_failure(name, failure_type, &no_verdict_message(finished))
    };
    let Some(outcome) = read(finished, known) else { return OneTest::Failed(unfinished()) };
    let is_alone = |given: &[String]| given == names.as_slice();
    if let Some(failure) = outcome.failed.into_iter().next() {
        return OneTest::Failed(StructuredFailure { property_name: name.to_owned(), ..failure });
    }
    match finished.ending {
        Ending::Exited(0) if is_alone(&outcome.passed) && outcome.ignored.is_empty() => OneTest::Passed,
        Ending::Exited(0) if is_alone(&outcome.ignored) && outcome.passed.is_empty() => OneTest::Ignored,
        _ => OneTest::Failed(unfinished()),
    }
}

/// What the harness writes after the name of a test with `#[should_panic]`.
const SHOULD_PANIC: &str = " - should panic";

/// Whether the harness says that the test was expected to panic.
pub fn expects_panic(stdout: &str, path: &str) -> bool {
    let begin = format!("test {path}{SHOULD_PANIC} ... ");
    stdout.lines().any(|line| line.starts_with(&begin))
}

/// The names of a program's tests, from its output for `--list --format=terse`; `None` if the program failed.
pub fn listed(finished: &Finished) -> Option<Vec<String>> {
    let names = finished.stdout.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned);
    (finished.ending == Ending::Exited(0)).then(|| names.collect())
}

/// Reads the verdicts; `None` if no test program started because nothing could be built.
pub fn read(finished: &Finished, known: KnownTests<'_>) -> Option<TestOutcome> {
    let programs = programs(&finished.stdout);
    if programs.is_empty() && finished.ending != Ending::Exited(0) {
        return None;
    }
    let timed_out = finished.ending == Ending::TimedOut;
    let mut outcome = TestOutcome { timed_out, ..TestOutcome::default() };
    for program in &programs {
        for (name, verdict) in &program.verdicts {
            match verdict {
                Verdict::Passed => outcome.passed.push((*name).to_owned()),
                Verdict::Ignored => outcome.ignored.push((*name).to_owned()),
                Verdict::Failed => {
                    let captured = program.captured_by(name);
                    outcome.failed.push(explain(name, captured, known.test_path));
                }
            }
        }
    }
    add_missing_verdicts(&mut outcome, &programs, finished, known);
    Some(outcome)
}

/// Adds failures for known tests without a verdict, and for a suite that failed although no test did.
fn add_missing_verdicts(
    outcome: &mut TestOutcome,
    programs: &[Program<'_>],
    finished: &Finished,
    known: KnownTests<'_>,
) {
    let stderr = end_of(finished.stderr.trim(), LONGEST_TEXT);
    let (failure_type, message) = if outcome.timed_out {
        (FailureType::Timeout, "no verdict when the time was up".to_owned())
    } else if programs.iter().any(|program| !program.finished) {
        (FailureType::ParseError, no_verdict_message(finished))
    } else if programs.iter().any(Program::contradicts_itself) {
        let message = "the harness's counts do not match its verdicts; do not write to standard output directly";
        outcome.failed.push(bare_failure(WHOLE_SUITE, FailureType::ParseError, message));
        return;
    } else if finished.ending != Ending::Exited(0) && outcome.failed.is_empty() {
        let message = format!("the test command failed, but no test did: {stderr}");
        outcome.failed.push(bare_failure(WHOLE_SUITE, FailureType::ParseError, &message));
        return;
    } else {
        return;
    };
    let mut unanswered: Vec<&str> =
        known.names.iter().map(String::as_str).filter(|name| outcome.verdict_of(name) == TestVerdict::Absent).collect();
    let slow = programs.iter().flat_map(|program| program.slow.iter().copied());
    for name in slow {
        if !unanswered.contains(&name) && outcome.verdict_of(name) == TestVerdict::Absent {
            unanswered.push(name);
        }
    }
    if unanswered.is_empty() {
        unanswered.push(WHOLE_SUITE);
    }
    for name in unanswered {
        outcome.failed.push(bare_failure(name, failure_type, &message));
    }
}

/// The message for a test program that ended before its harness had reported.
fn no_verdict_message(finished: &Finished) -> String {
    let ending = match finished.ending {
        Ending::Exited(code) => format!("exited with {code}"),
        Ending::Killed => "was ended by a signal".to_owned(),
        Ending::TimedOut => "was still running when its time was up,".to_owned(),
    };
    let stderr = end_of(finished.stderr.trim(), LONGEST_TEXT);
    let said = if stderr.is_empty() { String::new() } else { format!(": {stderr}") };
    format!("the test program {ending} before the harness had reported the results of its tests{said}")
}

/// One test program's output.
#[derive(Debug, Default)]
struct Program<'a> {
    announced: usize,
    verdicts: Vec<(&'a str, Verdict)>,
    slow: Vec<&'a str>,
    captured: Vec<(&'a str, String)>,
    summary: Option<[usize; 3]>,
    finished: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Passed,
    Failed,
    Ignored,
}

impl Program<'_> {
    fn captured_by(&self, name: &str) -> &str {
        self.captured.iter().find(|(test, _)| *test == name).map_or("", |(_, text)| text.as_str())
    }

    fn count(&self, verdict: Verdict) -> usize {
        self.verdicts.iter().filter(|(_, given)| *given == verdict).count()
    }

    fn contradicts_itself(&self) -> bool {
        let counted = [Verdict::Passed, Verdict::Failed, Verdict::Ignored].map(|verdict| self.count(verdict));
        self.finished && (self.announced != self.verdicts.len() || self.summary != Some(counted))
    }
}

/// The section of a program's output that a line belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Outside,
    Verdicts,
    Captured,
    FailedNames,
}

/// Splits the output into test programs.
fn programs(stdout: &str) -> Vec<Program<'_>> {
    let mut programs: Vec<Program<'_>> = Vec::new();
    let mut section = Section::Outside;
    for line in stdout.lines() {
        if section == Section::Outside || section == Section::Verdicts {
            // The output of a program that crashed ends where that of the next program begins.
            if let Some(announced) = announced(line) {
                programs.push(Program { announced, ..Program::default() });
                section = Section::Verdicts;
                continue;
            }
        }
        let Some(program) = programs.last_mut() else {
            continue;
        };
        match section {
            Section::Outside => {}
            Section::Verdicts | Section::FailedNames if line.starts_with("test result: ") => {
                program.summary = summary(line);
                program.finished = true;
                section = Section::Outside;
            }
            Section::Verdicts if line == "failures:" => section = Section::Captured,
            Section::Verdicts => {
                if let Some((name, verdict)) = verdict(line) {
                    program.verdicts.push((name, verdict));
                } else if let Some(name) = slow(line) {
                    program.slow.push(name);
                }
            }
            Section::Captured if line == "failures:" => section = Section::FailedNames,
            Section::Captured => {
                let opened = line
                    .strip_prefix("---- ")
                    .and_then(|rest| rest.strip_suffix(" stdout ----"))
                    .filter(|name| program.verdicts.contains(&(name, Verdict::Failed)));
                if let Some(name) = opened {
                    program.captured.push((name, String::new()));
                } else if let Some((_, text)) = program.captured.last_mut() {
                    text.push_str(line);
                    text.push('\n');
                }
            }
            Section::FailedNames => {}
        }
    }
    programs
}

/// `running 3 tests`
fn announced(line: &str) -> Option<usize> {
    let (count, word) = line.strip_prefix("running ")?.split_once(' ')?;
    matches!(word, "test" | "tests").then(|| count.parse().ok())?
}

/// `test prop_x ... ok`, `test prop_x - should panic ... FAILED`, `test prop_x ... ignored, slow ... and more`
fn verdict(line: &str) -> Option<(&str, Verdict)> {
    let (name, verdict) = line.strip_prefix("test ")?.split_once(" ... ")?;
    let name = name.strip_suffix(SHOULD_PANIC).unwrap_or(name);
    let verdict = match verdict {
        "ok" => Verdict::Passed,
        "FAILED" => Verdict::Failed,
        other if other == "ignored" || other.starts_with("ignored, ") => Verdict::Ignored,
        _ => return None,
    };
    Some((name, verdict))
}

/// `test prop_x has been running for over 60 seconds`
fn slow(line: &str) -> Option<&str> {
    let (name, _) = line.strip_prefix("test ")?.split_once(" has been running for over ")?;
    Some(name)
}

/// `test result: FAILED. 2 passed; 12 failed; 1 ignored; 0 measured; …` as passed, failed, ignored
fn summary(line: &str) -> Option<[usize; 3]> {
    let mut counts = line.split_once(". ")?.1.split("; ");
    let mut next = |word: &str| counts.next()?.strip_suffix(word)?.trim().parse().ok();
    Some([next("passed")?, next("failed")?, next("ignored")?])
}
