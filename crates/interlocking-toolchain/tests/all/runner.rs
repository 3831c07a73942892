//! Commands that are run: their environment, their end, their time limit.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use interlocking_toolchain::{
    BuildOutcome, Checkout, CommandLine, Harness, KnownTests, NamedCommand, RunError, Runner, TestRun, Toolchain,
};

fn shell(script: &str) -> CommandLine {
    CommandLine::new("sh", &["-c", script])
}

fn runner(build: CommandLine, test: CommandLine) -> Runner {
    let toolchain = Toolchain {
        build_command: build,
        test_command: test,
        build_timeout_seconds: 1,
        test_timeout_seconds: 1,
        harness: Harness::ExitCode,
        ..Toolchain::default()
    };
    Runner::new(toolchain, target(), "/nonexistent").unwrap()
}

/// A target directory for commands without artefacts.
fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-artefacts")
}

const KNOWN: KnownTests<'_> =
    KnownTests { names: &[], test_path: "tests/properties.rs", implementation_path: Some("src/lib.rs") };

/// TC-01, TC-02, TC-25: the configuration defines the commands, and their exit codes count.
#[tokio::test]
async fn configured_commands_decide() {
    let here = tempfile::tempdir().unwrap();
    let good = runner(CommandLine::new("true", &[]), CommandLine::new("true", &[]));
    assert_eq!(good.build(&Checkout::at(here.path())).await.unwrap(), BuildOutcome::Passed);
    let TestRun::Ran(outcome) = good.test(&Checkout::at(here.path()), KNOWN).await.unwrap() else { panic!() };
    assert!(outcome.all_passed());

    let bad = runner(shell("pwd; echo no >&2; exit 3"), CommandLine::new("false", &[]));
    let BuildOutcome::Failed { diagnostics } = bad.build(&Checkout::at(here.path())).await.unwrap() else { panic!() };
    assert_eq!(diagnostics, format!("{}\nno\n", here.path().canonicalize().unwrap().display()));
    let TestRun::Ran(outcome) = bad.test(&Checkout::at(here.path()), KNOWN).await.unwrap() else { panic!() };
    assert!(!outcome.all_passed());
}

/// The command gets only the variables of the caller's environment that builds need and that the configuration names.
#[tokio::test]
async fn secrets_stay_outside() {
    let here = tempfile::tempdir().unwrap();
    let runner = runner(shell("env >&2; exit 1"), shell("true"));
    let outcome = runner.build(&Checkout::at(here.path())).await.unwrap();
    let seen: Vec<&str> = outcome.diagnostics().lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    // Cargo sets it for every test; a build does not need it.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some() && !seen.contains(&"CARGO_MANIFEST_DIR"), "{seen:?}");
    assert!(outcome.diagnostics().contains("CARGO_NET_OFFLINE=true"), "{}", outcome.diagnostics());
    let verdicts = target().join("verdicts");
    assert!(outcome.diagnostics().contains(&format!("CARGO_TARGET_DIR={}\n", verdicts.display())));
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
        "CARGO_INCREMENTAL",
        "RUSTUP_HOME",
        "RUSTUP_TOOLCHAIN",
        "LD_LIBRARY_PATH",
        "CARGO_TARGET_DIR",
        "CARGO_NET_OFFLINE",
        "CARGO_TERM_COLOR",
        "CARGO_BUILD_BUILD_DIR",
        "GOCACHE",
        "RUSTC_WRAPPER",
        "RUSTC_WORKSPACE_WRAPPER",
        "INTERLOCKING_PROGRAM",
        // The sandbox's directory for temporary files.
        "TMP",
        "TEMP",
        "RUST_BACKTRACE",
        "PROPTEST_DISABLE_FAILURE_PERSISTENCE",
        // These keep worktrees with a shared target directory apart.
        "CARGO_PROFILE_DEV_SPLIT_DEBUGINFO",
        "CARGO_PROFILE_RELEASE_SPLIT_DEBUGINFO",
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
    let outcome =
        Runner::new(toolchain, target(), "/nonexistent").unwrap().build(&Checkout::at(here.path())).await.unwrap();
    assert!(outcome.diagnostics().contains("CARGO_MANIFEST_DIR="));
}

