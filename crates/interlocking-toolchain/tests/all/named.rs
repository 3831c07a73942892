//! Commands by name, each with its harness, and what a recorder notes of them.

use interlocking_rust_source::SourceRules;
use interlocking_toolchain::{
    Checkout, CommandLine, Ending, FailureType, Finished, Harness, KnownTests, NamedCommand, Recorder, RunError,
    Runner, TestRun, TestVerdict, Toolchain,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const KNOWN: KnownTests<'_> = KnownTests { names: &[], test_path: "tests/p.rs", implementation_path: None };

fn runner(toolchain: Toolchain) -> Runner {
    Runner::new(toolchain, Path::new(env!("CARGO_TARGET_TMPDIR")).join("named"), "/nonexistent").unwrap()
}

/// V3-90, TC-03, SAW-48: build, the contract's tests, then all of them; and a gate for one package.
#[tokio::test]
async fn commands_are_run_as_they_are_configured() {
    let exit_code = |words: &[&str]| NamedCommand::new(CommandLine::new(words[0], &words[1..]));
    let scoped = NamedCommand { timeout_seconds: 7, ..exit_code(&["cargo", "test", "-p", "halves"]) };
    let toolchain = Toolchain {
        harness: Harness::ExitCode,
        commands: [("contract", exit_code(&["cargo", "test", "contract"])), ("halves", scoped)]
            .map(|(name, command)| (name.to_owned(), command))
            .into(),
        pass_environment: vec!["CARGO_PKG_NAME".to_owned()],
        ..Toolchain::default()
    };
    let failing = CommandLine::new("cargo", &["test", "-p", "halves"]);
    let recorder = Recorder::new().answer(failing, Recorder::exit(1, "no")).with_default_answer(Recorder::exit(0, ""));
    let recorder = Arc::new(recorder);
    let runner = runner(toolchain).with_recorder(recorder.clone());
    let checkout = Checkout::at("/srv/checkout");
    assert!(runner.build(&checkout).await.unwrap().passed());
    for (name, passes) in [("contract", true), ("test", true), ("halves", false), ("halves", true), ("lint", true)] {
        let TestRun::Ran(outcome) = runner.run_named(name, &checkout, KNOWN).await.unwrap() else { panic!("{name}") };
        assert_eq!(outcome.all_passed(), passes, "{name}");
    }
    let calls = recorder.calls();
    let commands: Vec<String> = calls.iter().map(|call| call.command.to_string()).collect();
    assert_eq!(
        commands,
        [
            "cargo build --all-targets",
            "cargo test contract",
            "cargo test --no-fail-fast",
            "cargo test -p halves",
            "cargo test -p halves",
            "cargo clippy --all-targets -- -D warnings",
        ]
    );
    assert!(calls.iter().all(|call| call.directory == Path::new("/srv/checkout") && call.is_sandboxed));
    assert_eq!((calls[2].time_limit.as_secs(), calls[3].time_limit.as_secs()), (600, 7));
    let environment = &calls[0].environment;
    assert_eq!(environment["CARGO_PKG_NAME"], "interlocking-toolchain");
    assert!(environment.contains_key("PATH") && !environment.contains_key("CARGO_MANIFEST_DIR"));
}

#[tokio::test]
async fn an_unknown_name_and_an_unanswered_command_are_errors() {
    let runner = runner(Toolchain::default()).with_recorder(Arc::new(Recorder::new()));
    let checkout = Checkout::at("/srv/checkout");
    let error = runner.run_named("contracts", &checkout, KNOWN).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the toolchain has no command `contracts`; it has build, contract, lint, test: add it to `commands`, or ask for one of these"
    );
    let error = runner.build(&checkout).await.unwrap_err();
    assert!(matches!(error, RunError::Unanswered { .. }), "{error}");
}

