//! Reads real output of cargo. The fixtures were recorded with rustc 1.95, one stream a file; `kinds` is a test program that
//! fails in every way.

use expect_test::{Expect, expect};

use super::*;
use crate::execution::{Ending, Finished};
use crate::failure::{FailureType, StructuredFailure};
use crate::outcome::{TestOutcome, TestVerdict};

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

fn read(finished: &Finished, names: &[&str]) -> TestOutcome {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    libtest::read(
        finished,
        KnownTests { names: &names, test_path: "tests/kinds.rs", implementation_path: Some("src/lib.rs") },
    )
    .expect("tests ran")
}

fn kinds() -> TestOutcome {
    read(&recorded!("kinds", Ending::Exited(101)), &[])
}

#[track_caller]
fn check(test: &str, expected: Expect) {
    let kinds = kinds();
    let TestVerdict::Failed(failure) = kinds.verdict_of(test) else {
        panic!("{test}: {:?}", kinds.verdict_of(test));
    };
    expected.assert_debug_eq(failure);
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

/// HY-180: every verdict of the run is read, and the tests' own output is not taken for verdicts.
#[test]
fn every_verdict_is_found() {
    let kinds = kinds();
    assert_eq!(kinds.passed, ["prop_expects_a_panic", "prop_holds"]);
    assert_eq!(kinds.ignored, ["prop_ignored"]);
    assert_eq!(kinds.failed.len(), 12);
    assert_eq!(kinds.verdict_of("prop_forged"), TestVerdict::Absent);
    assert_eq!(kinds.verdict_of("prop_other"), TestVerdict::Absent);
    assert!(!kinds.all_passed());
}

/// HY-100, TC-11: when time is up, the test without a verdict is the one that hung.
#[test]
fn a_timeout() {
    let outcome = read(&recorded!("timeout", Ending::TimedOut), &["prop_fine", "prop_endless"]);
    assert_eq!(outcome.passed, ["prop_fine"]);
    assert_eq!(kinds_of(&outcome), [("prop_endless", FailureType::Timeout)]);
    assert!(outcome.timed_out);
}

/// TC-11: after a minute the harness names the slow test itself.
#[test]
fn a_timeout_of_a_test_nobody_knew() {
    let outcome = read(&recorded!("timeout_long", Ending::TimedOut), &[]);
    assert_eq!(kinds_of(&outcome), [("prop_endless", FailureType::Timeout)]);
    let outcome = read(&recorded!("timeout", Ending::TimedOut), &[]);
    assert_eq!(kinds_of(&outcome), [(WHOLE_SUITE, FailureType::Timeout)]);
}

/// HY-100: if the test program crashes, its output says nothing about the remaining tests.
#[test]
fn output_without_a_verdict() {
    let outcome = read(&recorded!("abort", Ending::Exited(101)), &["prop_fine", "prop_aborts"]);
    let unread = FailureType::ParseError;
    assert_eq!(kinds_of(&outcome), [("prop_fine", unread), ("prop_aborts", unread)]);
    assert!(outcome.failed[0].message.contains("SIGABRT"), "{}", outcome.failed[0].message);
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
        let stdout = format!(
            "running 1 test\n{line}\n\ntest result: ok. 0 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n"
        );
        let finished = Finished { ending: Ending::Exited(0), stdout, is_cut: false, stderr: String::new() };
        assert_eq!(libtest::one(&finished, name, name, "tests/kinds.rs"), libtest::OneTest::Ignored, "{line}");
    }
}

/// Cargo names files from the directory of the workspace, which need not be that of the checkout.
#[test]
fn a_panic_in_the_test_file_of_a_workspace_within_the_checkout_is_an_assertion() {
    let kind = |test_path: &str| {
        let known = KnownTests { names: &[], test_path, implementation_path: None };
        let outcome = libtest::read(&recorded!("kinds", Ending::Exited(101)), known).unwrap();
        let TestVerdict::Failed(failure) = outcome.verdict_of("prop_plain_condition") else { panic!("{outcome:?}") };
        failure.failure_type
    };
    for test_path in ["tests/kinds.rs", "./tests/kinds.rs", "sub/tests/kinds.rs"] {
        assert_eq!(kind(test_path), FailureType::PropertyFailed, "{test_path}");
    }
    for test_path in ["other_tests/kinds.rs", "kinds.rs", "tests/kinds.rs/other.rs"] {
        assert_eq!(kind(test_path), FailureType::ExceptionThrown, "{test_path}");
    }
}

/// CON-53: tests that could not be built have no verdicts, which differs from failing.
#[test]
fn a_compile_error_is_not_a_failing_test() {
    let finished = recorded!("compile_error", Ending::Exited(101));
    assert_eq!(
        libtest::read(
            &finished,
            KnownTests { names: &[], test_path: "tests/kinds.rs", implementation_path: Some("src/lib.rs") }
        ),
        None
    );
}

/// A program that bypasses the capture of output can add verdicts, but they contradict the counts.
#[test]
fn forged_verdicts_contradict_the_counts() {
    let mut finished = recorded!("kinds", Ending::Exited(101));
    finished.stdout = finished.stdout.replace("test prop_holds ... ok", "test prop_holds ... FAILED");
    let outcome = read(&finished, &[]);
    assert!(kinds_of(&outcome).contains(&(WHOLE_SUITE, FailureType::ParseError)));
}

/// A failing command whose tests all pass (a broken test program, a failing script) is not a success.
#[test]
fn a_failing_command_is_a_failure() {
    let finished = Finished {
        ending: Ending::Exited(1),
        stdout: "running 1 test\ntest prop_a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured\n"
            .to_owned(),
        is_cut: false,
        stderr: "something else went wrong".to_owned(),
    };
    assert_eq!(kinds_of(&read(&finished, &[])), [(WHOLE_SUITE, FailureType::ParseError)]);
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