/// TC-11: a command that hangs is killed with all processes that it started, and its output is kept.
#[tokio::test]
async fn a_command_out_of_time_leaves_nothing_behind() {
    let here = tempfile::tempdir().unwrap();
    let script = "echo $$ > leader; sleep 600 & echo $! > child; echo started; wait";
    let started = Instant::now();
    let outcome = runner(shell(script), shell("true")).build(&Checkout::at(here.path())).await.unwrap();
    let BuildOutcome::TimedOut { after, diagnostics } = outcome else { panic!("{outcome:?}") };
    assert_eq!((after, diagnostics.as_str()), (Duration::from_secs(1), "started\n(stopped: out of time)\n"));
    assert!(started.elapsed() < Duration::from_secs(10));
    assert_gone(&here.path().join("child")).await;
}

/// A build whose caller is gone is killed likewise.
#[tokio::test]
async fn a_cancelled_command_leaves_nothing_behind() {
    let here = tempfile::tempdir().unwrap();
    let runner = runner(shell("sleep 600 & echo $! > child.part; mv child.part child; wait"), shell("true"));
    let child = here.path().join("child");
    let checkout = Checkout::at(here.path());
    let build = runner.build(&checkout);
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

/// A `cargo` that runs this script.
fn cargo(directory: &Path, script: &str) -> CommandLine {
    let program = directory.join("cargo");
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    CommandLine::new(program.to_str().unwrap(), &["test"])
}

/// A runner that runs tests one by one, after this `cargo` has built them.
fn one_by_one(cargo: CommandLine) -> Runner {
    Runner::new(Toolchain { test_command: cargo, ..Toolchain::default() }, target(), "/nonexistent").unwrap()
}

const TESTS: &str = "#[test]\nfn prop_nothing() {}\n";

/// The canaries of a cancelled run do not affect the next run.
#[tokio::test]
async fn a_test_file_is_as_it_was_after_a_cancelled_build() {
    let (here, programs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = here.path().join("tests/properties.rs");
    std::fs::create_dir(file.parent().unwrap()).unwrap();
    std::fs::write(&file, TESTS).unwrap();
    let runner = one_by_one(cargo(programs.path(), "echo > started; sleep 600"));
    let checkout = Checkout::at(here.path());
    let started = async {
        while !here.path().join("started").exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_ne!(std::fs::read_to_string(&file).unwrap(), TESTS);
    };
    tokio::select! {
        run = runner.test(&checkout, KNOWN) => panic!("{run:?}"),
        () = started => {}
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), TESTS);
}

/// A test waits with the test file until other tests of the checkout have restored it.
#[tokio::test]
async fn a_test_file_is_as_it_was_after_two_tests_of_one_checkout_at_once() {
    let (here, programs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = here.path().join("tests/properties.rs");
    fs::create_dir(file.parent().unwrap()).unwrap();
    fs::write(&file, TESTS).unwrap();
    let command = cargo(programs.path(), "sleep 0.1");
    let contract = NamedCommand { harness: Harness::Libtest, ..NamedCommand::new(command.clone()) };
    let toolchain = Toolchain {
        test_command: command,
        commands: [("contract".to_owned(), contract)].into(),
        ..Toolchain::default()
    };
    let runner = Runner::new(toolchain, target(), "/nonexistent").unwrap();
    let checkout = Checkout::at(here.path());
    let (test, contract) = tokio::join!(runner.test(&checkout, KNOWN), runner.run_named("contract", &checkout, KNOWN));
    for run in [test, contract] {
        assert!(matches!(run, Ok(TestRun::Ran(_))), "{run:?}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), TESTS);
}

/// A symbolic link in a commit leads to no file outside: the file is neither read nor written, and nothing is built.
#[tokio::test]
async fn a_test_file_that_is_a_link_is_no_test_file() {
    let (here, programs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let outside = programs.path().join("outside.rs");
    std::fs::write(&outside, TESTS).unwrap();
    let checkout = Checkout::at(here.path());
    let runner = one_by_one(cargo(programs.path(), "echo > built; exit 1"));
    let tests = here.path().join("tests");
    let links: [(&Path, &Path); 3] = [
        (&outside, &tests.join("properties.rs")),
        (Path::new("/dev/zero"), &tests.join("properties.rs")),
        (programs.path(), &tests),
    ];
    for (target, link) in links {
        let _ = std::fs::remove_dir_all(&tests);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, link).unwrap();
        let TestRun::DidNotBuild { diagnostics } = runner.test(&checkout, KNOWN).await.unwrap() else { panic!() };
        let said = "tests/properties.rs: it is no file of the checkout, relative to it and without links";
        assert_eq!(diagnostics, said);
    }
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), TESTS);
    assert!(!here.path().join("built").exists());
}

/// Unread output may name a test program, so the build counts as failed. The diagnostics go to the code's author, as the code
/// causes the warnings.
#[tokio::test]
async fn a_build_that_prints_too_much_tells_of_no_test() {
    let (here, programs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let runner = |lines: u32| {
        let warn = format!(r#"yes '{{"reason":"compiler-message"}}' | head -n {lines}"#);
        one_by_one(cargo(programs.path(), &warn))
    };
    let checkout = Checkout::at(here.path());
    let TestRun::Ran(_) = runner(10).test(&checkout, KNOWN).await.unwrap() else { panic!() };
    let TestRun::DidNotBuild { diagnostics } = runner(300_000).test(&checkout, KNOWN).await.unwrap() else { panic!() };
    assert!(diagnostics.contains("printed more than is read") && diagnostics.contains("warning"), "{diagnostics}");
}

/// No clock overflows.
#[tokio::test]
async fn a_time_limit_of_more_than_a_year_is_one_of_a_year() {
    let (here, programs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let toolchain = Toolchain {
        test_command: cargo(programs.path(), "exit 0"),
        build_timeout_seconds: u64::MAX,
        test_timeout_seconds: u64::MAX,
        one_test_timeout_seconds: u64::MAX,
        ..Toolchain::default()
    };
    let year = Duration::from_secs(365 * 24 * 60 * 60);
    assert_eq!([toolchain.build_timeout(), toolchain.test_timeout(), toolchain.one_test_timeout()], [year; 3]);
    let runner = Runner::new(toolchain, target(), "/nonexistent").unwrap();
    let TestRun::Ran(_) = runner.test(&Checkout::at(here.path()), KNOWN).await.unwrap() else { panic!() };
}

/// Asserts that the process whose id is in the file is gone, or is a zombie.
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
    let outcome = runner(shell("sleep 600 & exit 1"), shell("true")).build(&Checkout::at(here.path())).await.unwrap();
    assert!(matches!(outcome, BuildOutcome::Failed { .. }));
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn a_missing_program_is_an_error_not_a_failed_build() {
    let here = tempfile::tempdir().unwrap();
    let runner = runner(CommandLine::new("no-such-program", &[]), shell("true"));
    let error = runner.build(&Checkout::at(here.path())).await.unwrap_err();
    assert!(matches!(error, RunError::Start { .. }), "{error}");
    assert!(error.to_string().contains("no-such-program"), "{error}");
}

/// A process that has left its parent, its group and its session ends with the command, and changes nothing afterwards.
#[tokio::test]
async fn a_process_in_a_session_of_its_own_does_not_outlive_its_command() {
    let here = tempfile::tempdir().unwrap();
    let script = "setsid sh -c 'echo $$ > child.part; mv child.part child; sleep 5; echo late > late' & \
                  while ! test -e child; do sleep 0.01; done";
    let runner = runner(shell("true"), shell(script));
    let TestRun::Ran(outcome) = runner.test(&Checkout::at(here.path()), KNOWN).await.unwrap() else { panic!() };
    assert!(outcome.all_passed());
    assert_gone(&here.path().join("child")).await;
    assert!(!here.path().join("late").exists());
}

/// Fails if another build runs. Otherwise it takes a moment, and makes a program with a test that never ends.
const BUILDS_ALONE: &str = r#"
    mkdir "$CARGO_TARGET_DIR/building" || exit 1
    sleep 0.1
    rmdir "$CARGO_TARGET_DIR/building"
    [ "$2" = --no-run ] || exit 0
    program=$CARGO_TARGET_DIR/p
    printf '#!/bin/sh\n[ "$1" = --list ] && echo endless: test || sleep 600\n' > "$program"
    chmod +x "$program"
    printf '{"reason":"compiler-artifact","manifest_path":"/Cargo.toml","target":{"kind":["test"]},"profile":{"test":true},'
    printf '"executable":"%s"}\n' "$program"
    echo > built"#;

/// Cargo lets only one build at a time write its artefacts. A build waits for the others before its time begins, and neither for
/// tests that run nor for a build that was cancelled.
#[tokio::test]
async fn a_build_waits_for_the_others_before_its_time_begins() {
    let (here, programs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (target, endless) = (programs.path().join("target"), programs.path().join("endless"));
    let [first, second, third] = ["1", "2", "3"].map(|name| {
        let at = here.path().join(name);
        fs::create_dir(&at).unwrap();
        Checkout::at(at)
    });
    let with = |cargo: CommandLine| Toolchain {
        build_command: cargo.clone(),
        test_command: cargo,
        one_test_timeout_seconds: 600,
        ..Toolchain::default()
    };
    let toolchain = with(cargo(programs.path(), BUILDS_ALONE));
    let runner = Runner::new(toolchain.clone(), target, here.path()).unwrap();
    let other = runner.with_toolchain(toolchain);
    let (one, two, three) = tokio::join!(runner.build(&first), other.build(&second), other.build(&third));
    for built in [one, two, three] {
        assert_eq!(built.unwrap(), BuildOutcome::Passed);
    }

    tokio::select! {
        run = other.test(&first, KNOWN) => panic!("{run:?}"),
        built = async { appears(&first.path().join("built")).await; runner.build(&second).await } => {
            assert_eq!(built.unwrap(), BuildOutcome::Passed);
        }
    }

    let at = |name: &str| {
        let at = programs.path().join(name);
        fs::create_dir(&at).unwrap();
        at
    };
    let holds =
        runner.with_toolchain(with(cargo(&at("holds"), "echo > holds; while ! test -e go; do sleep 0.02; done")));
    let short = Toolchain { build_timeout_seconds: 2, ..with(cargo(&at("short"), "exit 0")) };
    let short = runner.with_toolchain(short);
    let waits = async {
        appears(&third.path().join("holds")).await;
        let go = async {
            tokio::time::sleep(Duration::from_millis(2200)).await;
            fs::write(third.path().join("go"), "").unwrap();
        };
        tokio::join!(short.build(&second), go).0
    };
    let (held, waited) = tokio::join!(holds.build(&third), waits);
    assert_eq!((held.unwrap(), waited.unwrap()), (BuildOutcome::Passed, BuildOutcome::Passed));

    fs::create_dir(&endless).unwrap();
    let endless = runner.with_toolchain(with(cargo(&endless, "echo > started; sleep 600")));
    let started = first.path().join("started");
    tokio::select! {
        built = endless.build(&first) => panic!("{built:?}"),
        () = appears(&started) => {}
    }
    assert_eq!(runner.build(&second).await.unwrap(), BuildOutcome::Passed);
}

async fn appears(file: &Path) {
    while !file.exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
