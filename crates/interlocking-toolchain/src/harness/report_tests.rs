//! Reads real reports of nextest 0.9.143, pytest 9.2 and go 1.19, and hostile reports.

use super::*;
use std::fmt::Write;

const NEXTEST: &str = include_str!("../../tests/fixtures/nextest.xml");
const PYTEST: &str = include_str!("../../tests/fixtures/pytest.xml");
const GO: &str = include_str!("../../tests/fixtures/go.json");

fn finished(ending: Ending, stdout: &str) -> Finished {
    Finished { ending, stdout: stdout.to_owned(), is_cut: false, stderr: String::new() }
}

fn known(names: &[String]) -> KnownTests<'_> {
    KnownTests { names, test_path: "tests/kinds.rs", implementation_path: None }
}

fn junit(report: &str) -> TestOutcome {
    junit::read(&finished(Ending::Exited(1), ""), Some(report), known(&[]))
}

#[track_caller]
fn failed<'o>(outcome: &'o TestOutcome, name: &str) -> &'o StructuredFailure {
    match outcome.verdict_of(name) {
        TestVerdict::Failed(failure) => failure,
        other => panic!("{name}: {other:?}"),
    }
}

#[track_caller]
fn check(outcome: &TestOutcome, expected: &[(&str, FailureType, &str)]) {
    let kinds = outcome.failed.iter().map(|failure| {
        (failure.property_name.as_str(), failure.failure_type, failure.message.lines().next().unwrap_or_default())
    });
    assert_eq!(kinds.collect::<Vec<_>>(), expected);
}

/// TC-09, HY-100: the report of nextest for a crate whose tests fail in every way.
#[test]
fn a_report_of_nextest() {
    use FailureType::*;
    let outcome = junit(NEXTEST);
    assert_eq!(outcome.passed, ["halves::tests::inner", "halves::kinds::prop_even"]);
    let mut failures = outcome.clone();
    failures.failed.sort_by(|one, other| one.property_name.cmp(&other.property_name));
    check(
        &failures,
        &[
            ("halves::kinds::prop_aborts", ParseError, "process aborted with signal 6 (SIGABRT)"),
            ("halves::kinds::prop_hangs", Timeout, "test timeout"),
            ("halves::kinds::prop_odd", PropertyFailed, "assertion `left == right` failed"),
            ("halves::kinds::prop_prints", PropertyFailed, "no"),
            ("halves::kinds::prop_returns", ExceptionThrown, "\"half of 7 is 4\""),
            ("halves::kinds::prop_said", PropertyFailed, "half of 7 < \"4\" & more"),
            ("halves::kinds::prop_stub", UndefinedHit, "not yet implemented"),
            (
                "halves::kinds::prop_unwraps",
                ExceptionThrown,
                "called `Result::unwrap()` on an `Err` value: ParseIntError { kind: InvalidDigit }",
            ),
        ],
    );
    let odd = failed(&outcome, "prop_odd");
    assert_eq!((odd.actual.as_deref(), odd.expected.as_deref()), (Some("4"), Some("3")));
    assert_eq!(outcome.verdict_of("forged"), TestVerdict::Absent, "what a test prints is no test");
}

/// TC-09, TC-25: the report of pytest, with Hypothesis's smallest input.
#[test]
fn a_report_of_pytest() {
    use FailureType::*;
    let outcome = junit(PYTEST);
    assert_eq!(outcome.passed, ["tests.test_halves::test_even", "tests.test_halves.TestGroup::test_each[1]"]);
    assert_eq!(outcome.ignored, ["tests.test_halves::test_skipped", "tests.test_halves::test_expected"]);
    check(
        &outcome,
        &[
            ("tests.test_halves::test_odd", PropertyFailed, "assert 4 == 3"),
            ("tests.test_halves::test_said", PropertyFailed, "AssertionError: half of 7 < \"4\" & more"),
            ("tests.test_halves::test_property", PropertyFailed, "assert (1 * 2) <= 1"),
            ("tests.test_halves::test_stub", UndefinedHit, "NotImplementedError: half of a string"),
            (
                "tests.test_halves::test_raises",
                ExceptionThrown,
                "TypeError: unsupported operand type(s) for +: 'NoneType' and 'int'",
            ),
            ("tests.test_halves::test_setup", ExceptionThrown, "failed on setup with \"RuntimeError: no fixture\""),
            ("tests.test_halves.TestGroup::test_each[2]", PropertyFailed, "assert 2 == 1"),
        ],
    );
    let said = failed(&outcome, "test_said");
    assert_eq!((said.actual.as_deref(), said.expected.as_deref()), (Some("4"), Some("3")));
    assert_eq!(failed(&outcome, "test_property").counterexample.as_deref(), Some("value=1"));
}

