//! Preparing a worktree: the user's setup command, and ignored files that a build needs.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use interlocking_worktree::{CopyError, Setup, SetupError};
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};
use rustix::io::Errno;

use crate::judge::{Place, path, write};

#[test]
fn the_setup_command_runs_in_the_new_worktree_with_its_own_environment() {
    let place = Place::new();
    let script = "set -eu; test \"$(cat README.md)\" = '# Project'; pwd > where; env > environment; echo made > out";
    let setup = Setup::new("sh", ["-c", script]).with_variable("PATH", "/usr/bin:/bin").with_variable("TOKEN", "t 1");
    let tests = place.worktree("tests");
    setup.run(tests.path()).unwrap();
    let read = |file: &str| std::fs::read_to_string(tests.path().join(file)).unwrap();
    assert_eq!(read("where").trim(), tests.path().to_str().unwrap());
    let variables: Vec<_> =
        read("environment").lines().map(|line| line.split('=').next().unwrap().to_owned()).collect();
    let given = ["PATH", "TOKEN", "PWD", "OLDPWD", "SHLVL", "_"];
    assert!(variables.iter().all(|name| given.contains(&name.as_str())), "{variables:?}");
    assert!(read("environment").contains("TOKEN=t 1"));
}

#[test]
fn a_setup_command_that_fails_says_what_it_said() {
    let place = Place::new();
    let tests = place.worktree("tests");
    let failing = Setup::new("sh", ["-c", "echo half; echo why >&2; exit 7"]).with_variable("PATH", "/usr/bin:/bin");
    match failing.run(tests.path()).unwrap_err() {
        SetupError::Failed { code, output, error, .. } => {
            assert_eq!((code, output.as_str(), error.as_str()), (Some(7), "half\n", "why\n"));
        }
        other => panic!("{other}"),
    }
    let absent = Setup::new("no-such-program", ["x"]).run(tests.path()).unwrap_err();
    assert!(matches!(absent, SetupError::NotStarted { .. }), "{absent}");
}

#[test]
fn the_values_of_a_setups_variables_are_not_shown() {
    let setup = Setup::new("sh", ["-c", "true"]).with_variable("TOKEN", "a-secret");
    let shown = format!("{setup:?}");
    assert!(shown.contains("TOKEN") && !shown.contains("a-secret"), "{shown}");
    let place = Place::new();
    let tests = place.worktree("tests");
    let home = tests.path().to_str().unwrap();
    for script in
        ["echo its $TOKEN $HOME; exit 1", "echo its $TOKEN $HOME >&2; exit 1", "echo its $TOKEN $HOME; sleep 1000"]
    {
        let setup = Setup::new("sh", ["-c", script]).with_variable("PATH", "/usr/bin:/bin").with_variable("HOME", home);
        let setup = setup.with_variable("TOKEN", "s3cret-value").with_time_limit(Duration::from_millis(500));
        let error = setup.run(tests.path()).unwrap_err();
        for shown in [error.to_string(), format!("{error:?}")] {
            assert!(shown.contains(&format!("its [redacted] {home}")) && !shown.contains("s3cret-value"), "{shown}");
        }
    }
}

/// A setup command whose two processes hold `pipe` open and do not end.
fn endless(pipe: &Path) -> Setup {
    let script = format!("exec 9> '{}'; sleep 1000 & sleep 1000", pipe.display());
    Setup::new("sh", ["-c", script.as_str()]).with_variable("PATH", "/usr/bin:/bin")
}

