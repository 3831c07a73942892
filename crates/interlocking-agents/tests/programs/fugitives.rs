//! Programs that try everything to leave a process behind: no process outlives its call, both as root and as another
//! user.

use std::fs;
use std::path::Path;
use std::time::Duration;

use interlocking_agents::program::StopTimeouts;

use crate::common::{ends, lines, runs, shell_in};

/// Each script leaves at least one process behind, in a different way, that writes its id to `child`. `./stay` does
/// only that.
const WAYS: [(&str, &str); 14] = [
    ("a child", "sh ./stay &"),
    ("an orphan", "(sh ./stay &)"),
    ("an orphan that ignores signals", "(trap '' TERM HUP INT; sh ./stay &)"),
    ("an orphan in a group of its own", "sh -mc '(sh ./stay &)'"),
    ("an orphan in a session of its own", "(setsid sh ./stay &)"),
    ("an orphan without our output", "(sh ./stay >/dev/null 2>&1 </dev/null &)"),
    ("a daemon", "(setsid sh ./stay >/dev/null 2>&1 </dev/null &)"),
    ("a daemon without environment", "(env -i setsid sh ./stay >/dev/null 2>&1 </dev/null &)"),
    ("a daemon without environment and descriptors", "(env -i setsid sh ./stay 0<&- 1>&- 2>&- &)"),
    (
        "a daemon twice removed, without environment",
        "(env -i setsid sh -c '(setsid sh -c \"(sh ./stay &)\" &)' >/dev/null 2>&1 </dev/null &)",
    ),
    (
        "a daemon in namespaces of its own",
        "(unshare $OF_THE_USER --uts --ipc env -i setsid sh ./stay >/dev/null 2>&1 </dev/null &)",
    ),
    (
        "a daemon with a lower limit",
        "(sh -c 'echo $$ >> child; exec prlimit --locks=5:5 env -i setsid sleep 600' >/dev/null 2>&1 </dev/null &)",
    ),
    ("daemons that are started all the while", "(env -i setsid sh ./more >/dev/null 2>&1 </dev/null &)"),
    ("daemons that start one another", "(env -i setsid sh ./next >/dev/null 2>&1 </dev/null &)"),
];

fn script(way: &str) -> String {
    let of_the_user = if rustix::process::geteuid().is_root() { "" } else { "--user" };
    let way = way.replace("$OF_THE_USER", of_the_user);
    // Scripts that start processes without end stop after some seconds, so that a failing test does not fill the
    // system.
    format!(
        "echo 'echo $$ >> child; exec sleep 600' > stay
         echo 'n=x; while [ $n != xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx ]; do n=x$n; (setsid sh ./stay &); sleep 0.02; done' > more
         echo 'echo $$ >> child; sleep 0.02; case $1 in $(printf %100s)) exit;; esac; (env -i setsid sh ./next \" $1\" &)' > next
         {way}\n"
    )
}

/// All ways that are possible on this system, each with its script.
#[expect(clippy::print_stdout, reason = "what was not tried is said")]
pub(crate) fn ways() -> impl Iterator<Item = (&'static str, String)> {
    let may_unshare = {
        let user_namespace: &[&str] = if rustix::process::geteuid().is_root() { &[] } else { &["--user"] };
        let tried = std::process::Command::new("unshare").args(user_namespace).args(["-u", "-i", "true"]).status();
        tried.is_ok_and(|status| status.success())
    };
    WAYS.iter().filter_map(move |(name, way)| {
        if way.contains("unshare") && !may_unshare {
            println!("{name}: this user may make no namespaces, so nobody can get away by one");
            return None;
        }
        Some((*name, script(way)))
    })
}

