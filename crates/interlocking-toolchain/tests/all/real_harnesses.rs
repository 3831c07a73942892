//! The real programs of harnesses: nextest, pytest and `go test`. A test whose program is missing on this machine reports that
//! and passes; `INTERLOCKING_NEXTEST`, `INTERLOCKING_PYTEST` and `INTERLOCKING_GO` name programs that are not in `PATH`.

use interlocking_toolchain::{
    Checkout, CommandLine, FailureType, Harness, KnownTests, NamedCommand, Runner, TestOutcome, TestRun, TestVerdict,
    Toolchain,
};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// The path of the program, if it is installed.
#[expect(clippy::print_stderr, reason = "whoever runs the tests is told what was not tested")]
fn program(name: &str, variable: &str) -> Option<PathBuf> {
    let named = env::var_os(variable).map(PathBuf::from);
    let in_path = || {
        let directories: Vec<PathBuf> = env::split_paths(&env::var_os("PATH")?).collect();
        directories.into_iter().map(|directory| directory.join(name)).find(|program| program.is_file())
    };
    let found = named.or_else(in_path);
    if found.is_none() {
        eprintln!("not tested: there is no `{name}`; install it, or name it in {variable}");
    }
    found
}

/// The directories in which a program and its interpreter are installed.
fn installed(program: &Path) -> Vec<PathBuf> {
    let text = String::from_utf8_lossy(&fs::read(program).unwrap()).into_owned();
    let interpreter =
        text.strip_prefix("#!").and_then(|rest| rest.lines().next()).map(|line| PathBuf::from(line.trim()));
    let all = [Some(program.to_owned()), interpreter].into_iter().flatten();
    let all = all.flat_map(|program| [program.clone(), program.canonicalize().unwrap()]);
    let directories = all.filter_map(|program| Some(program.parent()?.parent()?.to_owned()));
    // On Debian a link leads from Go's directory to the sources of its library.
    let behind = |directory: PathBuf| [directory.join("src").canonicalize().ok(), Some(directory)];
    directories.flat_map(behind).flatten().collect()
}

async fn outcome_of(
    files: &[(&str, &str)],
    readable_paths: Vec<PathBuf>,
    command: CommandLine,
    harness: Harness,
) -> TestOutcome {
    let checkouts = tempfile::tempdir().unwrap();
    let at = checkouts.path().join("1");
    for (path, text) in files {
        fs::create_dir_all(at.join(path).parent().unwrap()).unwrap();
        fs::write(at.join(path), text).unwrap();
    }
    let named = NamedCommand { harness, ..NamedCommand::new(command) };
    let toolchain = Toolchain { commands: [("real".to_owned(), named)].into(), readable_paths, ..Toolchain::default() };
    let target = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let runner = Runner::new(toolchain, target.path(), checkouts.path()).unwrap();
    let known = KnownTests { names: &[], test_path: files[0].0, implementation_path: None };
    match runner.run_named("real", &Checkout::at(&at), known).await.unwrap() {
        TestRun::Ran(outcome) => outcome,
        other => panic!("{other:?}"),
    }
}

/// TC-09, TC-25: the report of nextest is read test by test.
#[tokio::test(flavor = "multi_thread")]
async fn nextest_is_read_test_by_test() {
    let Some(nextest) = program("cargo-nextest", "INTERLOCKING_NEXTEST") else { return };
    let tests = "#[test] fn holds() {}\n#[test] fn differs() { assert_eq!(1 + 1, 3) }\n";
    let files = [
        ("tests/sums.rs", tests),
        ("src/lib.rs", ""),
        ("Cargo.toml", "[package]\nname = \"sums\"\nedition = \"2024\"\n[workspace]\n"),
    ];
    // The configuration that the page shows.
    let page = include_str!("../../../../docs/book/src/verdicts.md");
    let shown = page.split("```toml\n").nth(2).and_then(|rest| rest.split("```").next()).unwrap();
    let toolchain: Toolchain = toml::from_str(shown).unwrap();
    let NamedCommand { command, harness, .. } = toolchain.named("nextest").unwrap();
    let outcome = outcome_of(&files, installed(&nextest), command, harness).await;
    assert_eq!(outcome.verdict_of("holds"), TestVerdict::Passed, "{outcome:?}");
    let [failure] = &outcome.failed[..] else { panic!("{outcome:?}") };
    assert!(failure.property_name.ends_with("differs"), "{failure:?}");
    assert_eq!(failure.failure_type, FailureType::PropertyFailed);
    assert_eq!((failure.expected.as_deref(), failure.actual.as_deref()), (Some("3"), Some("2")), "{failure:?}");
}

/// TC-09, TC-25: the report of pytest is read test by test.
#[tokio::test(flavor = "multi_thread")]
async fn pytest_is_read_test_by_test() {
    let Some(pytest) = program("pytest", "INTERLOCKING_PYTEST") else { return };
    let tests = "def test_holds():\n    pass\n\ndef test_differs():\n    assert 1 + 1 == 3\n";
    let command =
        CommandLine::new(&pytest.to_string_lossy(), &["-p", "no:cacheprovider", "--junitxml={target}/report.xml"]);
    let report = Harness::Junit { report: "report.xml".into() };
    let outcome = outcome_of(&[("test_sums.py", tests)], installed(&pytest), command, report).await;
    assert_eq!(outcome.verdict_of("test_holds"), TestVerdict::Passed, "{outcome:?}");
    let [failure] = &outcome.failed[..] else { panic!("{outcome:?}") };
    assert!(failure.property_name.ends_with("test_differs"), "{failure:?}");
    assert_eq!(failure.failure_type, FailureType::PropertyFailed);
}

/// TC-09, TC-23, TC-25: the events of `go test -json` are read test by test.
#[tokio::test(flavor = "multi_thread")]
async fn go_test_is_read_test_by_test() {
    let Some(go) = program("go", "INTERLOCKING_GO") else { return };
    let tests = "package sums\n\nimport \"testing\"\n\nfunc TestHolds(t *testing.T) {}\n\n\
        func TestDiffers(t *testing.T) { if 1+1 != 3 { t.Errorf(\"got %d, want %d\", 2, 3) } }\n";
    let files = [("sums_test.go", tests), ("go.mod", "module example.org/sums\n\ngo 1.19\n")];
    // Go keeps its build cache in the given directory.
    let script = "GOCACHE=\"$1/cache\" GOTMPDIR=\"$1\" GOFLAGS=-vet=off CGO_ENABLED=0 exec \"$2\" test -json ./...";
    let command = CommandLine::new("sh", &["-c", script, "sh", "{target}", &go.to_string_lossy()]);
    let outcome = outcome_of(&files, installed(&go), command, Harness::GoTest).await;
    assert_eq!(outcome.verdict_of("TestHolds"), TestVerdict::Passed, "{outcome:?}");
    let [failure] = &outcome.failed[..] else { panic!("{outcome:?}") };
    assert!(failure.property_name.ends_with("TestDiffers") && failure.message.contains("got 2, want 3"), "{failure:?}");
}