/// What decides how everything is built was noted when the first runner was made.
#[tokio::test]
async fn a_runner_with_another_toolchain_knows_what_there_was_before() {
    let checkouts = tempfile::tempdir().unwrap();
    let recorder = Arc::new(Recorder::new().with_default_answer(Recorder::exit(0, "")));
    let target = checkouts.path().join("target");
    let runner = Runner::new(Toolchain::default(), target, checkouts.path()).unwrap().with_recorder(recorder.clone());
    fs::write(checkouts.path().join("Cargo.toml"), "[workspace]\n").unwrap();
    let build_command = CommandLine::new("make", &[]);
    let pass_environment = vec!["CARGO_PKG_NAME".to_owned()];
    let other = Toolchain { build_command, pass_environment, ..Toolchain::default() };
    let checkout = Checkout::at(checkouts.path().join("1"));
    let error = runner.with_toolchain(other.clone()).build(&checkout).await.unwrap_err();
    assert!(matches!(&error, RunError::SettingsChanged { path } if path.ends_with("Cargo.toml")), "{error}");
    fs::remove_file(checkouts.path().join("Cargo.toml")).unwrap();
    assert!(runner.with_toolchain(other).build(&checkout).await.unwrap().passed());
    let call = &recorder.calls()[0];
    assert_eq!(call.command.to_string(), "make");
    assert_eq!(call.environment["CARGO_PKG_NAME"], "interlocking-toolchain");
}

#[test]
fn commands_are_read_from_configuration() {
    let text = r#"{"commands": {"unit": {"command": ["pytest", "--junitxml={target}/r.xml"], "harness": {"junit": {"report": "r.xml"}}},
        "go": {"command": ["go", "test", "-json", "./..."], "harness": "goTest", "timeoutSeconds": 9}, "docs": {"command": ["make"]}}}"#;
    let toolchain: Toolchain = serde_json::from_str(text).unwrap();
    let named = |name: &str| toolchain.named(name).unwrap();
    assert_eq!(named("unit").harness, Harness::Junit { report: "r.xml".into() });
    assert_eq!((named("go").harness, named("go").timeout_seconds), (Harness::GoTest, 9));
    assert_eq!((named("docs").harness, named("docs").timeout_seconds), (Harness::ExitCode, 600));
    assert_eq!(named("contract").command.to_string(), "cargo test contract");
    assert_eq!(toolchain.named("nonsense"), None);
    let configured: Vec<_> = toolchain.configured().map(ToString::to_string).collect();
    let all = [
        "cargo build --all-targets",
        "cargo test --no-fail-fast",
        "make",
        "go test -json ./...",
        "pytest '--junitxml={target}/r.xml'",
    ];
    assert_eq!(configured, all);
    let wrong = text.replace("\"pytest\", \"--junitxml={target}/r.xml\"", "");
    assert!(serde_json::from_str::<Toolchain>(&wrong).unwrap_err().to_string().contains("the command is empty"));
}

/// `build` and `test` are the names of the toolchain's own commands, so commands that are given these names are not run.
#[test]
fn a_command_under_a_name_that_is_taken_is_refused_with_what_to_write() {
    let with = |name: &str, words: &[&str], harness| {
        let named = NamedCommand { harness, ..NamedCommand::new(CommandLine::new(words[0], &words[1..])) };
        Toolchain { commands: [(name.to_owned(), named)].into(), ..Toolchain::default() }.check()
    };
    for (name, instead) in [
        ("build", "write it as `buildCommand`, with its limit as `buildTimeoutSeconds`"),
        ("test", "write it as `testCommand`, with its limit as `testTimeoutSeconds` and its harness as `harness`"),
    ] {
        let error = with(name, &["make"], Harness::ExitCode).unwrap_err();
        assert_eq!(error.to_string(), format!("`commands.{name}`: it is never run; {instead}"));
    }
    with("contract", &["make"], Harness::ExitCode).unwrap();
    let error = with("contract", &["make"], Harness::Libtest).unwrap_err();
    assert!(error.to_string().starts_with("`commands.contract.command`: `make` is not a `cargo test`"), "{error}");
}

