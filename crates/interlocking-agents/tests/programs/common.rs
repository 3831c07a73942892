use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use interlocking_agents::program::{Environment, Invocation, Line, Running};

/// A program that runs this shell script.
pub(crate) fn shell(script: &str) -> Invocation {
    Invocation { arguments: vec!["-c".into(), script.into()], ..Invocation::new("sh", Environment::minimal()) }
}

/// The same in this directory.
pub(crate) fn shell_in(directory: &Path, script: &str) -> Invocation {
    Invocation { directory: Some(directory.to_owned()), ..shell(script) }
}

/// All lines until the end; a line that is too long is represented by its length.
pub(crate) async fn lines(running: &mut Running) -> Vec<String> {
    let mut lines = Vec::new();
    while let Some(line) = running.next_line().await.unwrap() {
        lines.push(match line {
            Line::Whole(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Line::TooLong { bytes } => format!("{bytes} bytes"),
        });
    }
    lines
}

/// The process id that a process has written to this file.
pub(crate) async fn number(file: &Path) -> u32 {
    let patience = Instant::now() + Duration::from_secs(20);
    loop {
        if let Some(number) = fs::read_to_string(file).ok().and_then(|text| text.trim().parse().ok()) {
            return number;
        }
        assert!(Instant::now() < patience, "{} was never written", file.display());
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Whether the process still runs; a zombie does not.
pub(crate) fn runs(number: u32) -> bool {
    match fs::read_to_string(format!("/proc/{number}/stat")) {
        Ok(stat) => !stat.rsplit(')').next().unwrap().trim_start().starts_with('Z'),
        Err(_) => false,
    }
}

/// Whether the process ends within some seconds.
pub(crate) async fn ends(number: u32) -> bool {
    for _ in 0..2000 {
        if !runs(number) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    false
}
