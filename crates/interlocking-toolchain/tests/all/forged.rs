//! Code under test that knows that it is tested, and the resulting verdict.
//!
//! The sources are not checked beforehand: this is what running the tests shows by itself. About ten small crates are compiled,
//! at half a second each.

use interlocking_toolchain::{Checkout, FailureType, KnownTests, Runner, TestOutcome, TestRun, Toolchain};
use std::fmt::Write;
use std::fs;
use std::path::Path;

const TESTS: &str = "use victim::answer;\n\
    #[test]\nfn prop_answer() { assert_eq!(answer(), 42); }\n\
    #[test]\nfn prop_twice() { assert_eq!(answer() * 2, 84); }\n\
    #[test]\nfn prop_returns() -> Result<(), String> { if answer() == 42 { Ok(()) } else { Err(\"no\".to_owned()) } }\n\
    #[test]\n#[should_panic]\nfn prop_panics() { assert_eq!(answer(), 41); }\n";

/// Tests a crate with these two files.
async fn test(implementation: &str, tests: &str) -> TestRun {
    let checkouts = tempfile::tempdir().unwrap();
    let at = checkouts.path().join("1");
    fs::create_dir_all(at.join("src")).unwrap();
    fs::create_dir_all(at.join("tests")).unwrap();
    fs::write(at.join("Cargo.toml"), "[package]\nname = \"victim\"\nedition = \"2024\"\n[workspace]\n").unwrap();
    fs::write(at.join("src/lib.rs"), implementation).unwrap();
    fs::write(at.join("tests/p.rs"), tests).unwrap();
    let toolchain = Toolchain { one_test_timeout_seconds: 5, ..Toolchain::default() };
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("forged");
    let runner = Runner::new(toolchain, target, checkouts.path()).unwrap();
    let mut names = ["prop_answer", "prop_twice", "prop_returns", "prop_panics"].map(str::to_owned).to_vec();
    names.retain(|name| tests.contains(name.as_str()));
    let known = KnownTests { names: &names, test_path: "tests/p.rs", implementation_path: Some("src/lib.rs") };
    let run = runner.test(&Checkout::at(&at), known).await.unwrap();
    assert_eq!(fs::read_to_string(at.join("tests/p.rs")).unwrap(), tests, "it is as it was committed");
    run
}

fn ran(run: TestRun) -> TestOutcome {
    let TestRun::Ran(outcome) = run else { panic!("{run:?}") };
    outcome
}

#[tokio::test(flavor = "multi_thread")]
async fn code_that_does_its_work_passes_and_code_that_does_not_fails() {
    let conditional = "#[test]\n#[cfg_attr(all(), should_panic)]\nfn prop_panics_here() { assert_eq!(answer(), 41); }\n\
        #[test]\n#[cfg_attr(any(), should_panic)]\nfn prop_panics_elsewhere() -> Result<(), ()> {\n    \
        (answer() == 42).then_some(()).ok_or(())\n}\n";
    let tests = format!("{TESTS}{conditional}");
    let names =
        ["prop_answer", "prop_twice", "prop_returns", "prop_panics", "prop_panics_here", "prop_panics_elsewhere"];
    let right = ran(test("pub fn answer() -> i32 { 42 }", &tests).await);
    assert!(right.all_passed(), "{right:?}");
    assert_eq!(right.passed, names);
    let wrong = ran(test("pub fn answer() -> i32 { 41 }", &tests).await);
    let failed: Vec<&str> = wrong.failed.iter().map(|failure| failure.property_name.as_str()).collect();
    assert_eq!(failed, names);
    assert!(
        wrong.failed.iter().take(2).all(|failure| failure.failure_type == FailureType::PropertyFailed),
        "{wrong:?}"
    );
    assert_eq!((wrong.failed[0].actual.as_deref(), wrong.failed[0].expected.as_deref()), (Some("41"), Some("42")));
}

/// An early end with success is no verdict.
#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_ends_before_its_test_has_failed() {
    let outcome = ran(test("pub fn answer() -> i32 { std::process::exit(0) }", TESTS).await);
    assert_eq!((outcome.passed.len(), outcome.failed.len()), (0, 4), "{outcome:?}");
    let said = "the test program exited with 0 before the harness had reported the results of its tests";
    assert_eq!(outcome.failed[0].message, said);
    let outcome = ran(test("pub fn answer() -> i32 { std::process::abort() }", TESTS).await);
    assert_eq!(outcome.failed.len(), 4, "{outcome:?}");
}

/// Writes what the harness would write, for the right test name, and ends with the same exit code.
pub(crate) const FORGE: &str = "use std::io::Write;\npub fn forge() -> ! {\n    \
    let test = std::env::args().nth(1).unwrap();\n    let lines = format!(\"test {test} ... ok\\n\\n\
    test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out\\n\\n\");\n    \
    std::io::stdout().write_all(lines.as_bytes()).unwrap();\n    std::process::exit(0)\n}\n";

