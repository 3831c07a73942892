//! The program as a process of its own: `examples/review`, which `cargo test` builds.

use crate::support::steady;
#[cfg(unix)]
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

pub(crate) fn review(directory: &Path, words: &[&str]) -> Command {
    example("review", directory, words)
}

/// A program, in `directory`, without the variables of this process's environment that it reads.
pub(crate) fn example(name: &str, directory: &Path, words: &[&str]) -> Command {
    let mut path = std::env::current_exe().unwrap();
    // target/debug/deps/all-… → target/debug/examples/review
    path.pop();
    path.pop();
    let path: PathBuf = path.join("examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(path.exists(), "{} is not built: `cargo build -p interlocking-cli --examples`", path.display());
    let mut command = Command::new(path);
    command.args(words).current_dir(directory).env_remove("INTERLOCKING_JOURNAL").stdin(Stdio::null());
    command
}

pub(crate) fn ran(output: Output) -> (Option<i32>, String, String) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

pub(crate) fn call(directory: &Path, words: &[&str]) -> (Option<i32>, String, String) {
    ran(review(directory, words).output().unwrap())
}

#[cfg(unix)]
pub(crate) fn interrupt(program: &Child, signal: Signal) {
    let id = rustix::process::Pid::from_raw(program.id().cast_signed()).unwrap();
    rustix::process::kill_process(id, signal).unwrap();
}

/// Waits until the program has written the event that the agent works.
pub(crate) fn until_at_work(events: &Path) {
    let started = Instant::now();
    while !fs::read_to_string(events).unwrap_or_default().contains("\"event\":\"started\"") {
        assert!(started.elapsed() < Duration::from_secs(60), "the agent does not start");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_person_answers_from_another_process() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let (exit, stdout, stderr) = call(at, &["run", "tides", "--run-id", "r1"]);
    assert_eq!((exit, stdout.as_str()), (Some(3), ""), "{stderr}");
    assert!(stderr.contains("`review answer r1 JSON` answers, then `review resume r1` takes it up\n"), "{stderr}");
    assert!(!stderr.contains('\u{1b}'), "no control sequences where there is no terminal");
    let ignores = at.join(".interlocking/.gitignore");
    assert_eq!(fs::read_to_string(&ignores).unwrap(), "*\n");
    assert_eq!(call(at, &["answer", "r1", r#"{"approved": true}"#]).0, Some(0));
    // The process that was to write the file was killed.
    fs::write(&ignores, "").unwrap();
    let (exit, stdout, _) = call(at, &["resume", "r1"]);
    assert_eq!((exit, stdout.as_str()), (Some(0), "\"The tide rises.\"\n"));
    assert_eq!(fs::read_to_string(&ignores).unwrap(), "*\n");
    for (before, after) in [(None, "*\n"), (Some("journal.*\n"), "journal.*\n")] {
        before.map_or_else(|| fs::remove_file(&ignores), |text| fs::write(&ignores, text)).unwrap();
        assert_eq!(call(at, &["resume", "r1"]).0, Some(0));
        assert_eq!(fs::read_to_string(&ignores).unwrap(), after);
    }
    let elsewhere = review(at, &["list", "--json"]).env("INTERLOCKING_JOURNAL", at.join(".interlocking")).output();
    let listed: Value = serde_json::from_str(&ran(elsewhere.unwrap()).1).unwrap();
    assert_eq!(listed[0]["state"], "finished");
    let refused = call(at, &["run", " "]);
    assert_eq!(
        (refused.0, steady(&refused.2).as_str()),
        (Some(2), "error: the topic is empty\n  at: TOPIC\n  to do: say what to write about\n")
    );
}

/// An interrupt does not end the run.
#[cfg(unix)]
#[test]
fn an_interrupted_run_is_resumed() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let start = |words: &[&str], events: &str| {
        let mut command = review(at, words);
        command.args(["--delay", "10m", "--events", events]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let program = command.spawn().unwrap();
        until_at_work(&at.join(events));
        program
    };
    let program = start(&["run", "tides", "--run-id", "r1"], "events-1.jsonl");
    let (_, listed, _) = call(at, &["list", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&listed).unwrap()[0]["state"], "running");
    interrupt(&program, Signal::INT);
    let (exit, stdout, stderr) = ran(program.wait_with_output().unwrap());
    assert_eq!((exit, stdout.as_str()), (Some(6), ""), "{stderr}");
    assert!(stderr.contains("interrupted (interrupt again to stop at once)\n"), "{stderr}");
    assert!(stderr.contains("`review resume r1` takes it up, with the options it had\n"), "{stderr}");
    let (_, shown, _) = call(at, &["show", "r1"]);
    assert!(shown.contains("draft.1  interrupted"), "{shown}");

    // A request from another process cancels the run in the process that executes it.
    let program = start(&["resume", "r1"], "events-2.jsonl");
    let (exit, _, stderr) = call(at, &["cancel", "r1"]);
    assert_eq!(exit, Some(0), "{stderr}");
    let (exit, _, stderr) = ran(program.wait_with_output().unwrap());
    assert_eq!(exit, Some(6), "{stderr}");
    assert!(stderr.contains("r1 was cancelled"), "{stderr}");

    // A cancelled run goes on as another run.
    let (exit, stdout, stderr) = call(at, &["fork", "r1"]);
    assert_eq!((exit, stdout.as_str()), (Some(0), "r1-fork\n"), "{stderr}");
    let (exit, _, stderr) = call(at, &["resume", "r1-fork", "--quiet"]);
    assert_eq!(exit, Some(3), "{stderr}");
}

/// A second interrupt does not wait for anything.
#[cfg(unix)]
#[test]
fn a_second_interrupt_ends_the_process_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = review(directory.path(), &["run", "tides", "--run-id", "r1", "--warm-up", "600"]);
    let mut program = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    // The journal is opened after the program has begun to listen for interrupts, and before the writer
    // warms up.
    while !directory.path().join(".interlocking/journal.db").exists() {
        assert!(started.elapsed() < Duration::from_secs(60), "the program does not start");
        std::thread::sleep(Duration::from_millis(10));
    }
    interrupt(&program, Signal::INT);
    let mut line = String::new();
    let mut messages = BufReader::new(program.stderr.take().unwrap());
    messages.read_line(&mut line).unwrap();
    assert_eq!(line, "interrupted (interrupt again to stop at once)\n");
    interrupt(&program, Signal::INT);
    assert_eq!(program.wait().unwrap().code(), Some(130));
    let listed = call(directory.path(), &["list", "--json"]);
    assert_eq!(listed.1.trim(), "[]", "it had not begun: {listed:?}");
}

/// A program of a killed runner is recognised by the mark in its environment, which names that runner.
#[cfg(target_os = "linux")]
#[test]
fn a_resume_ends_what_a_killed_runner_left_before_it_starts_anything() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    assert_eq!(call(at, &["run", "tides", "--run-id", "r1"]).0, Some(3));
    assert_eq!(call(at, &["answer", "r1", r#"{"approved": true}"#]).0, Some(0));
    let mut runner = Command::new("true").spawn().unwrap();
    runner.wait().unwrap();
    let namespace = fs::read_link("/proc/self/ns/pid").unwrap().to_str().unwrap().to_owned();
    let namespace = namespace.trim_start_matches("pid:[").trim_end_matches(']');
    let mark = format!("{}-1-{namespace}-1", runner.id());
    let mut left = Command::new("sleep").arg("60").env("INTERLOCKING_PROGRAM", mark).spawn().unwrap();
    let resumed = call(at, &["resume", "r1"]);
    let ended = left.try_wait().unwrap();
    left.kill().unwrap();
    assert_eq!(resumed.0, Some(0), "{}", resumed.2);
    assert!(ended.is_some_and(|ended| !ended.success()), "what was left went on: {ended:?}");
}

/// Whatever the permissions were before, and whatever the process's umask is.
#[cfg(unix)]
#[test]
fn what_a_run_leaves_is_its_users_alone() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for was_there in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let (journal, events) = (directory.path().join(".interlocking"), directory.path().join("events.jsonl"));
        if was_there {
            for (path, open) in [(&journal, 0o755), (&events, 0o644)] {
                if open == 0o755 {
                    fs::create_dir(path).unwrap()
                } else {
                    fs::write(path, "").unwrap()
                }
                fs::set_permissions(path, fs::Permissions::from_mode(open)).unwrap();
            }
        }
        let (exit, _, stderr) = call(directory.path(), &["run", "tides", "--run-id", "r1", "--events", "events.jsonl"]);
        assert_eq!(exit, Some(3), "{stderr}");
        assert_eq!((mode(&journal), mode(&events)), (0o700, 0o600), "was there: {was_there}");
        for entry in fs::read_dir(&journal).unwrap() {
            let path = entry.unwrap().path();
            assert_eq!(mode(&path), if path.is_dir() { 0o700 } else { 0o600 }, "{}", path.display());
        }
    }
}
