//! Commands that wait, recognised by their waiting time, for tests of what a call leaves behind.

use std::time::{Duration, Instant};

/// A command that starts a daemon and a child in its own session, and waits like them. The name consists of digits:
/// their waiting times in seconds begin with it.
pub(crate) fn command(name: &str) -> String {
    format!("setsid -f sleep {name}1; setsid sh -c 'sleep {name}2' & sleep {name}3")
}

/// The running processes of this name.
pub(crate) fn alive(name: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap();
    let lines = processes.filter_map(|process| std::fs::read(process.ok()?.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.starts_with(&format!("sleep {name}"))).collect()
}

/// Waits until all three processes run.
pub(crate) async fn seen(name: &str) {
    let start = Instant::now();
    while alive(name).len() < 3 {
        assert!(start.elapsed() < Duration::from_secs(30), "the commands run: {:?}", alive(name));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits until no process runs: a killed process may take a moment to end.
pub(crate) async fn gone(name: &str) {
    let start = Instant::now();
    while !alive(name).is_empty() {
        assert!(start.elapsed() < Duration::from_secs(20), "still there: {:?}", alive(name));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