#[tokio::test(flavor = "multi_thread")]
async fn code_that_writes_what_the_harness_writes_is_betrayed_by_the_canaries() {
    let run = test(&format!("{FORGE}pub fn answer() -> i32 {{ forge() }}"), TESTS).await;
    let TestRun::Forged { tests } = run else { panic!("{run:?}") };
    let names: Vec<&str> = tests.iter().map(|forged| forged.test.as_str()).collect();
    // It also claims success for the test that is to panic.
    assert_eq!(names, ["prop_answer", "prop_panics", "prop_returns", "prop_twice"]);
}

/// Claims results for all names that it has listed.
#[tokio::test(flavor = "multi_thread")]
async fn verdicts_of_more_than_the_one_test_contradict_its_counts() {
    let forge = FORGE.replace("test {test} ... ok", "test {test} ... ok\\ntest another ... ok");
    let outcome = ran(test(&format!("{forge}pub fn answer() -> i32 {{ forge() }}"), TESTS).await);
    assert_eq!((outcome.passed.len(), outcome.failed.len()), (0, 4), "{outcome:?}");
}

/// A coin decides, so that every second pair of a test and its canary looks genuine: ten pairs are run, up to three times.
#[tokio::test(flavor = "multi_thread")]
async fn guessing_which_run_is_the_canarys_does_not_pay() {
    let coin = "fn coin() -> bool {\n    use std::hash::{BuildHasher, RandomState};\n    \
        RandomState::new().hash_one(0) & 1 == 0\n}\n";
    let implementation = format!("{FORGE}{coin}pub fn answer() -> i32 {{ if coin() {{ forge() }} else {{ 42 }} }}");
    let mut tests = "#[test]\nfn prop_answer() { assert_eq!(victim::answer(), 42); }\n".to_owned();
    // These do not run, so none is a pair.
    for number in 0..9 {
        writeln!(tests, "#[test]\n#[ignore]\nfn prop_ignored_{number}() {{}}").unwrap();
    }
    // It guesses right now and then, so only a run in which it is caught counts.
    for _ in 0..3 {
        if let TestRun::Forged { tests } = test(&implementation, &tests).await {
            return assert_eq!(tests.len(), 1);
        }
    }
    panic!("thirty pairs betray nothing");
}

/// The line that decides the verdict comes last, after more output than is kept.
#[tokio::test(flavor = "multi_thread")]
async fn a_test_that_prints_without_end_in_sight_is_judged_by_its_last_words() {
    let tests = "use victim::answer;\n\
        fn talk() { for _ in 0..200_000 { println!(\"{}\", \"x\".repeat(100)) } print!(\"x\") }\n\
        #[test]\nfn prop_answer() { talk(); assert_eq!(answer(), 42); }\n\
        #[test]\nfn prop_twice() { talk(); assert_eq!(answer(), 84); }\n";
    let outcome = ran(test("pub fn answer() -> i32 { 42 }", tests).await);
    assert_eq!(outcome.passed, ["prop_answer"], "{outcome:?}");
    let failure = &outcome.failed[0];
    assert_eq!((failure.property_name.as_str(), failure.failure_type), ("prop_twice", FailureType::PropertyFailed));
    assert_eq!((failure.actual.as_deref(), failure.expected.as_deref()), (Some("42"), Some("84")));
}

/// A test that hangs is ended, and the others have their verdicts.
#[tokio::test(flavor = "multi_thread")]
async fn a_test_that_hangs_is_ended_alone() {
    let tests = "use victim::answer;\n#[test]\nfn prop_answer() { assert_eq!(answer(), 42); }\n\
        #[test]\nfn prop_twice() { loop { std::hint::spin_loop() } }\n";
    let outcome = ran(test("pub fn answer() -> i32 { 42 }", tests).await);
    assert_eq!(outcome.passed, ["prop_answer"]);
    assert_eq!(outcome.failed[0].property_name, "prop_twice");
    assert_eq!(outcome.failed[0].failure_type, FailureType::Timeout);
    assert!(outcome.timed_out);
}

/// A process that runs the code under test can read neither the implementation nor which test name is the canary's, and can
/// change nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_test_reaches_neither_sources_nor_artefacts_nor_the_network() {
    let tests = r##"
        use std::{env, fs, net::UdpSocket};
        #[test]
        fn prop_answer() {
            fs::read_to_string("src/lib.rs").unwrap_err();
            // As it was committed, without the names that are drawn for its tests.
            assert_eq!(fs::read_to_string("tests/p.rs").unwrap().matches("#[test]").count(), 2);
            fs::write("tests/p.rs", "").unwrap_err();
            fs::write("new", "").unwrap_err();
            let program = env::current_exe().unwrap();
            fs::write(&program, "").unwrap_err();
            fs::remove_file(&program).unwrap_err();
            fs::read_dir(program.parent().unwrap()).unwrap_err();
            UdpSocket::bind("127.0.0.1:0").unwrap_err();
            fs::write(env::temp_dir().join("own"), "").unwrap();
            assert_eq!(victim::answer(), 42);
        }
    "##;
    let outcome = ran(test("pub fn answer() -> i32 { 42 }", tests).await);
    assert!(outcome.all_passed() && outcome.passed == ["prop_answer"], "{outcome:?}");
}