/// TC-09, TC-25: the report of go, in which a test prints that another test has passed.
#[test]
fn the_events_of_go_test() {
    use FailureType::*;
    let names = ["TestOdd", "TestEven", "TestAfter"].map(str::to_owned);
    let outcome = go_test::read(&finished(Ending::Exited(1), GO), known(&names)).unwrap();
    let package = "example.org/halves";
    let passed = ["TestEven", "TestPrints", "TestTable/two"].map(|test| format!("{package}::{test}"));
    assert_eq!(outcome.passed, passed);
    assert_eq!(outcome.ignored, [format!("{package}::TestSkipped")]);
    check(
        &outcome,
        &[
            ("example.org/halves::TestOdd", PropertyFailed, "Half(7) = 4, want 3"),
            ("example.org/halves::TestTable", PropertyFailed, "it failed without a word, or a test within it failed"),
            ("example.org/halves::TestTable/three", PropertyFailed, "3 has no half"),
            ("example.org/halves/deep::TestStub", UndefinedHit, "not implemented"),
            ("example.org/halves/slow::TestHangs", Timeout, "test timed out after 2s"),
            (
                "example.org/halves/broken",
                ParseError,
                "the package failed, and none of its tests did: it does not build, or ended early",
            ),
            ("TestAfter", Timeout, "the harness reported nothing of this test"),
        ],
    );
    let odd = failed(&outcome, "TestOdd");
    assert_eq!((odd.actual.as_deref(), odd.expected.as_deref()), (Some("4"), Some("3")));
    assert!(outcome.timed_out);
}

#[test]
fn go_tests_of_a_package_that_was_interrupted_are_no_success() {
    let cut: String = GO.lines().take(4).map(|line| format!("{line}\n")).collect();
    let outcome = go_test::read(&finished(Ending::Exited(0), &cut), known(&[])).unwrap();
    check(&outcome, &[("example.org/halves", FailureType::ParseError, "the package did not come to its end")]);
    assert_eq!(go_test::read(&finished(Ending::Exited(1), "FAIL\tx [build failed]\n"), known(&[])), None);
}

/// Node's reporter puts tests that are in no suite directly into the outermost element.
#[test]
fn a_test_outside_of_all_suites_has_its_verdict() {
    let outcome = junit(
        "<testsuites><testcase name='odd' classname='test'><failure message='assert 4 == 3'/></testcase>\
         <testcase name='even' classname='test'/></testsuites>",
    );
    assert_eq!(outcome.passed, ["test::even"]);
    check(&outcome, &[("test::odd", FailureType::PropertyFailed, "assert 4 == 3")]);
}

/// An exception of the code under test may be called `TimeoutError`, and then the test has ended.
#[test]
fn only_the_words_of_a_harness_say_that_the_time_was_up() {
    for (message, failure_type) in [
        ("Failed: Timeout (&gt;1.0s) from pytest-timeout.", FailureType::Timeout),
        ("Timeout &gt;1.0s", FailureType::Timeout),
        ("TimeoutError: the queue stays empty", FailureType::ExceptionThrown),
    ] {
        let outcome =
            junit(&format!("<testsuite><testcase name='a'><failure message='{message}'/></testcase></testsuite>"));
        assert_eq!(failed(&outcome, "a").failure_type, failure_type, "{message}");
    }
}

const ONE: &str = "<testsuite name='s' tests='1'><testcase name='a'/></testsuite>";

/// A report counts only as far as the exit code and the known tests agree with the report.
#[test]
fn a_report_is_held_against_what_else_is_known() {
    let names = ["a".to_owned(), "b".to_owned()];
    let read = |ending, report, names| junit::read(&finished(ending, ""), report, known(names));
    assert!(read(Ending::Exited(0), Some(ONE), &names[..1]).all_passed());
    check(
        &read(Ending::Exited(0), Some(ONE), &names),
        &[("b", FailureType::ParseError, "the harness reported nothing of this test")],
    );
    check(
        &read(Ending::Exited(1), Some(ONE), &[]),
        &[(WHOLE_SUITE, FailureType::ParseError, "the test command failed, but no test of its report did")],
    );
    check(
        &read(Ending::Exited(0), None, &names[..1]),
        &[("a", FailureType::ParseError, "the command left no report that could be read")],
    );
    assert!(read(Ending::TimedOut, None, &[]).timed_out);
    let twice =
        "<testsuite><testcase name='a'><failure message='assert 0'/></testcase><testcase name='a'/></testsuite>";
    let outcome = read(Ending::Exited(0), Some(twice), &[]);
    assert_eq!((outcome.passed.len(), outcome.failed.len()), (0, 1), "who fails once has failed");
}

