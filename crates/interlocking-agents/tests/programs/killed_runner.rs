//! Programs whose runner is killed: none of their processes continues.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use interlocking_agents::program::end_abandoned;
use rustix::process::{Pid, Signal, kill_process};
use tokio::sync::Mutex;

use crate::common::shell_in;
use crate::fugitives::{children, left, ways};

/// Tells a copy of this program that it is the runner, and in which directory.
const PLACE: &str = "INTERLOCKING_TEST_RUNNER";

/// One test at a time: a search for abandoned processes also finds those of other tests.
static ONE: Mutex<()> = Mutex::const_new(());

/// Not a test by itself: the runner that the other tests kill. It runs a program for each way of escaping, without end.
#[tokio::test(flavor = "multi_thread")]
async fn runner() {
    let Some(place) = std::env::var_os(PLACE) else { return };
    let mut all = Vec::new();
    for (number, (_, script)) in ways().enumerate() {
        let directory = Path::new(&place).join(number.to_string());
        fs::create_dir(&directory).unwrap();
        all.push(shell_in(&directory, &format!("{script}\nexec sleep 600")).start().await.unwrap());
    }
    std::future::pending::<()>().await;
}

struct Runner {
    process: Child,
    place: tempfile::TempDir,
}

impl Runner {
    /// Runs all programs; each has left a process behind when this returns.
    async fn start() -> Self {
        let place = tempfile::tempdir().unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        let command = command.args(["--exact", "killed_runner::runner", "--nocapture"]).env(PLACE, place.path());
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        for number in 0..ways().count() {
            children(&place.path().join(number.to_string())).await;
        }
        Self { process, place }
    }

    fn kill_guard(&self) {
        let number = self.process.id();
        let is_guard = |child: &i32| {
            let line = fs::read(format!("/proc/{child}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains("interlocking-guard")
        };
        let threads = fs::read_dir(format!("/proc/{number}/task")).unwrap().flatten();
        let all =
            threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok()).collect::<String>();
        let guard = all.split_ascii_whitespace().map(|child| child.parse().unwrap()).find(is_guard).unwrap();
        kill_process(Pid::from_raw(guard).unwrap(), Signal::KILL).unwrap();
    }

    /// The names of the ways in which a process escaped, with the process ids.
    async fn escaped(&self) -> Vec<(&'static str, Vec<u32>)> {
        let mut escaped = Vec::new();
        for (number, (way, _)) in ways().enumerate() {
            let left = left(&self.place.path().join(number.to_string())).await;
            escaped.extend(Some((way, left)).filter(|(_, left)| !left.is_empty()));
        }
        escaped
    }
}

#[tokio::test]
async fn nobody_outlives_a_runner_that_is_killed() {
    let _one = ONE.lock().await;
    let mut runner = Runner::start().await;
    // The runner ends processes that lower their limit within half a second. A process that remained could not be
    // recognised.
    tokio::time::sleep(Duration::from_secs(1)).await;
    runner.process.kill().unwrap();
    runner.process.wait().unwrap();
    crate::fugitives::assert_nobody("when the runner was killed", &runner.escaped().await);
}

/// The process that would have ended them is killed as well, by an agent that knows about it or by a user.
#[tokio::test]
async fn what_a_killed_runner_left_is_ended_by_whoever_looks_for_it() {
    let _one = ONE.lock().await;
    let mut runner = Runner::start().await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    runner.kill_guard();
    runner.process.kill().unwrap();
    runner.process.wait().unwrap();
    end_abandoned().await.unwrap();
    crate::fugitives::assert_nobody("when it was looked for", &runner.escaped().await);
    assert_nothing_abandoned().await;
}

/// Asserts that soon no abandoned process is found. The search also finds those that other test programs on this
/// machine leave at this moment.
async fn assert_nothing_abandoned() {
    let mut found = Ok(0);
    for _ in 0..200 {
        found = end_abandoned().await;
        if found == Ok(0) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("something is found again and again: {found:?}");
}

/// The programs of a running runner are left alone.
#[tokio::test]
async fn what_a_living_runner_has_is_left_alone() {
    let _one = ONE.lock().await;
    let place = tempfile::tempdir().unwrap();
    let running = shell_in(place.path(), "echo $$ > child; exec sleep 600").start().await.unwrap();
    let child = children(place.path()).await;
    end_abandoned().await.unwrap();
    assert!(crate::common::runs(child[0]));
    drop(running);
}
