//! Mutations that are made, built and tested. One small crate is compiled about ten times.

use crate::forged::FORGE;
use interlocking_rust_source::{Edit, Mutant, claimed_edit, mutants};
use interlocking_toolchain::{
    Checkout, CommandLine, Harness, KnownTests, MutantTrials, MutantVerdict, NoBaseline, Runner, Toolchain, TrialError,
};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

const CODE: &str = "\
pub fn half(number: u32) -> Result<u32, u32> {
    if number % 2 != 0 {
        return Err(number);
    }
    let (mut twice, mut half) = (0, 0);
    while twice < number {
        twice += 2;
        half += 1;
    }
    Ok(half)
}

pub fn is_small(number: u32) -> bool {
    number < 10
}

#[cfg(any())]
pub fn other(number: u32) -> bool {
    number < 10
}
";

const TESTS: &str = "use victim::*;\n\
    #[test]\nfn prop_even() { for n in [0, 2, 6] { assert_eq!(half(n), Ok(n / 2)); } }\n\
    #[test]\nfn prop_small() { assert!(is_small(3) && !is_small(20)); }\n\
    #[test]\n#[ignore = \"slow\"]\nfn prop_slow() { for n in 0..1 << 30 { let _ = half(n); } }\n";

/// The mutant of a line whose description contains `says`.
fn mutant(line: usize, says: &str) -> Edit {
    let mut found = mutants("src/lib.rs", CODE).unwrap().into_iter();
    let fits = |mutant: &Mutant| mutant.edit.line == line && mutant.to_string().contains(says);
    found.find(fits).unwrap().edit
}

fn claimed(original: &str, replacement: &str) -> Edit {
    claimed_edit("src/lib.rs", CODE, "half", original, replacement).unwrap()
}

