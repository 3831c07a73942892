//! Sessions that several processes share. The other processes run this test binary again, with a task in their
//! environment.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use interlocking_agents::{SessionError, SessionOp, SessionUse, Sessions};

use crate::common::{id, slug};

const TASK: &str = "INTERLOCKING_TEST_TASK";
const PLACE: &str = "INTERLOCKING_TEST_PLACE";

/// A process with a task; it is ended together with its test.
struct Other(Child);

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Other {
    /// Starts this test binary with a task, and waits until it reports that it has begun.
    fn start(task: &str, place: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "processes::a_process_of_its_own", "--nocapture"])
            .envs([(TASK, task), (PLACE, place.to_str().unwrap())])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let other = Self(child);
        let mut line = String::new();
        while !line.contains("at it") {
            line.clear();
            assert!(lines.read_line(&mut line).unwrap() > 0, "it ended without a word");
        }
        std::thread::spawn(move || lines.read_to_end(&mut Vec::new()));
        other
    }

    fn ends_well(mut self) {
        assert!(self.0.wait().unwrap().success());
    }
}

/// The tasks of the other processes. Without a task this does nothing.
#[test]
fn a_process_of_its_own() {
    let (Ok(task), Some(place)) = (std::env::var(TASK), std::env::var_os(PLACE)) else { return };
    let place = Path::new(&place);
    let sessions = Sessions::in_directory(place);
    let forever = || std::thread::sleep(Duration::from_secs(600));
    match task.split_once(' ').unwrap() {
        ("fresh", session) => {
            let hold = sessions.hold(&SessionOp::StartFresh(slug("write")), Some(place)).unwrap();
            hold.started(&id(session)).unwrap();
            println!("\nat it");
            forever();
        }
        ("fork", parent) => {
            let _hold = sessions.hold(&fork(parent), None).unwrap();
            println!("\nat it");
            forever();
        }
        ("child", parent) => {
            println!("\nat it");
            let child = id(&format!("child-{}", std::process::id()));
            let hold = sessions.hold(&fork(parent), Some(place)).unwrap();
            std::thread::sleep(Duration::from_millis(200));
            hold.started(&child).unwrap();
            drop(hold);
            drop(sessions.hold(&SessionOp::ContinueFrom(child), Some(place)).unwrap());
        }
        ("turns", session) => {
            println!("\nat it");
            for _ in 0..200 {
                turn(&sessions, session, place);
            }
        }
        (other, _) => panic!("{other}"),
    }
}

fn fork(parent: &str) -> SessionOp {
    SessionOp::ForkFrom { parent: id(parent), slug: slug("child") }
}

fn go_on(session: &str) -> SessionOp {
    SessionOp::ContinueFrom(id(session))
}

/// Runs one turn as soon as the session is free, and writes a history that would show two turns at once.
fn turn(sessions: &Sessions, session: &str, place: &Path) {
    let hold = loop {
        match sessions.hold(&go_on(session), Some(place)) {
            Err(SessionError::Busy { .. }) => std::thread::yield_now(),
            hold => break hold.unwrap(),
        }
    };
    hold.started(&id(session)).unwrap();
    let mut history = OpenOptions::new().create(true).append(true).open(place.join("history")).unwrap();
    writeln!(history, "{} begins", std::process::id()).unwrap();
    std::thread::yield_now();
    writeln!(history, "{} ends", std::process::id()).unwrap();
}

#[track_caller]
fn assert_busy(sessions: &Sessions, operation: &SessionOp, by: SessionUse, process: Option<u32>) {
    let refused = sessions.hold(operation, None).unwrap_err();
    let SessionError::Busy { used_by, process: holder, .. } = refused else { panic!("{refused}") };
    assert_eq!((used_by, holder), (by, process));
}

/// CON-19 between processes: a killed process holds no session any more, but the workspace of its session is still
/// known.
#[test]
fn a_session_in_use_in_another_process_is_busy_until_that_ends_however_it_ends() {
    let (place, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut other = Other::start("fresh s", place.path());
    let sessions = Sessions::in_directory(place.path());
    assert_busy(&sessions, &go_on("s"), SessionUse::Turn, Some(other.0.id()));
    assert_busy(&sessions, &fork("s"), SessionUse::Turn, Some(other.0.id()));
    drop(sessions.hold(&go_on("another"), None).unwrap());

    other.0.kill().unwrap();
    other.0.wait().unwrap();
    let refused = sessions.hold(&go_on("s"), Some(elsewhere.path())).unwrap_err();
    assert!(matches!(refused, SessionError::WrongWorkspace { .. }), "{refused}");
    drop(sessions.hold(&go_on("s"), Some(place.path())).unwrap());
}

#[test]
fn forks_in_several_processes_read_their_parent_together_and_keep_its_turns_away() {
    let place = tempfile::tempdir().unwrap();
    let sessions = Sessions::in_directory(place.path());
    let mut forking = Other::start("fork p", place.path());
    assert_busy(&sessions, &go_on("p"), SessionUse::Fork, Some(forking.0.id()));
    let start = std::time::Instant::now();
    let others: Vec<_> = (0..4).map(|_| Other::start("child p", place.path())).collect();
    others.into_iter().for_each(Other::ends_well);
    assert!(start.elapsed() < Duration::from_secs(30), "they have not waited for the one that never starts");
    // The process that took the lock last is gone, and the other holders are unknown.
    assert_busy(&sessions, &go_on("p"), SessionUse::Fork, None);
    forking.0.kill().unwrap();
    forking.0.wait().unwrap();
    drop(sessions.hold(&go_on("p"), None).unwrap());
}

#[test]
fn turns_of_several_processes_never_overlap() {
    let place = tempfile::tempdir().unwrap();
    let others: Vec<_> = (0..3).map(|_| Other::start("turns s", place.path())).collect();
    others.into_iter().for_each(Other::ends_well);
    let history = std::fs::read_to_string(place.path().join("history")).unwrap();
    let lines: Vec<_> = history.lines().collect();
    assert_eq!(lines.len(), 3 * 200 * 2);
    for pair in lines.chunks(2) {
        let (begins, ends) = (pair[0].strip_suffix(" begins"), pair[1].strip_suffix(" ends"));
        assert!(begins.is_some() && begins == ends, "{pair:?}");
    }
}
