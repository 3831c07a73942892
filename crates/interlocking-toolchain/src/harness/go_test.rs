//! The output of `go test -json`: one event a line.
//!
//! The events are made from the tests' output, so a test that prints `--- PASS: TestOther` makes a verdict for another test.
//! Hence a test that has failed once counts as failed, and a package that did not end counts as a failure of its own.

use super::{KnownTests, WHOLE_SUITE, add_unreported, bare_failure, bounded, without_duplicates};
use crate::execution::{Ending, Finished};
use crate::failure::{FailureType, StructuredFailure};
use crate::outcome::TestOutcome;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The longest output of one test that is kept, in bytes.
const LONGEST_OUTPUT: usize = 64 * 1024;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Event {
    action: String,
    #[serde(default)]
    package: String,
    #[serde(default)]
    test: Option<String>,
    #[serde(default)]
    output: String,
}

/// What the events say of a test, or of a package as a whole.
#[derive(Debug, Default)]
struct Seen {
    passed: bool,
    failed: bool,
    skipped: bool,
    output: String,
}

impl Seen {
    fn has_ended(&self) -> bool {
        self.passed || self.failed || self.skipped
    }
}

/// Gives each test the verdict that `go test -json` printed for it (TC-09); `None` if no test ran because nothing could be built.
///
/// The names of tests begin with their package: `example.org/halves::TestOdd`, `example.org/halves::TestTable/three`. A known
/// test without a verdict counts as failed, and so does a package that did not build or did not end.
pub(crate) fn read(finished: &Finished, known: KnownTests<'_>) -> Option<TestOutcome> {
    let mut tests: BTreeMap<(String, String), Seen> = BTreeMap::new();
    let mut packages: BTreeMap<String, Seen> = BTreeMap::new();
    for line in finished.stdout.lines() {
        let Ok(event) = serde_json::from_str::<Event>(line) else {
            // Before Go 1.24, a package that does not build is reported as plain text, not as an event.
            if let Some(package) = line.strip_prefix("FAIL\t").and_then(|rest| rest.strip_suffix(" failed]")) {
                let package = package.split([' ', '\t']).next().unwrap_or(package);
                packages.entry(package.to_owned()).or_default().failed = true;
            }
            continue;
        };
        if event.package.is_empty() {
            continue;
        }
        let of_package = packages.entry(event.package.clone()).or_default();
        let seen = match event.test {
            Some(test) => tests.entry((event.package, test)).or_default(),
            None => of_package,
        };
        match event.action.as_str() {
            "pass" => seen.passed = true,
            "fail" => seen.failed = true,
            "skip" => seen.skipped = true,
            "output" => {
                let room = LONGEST_OUTPUT.saturating_sub(seen.output.len());
                seen.output.push_str(&event.output[..event.output.floor_char_boundary(room)]);
            }
            _ => {}
        }
    }
    if tests.is_empty() && finished.ending != Ending::Exited(0) {
        return None;
    }
    Some(judge(tests, packages, finished, known))
}

fn judge(
    tests: BTreeMap<(String, String), Seen>,
    packages: BTreeMap<String, Seen>,
    finished: &Finished,
    known: KnownTests<'_>,
) -> TestOutcome {
    let mut outcome = TestOutcome { timed_out: finished.ending == Ending::TimedOut, ..TestOutcome::default() };
    let mut failing = Vec::new();
    for ((package, test), seen) in tests {
        let name = format!("{package}::{test}");
        if seen.failed || !seen.has_ended() {
            outcome.failed.push(failure(&name, &seen, outcome.timed_out));
            failing.push(package);
        } else if seen.passed {
            outcome.passed.push(name);
        } else {
            outcome.ignored.push(name);
        }
    }
    for (package, seen) in packages {
        let message = match seen {
            Seen { failed: true, .. } if failing.contains(&package) => continue,
            Seen { failed: true, .. } => {
                "the package failed, and none of its tests did: it does not build, or ended early"
            }
            seen if seen.has_ended() => continue,
            _ => "the package did not come to its end",
        };
        let failure_type = if outcome.timed_out { FailureType::Timeout } else { FailureType::ParseError };
        outcome.failed.push(bare_failure(&package, failure_type, message));
    }
    outcome.timed_out |= outcome.failed.iter().any(|failure| failure.failure_type == FailureType::Timeout);
    without_duplicates(&mut outcome);
    add_unreported(&mut outcome, known);
    if finished.ending != Ending::Exited(0) && outcome.failed.is_empty() {
        let message = "the test command failed, but none of its tests did";
        outcome.failed.push(bare_failure(WHOLE_SUITE, FailureType::ParseError, message));
    }
    outcome
}

/// How a test failed, read from its output.
fn failure(name: &str, seen: &Seen, out_of_time: bool) -> StructuredFailure {
    let lines = || seen.output.lines().map(str::trim);
    let panic =
        lines().find_map(|line| line.strip_prefix("panic: ")).map(|panic| panic.trim_end_matches(" [recovered]"));
    if let Some(panic) = panic {
        let failure_type = if panic.starts_with("test timed out") {
            FailureType::Timeout
        } else if ["not implemented", "not yet implemented", "TODO", "unimplemented"]
            .iter()
            .any(|stub| panic.starts_with(stub))
        {
            FailureType::UndefinedHit
        } else {
            FailureType::ExceptionThrown
        };
        return bounded(bare_failure(name, failure_type, panic));
    }
    if !seen.has_ended() {
        let failure_type = if out_of_time { FailureType::Timeout } else { FailureType::ParseError };
        return bare_failure(name, failure_type, "it began, and nothing was said of its end");
    }
    let said = lines().filter(|line| !line.starts_with("=== ") && !line.starts_with("--- ")).map(without_location);
    let said = said.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
    let said = if said.is_empty() { "it failed without a word, or a test within it failed".to_owned() } else { said };
    let (actual, expected) = sides(&said).unzip();
    bounded(StructuredFailure { actual, expected, ..bare_failure(name, FailureType::PropertyFailed, &said) })
}

/// Removes the location from `halves_test.go:13: Half(7) = 4, want 3`: it changes with every edit.
fn without_location(line: &str) -> &str {
    match line.split_once(".go:").and_then(|(_, rest)| rest.split_once(": ")) {
        Some((number, rest)) if number.bytes().all(|byte| byte.is_ascii_digit()) => rest,
        _ => line,
    }
}

/// The actual and the expected value of a message like `Half(7) = 4, want 3`, as is usual in Go.
fn sides(message: &str) -> Option<(String, String)> {
    let first = message.lines().next()?;
    let (given, wanted) = first.split_once(", want ").or_else(|| first.split_once("; want "))?;
    let given = given.rsplit_once(" = ").or_else(|| given.rsplit_once("got "))?.1;
    Some((given.to_owned(), wanted.to_owned()))
}
