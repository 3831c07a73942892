//! Reads real output of cargo. The fixtures were recorded with rustc 1.95, one stream a file; `kinds` is a test program that
//! fails in every way.

use expect_test::{Expect, expect};

use super::*;
use crate::execution::{Ending, Finished};
use crate::failure::{FailureType, StructuredFailure};
use crate::outcome::TestOutcome;
use libtest::OneTest;

macro_rules! recorded {
    ($name:literal, $ending:expr) => {
        Finished {
            ending: $ending,
            stdout: include_str!(concat!("../../tests/fixtures/", $name, ".stdout.txt")).to_owned(),
            is_cut: false,
            stderr: include_str!(concat!("../../tests/fixtures/", $name, ".stderr.txt")).to_owned(),
        }
    };
}

fn one(finished: &Finished, name: &str) -> OneTest {
    libtest::one(finished, name, name, "tests/kinds.rs")
}

#[track_caller]
fn failure(result: OneTest) -> StructuredFailure {
    let OneTest::Failed(failure) = result else { panic!("{result:?}") };
    failure
}

#[track_caller]
fn check(test: &str, expected: Expect) {
    expected.assert_debug_eq(&failure(one(&recorded!("kinds", Ending::Exited(101)), test)));
}

/// The output of a program that ran one test, which this line reports.
fn output(line: &str, counts: &str) -> String {
    format!("running 1 test\n{line}\n\ntest result: ok. {counts}; 0 measured; 0 filtered out\n")
}

fn finished(ending: Ending, stdout: String) -> Finished {
    Finished { ending, stdout, is_cut: false, stderr: "something else went wrong".to_owned() }
}