/// Every mistake is told at once, with its field.
#[test]
fn every_value_that_cannot_be_used_is_told() {
    let never = NamedCommand { timeout_seconds: 0, ..NamedCommand::new(CommandLine::new("make", &[])) };
    let toolchain = Toolchain {
        test_command: CommandLine::new("npm", &["test"]),
        build_timeout_seconds: 0,
        test_timeout_seconds: 0,
        one_test_timeout_seconds: 0,
        commands: [("never".to_owned(), never)].into(),
        readable_paths: vec!["tools".into()],
        source: SourceRules {
            stub_markers: vec!["todo!(".to_owned()],
            property_prefix: "law-".to_owned(),
            ..SourceRules::default()
        },
        ..Toolchain::default()
    };
    let mistakes = toolchain.check().unwrap_err().mistakes;
    let fields: Vec<_> = mistakes.iter().map(|mistake| mistake.field.as_str()).collect();
    let expected = [
        "testCommand",
        "buildTimeoutSeconds",
        "testTimeoutSeconds",
        "oneTestTimeoutSeconds",
        "commands.never.timeoutSeconds",
        "readablePaths",
        "source.stubMarkers",
        "source.propertyPrefix",
    ];
    assert_eq!(fields, expected);
    assert_eq!(mistakes[2].to_string(), "`testTimeoutSeconds`: nothing finishes in no time; use at least 1");
}

#[test]
fn docs_verdicts_shows_what_can_be_read() {
    let page = include_str!("../../../../docs/book/src/verdicts.md");
    let shown = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let toolchain: Toolchain = toml::from_str(shown).unwrap();
    assert_eq!(toolchain.names(), ["build", "contract", "lint", "stack-only", "test"]);
    assert_eq!(toolchain.named("stack-only").unwrap().harness, Harness::GoTest);
}

/// TC-09, TC-25: a report that a command other than cargo leaves is read test by test.
#[tokio::test]
async fn a_report_is_read_from_where_the_command_leaves_it() {
    let here = tempfile::tempdir().unwrap();
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/pytest.xml"), here.path().join("r.xml"))
        .unwrap();
    let script = CommandLine::new("sh", &["-c", "cp r.xml \"$1\"; exit 1", "sh", "{target}/r.xml"]);
    let named =
        |script| NamedCommand { harness: Harness::Junit { report: "r.xml".into() }, ..NamedCommand::new(script) };
    let silent = named(CommandLine::new("true", &[]));
    let commands = [("unit", named(script)), ("silent", silent)].map(|(name, command)| (name.to_owned(), command));
    let runner = runner(Toolchain { commands: commands.into(), ..Toolchain::default() });
    let checkout = Checkout::at(here.path());
    let TestRun::Ran(outcome) = runner.run_named("unit", &checkout, KNOWN).await.unwrap() else { panic!() };
    assert_eq!(outcome.verdict_of("test_even"), TestVerdict::Passed);
    assert_eq!(outcome.failed.len(), 7);
    // The report in the checkout is not from this run.
    let TestRun::Ran(outcome) = runner.run_named("silent", &checkout, KNOWN).await.unwrap() else { panic!() };
    assert_eq!(outcome.failed[0].failure_type, FailureType::ParseError);
}

/// The test program that a build by [`runner`] names.
fn program() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("named/verdicts/debug/deps/p-1")
}

/// Cargo's message about a test program that it has built.
fn artifact(checkout: &Path, program: &Path) -> String {
    let message = serde_json::json!({
        "reason": "compiler-artifact",
        "manifest_path": checkout.join("Cargo.toml"),
        "target": {"kind": ["test"]},
        "profile": {"test": true},
        "executable": program,
    });
    message.to_string()
}