/// Runs it, and checks that no process holds the pipe any more.
fn ended(setup: impl FnOnce(&Path) -> SetupError) -> SetupError {
    let directory = tempfile::tempdir().unwrap();
    let pipe = directory.path().join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    // Opened first, so that the command does not wait for a reader.
    let reader = rustix::fs::open(&pipe, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty()).unwrap();
    let error = setup(&pipe);
    // Processes that were killed close it, soon after. Where nobody holds it, there is an end to read.
    for _ in 0..1000 {
        match rustix::io::read(&reader, &mut [0_u8; 8]) {
            Ok(read) => {
                assert_eq!(read, 0);
                return error;
            }
            Err(waits) => assert_eq!(waits, Errno::AGAIN),
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("a process was left");
}

#[test]
fn a_setup_command_that_does_not_end_is_killed_at_its_time_limit() {
    let place = Place::new();
    let tests = place.worktree("tests");
    let limit = Duration::from_millis(500);
    let error = ended(|pipe| endless(pipe).with_time_limit(limit).run(tests.path()).unwrap_err());
    assert!(matches!(error, SetupError::TimedOut { limit: told, .. } if told == limit), "{error:?}");
    let told = format!("sh in {} was killed, because it had not ended after its time limit of", tests.path().display());
    assert!(error.to_string().starts_with(&format!("{told} 500ms")), "{error}");
    // A process that has closed its output has a limit, too, and one that prints without an end.
    for script in ["exec >&- 2>&-; sleep 1000", "while :; do echo more; done"] {
        let setup = Setup::new("sh", ["-c", script]).with_variable("PATH", "/usr/bin:/bin").with_time_limit(limit);
        let error = setup.run(tests.path()).unwrap_err();
        assert!(matches!(error, SetupError::TimedOut { .. }), "{script}: {error:?}");
    }
}

/// The leader of a process group can move to the group of one of its children.
#[test]
fn a_setup_command_that_has_left_its_own_group_is_killed_at_its_time_limit() {
    const LONG: u64 = 60;
    let place = Place::new();
    let tests = place.worktree("tests");
    // The child ends with its parent, which has the other end of the pipe.
    let script = format!(
        "pipe(my $end, my $own); defined(my $child = fork) or die; \
         if (!$child) {{ close $own; sysread $end, my $byte, 1; exit }} \
         setpgrp($child, $child) && setpgrp(0, $child) or die; $| = 1; print 'moved'; sleep {LONG}"
    );
    let setup = Setup::new("perl", ["-e", script.as_str()]).with_variable("PATH", "/usr/bin:/bin");
    let begun = Instant::now();
    let error = setup.with_time_limit(Duration::from_secs(1)).run(tests.path()).unwrap_err();
    assert!(begun.elapsed() < Duration::from_secs(LONG), "it was waited for: {error}");
    assert!(matches!(&error, SetupError::TimedOut { output, .. } if output == "moved"), "{error:?}");
}

#[test]
fn a_setup_command_that_has_ended_leaves_no_process_in_its_group() {
    let place = Place::new();
    let tests = place.worktree("tests");
    ended(|pipe| {
        let script = format!("exec 9> '{}'; sleep 1000 > /dev/null 2>&1 & exit 7", pipe.display());
        let setup = Setup::new("sh", ["-c", script.as_str()]).with_variable("PATH", "/usr/bin:/bin");
        setup.run(tests.path()).unwrap_err()
    });
}

#[test]
fn a_setup_command_that_is_stopped_leaves_no_process() {
    let place = Place::new();
    let tests = place.worktree("tests");
    let error = ended(|pipe| endless(pipe).run_with(tests.path(), Command::spawn, || true).unwrap_err());
    assert!(matches!(error, SetupError::Stopped { .. }), "{error:?}");
}

/// A committed program is not used in place of one that is missing in `PATH`.
#[test]
fn a_setup_program_that_is_not_in_its_path_is_none_of_the_worktree() {
    let place = Place::new();
    let tests = place.worktree("tests");
    let program = tests.path().join("no-such-program");
    write(&program, "#!/bin/sh\ntouch ran\n");
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    for path in ["/usr/bin:/bin", ".:/bin", ""] {
        let absent = Setup::new("no-such-program", ["x"]).with_variable("PATH", path).run(tests.path()).unwrap_err();
        assert!(absent.to_string().contains("it is in no absolute directory of the `PATH`"), "{absent}");
    }
    assert!(!tests.path().join("ran").exists());
}

#[test]
fn named_files_are_copied_and_no_others() {
    let place =
        Place::with_files(&[(".gitignore", ".env\nconfig/*.key\n*.link\n"), ("a.txt", "a\n"), ("config/x", "x\n")]);
    write(&place.project().join(".env"), "SECRET=1\n");
    std::fs::set_permissions(place.project().join(".env"), PermissionsExt::from_mode(0o600)).unwrap();
    write(&place.project().join("config/own.key"), "key\n");
    write(&place.project().join("config/other.key"), "other\n");
    write(&place.path().join("outside/passwords"), "outside\n");
    symlink("../outside/passwords", place.project().join("to.link")).unwrap();
    symlink("../outside", place.project().join("directory.link")).unwrap();
    let tests = place.worktree("tests");
    let copy = |listed: &[&str]| {
        let listed: Vec<_> = listed.iter().map(|listed| path(listed)).collect();
        place.repository.copy_ignored(&tests, &listed)
    };
    copy(&[".env", "config/own.key"]).unwrap();
    assert_eq!(std::fs::read_to_string(tests.path().join(".env")).unwrap(), "SECRET=1\n");
    let mode = std::fs::metadata(tests.path().join(".env")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(tests.path().join("config/own.key").exists() && !tests.path().join("config/other.key").exists());
    assert_eq!(tests.status().unwrap(), []);

    let root = place.project();
    let missing = CopyError::Missing { path: path("config/none.key"), root: root.clone() };
    let link = CopyError::NotAFile { path: path("to.link"), root: root.clone() };
    let through = CopyError::NotAFile { path: path("directory.link/passwords"), root };
    let tracked = CopyError::NotIgnored { path: path("a.txt") };
    let again = CopyError::Exists { path: path(".env") };
    for (listed, expected) in [
        ("config/none.key", missing),
        ("to.link", link),
        ("directory.link/passwords", through),
        ("a.txt", tracked),
        (".env", again),
    ] {
        assert_eq!(copy(&[listed]), Err(expected));
    }
    // An agent's links in the path are not followed.
    std::fs::remove_dir_all(tests.path().join("config")).unwrap();
    symlink(place.path().join("outside"), tests.path().join("config")).unwrap();
    let led = copy(&["config/other.key"]).unwrap_err();
    assert_eq!(led, CopyError::NotAFile { path: path("config/other.key"), root: tests.path().to_owned() });
    assert!(!place.path().join("outside/other.key").exists());
}
