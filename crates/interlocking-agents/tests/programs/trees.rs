use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use interlocking_agents::program::{Invocation, StopTimeouts};

use crate::common::{ends, lines, number, runs, shell_in};

/// Each script leaves a process behind, in a different way, that writes its id to `child`.
const WAYS: [(&str, &str); 7] = [
    ("in the background", "sh -c 'echo $$ > child; exec sleep 600' &"),
    ("with nohup", "nohup sh -c 'echo $$ > child; exec sleep 600' >/dev/null 2>&1 &"),
    ("in a session of its own", "setsid sh -c 'echo $$ > child; exec sleep 600' >/dev/null 2>&1 </dev/null &"),
    (
        "as a daemon, twice removed",
        "(setsid sh -c '(sh -c \"echo \\$\\$ > child; exec sleep 600\" >/dev/null 2>&1 </dev/null &)' >/dev/null 2>&1 </dev/null &)",
    ),
    (
        "in a session of its own, without environment, with our output",
        "(env -i setsid sh -c 'echo $$ > child; exec sleep 600' &)",
    ),
    (
        "without environment, without our output, in our group",
        "(env -i sh -c 'echo $$ > child; exec sleep 600' >/dev/null 2>&1 </dev/null &)",
    ),
    ("ignoring all signals", "(trap '' TERM HUP INT; setsid sh -c 'echo $$ > child; exec sleep 600' &)"),
];

async fn child(directory: &Path) -> u32 {
    number(&directory.join("child")).await
}

#[tokio::test]
async fn nothing_is_left_after_success() {
    for (way, script) in WAYS {
        let place = tempfile::tempdir().unwrap();
        let script = format!("{script}\nwhile ! test -s child; do sleep 0.01; done; echo done");
        let mut running = shell_in(place.path(), &script).start().await.unwrap();
        assert_eq!(lines(&mut running).await, ["done"], "{way}");
        let ended = running.end().await.unwrap();
        assert!(!runs(child(place.path()).await), "{way}: it lives");
        assert!(ended.exit == Some(0) && ended.survivors >= 1, "{way}: {ended:?}");
    }
}

#[tokio::test]
async fn nothing_is_left_when_a_call_is_dropped() {
    for (way, script) in WAYS {
        let place = tempfile::tempdir().unwrap();
        let running = shell_in(place.path(), &format!("{script}\nsleep 600")).start().await.unwrap();
        let (program, child) = (running.id().unwrap(), child(place.path()).await);
        drop(running);
        assert!(ends(child).await && ends(program).await, "{way}: it lives");
    }
}

/// The program is recognised by its process, which a confined process cannot inspect.
#[tokio::test]
async fn nothing_is_left_when_a_confined_call_is_dropped() {
    let place = tempfile::tempdir().unwrap();
    let sandbox = Some(Arc::new(crate::confined::sandbox(place.path())));
    let script = "sleep 600 & echo $! > child; wait";
    let running = Invocation { sandbox, ..shell_in(place.path(), script) }.start().await.unwrap();
    let (program, child) = (running.id().unwrap(), child(place.path()).await);
    drop(running);
    assert!(ends(child).await && ends(program).await, "it lives");
}

#[tokio::test]
async fn nothing_is_left_when_a_program_is_stopped() {
    for (way, script) in WAYS {
        let place = tempfile::tempdir().unwrap();
        // The program ends by itself on SIGTERM.
        let script = format!("trap 'exit 7' TERM\n{script}\nwhile :; do sleep 0.05; done");
        let mut running = shell_in(place.path(), &script).start().await.unwrap();
        let child = child(place.path()).await;
        running.stop(&StopTimeouts::DEFAULT).await.unwrap();
        assert!(!runs(child), "{way}: it lives");
        assert_eq!(running.end().await.unwrap().exit, Some(7), "{way}");
    }
}

#[tokio::test]
async fn who_does_not_end_when_it_is_asked_is_killed() {
    let place = tempfile::tempdir().unwrap();
    let script = "trap '' TERM; echo $$ > child; while :; do sleep 1; done";
    let mut running = shell_in(place.path(), script).start().await.unwrap();
    let program = child(place.path()).await;
    let timeouts = StopTimeouts { terminate: Duration::from_millis(100), ..StopTimeouts::DEFAULT };
    running.stop(&timeouts).await.unwrap();
    assert!(!runs(program));
    assert_eq!(running.end().await.unwrap().signal, Some(9));
}