fn lay_out(at: &Path, tests: &str) {
    fs::create_dir_all(at.join("src")).unwrap();
    fs::create_dir_all(at.join("tests")).unwrap();
    fs::write(at.join("Cargo.toml"), "[package]\nname = \"victim\"\nedition = \"2024\"\n[workspace]\n").unwrap();
    fs::write(at.join("src/lib.rs"), CODE).unwrap();
    fs::write(at.join("tests/p.rs"), tests).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_test_notices_is_told_from_what_one_does() {
    let checkouts = tempfile::tempdir().unwrap();
    let at = checkouts.path().join("1");
    lay_out(&at, TESTS);
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mutants");
    let runner = Runner::new(Toolchain::default(), target, checkouts.path()).unwrap();
    let names = ["prop_even", "prop_small", "prop_slow"].map(str::to_owned);
    let known = KnownTests { names: &names, test_path: "tests/p.rs", implementation_path: Some("src/lib.rs") };
    let mut trials = MutantTrials::begin(&runner, Checkout::at(&at), known).await.unwrap();

    let caught = MutantVerdict::Caught { by: vec!["prop_even".to_owned()] };
    assert_eq!(trials.try_edit(&mutant(8, "`+=` becomes `-=`")).await.unwrap(), caught);
    assert_eq!(fs::read_to_string(at.join("src/lib.rs")).unwrap(), CODE);
    // No test tries ten or an odd number: one of our own mutants survives, and so does a change from outside.
    for survivor in [mutant(14, "`<` becomes `<=`"), claimed("return Err(number);", "return Ok(number);")] {
        let verdict = trials.try_edit(&survivor).await.unwrap();
        assert!(verdict.is_survivor(), "{survivor}: {verdict:?}");
    }
    let verdict = trials.try_edit(&claimed("Err(number)", "Err(\"odd\")")).await.unwrap();
    let MutantVerdict::DidNotBuild { diagnostics } = verdict else { panic!("{verdict:?}") };
    assert!(diagnostics.contains("mismatched types"), "{diagnostics}");
    let uncompiled = trials.try_edit(&mutant(19, "`<` becomes `<=`")).await.unwrap();
    assert_eq!(uncompiled, MutantVerdict::NotCompiled);

    assert_eq!(trials.test_limit(), Duration::from_secs(20));
    let toolchain = Toolchain { one_test_timeout_seconds: 2, ..Toolchain::default() };
    let mut trials = MutantTrials::begin(&runner.with_toolchain(toolchain), Checkout::at(&at), known).await.unwrap();
    assert_eq!(trials.test_limit(), Duration::from_secs(2));
    assert_eq!(trials.try_edit(&claimed("twice += 2", "twice += 0")).await.unwrap(), MutantVerdict::TimedOut);

    fs::write(at.join("src/lib.rs"), "// something else").unwrap();
    let error = trials.try_edit(&claimed("twice += 2", "twice += 0")).await.unwrap_err();
    assert!(matches!(error, TrialError::AnotherText { .. }), "{error}");
}

/// For commands judged by exit code, the exit code of the build says whether a change builds, in any
/// language.
#[tokio::test]
async fn changes_in_any_language_are_tried_with_its_own_commands() {
    let checkouts = tempfile::tempdir().unwrap();
    let at = checkouts.path().join("1");
    lay_out(&at, "");
    fs::write(at.join("answer.txt"), "forty-two\n").unwrap();
    std::os::unix::fs::symlink("answer.txt", at.join("link.txt")).unwrap();
    let runner = |test: &str| {
        let toolchain = Toolchain {
            build_command: CommandLine::new("sh", &["-c", "! grep broken answer.txt"]),
            test_command: CommandLine::new("sh", &["-c", test]),
            harness: Harness::ExitCode,
            ..Toolchain::default()
        };
        Runner::new(toolchain, checkouts.path().join("target"), checkouts.path()).unwrap()
    };
    let known = KnownTests { names: &[], test_path: "tests/p.rs", implementation_path: None };
    let good = runner("grep -q forty answer.txt");
    let mut trials = MutantTrials::begin(&good, Checkout::at(&at), known).await.unwrap();
    for (changed, verdict) in [
        ("forty-three\n", "Survived"),
        ("twelve\n", "Caught { by: [\"(whole suite)\"] }"),
        ("broken\n", "DidNotBuild { diagnostics: \"broken\\n\" }"),
    ] {
        assert_eq!(format!("{:?}", trials.try_text("answer.txt", changed).await.unwrap()), verdict);
        assert_eq!(fs::read_to_string(at.join("answer.txt")).unwrap(), "forty-two\n");
    }
    for elsewhere in ["../1/answer.txt", "/etc/passwd", "link.txt", "none.txt", "src", ""] {
        let error = trials.try_text(elsewhere, "").await.unwrap_err();
        assert!(matches!(error, TrialError::NoFile { .. }), "{elsewhere}: {error}");
    }

    let red = MutantTrials::begin(&runner("false"), Checkout::at(&at), known).await.unwrap_err();
    assert!(matches!(&red, NoBaseline::NotGreen { not_passed } if not_passed == &["(whole suite)"]), "{red}");
    fs::write(at.join("answer.txt"), "broken\n").unwrap();
    let broken = MutantTrials::begin(&good, Checkout::at(&at), known).await.unwrap_err();
    assert!(matches!(broken, NoBaseline::DidNotBuild { .. }), "{broken}");
}

/// A test that is skipped on the unchanged code says nothing about a change. One that is not there is an error.
#[tokio::test]
async fn known_tests_that_are_skipped_hinder_no_trial() {
    let checkouts = tempfile::tempdir().unwrap();
    let at = checkouts.path().join("1");
    lay_out(&at, "");
    let script = "grep -q '^ *number < 10' src/lib.rs || failure='<failure/>'; echo \"<testsuite><testcase name='prop_small'>$failure\
        </testcase><testcase name='prop_slow'><skipped/></testcase></testsuite>\" > {target}/report.xml; test -z \"$failure\"";
    let toolchain = Toolchain {
        build_command: CommandLine::new("true", &[]),
        test_command: CommandLine::new("sh", &["-c", script]),
        harness: Harness::Junit { report: "report.xml".into() },
        ..Toolchain::default()
    };
    let runner = Runner::new(toolchain, checkouts.path().join("target"), checkouts.path()).unwrap();
    let names = ["prop_small", "prop_slow", "prop_none"].map(str::to_owned);
    let known = |names| KnownTests { names, test_path: "tests/p.rs", implementation_path: None };
    let mut trials = MutantTrials::begin(&runner, Checkout::at(&at), known(&names[..2])).await.unwrap();
    assert!(trials.try_text("src/lib.rs", &CODE.replace("% 2", "% 3")).await.unwrap().is_survivor());
    let caught = MutantVerdict::Caught { by: vec!["prop_small".to_owned()] };
    assert_eq!(trials.try_text("src/lib.rs", &CODE.replace("< 10", "< 9")).await.unwrap(), caught);
    let absent = MutantTrials::begin(&runner, Checkout::at(&at), known(&names)).await.unwrap_err();
    assert!(matches!(&absent, NoBaseline::NotGreen { not_passed } if not_passed == &["prop_none"]), "{absent}");
    let only_skipped = MutantTrials::begin(&runner, Checkout::at(&at), known(&names[1..2])).await;
    assert!(only_skipped.is_ok(), "another test passes: {only_skipped:?}");
}

/// Tests that run under another harness than Rust's own can write the checkout. No file outside is written for that: neither
/// through a link in the place of the file, nor through one in the place of a directory above it.
#[tokio::test]
async fn a_file_that_tests_replace_with_a_link_is_restored_and_what_the_link_leads_to_stays() {
    let directory = tempfile::tempdir().unwrap();
    let (checkouts, outside) = (directory.path().join("checkouts"), directory.path().join("outside"));
    let at = checkouts.join("1");
    for made in [&at.join("texts"), &outside] {
        fs::create_dir_all(made).unwrap();
    }
    let victim = outside.join("answer.txt");
    fs::write(&victim, "a user's\n").unwrap();
    for (file, link, to) in
        [("answer.txt", "rm answer.txt; ln -s", &victim), ("texts/answer.txt", "mv texts moved; ln -s", &outside)]
    {
        fs::write(at.join(file), "forty-two\n").unwrap();
        fs::set_permissions(at.join(file), PermissionsExt::from_mode(0o755)).unwrap();
        let replaced = file.split('/').next().unwrap();
        let script = format!("grep -q forty {file} || {{ {link} {} {replaced}; false; }}", to.display());
        let toolchain = Toolchain {
            build_command: CommandLine::new("true", &[]),
            test_command: CommandLine::new("sh", &["-c", &script]),
            harness: Harness::ExitCode,
            ..Toolchain::default()
        };
        let runner = Runner::new(toolchain, directory.path().join("target"), &checkouts).unwrap();
        let known = KnownTests { names: &[], test_path: "tests/p.rs", implementation_path: None };
        let mut trials = MutantTrials::begin(&runner, Checkout::at(&at), known).await.unwrap();
        let tried = trials.try_text(file, "twelve\n").await;
        assert_eq!(fs::read_to_string(&victim).unwrap(), "a user's\n", "{file}");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1, "{file}");
        if replaced == file {
            assert!(matches!(tried, Ok(MutantVerdict::Caught { .. })), "{tried:?}");
            let metadata = fs::symlink_metadata(at.join(file)).unwrap();
            assert!(metadata.is_file() && metadata.permissions().mode() & 0o100 != 0, "{metadata:?}");
            assert_eq!(fs::read_to_string(at.join(file)).unwrap(), "forty-two\n");
            assert_eq!(fs::read_dir(&at).unwrap().count(), 2, "nothing else is left");
        } else {
            // The file has no place any more: the checkout cannot be used again.
            assert!(matches!(tried, Err(TrialError::File { .. })), "{tried:?}");
            let again = trials.try_text(file, "forty-two\n").await;
            assert!(matches!(again, Err(TrialError::NoFile { .. })), "{again:?}");
        }
    }
}

