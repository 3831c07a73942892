//! Nobody reads what the program writes, or writes what it reads: it can be interrupted all the same.

use crate::processes::{call, interrupt, review, until_at_work};
use crate::support::{Paper, Program};
use interlocking::cli::Console;
use interlocking::runtime::CancelToken;
use rustix::io::ioctl_fionbio;
use rustix::process::Signal;
use serde_json::Value;
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// A pipe that is full. The reader must be kept.
fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = std::io::pipe().unwrap();
    ioctl_fionbio(&writer, true).unwrap();
    while writer.write(&[b'x'; 4096]).is_ok() {}
    ioctl_fionbio(&writer, false).unwrap();
    (reader, writer)
}

/// The program's exit code, if it ends within a minute.
fn ended(mut program: Child) -> Option<i32> {
    let begun = Instant::now();
    loop {
        if let Some(status) = program.try_wait().unwrap() {
            return status.code();
        }
        if begun.elapsed() > Duration::from_secs(60) {
            program.kill().unwrap();
            panic!("the program goes on");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn state(directory: &Path) -> Value {
    let (_, listed, _) = call(directory, &["list", "--json"]);
    serde_json::from_str::<Value>(&listed).unwrap()[0]["state"].clone()
}

/// The run is suspended, and the program waits for the reader, which the second interrupt ends.
#[test]
fn a_run_whose_messages_nobody_reads_is_interrupted() {
    let directory = tempfile::tempdir().unwrap();
    let (_reader, writer) = full_pipe();
    let words = ["run", "tides", "--run-id", "r1", "--delay", "10m", "--events", "events.jsonl"];
    let program = review(directory.path(), &words).stdout(Stdio::null()).stderr(writer).spawn().unwrap();
    until_at_work(&directory.path().join("events.jsonl"));
    interrupt(&program, Signal::INT);
    let begun = Instant::now();
    while state(directory.path()) != "stopped" {
        assert!(begun.elapsed() < Duration::from_secs(60), "the run goes on");
        std::thread::sleep(Duration::from_millis(10));
    }
    interrupt(&program, Signal::TERM);
    let exit = ended(program);
    assert!(matches!(exit, Some(130 | 6)), "6 where it has given up the reader before: {exit:?}");
}

/// Two different signals, as one that is sent twice may be received once.
#[test]
fn the_second_interrupt_waits_for_nobody_who_reads_messages() {
    let directory = tempfile::tempdir().unwrap();
    let (_reader, writer) = full_pipe();
    let words = ["run", "tides", "--run-id", "r1", "--warm-up", "600"];
    let program = review(directory.path(), &words).stdout(Stdio::null()).stderr(writer).spawn().unwrap();
    let begun = Instant::now();
    while !directory.path().join(".interlocking/journal.db").exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "the program does not start");
        std::thread::sleep(Duration::from_millis(10));
    }
    interrupt(&program, Signal::INT);
    interrupt(&program, Signal::TERM);
    assert_eq!(ended(program), Some(130));
}

#[test]
fn a_command_that_waits_for_its_input_says_so_and_ends_at_the_first_interrupt() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    assert_eq!(call(at, &["run", "tides", "--run-id", "r1"]).0, Some(3));
    let mut answer = review(at, &["answer", "r1"]);
    let mut program = answer.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let _input = program.stdin.take();
    let mut told = BufReader::new(program.stderr.take().unwrap()).lines().map(Result::unwrap);
    let announced = "the answer to read.1.1 of r1 is read from standard input (or give it as JSON)";
    assert_eq!(told.next().unwrap(), announced);
    interrupt(&program, Signal::INT);
    assert_eq!(ended(program), Some(6));
    assert_eq!(told.collect::<Vec<_>>(), ["interrupted (interrupt again to stop at once)", "error: interrupted"]);
}

#[tokio::test]
async fn a_run_that_waits_for_its_entry_ends_at_the_first_interrupt() {
    let review = Program::new();
    let (reader, _writer) = std::io::pipe().unwrap();
    let (stderr, cancel) = (Paper::default(), CancelToken::new());
    let console = Console::new(Some(Box::new(reader)), std::io::sink(), stderr.clone());
    let journal = review.place.path().join("journal");
    let words = ["review", "run", "--journal", journal.to_str().unwrap()];
    let interrupted = async {
        while !stderr.text().contains("is read from standard input") {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        cancel.suspend();
    };
    let (exit, ()) = tokio::join!(review.cli.execute(words, &console, &cancel), interrupted);
    assert_eq!(exit.code(), 6);
    assert!(stderr.text().ends_with("\nerror: interrupted before the run began\n"), "{}", stderr.text());
}