/// Every file quickly gives verdicts or an error with a place.
#[test]
fn hostile_reports_are_refused() {
    let refused = |report: &str| junit::cases(report).unwrap_err();
    let deep = format!("{}{}", "<testsuite>".repeat(40), "</testsuite>".repeat(40));
    let mut many = "<testsuite>".to_owned();
    for test in 0..100_001 {
        write!(many, "<testcase name='t{test}'/>").unwrap();
    }
    many.push_str("</testsuite>");
    let large = format!("<testsuite>{}</testsuite>", " ".repeat(junit::LARGEST_REPORT));
    for (report, said) in [
        ("", "it ends early"),
        ("<testsuite>", "it ends early"),
        ("<testsuite><testcase name='a'></testsuite>", "the report is no XML"),
        ("<testsuite/><testsuite/>", "something follows its outermost element"),
        ("<html/>", "its outermost element is `html`"),
        ("<testsuite><testcase/></testsuite>", "a test without a name"),
        ("<testsuite><testcase name='&evil;'/></testsuite>", "the report is no XML"),
        ("<testsuite><testcase name='a'><failure>&evil;</failure></testcase></testsuite>", "no entity `evil`"),
        ("<!DOCTYPE t [<!ENTITY a 'aa'><!ENTITY b '&a;&a;'>]><testsuite/>", "declares a document type"),
        (
            "<testsuite name='s' tests='2'><testcase name='a'/></testsuite>",
            "says that 2 of its tests are there, but reports 1",
        ),
        (
            "<testsuite name='s' failures='1'><testcase name='a'/></testsuite>",
            "says that 1 of its tests failed, but reports 0",
        ),
        (&deep, "more than 32 elements"),
        (&many, "more than 100000 tests"),
        (&large, "bytes"),
    ] {
        assert!(refused(report).contains(said), "{}: {}", &report[..report.len().min(80)], refused(report));
    }
}

/// An invalid report fails the tests that it should judge.
#[test]
fn a_refused_report_is_a_failure() {
    let names = ["a".to_owned()];
    let outcome = junit::read(&finished(Ending::Exited(0), ""), Some("<html/>"), known(&names));
    assert_eq!(failed(&outcome, "a").failure_type, FailureType::ParseError);
}

/// Names in a report are as long as code under test makes them. Every known test gets the message, so they are cut.
#[test]
fn a_refused_report_is_quoted_in_part() {
    let long = "é".repeat(500_000);
    let names = ["a", "b", "c"].map(str::to_owned);
    let stderr = "x".repeat(1_000_000);
    for (report, said) in [
        (format!("<{long}/>"), "its outermost element is `é"),
        (format!("<{long}></{long}x>"), "its outermost element is `é"),
        (format!("<testsuite></{long}>"), "the report is no XML"),
        (format!("<testsuite name='{long}' tests='1'/>"), "the suite `é"),
        (format!("<testsuite>&{long};</testsuite>"), "there is no entity `é"),
        (format!("<testsuite name='&{long};'/>"), "the report is no XML"),
    ] {
        let finished = Finished { stderr: stderr.clone(), ..finished(Ending::Exited(0), "") };
        let outcome = junit::read(&finished, Some(&report), known(&names));
        assert_eq!(outcome.failed.len(), 3);
        for failure in &outcome.failed {
            assert!(failure.message.contains(said) && failure.message.len() < 5000, "{}", failure.message.len());
        }
    }
}

/// Both sides of a comparison and the smallest input are as long as code under test makes them.
#[test]
fn texts_of_a_failure_are_kept_in_part() {
    let long = "é".repeat(500_000);
    let rust = format!(
        "thread 'a' (7) panicked at tests/kinds.rs:1:1:\nTest failed: assertion failed: `(left == right)` \n  left: `{long}`,\n \
         right: `{long}` at tests/kinds.rs:8.\nminimal failing input: a = {long}\n\tsuccesses: 0\n"
    );
    let libtest = format!(
        "\nrunning 1 test\ntest a ... FAILED\n\nfailures:\n\n---- a stdout ----\n{rust}\n\nfailures:\n    a\n\n\
         test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n"
    );
    let python = format!(
        "<testsuite><testcase name='a'><failure message='assert {long} == {long}&#10;Falsifying example: f(a={long})'/>\
         </testcase></testsuite>"
    );
    let less = "é".repeat(10_000);
    let output = format!("    a_test.go:1: Half(7) = {less}, want {less}\n");
    let go = [("output", &output[..]), ("fail", "")].map(|(action, output)| {
        serde_json::json!({"Action": action, "Package": "p", "Test": "a", "Output": output}).to_string() + "\n"
    });
    let rust = libtest::one(&finished(Ending::Exited(101), &libtest), "a", "a", "tests/kinds.rs");
    let libtest::OneTest::Failed(rust) = rust else { panic!("{rust:?}") };
    let go = go_test::read(&finished(Ending::Exited(1), &go.concat()), known(&[])).unwrap();
    let failures = [rust, junit(&python).failed.remove(0), go.failed[0].clone()];
    for failure in &failures {
        let texts = [&failure.counterexample, &failure.expected, &failure.actual].into_iter().flatten();
        for text in texts.chain([&failure.message]) {
            assert!(!text.is_empty() && text.len() <= LONGEST_TEXT, "{} bytes", text.len());
        }
    }
    let kept =
        failures.map(|failure| [&failure.actual, &failure.expected, &failure.counterexample].map(Option::is_some));
    assert_eq!(kept, [[true; 3], [true; 3], [true, true, false]]);
}
