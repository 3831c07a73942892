//! How much memory a running program takes in this process. Allocations do not depend on load, so a test can check
//! exact limits.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "the helpers of tests")]

use std::time::Duration;

use allocation_counter::{AllocationInfo, measure};
use interlocking_agents::program::{Environment, Invocation, Line, Running};
use tokio::runtime::Builder;

const SHORT: Duration = Duration::from_millis(20);
const MEBIBYTE: usize = 1024 * 1024;

fn shell(script: &str) -> Invocation {
    Invocation { arguments: vec!["-c".into(), script.into()], ..Invocation::new("sh", Environment::minimal()) }
}

/// What the reading thread allocates while it follows a program to its end.
fn following(invocation: Invocation, mut hear: impl FnMut(Line<'_>)) -> AllocationInfo {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    measure(|| {
        runtime.block_on(async {
            let mut running = invocation.start().await.unwrap();
            while let Some(line) = running.next_line().await.unwrap() {
                hear(line);
            }
            assert_eq!(running.end().await.unwrap().exit, Some(0));
        });
    })
}

/// Like an agent's events: 50 MB of JSON in lines of about a kilobyte, parsed one by one.
#[test]
fn fifty_megabytes_of_events_are_parsed_within_128_kilobytes() {
    let text = "x".repeat(950);
    let script = format!("yes '{{\"type\":\"text\",\"text\":\"{text}\"}}' | head -n 51500");
    let (mut events, mut bytes) = (0, 0);
    let found = following(shell(&script), |line| {
        let Line::Whole(line) = line else { panic!("{line:?}") };
        let event: serde_json::Value = serde_json::from_slice(line).unwrap();
        assert_eq!(event["text"].as_str().unwrap().len(), text.len());
        events += 1;
        bytes += line.len() + 1;
    });
    assert!(events == 51_500 && bytes > 50_000_000, "{events} events, {bytes} bytes");
    assert!(found.bytes_max < 128 * 1024, "{} bytes at most", found.bytes_max);
}

/// 64 MiB without a line end, with a limit of 1 MiB, and as much on the other output. While the buffer grows, up to
/// twice the limit is held.
#[test]
fn an_endless_line_is_not_held() {
    let script = "head -c 67108864 /dev/zero | tee /dev/stderr; echo; echo after";
    let mut lines = Vec::new();
    let found = following(Invocation { longest_line: MEBIBYTE, ..shell(script) }, |line| {
        lines.push(match line {
            Line::Whole(line) => String::from_utf8_lossy(line).into_owned(),
            Line::TooLong { bytes } => format!("{bytes} bytes"),
        });
    });
    assert_eq!(lines, ["67108864 bytes", "after"]);
    assert!(found.bytes_max < 2 * MEBIBYTE as u64 + 64 * 1024, "{} bytes at most", found.bytes_max);
}

/// A long line, and the memory after it was taken. While the buffer grows, its old and its doubled new size are held
/// together.
#[test]
fn a_long_line_is_given_back() {
    let script = "head -c 4000000 /dev/zero; echo; echo after; read end";
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let mut running = runtime.block_on(Invocation { stays_open: true, ..shell(script) }.start()).unwrap();
    let line = measure(|| {
        for expected in [4_000_000, 5] {
            let line = runtime.block_on(running.next_line()).unwrap();
            assert!(matches!(line, Some(Line::Whole(line)) if line.len() == expected), "not {expected} bytes");
        }
    });
    assert!(line.bytes_max < 12_100_000, "{} bytes at most", line.bytes_max);
    let waiting = measure(|| {
        let waiting = runtime.block_on(async { tokio::time::timeout(SHORT, running.next_line()).await.is_err() });
        assert!(waiting);
    });
    let held = line.bytes_current + waiting.bytes_current;
    assert!(held < 64 * 1024, "{held} bytes are still held");
}

/// In addition to what tokio holds for a child and its three pipes.
#[test]
fn a_running_program_holds_a_few_kilobytes() {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let silent = || shell("read line");
    let ready = |invocation: Invocation| async move {
        let mut running = Invocation { stays_open: true, ..invocation }.start().await.unwrap();
        // The program waits for its first line, which never comes.
        let waiting = tokio::time::timeout(SHORT, running.next_line()).await;
        assert!(waiting.is_err());
        running
    };
    // Excludes allocations that are made only once.
    let first: Running = runtime.block_on(ready(silent()));
    let mut kept = Vec::with_capacity(10);
    let info = measure(|| {
        runtime.block_on(async {
            for _ in 0..10 {
                kept.push(ready(silent()).await);
            }
        })
    });
    let each = info.bytes_current / 10;
    assert!(each < 24 * 1024, "{each} bytes each");
    println!("{each} bytes each");
    drop((first, kept));
}