/// A child with an empty environment in its own session is found while its parent lives.
#[tokio::test]
async fn a_child_that_hides_does_not_outlive_its_parent() {
    let place = tempfile::tempdir().unwrap();
    let script =
        "setsid sh -c 'env -i sh -c \"echo \\$\\$ > child; exec sleep 600\" >/dev/null 2>&1 </dev/null; :' & wait";
    let running = shell_in(place.path(), script).start().await.unwrap();
    let child = child(place.path()).await;
    drop(running);
    assert!(ends(child).await);
}

/// A process without any trace of its origin: neither parent, nor session, nor environment, nor files. It is found
/// where programs can be put into namespaces, which requires root.
#[tokio::test]
async fn a_process_without_any_trace_is_found_by_its_namespace() {
    if !rustix::process::geteuid().is_root() {
        println!("this needs the system's user; programs of others can lose such a process");
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let script = "(env -i setsid sh -c 'echo $$ > child; exec sleep 600' >/dev/null 2>&1 </dev/null &)\n\
                  while ! test -s child; do sleep 0.01; done";
    let sandbox = Some(Arc::new(crate::confined::sandbox(place.path())));
    for sandbox in [None, sandbox] {
        let running = Invocation { sandbox, ..shell_in(place.path(), script) }.start().await.unwrap();
        assert!(running.end().await.unwrap().survivors >= 1);
        assert!(!runs(child(place.path()).await));
        fs::remove_file(place.path().join("child")).unwrap();
    }
}

/// Processes that are started while the tree is ended end, too.
#[tokio::test]
async fn a_program_that_starts_others_all_the_while_is_ended() {
    let place = tempfile::tempdir().unwrap();
    let script =
        "while :; do setsid sh -c 'sleep 600 & sleep 600' >/dev/null 2>&1 & echo $$ > child; sleep 0.003; done";
    let running = shell_in(place.path(), script).start().await.unwrap();
    let program = child(place.path()).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    let marker = fs::read_to_string(format!("/proc/{program}/environ")).unwrap();
    let marker = marker.split('\0').find(|variable| variable.starts_with("INTERLOCKING_PROGRAM=")).unwrap().to_owned();
    drop(running);
    assert!(ends(program).await);
    let left = || -> Vec<_> {
        let processes = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
        let is_marked = |path: &PathBuf| {
            fs::read(path.join("environ")).is_ok_and(|environ| String::from_utf8_lossy(&environ).contains(&marker))
        };
        processes.filter(is_marked).collect()
    };
    // A killed process may take a moment to end.
    for _ in 0..200 {
        if left().is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(left().is_empty(), "{:?}", left());
}

/// There is always more output to read.
#[tokio::test]
async fn who_floods_the_output_keeps_nobody_waiting_when_its_program_has_ended() {
    let place = tempfile::tempdir().unwrap();
    let start = || async {
        let _ = fs::remove_file(place.path().join("child"));
        shell_in(place.path(), "sh -c 'echo $$ > child; exec yes' & sleep 0.1").start().await.unwrap()
    };
    let reading = async {
        let mut running = start().await;
        while running.next_line().await.unwrap().is_some() {}
        assert!(!runs(child(place.path()).await), "lines");
        let mut running = start().await;
        running.output_tail().await.unwrap();
        assert!(!runs(child(place.path()).await), "the last of the output");
        let mut running = start().await;
        running.wait().await.unwrap();
        assert!(!runs(child(place.path()).await), "its end");
        assert!(start().await.end().await.unwrap().survivors >= 1);
        assert!(!runs(child(place.path()).await), "how it ended");
    };
    tokio::time::timeout(Duration::from_secs(60), reading).await.unwrap();
}

/// This process is never ended, because it does not belong to the program.
#[tokio::test]
async fn who_escaped_and_floods_the_output_keeps_nobody_waiting() {
    let mut running = shell_in(Path::new("/"), "sleep 0.2").start().await.unwrap();
    let mut pipe = fs::OpenOptions::new().write(true).open(format!("/proc/{}/fd/1", running.id().unwrap())).unwrap();
    // Until the pipe is closed.
    let flooding = std::thread::spawn(move || while std::io::Write::write_all(&mut pipe, &[b'\n'; 4096]).is_ok() {});
    let reading = async { while running.next_line().await.unwrap().is_some() {} };
    tokio::time::timeout(Duration::from_secs(60), reading).await.unwrap();
    running.end().await.unwrap();
    flooding.join().unwrap();
}
