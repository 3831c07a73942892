//! What a faulty program does, observed with the standard library alone.

use std::io::Read as _;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use interlocking_agents::faults::FaultyProgram;

fn run(program: &FaultyProgram, arguments: &[&str]) -> Output {
    let directory = tempfile::tempdir().unwrap();
    let file = program.write_to(directory.path().join("agent")).unwrap();
    Command::new(file).args(arguments).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn every_byte_comes_out_as_it_was_given() {
    let every: Vec<u8> = (0..=255).collect();
    let output = run(&FaultyProgram::new().bytes(&every).line("'%s' \\n").error_line("what's wrong?").exit(3), &[]);
    assert_eq!(output.stdout, [&every[..], b"'%s' \\n\n"].concat());
    assert_eq!((output.stderr.as_slice(), output.status.code()), (b"what's wrong?\n".as_slice(), Some(3)));
}

#[test]
fn a_long_line_is_as_long_as_it_says() {
    let output = run(&FaultyProgram::new().bytes(b"{").long(5_000_000).line("}").repeated(3, "{}"), &[]);
    assert_eq!(output.stdout.len(), 5_000_003 + 9);
    assert!(output.stdout.ends_with(b"x}\n{}\n{}\n{}\n") && output.status.success());
}

#[test]
fn it_tells_its_version_and_nothing_else() {
    let program = FaultyProgram::new().answering_version("2.1.0 (Claude Code)").line("no").exit(1);
    let output = run(&program, &["--version"]);
    assert_eq!((output.stdout.as_slice(), output.status.code()), (b"2.1.0 (Claude Code)\n".as_slice(), Some(0)));
    assert_eq!(run(&program, &["-p"]).stdout, b"no\n");
}

#[test]
fn it_kills_itself() {
    let output = run(&FaultyProgram::new().line("{").kill_itself().line("}"), &[]);
    assert_eq!((output.stdout.as_slice(), output.status.code()), (b"{\n".as_slice(), None));
}

/// The child keeps standard output open, so the reading ends only when the child ends.
#[test]
fn a_child_that_leaves_is_noted_and_outlives_the_program() {
    let directory = tempfile::tempdir().unwrap();
    let program = FaultyProgram::new().ignoring_signals().leaving_a_child().line("gone");
    let file = program.write_to(directory.path().join("agent")).unwrap();
    let mut started = Command::new(&file).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut output = started.stdout.take().unwrap();
    assert!(started.wait().unwrap().success());
    let pids = FaultyProgram::recorded_pids(&file).unwrap();
    assert_eq!((pids.len(), pids[0]), (2, started.id()));
    let lives = |pid: u32| Command::new("kill").args(["-0", &pid.to_string()]).status().unwrap().success();
    assert!(lives(pids[1]));
    assert!(Command::new("kill").args(["-KILL", &pids[1].to_string()]).status().unwrap().success());
    let mut text = String::new();
    output.read_to_string(&mut text).unwrap();
    assert_eq!(text, "gone\n");
}

#[test]
fn it_is_silent_and_ends_when_it_is_asked_to() {
    let directory = tempfile::tempdir().unwrap();
    let program = FaultyProgram::new().line("{}").silence(Duration::from_secs(1_000));
    let file = program.write_to(directory.path().join("agent")).unwrap();
    let (mut started, start) =
        (Command::new(&file).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap(), Instant::now());
    let mut first = [0; 3];
    started.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    assert!(Command::new("kill").args(["-TERM", &started.id().to_string()]).status().unwrap().success());
    assert!(!started.wait().unwrap().success());
    assert!(start.elapsed() < Duration::from_secs(100));
}