/// A test that must have a verdict has failed if no program has it, unless the command chooses others.
#[tokio::test]
async fn a_known_test_that_no_program_has_has_failed() {
    let checkouts = tempfile::tempdir().unwrap();
    let at = checkouts.path().join("1");
    fs::create_dir(&at).unwrap();
    let names = ["prop_a", "prop_gone", "another"].map(str::to_owned);
    let known = KnownTests { names: &names, ..KNOWN };
    let (program, test) = (program(), ["cargo", "test", "prop_"].map(str::to_owned));
    let of_program = |words: &[&str]| CommandLine::new(program.to_str().unwrap(), words);
    let build = CommandLine::new("cargo", &["test", "prop_", "--no-run", "--message-format=json"]);
    let (list, one) =
        (of_program(&["--list", "--format=terse"]), of_program(&["inner::prop_a", "--exact", "--test-threads=2"]));
    let passed = "running 1 test\ntest inner::prop_a ... ok\n\n\
        test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
    let toolchain = Toolchain { test_command: test.to_vec().try_into().unwrap(), ..Toolchain::default() };
    let ran = async |listed: Finished| {
        let recorder = Recorder::new().answer(build.clone(), Recorder::exit(0, &artifact(&at, &program)));
        let recorder = recorder.answer(list.clone(), listed).answer(one.clone(), Recorder::exit(0, passed));
        let runner = runner(toolchain.clone()).with_recorder(Arc::new(recorder));
        let TestRun::Ran(outcome) = runner.test(&Checkout::at(&at), known).await.unwrap() else { panic!() };
        let failed = outcome.failed.into_iter().map(|failure| (failure.property_name, failure.message)).collect();
        (outcome.passed, failed)
    };
    let (passed, failed): (_, Vec<_>) = ran(Recorder::exit(0, "inner::prop_a: test\n")).await;
    assert_eq!(
        (passed, failed),
        (vec!["inner::prop_a".to_owned()], vec![(names[1].clone(), "no test program has it".to_owned())])
    );
    let (_, failed): (_, Vec<_>) = ran(Recorder::exit(1, "")).await;
    assert_eq!(failed.iter().map(|(name, _)| name).collect::<Vec<_>>(), [&names[0], &names[1]]);
}

/// Programs that cargo names elsewhere than where it was to build are not run, and tests that are not run have not passed.
#[tokio::test]
async fn a_program_that_was_built_elsewhere_is_not_ignored() {
    let checkouts = tempfile::tempdir().unwrap();
    let build = CommandLine::new("cargo", &["test", "--no-fail-fast", "--no-run", "--message-format=json"]);
    let message = artifact(checkouts.path(), Path::new("/elsewhere/p-1"));
    let recorder = Recorder::new().answer(build, Recorder::exit(0, &message));
    let runner = runner(Toolchain::default()).with_recorder(Arc::new(recorder));
    let run = runner.test(&Checkout::at(checkouts.path()), KNOWN).await.unwrap();
    let TestRun::DidNotBuild { diagnostics } = run else { panic!("{run:?}") };
    assert!(diagnostics.starts_with("cargo names the test program /elsewhere/p-1, which is not in "), "{diagnostics}");
}

/// Cargo runs in the checkout, and names the programs by their absolute paths.
#[tokio::test]
async fn a_target_directory_is_one_wherever_a_command_runs() {
    let (checkouts, target) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let up = "../".repeat(std::env::current_dir().unwrap().components().count() - 1);
    let relative = Path::new(&up).join(target.path().strip_prefix("/").unwrap());
    let recorder = Arc::new(Recorder::new().with_default_answer(Recorder::exit(0, "")));
    let runner = Runner::new(Toolchain::default(), relative, checkouts.path()).unwrap().with_recorder(recorder.clone());
    assert!(runner.build(&Checkout::at(checkouts.path())).await.unwrap().passed());
    let named = recorder.calls()[0].environment["CARGO_TARGET_DIR"].clone();
    assert!(Path::new(&named).is_absolute() && named.ends_with("verdicts"), "{named}");
}