/// The processes that were left behind so far; at least one.
pub(crate) async fn children(directory: &Path) -> Vec<u32> {
    let file = directory.join("child");
    for _ in 0..4000 {
        let numbers = numbers(&file);
        if !numbers.is_empty() {
            return numbers;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("{} was never written", file.display());
}

fn numbers(file: &Path) -> Vec<u32> {
    fs::read_to_string(file).unwrap_or_default().lines().filter_map(|line| line.parse().ok()).collect()
}

/// The processes that still run after some seconds: a killed process may take a moment to end.
pub(crate) async fn left(directory: &Path) -> Vec<u32> {
    let file = directory.join("child");
    let alive = || numbers(&file).into_iter().filter(|number| runs(*number)).collect::<Vec<_>>();
    for _ in 0..2000 {
        if alive().is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    alive()
}

/// Fails if processes have escaped. It kills them first, so that a failing test leaves none behind.
#[expect(clippy::print_stdout, reason = "who got away, in the report of a failing test")]
pub(crate) fn assert_nobody(scene: &str, escaped: &[(&str, Vec<u32>)]) {
    for number in escaped.iter().flat_map(|(_, numbers)| numbers) {
        let limits = fs::read_to_string(format!("/proc/{number}/limits")).unwrap_or_default();
        let limit = limits.lines().find(|line| line.starts_with("Max file locks")).unwrap_or_default();
        println!("{} {limit}", fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default().trim());
        let number = rustix::process::Pid::from_raw(number.cast_signed()).unwrap();
        let _ = rustix::process::kill_process(number, rustix::process::Signal::KILL);
    }
    assert!(escaped.is_empty(), "{scene}: these got away: {escaped:?}");
}

#[tokio::test]
async fn nobody_outlives_a_call_that_ends() {
    let mut escaped = Vec::new();
    for (way, script) in ways() {
        let place = tempfile::tempdir().unwrap();
        let script = format!("{script}\nwhile ! test -s child; do sleep 0.01; done; echo done");
        let mut running = shell_in(place.path(), &script).start().await.unwrap();
        assert_eq!(lines(&mut running).await, ["done"], "{way}");
        let ended = running.end().await.unwrap();
        assert_eq!(ended.exit, Some(0), "{way}: {ended:?}");
        let left: Vec<_> = numbers(&place.path().join("child")).into_iter().filter(|number| runs(*number)).collect();
        if !left.is_empty() {
            escaped.push((way, left));
        }
    }
    assert_nobody("after its end", &escaped);
}

#[tokio::test]
async fn nobody_outlives_a_call_that_is_dropped() {
    let mut escaped = Vec::new();
    for (way, script) in ways() {
        let place = tempfile::tempdir().unwrap();
        let running = shell_in(place.path(), &format!("{script}\nexec sleep 600")).start().await.unwrap();
        let program = running.id().unwrap();
        children(place.path()).await;
        drop(running);
        assert!(ends(program).await, "{way}");
        escaped.extend(Some((way, left(place.path()).await)).filter(|(_, left)| !left.is_empty()));
    }
    assert_nobody("when it was dropped", &escaped);
}

#[tokio::test]
async fn nobody_outlives_a_call_that_takes_too_long() {
    let timeouts = StopTimeouts { interrupt: Duration::ZERO, terminate: Duration::from_millis(50) };
    let mut escaped = Vec::new();
    for (way, script) in ways() {
        let place = tempfile::tempdir().unwrap();
        let script = format!("trap '' TERM\n{script}\nwhile :; do sleep 0.05; done");
        let mut running = shell_in(place.path(), &script).start().await.unwrap();
        children(place.path()).await;
        running.stop(&timeouts).await.unwrap();
        running.end().await.unwrap();
        let left: Vec<_> = numbers(&place.path().join("child")).into_iter().filter(|number| runs(*number)).collect();
        if !left.is_empty() {
            escaped.push((way, left));
        }
    }
    assert_nobody("when it was stopped", &escaped);
}

/// The end of one call does not affect the processes of another program that runs meanwhile.
#[tokio::test]
async fn a_call_that_ends_takes_nothing_from_another() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let script = format!("{}\nexec sleep 600", script("(setsid sh ./stay >/dev/null 2>&1 </dev/null &)"));
    let kept = shell_in(one.path(), &script).start().await.unwrap();
    let daemon = children(one.path()).await;
    let ending = shell_in(other.path(), "true");
    ending.start().await.unwrap().end().await.unwrap();
    assert!(daemon.iter().all(|daemon| runs(*daemon)));
    drop(kept);
    assert!(left(one.path()).await.is_empty());
}

/// A shell that loops without pause.
struct Busy(std::process::Child);

impl Busy {
    fn start() -> Self {
        Self(std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Programs that leave a process behind and end at once, while the process that marks them waits for a processor.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_gets_away_while_a_program_is_started_on_a_busy_machine() {
    let seconds = format!("6{}", std::process::id());
    let left = || {
        let line = format!("sleep\0{seconds}\0");
        let processes =
            fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
        processes.filter(move |number: &u32| {
            fs::read(format!("/proc/{number}/cmdline")).is_ok_and(|read| read == line.as_bytes())
        })
    };
    let busy: Vec<_> = (0..3 * std::thread::available_parallelism().unwrap().get()).map(|_| Busy::start()).collect();
    let script = format!("(env -i setsid sh -c 'sleep {seconds}' >/dev/null 2>&1 </dev/null &)");
    let place = tempfile::tempdir().unwrap();
    for _ in 0..20 {
        shell_in(place.path(), &script).start().await.unwrap().end().await.unwrap();
    }
    drop(busy);
    // An escaped process may not have executed its own program yet.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let left: Vec<u32> = left().collect();
    let escaped = if left.is_empty() { Vec::new() } else { vec![("a daemon without environment", left)] };
    assert_nobody("when they had ended", &escaped);
}
