//! Commands really run: the environment they see, their end, their time limit; and the demonstration's files
//! really built and tested.

use std::path::Path;
use std::time::{Duration, Instant};

use hybrid::demo;
use hybrid::harness::KnownTests;
use hybrid::source::{StubMarkers, check_claimed_functions, check_stubs, property_tests, public_functions};
use hybrid::spec::{SpecFormat, Task};
use hybrid::toolchain::{BuildOutcome, CommandLine, Harness, RunError, TestRun, TestVerdict, Toolchain, Workshop};
use hybrid::types::FailureType;

fn shell(script: &str) -> CommandLine {
    CommandLine::new("sh", &["-c", script])
}

fn workshop(build: CommandLine, test: CommandLine) -> Workshop {
    let toolchain = Toolchain {
        build_command: build,
        test_command: test,
        build_timeout_seconds: 1,
        test_timeout_seconds: 1,
        harness: Harness::ExitCode,
        ..Toolchain::default()
    };
    Workshop::new(toolchain, "/nonexistent")
}

const KNOWN: KnownTests<'_> = KnownTests { names: &[], test_path: "tests/properties.rs" };

/// TC-01, TC-02, TC-25: the commands are whatever the configuration says, and their exit codes count.
#[tokio::test]
async fn configured_commands_decide() {
    let here = tempfile::tempdir().unwrap();
    let good = workshop(CommandLine::new("true", &[]), CommandLine::new("true", &[]));
    assert_eq!(good.build(here.path()).await.unwrap(), BuildOutcome::Passed);
    let TestRun::Ran(outcome) = good.test(here.path(), KNOWN).await.unwrap() else { panic!() };
    assert!(outcome.all_passed());

    let bad = workshop(shell("pwd; echo no >&2; exit 3"), CommandLine::new("false", &[]));
    let BuildOutcome::Failed { diagnostics } = bad.build(here.path()).await.unwrap() else { panic!() };
    assert_eq!(diagnostics, format!("{}\nno\n", here.path().canonicalize().unwrap().display()));
    let TestRun::Ran(outcome) = bad.test(here.path(), KNOWN).await.unwrap() else { panic!() };
    assert!(!outcome.all_passed());
}

/// Nothing of the caller's environment gets through but what builds need and what the configuration names.
#[tokio::test]
async fn secrets_stay_outside() {
    let here = tempfile::tempdir().unwrap();
    let workshop = workshop(shell("env >&2; exit 1"), shell("true"));
    let outcome = workshop.build(here.path()).await.unwrap();
    let seen: Vec<&str> = outcome.diagnostics().lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    // Set for every test by cargo, and of no use to a build.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some() && !seen.contains(&"CARGO_MANIFEST_DIR"), "{seen:?}");
    assert!(outcome.diagnostics().contains("CARGO_NET_OFFLINE=true"), "{}", outcome.diagnostics());
    assert!(outcome.diagnostics().contains("CARGO_TARGET_DIR=/nonexistent"));
    let allowed = [
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "LANG",
        "LC_ALL",
        "TZ",
        "TMPDIR",
        "CARGO_HOME",
        "RUSTUP_HOME",
        "RUSTUP_TOOLCHAIN",
        "LD_LIBRARY_PATH",
        "CARGO_TARGET_DIR",
        "CARGO_NET_OFFLINE",
        "CARGO_TERM_COLOR",
        "RUST_BACKTRACE",
        "PROPTEST_DISABLE_FAILURE_PERSISTENCE",
        "PWD",
        "SHLVL",
        "_",
        "OLDPWD",
    ];
    assert_eq!(seen.iter().filter(|name| !allowed.contains(name)).collect::<Vec<_>>(), [&""; 0]);

    let toolchain = Toolchain {
        build_command: shell("env >&2; exit 1"),
        pass_environment: vec!["CARGO_MANIFEST_DIR".to_owned()],
        ..Toolchain::default()
    };
    let outcome = Workshop::new(toolchain, "/nonexistent").build(here.path()).await.unwrap();
    assert!(outcome.diagnostics().contains("CARGO_MANIFEST_DIR="));
}

/// TC-11: a command that hangs is killed with everything it started, and what it printed is kept.
#[tokio::test]
async fn a_command_out_of_time_leaves_nothing_behind() {
    let here = tempfile::tempdir().unwrap();
    let script = "echo $$ > leader; sleep 600 & echo $! > child; echo started; wait";
    let started = Instant::now();
    let outcome = workshop(shell(script), shell("true")).build(here.path()).await.unwrap();
    let BuildOutcome::TimedOut { after, diagnostics } = outcome else { panic!("{outcome:?}") };
    assert_eq!((after, diagnostics.as_str()), (Duration::from_secs(1), "started\n(stopped: out of time)\n"));
    assert!(started.elapsed() < Duration::from_secs(10));
    assert_gone(&here.path().join("child")).await;
}

/// A build that nobody waits for any more is killed likewise.
#[tokio::test]
async fn a_cancelled_command_leaves_nothing_behind() {
    let here = tempfile::tempdir().unwrap();
    let workshop = workshop(shell("sleep 600 & echo $! > child.part; mv child.part child; wait"), shell("true"));
    let child = here.path().join("child");
    let build = workshop.build(here.path());
    let appeared = async {
        while !child.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        outcome = build => panic!("{outcome:?}"),
        () = appeared => {}
    }
    assert_gone(&child).await;
}