/// A test program that ends without listing its tests: the failure says how it ended and what it said.
#[tokio::test]
async fn a_program_that_does_not_list_its_tests_fails_by_its_end() {
    let checkouts = tempfile::tempdir().unwrap();
    let at = checkouts.path().join("1");
    fs::create_dir(&at).unwrap();
    let program = program();
    let build = CommandLine::new("cargo", &["test", "--no-fail-fast", "--no-run", "--message-format=json"]);
    let list = CommandLine::new(program.to_str().unwrap(), &["--list", "--format=terse"]);
    let of_exit = "the test program exited with 127 instead of listing its tests, as Rust's own harness does";
    let of_kill = "the test program was ended by a signal before it had listed its tests";
    let of_time = "the time for building and testing was up before the test program had listed its tests";
    for (ending, failure_type, said) in [
        (Ending::Exited(127), FailureType::ParseError, of_exit),
        (Ending::Killed, FailureType::ParseError, of_kill),
        (Ending::TimedOut, FailureType::Timeout, of_time),
    ] {
        let answer = Finished { ending, stdout: String::new(), is_cut: false, stderr: "no libx.so\n".to_owned() };
        let recorder = Recorder::new().answer(build.clone(), Recorder::exit(0, &artifact(&at, &program)));
        let runner = runner(Toolchain::default()).with_recorder(Arc::new(recorder.answer(list.clone(), answer)));
        let TestRun::Ran(outcome) = runner.test(&Checkout::at(&at), KNOWN).await.unwrap() else { panic!("{ending:?}") };
        let [failure] = &outcome.failed[..] else { panic!("{outcome:?}") };
        let program = format!("the test program {}", program.display());
        assert_eq!(failure.message, format!("{}: no libx.so", said.replace("the test program", &program)));
        assert_eq!((failure.failure_type, outcome.timed_out), (failure_type, ending == Ending::TimedOut));
    }
}

/// TC-03: `cargo test contract` runs only the tests with that name, each by itself and with its canary. Options for the output
/// change no verdict, `--ignored` runs the tests that are marked so, and a test that is not chosen need not be compiled.
#[tokio::test(flavor = "multi_thread")]
async fn a_filter_chooses_tests_by_their_own_names() {
    let checkouts = tempfile::tempdir().unwrap();
    let at = checkouts.path().join("1");
    fs::create_dir_all(at.join("src")).unwrap();
    fs::create_dir_all(at.join("tests")).unwrap();
    fs::write(at.join("Cargo.toml"), "[package]\nname = \"victim\"\nedition = \"2024\"\n[workspace]\n").unwrap();
    fs::write(at.join("src/lib.rs"), "").unwrap();
    let test = "#[test] fn contract_holds() {}\n";
    let others = "#[test] fn contract_holds_not() { panic!(\"not this one\") }\n\
        #[test] fn other() { panic!(\"nor this\") }\n\
        #[test] #[ignore = \"slow\"] fn marked() {}\n\
        #[cfg(windows)] #[test] fn only_there() {}\n";
    fs::write(at.join("tests/p.rs"), format!("{test}{others}")).unwrap();
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("named");
    for (words, passed) in [
        (&["contract", "--", "--skip", "not", "--nocapture"][..], "contract_holds"),
        (&["--", "contract", "--skip=holds_not", "-q", "--color", "always"], "contract_holds"),
        (&["--", "--exact", "contract_holds", "--format=terse", "--show-output"], "contract_holds"),
        (&["--", "--ignored", "--skip", "only_there"], "marked"),
    ] {
        let test_command = CommandLine::new("cargo", &[&["test"], words].concat());
        let toolchain = Toolchain { test_command, ..Toolchain::default() };
        let runner = Runner::new(toolchain, &target, checkouts.path()).unwrap();
        let TestRun::Ran(outcome) = runner.test(&Checkout::at(&at), KNOWN).await.unwrap() else { panic!() };
        assert!(outcome.all_passed() && outcome.passed == [passed], "{words:?}: {outcome:?}");
    }
    let runner = Runner::new(Toolchain::default(), &target, checkouts.path()).unwrap();
    fs::write(at.join("tests/p.rs"), format!("{test}{}", others.replace("contract_holds_not", "another"))).unwrap();
    let TestRun::Ran(outcome) = runner.run_named("contract", &Checkout::at(&at), KNOWN).await.unwrap() else {
        panic!()
    };
    assert!(outcome.all_passed() && outcome.passed == ["contract_holds"], "{outcome:?}");
}
