//! Commands that wait, recognised by how long they want to, for tests of what a call leaves behind.

use std::time::{Duration, Instant};

/// A command that starts a daemon and a child with a session of its own, and waits as they do. The name is of digits: the
/// seconds that they wait begin with it.
pub(crate) fn command(name: &str) -> String {
    format!("setsid -f sleep {name}1; setsid sh -c 'sleep {name}2' & sleep {name}3")
}

/// The processes of this name that live.
pub(crate) fn alive(name: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap();
    let lines = processes.filter_map(|process| std::fs::read(process.ok()?.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.starts_with(&format!("sleep {name}"))).collect()
}

/// Waits until all three live.
pub(crate) async fn seen(name: &str) {
    let start = Instant::now();
    while alive(name).len() < 3 {
        assert!(start.elapsed() < Duration::from_secs(30), "the commands run: {:?}", alive(name));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits until none lives: what was killed may take a moment to be gone.
pub(crate) async fn gone(name: &str) {
    let start = Instant::now();
    while !alive(name).is_empty() {
        assert!(start.elapsed() < Duration::from_secs(20), "still there: {:?}", alive(name));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