/// The process whose id is in the file is gone, or dead and waiting for its parent to notice.
async fn assert_gone(file: &Path) {
    let id = std::fs::read_to_string(file).expect("the process wrote its id");
    let status = format!("/proc/{}/stat", id.trim());
    for _ in 0..200 {
        match std::fs::read_to_string(&status) {
            Err(_) => return,
            Ok(stat) if stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z')) => return,
            Ok(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
    panic!("process {id} is still there");
}

/// A background process that keeps the output open does not keep the caller waiting.
#[tokio::test]
async fn a_lingering_child_does_not_hold_the_caller() {
    let here = tempfile::tempdir().unwrap();
    let started = Instant::now();
    let outcome = workshop(shell("sleep 600 & exit 1"), shell("true")).build(here.path()).await.unwrap();
    assert!(matches!(outcome, BuildOutcome::Failed { .. }));
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn a_missing_program_is_an_error_not_a_failed_build() {
    let here = tempfile::tempdir().unwrap();
    let workshop = workshop(CommandLine::new("no-such-program", &[]), shell("true"));
    let error = workshop.build(here.path()).await.unwrap_err();
    assert!(matches!(error, RunError::Start { .. }), "{error}");
    assert!(error.to_string().contains("no-such-program"), "{error}");
}

/// What the demonstration's agents write, put through cargo itself, without a network.
///
/// HY-173, CON-53, CON-54 at the level of single runs: red on the stubs, one passing test found out, broken tests
/// told from failing ones. HY-154 and HY-161 on the same files.
#[tokio::test]
async fn the_demonstration_does_what_it_says() {
    let crate_directory = tempfile::tempdir().unwrap();
    let target = tempfile::tempdir().unwrap();
    let at = crate_directory.path();
    let task = Task::parse("demo/spec.toml", demo::SPEC, SpecFormat::Toml).unwrap();
    let workshop = Workshop::new(task.toolchain, target.path());
    let work = Path::new(env!("CARGO_MANIFEST_DIR")).join("demo/work");
    let put = |from: &str, to: &str| {
        let to = at.join(to);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(work.join(from), to).unwrap();
    };
    let text = |from: &str| std::fs::read_to_string(work.join(from)).unwrap();

    demo::write_seed(at).unwrap();
    assert_eq!(workshop.build(at).await.unwrap(), BuildOutcome::Passed);
    let lock = std::fs::read_to_string(at.join("Cargo.lock")).unwrap();
    assert!(lock.len() < demo::SEED[1].contents.len() / 2, "cargo cut the lock file down");

    let markers = StubMarkers::parse(["todo!()", "unimplemented!()"]).unwrap();
    for skeleton in ["types/lib.rs", "types_hole/lib.rs"] {
        put(skeleton, "src/lib.rs");
        assert_eq!(workshop.build(at).await.unwrap(), BuildOutcome::Passed, "{skeleton}");
        let functions = public_functions(skeleton, &text(skeleton), &markers).unwrap();
        let claimed = ["with_capacity", "push", "pop", "peek", "height"];
        assert_eq!(check_claimed_functions(&claimed, &functions), []);
        assert_eq!(check_stubs(&functions), []);
    }
    let functions = public_functions("lib.rs", &text("implementation/lib.rs"), &markers).unwrap();
    assert_eq!(check_stubs(&functions).len(), 5);

    put("types/lib.rs", "src/lib.rs");
    put("tests/properties.rs", "tests/properties.rs");
    let tests = property_tests("properties.rs", &text("tests/properties.rs"), "prop_").unwrap();
    let names: Vec<String> = tests.into_iter().map(|test| test.name).collect();
    assert_eq!(names.len(), 7);
    let known = KnownTests { names: &names, test_path: "tests/properties.rs" };
    let ran = async || match workshop.test(at, known).await.unwrap() {
        TestRun::Ran(outcome) => outcome,
        TestRun::DidNotBuild { diagnostics } => panic!("{diagnostics}"),
    };

    let on_stubs = ran().await;
    assert_eq!(on_stubs.passed, [""; 0]);
    for name in &names {
        let TestVerdict::Failed(failure) = on_stubs.verdict_of(name) else { panic!("{name}") };
        assert_eq!(failure.failure_type, FailureType::UndefinedHit, "{failure:?}");
    }

    put("tests_trivial/properties.rs", "tests/properties.rs");
    let trivial = ran().await;
    assert_eq!(trivial.passed, ["prop_peek_changes_nothing"]);
    assert_eq!(trivial.failed.len(), 6);

    put("tests_broken/properties.rs", "tests/properties.rs");
    assert!(matches!(workshop.test(at, known).await.unwrap(), TestRun::DidNotBuild { .. }));
    assert!(!workshop.build(at).await.unwrap().passed());

    put("tests/properties.rs", "tests/properties.rs");
    put("implementation_broken/lib.rs", "src/lib.rs");
    assert!(!workshop.build(at).await.unwrap().passed());

    put("implementation_buggy/lib.rs", "src/lib.rs");
    assert!(workshop.build(at).await.unwrap().passed());
    let mut failed: Vec<String> = ran().await.failed.into_iter().map(|failure| failure.property_name).collect();
    failed.sort();
    assert_eq!(failed, ["prop_examples", "prop_full_stack_hands_the_value_back", "prop_height_never_exceeds_capacity"]);

    put("implementation/lib.rs", "src/lib.rs");
    let done = ran().await;
    assert!(done.all_passed() && done.passed.len() == 7, "{done:?}");
    let leftovers: Vec<_> = std::fs::read_dir(at).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!leftovers.iter().any(|name| name == "proptest-regressions"), "{leftovers:?}");
    assert_eq!(std::fs::read_to_string(at.join("Cargo.lock")).unwrap(), lock, "no later build changes the lock");
}