/// What a test finds counts, although the result of another is forged.
#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_a_test_notices_is_caught_although_the_result_of_another_is_forged() {
    let checkouts = tempfile::tempdir().unwrap();
    let at = checkouts.path().join("1");
    let tests = "#[test]\nfn prop_forged() { assert_eq!(victim::one(), 1); }\n\
        #[test]\nfn prop_two() { assert_eq!(victim::two(), 2); }\n";
    lay_out(&at, tests);
    let code = "pub fn one() -> i32 { 1 }\npub fn two() -> i32 { 2 }\n";
    fs::write(at.join("src/lib.rs"), code).unwrap();
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mutants");
    let runner = Runner::new(Toolchain::default(), target, checkouts.path()).unwrap();
    let names = ["prop_forged", "prop_two"].map(str::to_owned);
    let known = KnownTests { names: &names, test_path: "tests/p.rs", implementation_path: Some("src/lib.rs") };
    let mut trials = MutantTrials::begin(&runner, Checkout::at(&at), known).await.unwrap();
    let forging = format!("{}{FORGE}", code.replace("{ 1 }", "{ forge() }"));
    assert_eq!(trials.try_text("src/lib.rs", &forging).await.unwrap(), MutantVerdict::Survived);
    let caught = MutantVerdict::Caught { by: vec!["prop_two".to_owned()] };
    assert_eq!(trials.try_text("src/lib.rs", &forging.replace("{ 2 }", "{ 3 }")).await.unwrap(), caught);
}