/// HY-99, HY-100, TC-09: a property that does not hold has its smallest counterexample and both sides of the comparison.
#[test]
fn a_failed_property() {
    check(
        "prop_half_is_half",
        expect![[r#"
        StructuredFailure {
            property_name: "prop_half_is_half",
            failure_type: PropertyFailed,
            counterexample: Some(
                "value = 7",
            ),
            expected: Some(
                "6",
            ),
            actual: Some(
                "8",
            ),
            message: "assertion failed: `(left == right)`",
        }
    "#]],
    );
    check(
        "prop_half_in_words",
        expect![[r#"
        StructuredFailure {
            property_name: "prop_half_in_words",
            failure_type: PropertyFailed,
            counterexample: Some(
                "value = 7",
            ),
            expected: None,
            actual: None,
            message: "4 is more than half of 7",
        }
    "#]],
    );
}

/// HY-100: assertions are recognised, whichever macro makes them.
#[test]
fn a_failed_plain_assertion() {
    check(
        "prop_half_by_plain_assert",
        expect![[r#"
        StructuredFailure {
            property_name: "prop_half_by_plain_assert",
            failure_type: PropertyFailed,
            counterexample: Some(
                "value = 7",
            ),
            expected: Some(
                "6",
            ),
            actual: Some(
                "8",
            ),
            message: "assertion `left == right` failed: half of 7",
        }
    "#]],
    );
    check(
        "prop_plain_assert",
        expect![[r#"
        StructuredFailure {
            property_name: "prop_plain_assert",
            failure_type: PropertyFailed,
            counterexample: None,
            expected: Some(
                "3",
            ),
            actual: Some(
                "4",
            ),
            message: "assertion `left == right` failed",
        }
    "#]],
    );
    check(
        "prop_plain_condition",
        expect![[r#"
        StructuredFailure {
            property_name: "prop_plain_condition",
            failure_type: PropertyFailed,
            counterexample: None,
            expected: None,
            actual: None,
            message: "seven halves to three",
        }
    "#]],
    );
    check(
        "prop_prints_and_fails",
        expect![[r#"
        StructuredFailure {
            property_name: "prop_prints_and_fails",
            failure_type: PropertyFailed,
            counterexample: None,
            expected: None,
            actual: None,
            message: "assertion failed: half(7) < 3",
        }
    "#]],
    );
}

/// HY-100: panics of neither an assertion nor a stub, and returned errors.
#[test]
fn a_thrown_exception() {
    check(
        "prop_first_of_many",
        expect![[r#"
        StructuredFailure {
            property_name: "prop_first_of_many",
            failure_type: ExceptionThrown,
            counterexample: Some(
                "values = [], extra = false",
            ),
            expected: None,
            actual: None,
            message: "index out of bounds: the len is 0 but the index is 0",
        }
    "#]],
    );
    check(
        "prop_plain_unwrap",
        expect![[r#"
        StructuredFailure {
            property_name: "prop_plain_unwrap",
            failure_type: ExceptionThrown,
            counterexample: None,
            expected: None,
            actual: None,
            message: "called `Result::unwrap()` on an `Err` value: ParseIntError { kind: InvalidDigit }",
        }
    "#]],
    );
    check(
        "prop_returns_an_error",
        expect![[r#"
        StructuredFailure {
            property_name: "prop_returns_an_error",
            failure_type: ExceptionThrown,
            counterexample: None,
            expected: None,
            actual: None,
            message: "\"half of 7 is 4\"",
        }
    "#]],
    );
}

/// HY-100, TC-10: tests that reach a stub, inside proptest and outside.
#[test]
fn a_stub() {
    check(
        "prop_later",
        expect![[r#"
        StructuredFailure {
            property_name: "prop_later",
            failure_type: UndefinedHit,
            counterexample: Some(
                "value = 0",
            ),
            expected: None,
            actual: None,
            message: "not yet implemented",
        }
    "#]],
    );
    check(
        "prop_never",
        expect![[r#"
        StructuredFailure {
            property_name: "prop_never",
            failure_type: UndefinedHit,
            counterexample: Some(
                "value = 0",
            ),
            expected: None,
            actual: None,
            message: "not implemented: not in this version",
        }
    "#]],
    );
    check(
        "prop_plain_stub",
        expect![[r#"
        StructuredFailure {
            property_name: "prop_plain_stub",
            failure_type: UndefinedHit,
            counterexample: None,
            expected: None,
            actual: None,
            message: "not yet implemented",
        }
    "#]],
    );
}

/// HY-180: the verdict is the harness's line for the test, and the test's own output is not taken for one.
#[test]
fn a_verdict_is_the_harness_s_own() {
    let (passed, ignored) = (output("test a ... ok", "1 passed; 0 failed; 0 ignored"), "0 passed; 0 failed; 1 ignored");
    assert_eq!(one(&finished(Ending::Exited(0), passed.clone()), "a"), OneTest::Passed);
    assert_eq!(one(&finished(Ending::Exited(0), output("test a ... ignored", ignored)), "a"), OneTest::Ignored);
    for output in [passed, "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored\n".to_owned()] {
        let failure = failure(one(&finished(Ending::Exited(0), output), "b"));
        assert_eq!(failure.failure_type, FailureType::ParseError);
        let said = "the test program exited with 0, but its harness reported no result of this test: something else";
        assert!(failure.message.starts_with(said), "{}", failure.message);
    }
    for name in ["prop_forged", "prop_other", "prop_holds"] {
        let failure = failure(one(&recorded!("kinds", Ending::Exited(101)), name));
        assert_eq!(failure.failure_type, FailureType::ParseError, "{name}");
    }
}

/// HY-100, TC-11: a test without a verdict when time is up has not ended in time.
#[test]
fn a_timeout() {
    for fixture in [recorded!("timeout", Ending::TimedOut), recorded!("timeout_long", Ending::TimedOut)] {
        let failure = failure(one(&fixture, "prop_endless"));
        assert_eq!(failure.failure_type, FailureType::Timeout);
        assert!(failure.message.contains("was still running when its time was up"), "{}", failure.message);
    }
}

/// HY-100: if the test program crashes, its output says nothing about the test.
#[test]
fn output_without_a_verdict() {
    let failure = failure(one(&recorded!("abort", Ending::Exited(101)), "prop_aborts"));
    assert_eq!(failure.failure_type, FailureType::ParseError);
    assert!(failure.message.contains("SIGABRT"), "{}", failure.message);
}

#[test]
fn the_harness_says_which_tests_are_expected_to_panic() {
    let stdout = recorded!("kinds", Ending::Exited(101)).stdout;
    let expected = ["prop_expects_a_panic", "prop_expects", "prop_first_of_many", "expects_a_panic"];
    assert_eq!(expected.map(|name| libtest::expects_panic(&stdout, name)), [true, false, false, false]);
}

/// The reason for which a test is ignored is any text.
#[test]
fn what_follows_a_reason_to_ignore_a_test_is_part_of_the_reason() {
    for (name, line) in [
        ("prop_a", "test prop_a ... ignored, slow ... really"),
        ("prop_a", "test prop_a - should panic ... ignored, slow ... ok"),
        ("src/lib.rs - f (line 3) - compile fail", "test src/lib.rs - f (line 3) - compile fail ... ignored"),
    ] {
        let finished = finished(Ending::Exited(0), output(line, "0 passed; 0 failed; 1 ignored"));
        assert_eq!(one(&finished, name), OneTest::Ignored, "{line}");
    }
}

/// Cargo names files from the directory of the workspace, which need not be that of the checkout.
#[test]
fn a_panic_in_the_test_file_of_a_workspace_within_the_checkout_is_an_assertion() {
    let kind = |test_path: &str| {
        let name = "prop_plain_condition";
        failure(libtest::one(&recorded!("kinds", Ending::Exited(101)), name, name, test_path)).failure_type
    };
    for test_path in ["tests/kinds.rs", "./tests/kinds.rs", "sub/tests/kinds.rs"] {
        assert_eq!(kind(test_path), FailureType::PropertyFailed, "{test_path}");
    }
    for test_path in ["other_tests/kinds.rs", "kinds.rs", "tests/kinds.rs/other.rs"] {
        assert_eq!(kind(test_path), FailureType::ExceptionThrown, "{test_path}");
    }
}

/// A program that bypasses the capture of output can add verdicts, but they contradict the counts.
#[test]
fn forged_verdicts_contradict_the_counts() {
    let lines = "test a ... ok\ntest b ... ok";
    for counts in ["1 passed; 0 failed; 0 ignored", "0 passed; 1 failed; 0 ignored", "2 passed; 0 failed; 0 ignored"] {
        let failure = failure(one(&finished(Ending::Exited(0), output(lines, counts)), "a"));
        assert!(failure.message.contains("counts do not match"), "{}", failure.message);
    }
}

/// A program that fails although its test passes is not a success.
#[test]
fn a_failing_program_is_a_failure() {
    let passed = output("test a ... ok", "1 passed; 0 failed; 0 ignored");
    for ending in [Ending::Exited(1), Ending::Killed] {
        let failure = failure(one(&finished(ending, passed.clone()), "a"));
        assert_eq!(failure.failure_type, FailureType::ParseError);
        assert!(failure.message.ends_with("reported no failed test: something else went wrong"), "{}", failure.message);
    }
}

/// TC-09: if only the exit code counts, every test shares the command's verdict.
#[test]
fn an_exit_code_stands_for_every_test() {
    let names = ["a".to_owned(), "b".to_owned()];
    let known = KnownTests { names: &names, test_path: "tests.sh", implementation_path: Some("src/lib.rs") };
    let finished = |ending| Finished { ending, stdout: "out".to_owned(), is_cut: false, stderr: "err".to_owned() };
    assert_eq!(exit_code::read(&finished(Ending::Exited(0)), known).passed, names);
    let failed = exit_code::read(&finished(Ending::Exited(3)), known);
    assert_eq!(kinds_of(&failed), [("a", FailureType::PropertyFailed), ("b", FailureType::PropertyFailed)]);
    let killed = exit_code::read(&finished(Ending::TimedOut), KnownTests { names: &[], ..known });
    assert_eq!(kinds_of(&killed), [(WHOLE_SUITE, FailureType::Timeout)]);
}

fn kinds_of(outcome: &TestOutcome) -> Vec<(&str, FailureType)> {
    let kind = |failure: &'_ StructuredFailure| failure.failure_type;
    outcome.failed.iter().map(|failure| (failure.property_name.as_str(), kind(failure))).collect()
}
