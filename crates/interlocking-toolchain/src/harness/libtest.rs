//! Rust's own test harness.
//!
//! A test's verdict is read from a process that ran the test alone, and combines three things: the exit code of the process, the
//! harness's line for the test, and the harness's counts. A test program prints `running N tests`, a verdict per test, the
//! captured output of the failed tests, their names, and a summary. Captured output is whatever the tests print, so it may
//! imitate any of this. Hence a section of captured output must begin with the name of a failed test, and the verdicts are
//! compared with the counts.

use super::panics::explain;
use super::{LONGEST_TEXT, bare_failure, end_of};
use crate::execution::{Ending, Finished};
use crate::failure::{FailureType, StructuredFailure};

/// The result of a process that ran one test alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OneTest {
    /// The test ran to its end and did not fail.
    Passed,
    /// The test is marked `#[ignore]`.
    Ignored,
    /// The test failed, or did not run to its end.
    Failed(StructuredFailure),
}

/// Reads the result of the test that its program calls `path`; the outcome calls it `name`.
pub(crate) fn one(finished: &Finished, path: &str, name: &str, test_path: &str) -> OneTest {
    let report = Report::read(&finished.stdout);
    if report.verdicts.contains(&(path, Verdict::Failed)) {
        let failure = explain(path, report.captured_by(path), test_path);
        return OneTest::Failed(StructuredFailure { property_name: name.to_owned(), ..failure });
    }
    let (failure_type, message) = match (finished.ending, report.verdicts.as_slice()) {
        (Ending::TimedOut, _) => (FailureType::Timeout, no_verdict_message(finished, path, &Report::default())),
        _ if report.contradicts_itself() => {
            let message = "the harness's counts do not match its verdicts; do not write to standard output directly";
            (FailureType::ParseError, message.to_owned())
        }
        (Ending::Exited(0), [(of, Verdict::Passed)]) if report.has_ended() && *of == path => return OneTest::Passed,
        (Ending::Exited(0), [(of, Verdict::Ignored)]) if report.has_ended() && *of == path => return OneTest::Ignored,
        _ => (FailureType::ParseError, no_verdict_message(finished, path, &report)),
    };
    OneTest::Failed(bare_failure(name, failure_type, &message))
}

/// What the harness writes after the name of a test with `#[should_panic]`.
const SHOULD_PANIC: &str = " - should panic";

/// Whether the harness says that the test was expected to panic.
pub(crate) fn expects_panic(stdout: &str, path: &str) -> bool {
    let begin = format!("test {path}{SHOULD_PANIC} ... ");
    stdout.lines().any(|line| line.starts_with(&begin))
}

/// The names of a program's tests, from its output for `--list --format=terse`; `None` if the program failed.
pub(crate) fn listed(finished: &Finished) -> Option<Vec<String>> {
    let names = finished.stdout.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned);
    (finished.ending == Ending::Exited(0)).then(|| names.collect())
}

/// The message for a test program that ended before its harness had reported, or with an exit code that contradicts the report, or
/// whose report does not name the test.
fn no_verdict_message(finished: &Finished, path: &str, report: &Report<'_>) -> String {
    let ending = match finished.ending {
        Ending::Exited(code) => format!("exited with {code}"),
        Ending::Killed => "was ended by a signal".to_owned(),
        Ending::TimedOut => "was still running when its time was up,".to_owned(),
    };
    let stderr = end_of(finished.stderr.trim(), LONGEST_TEXT);
    let said = if stderr.is_empty() { String::new() } else { format!(": {stderr}") };
    match (report.has_ended(), report.verdicts.iter().any(|(of, _)| *of == path)) {
        (true, true) => format!("the test program {ending}, although its harness reported no failed test{said}"),
        (true, false) => format!("the test program {ending}, but its harness reported no result of this test{said}"),
        (false, _) => {
            format!("the test program {ending} before the harness had reported the results of its tests{said}")
        }
    }
}

/// The output of a test program.
#[derive(Debug, Default)]
struct Report<'a> {
    announced: usize,
    verdicts: Vec<(&'a str, Verdict)>,
    captured: Vec<(&'a str, String)>,
    /// The counts of the summary, which ends the report.
    summary: Option<Option<[usize; 3]>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Passed,
    Failed,
    Ignored,
}

/// The section of a program's output that a line belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Before,
    Verdicts,
    Captured,
    FailedNames,
}

impl<'a> Report<'a> {
    fn read(stdout: &'a str) -> Self {
        let (mut report, mut section) = (Self::default(), Section::Before);
        for line in stdout.lines() {
            match section {
                Section::Before => {
                    if let Some(announced) = announced(line) {
                        report.announced = announced;
                        section = Section::Verdicts;
                    }
                }
                Section::Verdicts | Section::FailedNames if line.starts_with("test result: ") => {
                    report.summary = Some(summary(line));
                    break;
                }
                Section::Verdicts if line == "failures:" => section = Section::Captured,
                Section::Verdicts => report.verdicts.extend(verdict(line)),
                Section::Captured if line == "failures:" => section = Section::FailedNames,
                Section::Captured => {
                    let opened = line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----"));
                    if let Some(name) = opened.filter(|name| report.verdicts.contains(&(name, Verdict::Failed))) {
                        report.captured.push((name, String::new()));
                    } else if let Some((_, text)) = report.captured.last_mut() {
                        text.push_str(line);
                        text.push('\n');
                    }
                }
                Section::FailedNames => {}
            }
        }
        report
    }

    fn captured_by(&self, name: &str) -> &str {
        self.captured.iter().find(|(test, _)| *test == name).map_or("", |(_, text)| text.as_str())
    }

    fn has_ended(&self) -> bool {
        self.summary.is_some()
    }

    fn contradicts_itself(&self) -> bool {
        let count = |verdict| self.verdicts.iter().filter(|(_, given)| *given == verdict).count();
        let counted = [Verdict::Passed, Verdict::Failed, Verdict::Ignored].map(count);
        self.summary.is_some_and(|said| self.announced != self.verdicts.len() || said != Some(counted))
    }
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

/// `test result: FAILED. 2 passed; 12 failed; 1 ignored; 0 measured; …` as passed, failed, ignored
fn summary(line: &str) -> Option<[usize; 3]> {
    let mut counts = line.split_once(". ")?.1.split("; ");
    let mut next = |word: &str| counts.next()?.strip_suffix(word)?.trim().parse().ok();
    Some([next("passed")?, next("failed")?, next("ignored")?])
}
