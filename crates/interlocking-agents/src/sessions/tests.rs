//! Both kinds of registry follow the same rules.

use tempfile::TempDir;

use super::*;
use crate::sessions::session::Slug;

fn id(text: &str) -> SessionId {
    SessionId::new(text).unwrap()
}

fn go_on(session: &str) -> SessionOp {
    SessionOp::ContinueFrom(id(session))
}

fn fresh() -> SessionOp {
    SessionOp::StartFresh(Slug::new("write").unwrap())
}

fn fork_of(parent: &str) -> SessionOp {
    SessionOp::ForkFrom { parent: id(parent), slug: Slug::new("child").unwrap() }
}

/// A registry of each kind.
fn kinds() -> [(Sessions, Option<TempDir>); 2] {
    let store = tempfile::tempdir().unwrap();
    [(Sessions::new(), None), (Sessions::in_directory(store.path()), Some(store))]
}

/// Whether a turn can run in a session, without a workspace.
fn is_free(sessions: &Sessions, session: &str) -> bool {
    sessions.hold(&go_on(session), None).is_ok()
}

#[track_caller]
fn assert_busy(outcome: Result<SessionHold, SessionError>, wanted: &str, by: SessionUse) {
    match outcome.unwrap_err() {
        SessionError::Busy { session, used_by, process } => {
            assert_eq!((session, used_by), (id(wanted), by));
            assert!(process.is_none_or(|process| process == std::process::id()));
        }
        other => panic!("{other}"),
    }
}

#[test]
fn a_session_runs_one_turn_at_a_time() {
    for (sessions, _store) in kinds() {
        let first = sessions.hold(&go_on("a"), None).unwrap();
        assert_busy(sessions.hold(&go_on("a"), None), "a", SessionUse::Turn);
        assert!(sessions.hold(&go_on("b"), None).is_ok(), "another session is free");
        drop(first);
        assert!(sessions.hold(&go_on("a"), None).is_ok());
    }
}

#[test]
fn a_fresh_session_is_in_use_from_the_moment_it_has_a_name() {
    for (sessions, _store) in kinds() {
        let hold = sessions.hold(&fresh(), None).unwrap();
        assert!(is_free(&sessions, "write-1"));
        hold.started(&id("write-1")).unwrap();
        hold.started(&id("write-1")).unwrap();
        assert_busy(sessions.hold(&go_on("write-1"), None), "write-1", SessionUse::Turn);
        drop(hold);
        assert!(is_free(&sessions, "write-1"));
    }
}

#[test]
fn forks_share_their_parent_until_they_have_started() {
    for (sessions, _store) in kinds() {
        let forks: Vec<_> = (0..4).map(|_| sessions.hold(&fork_of("p"), None).unwrap()).collect();
        assert_busy(sessions.hold(&go_on("p"), None), "p", SessionUse::Fork);
        for (number, fork) in forks.iter().enumerate() {
            fork.started(&id(&format!("c{number}"))).unwrap();
        }
        let turn = sessions.hold(&go_on("p"), None).expect("the children have started, the parent is free");
        assert_busy(sessions.hold(&fork_of("p"), None), "p", SessionUse::Turn);
        drop(turn);
        drop(sessions.hold(&fork_of("p"), None).expect("the parent's turn is over"));
        assert!(is_free(&sessions, "p"), "a fork that never started gives its parent back too");
    }
}

#[test]
fn a_fork_that_goes_on_in_its_parent_is_caught() {
    for (sessions, _store) in kinds() {
        let hold = sessions.hold(&fork_of("p"), None).unwrap();
        assert_eq!(hold.started(&id("p")).err(), Some(SessionError::NotForked { session: id("p") }));
    }
}

#[test]
fn a_session_stays_in_its_workspace_but_its_forks_may_leave() {
    let (home, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (sessions, _store) in kinds() {
        let hold = sessions.hold(&fresh(), Some(home.path())).unwrap();
        hold.started(&id("write-1")).unwrap();
        drop(hold);
        for (elsewhere, shown) in [
            (Some(elsewhere.path()), format!("in {}", resolved(elsewhere.path()).display())),
            (None, "without a workspace".to_owned()),
        ] {
            let refused = sessions.hold(&go_on("write-1"), elsewhere).unwrap_err();
            assert_eq!(
                refused.to_string(),
                format!(
                    "session `write-1` began in {}, it cannot be continued {shown}; fork it, or start a fresh one",
                    resolved(home.path()).display()
                )
            );
            drop(sessions.hold(&go_on("write-1"), Some(home.path())).expect("a refusal holds nothing"));
        }
        let same_by_another_way = home.path().join("..").join(home.path().file_name().unwrap());
        assert!(sessions.hold(&go_on("write-1"), Some(&same_by_another_way)).is_ok());
        assert!(sessions.hold(&fork_of("write-1"), Some(elsewhere.path())).is_ok());
    }
}

#[test]
fn a_session_from_before_a_restart_keeps_its_workspace() {
    let (home, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (sessions, _store) in kinds() {
        sessions.record_workspace(&id("old"), Some(home.path())).unwrap();
        sessions.record_workspace(&id("old"), Some(elsewhere.path())).unwrap();
        let refused = sessions.hold(&go_on("old"), Some(elsewhere.path()));
        assert!(matches!(refused, Err(SessionError::WrongWorkspace { .. })));
        assert!(sessions.hold(&go_on("old"), Some(home.path())).is_ok());
    }
}

#[test]
fn a_panic_gives_the_session_back() {
    for (sessions, _store) in kinds() {
        let inside = sessions.clone();
        let outcome = std::thread::spawn(move || {
            let _hold = inside.hold(&go_on("a"), None).unwrap();
            panic!("the agent's code broke");
        })
        .join();
        assert!(outcome.is_err());
        assert!(is_free(&sessions, "a"));
    }
}

#[test]
fn who_opens_the_same_directory_shares_its_sessions_and_their_places() {
    let (store, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (one, other) = (Sessions::in_directory(store.path()), Sessions::in_directory(store.path().join(".")));
    let hold = one.hold(&fresh(), Some(home.path())).unwrap();
    hold.started(&id("s")).unwrap();
    let refused = other.hold(&go_on("s"), Some(home.path())).unwrap_err();
    let expected = format!(
        "session `s` is busy: a turn runs in it (process {}); two turns at once would mangle its history",
        std::process::id()
    );
    assert_eq!(refused.to_string(), expected);
    drop(hold);
    assert!(matches!(other.hold(&go_on("s"), None), Err(SessionError::WrongWorkspace { .. })));
    let nowhere = other.hold(&fresh(), None).unwrap();
    nowhere.started(&id("t")).unwrap();
    drop(nowhere);
    assert!(matches!(one.hold(&go_on("t"), Some(home.path())), Err(SessionError::WrongWorkspace { .. })));
    drop(one.hold(&go_on("t"), None).unwrap());
}

/// Any path that a workspace can have, including paths that are not UTF-8.
#[cfg(unix)]
#[test]
fn every_workspace_is_remembered_as_it_is_spelled() {
    use std::os::unix::ffi::OsStrExt as _;
    let (store, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (number, name) in [&b"no\xfftext"[..], b"two\nlines", b"nowhere\n", b" "].into_iter().enumerate() {
        let workspace = home.path().join(std::ffi::OsStr::from_bytes(name));
        std::fs::create_dir(&workspace).unwrap();
        let session = format!("s{number}");
        Sessions::in_directory(store.path()).record_workspace(&id(&session), Some(&workspace)).unwrap();
        let sessions = Sessions::in_directory(store.path());
        drop(sessions.hold(&go_on(&session), Some(&workspace)).unwrap());
        assert!(matches!(sessions.hold(&go_on(&session), None), Err(SessionError::WrongWorkspace { .. })));
    }
}

/// A session whose files cannot be read does not count as free.
#[test]
fn damage_to_what_is_written_down_is_an_error_that_names_the_file() {
    let store = tempfile::tempdir().unwrap();
    let sessions = Sessions::in_directory(store.path());
    sessions.record_workspace(&id("s"), Some(store.path())).unwrap();
    let place = store.path().join("interlocking-sessions/s.place");
    std::fs::write(&place, "somewhere").unwrap();
    let refused = sessions.hold(&go_on("s"), None).unwrap_err();
    assert_eq!(
        refused.to_string(),
        format!(
            "cannot determine whether session `s` is free: {}: it names no place; remove it to forget where the session began",
            place.display()
        )
    );
    std::fs::write(&place, "").unwrap();
    sessions.record_workspace(&id("s"), None).unwrap();
    assert_eq!(std::fs::read(&place).unwrap(), b"nowhere\n", "an empty one says nothing, as after a loss of power");

    std::fs::create_dir(store.path().join("interlocking-sessions/t.lock")).unwrap();
    assert!(matches!(sessions.hold(&go_on("t"), None), Err(SessionError::Unreadable { .. })));
    let no_directory = Sessions::in_directory(place);
    assert!(matches!(no_directory.hold(&go_on("t"), None), Err(SessionError::Unreadable { .. })));
    assert!(matches!(no_directory.record_workspace(&id("t"), None), Err(SessionError::Unreadable { .. })));
}

/// PRG-06: whatever an agent names its sessions and writes to the directory, no file outside of it is changed.
#[cfg(unix)]
#[test]
fn nothing_is_written_outside_of_the_directory() {
    let store = tempfile::tempdir().unwrap();
    let sessions = Sessions::in_directory(store.path());
    let longest = "a".repeat(128);
    for name in ["_", "a.lock", "a.place", "a", "a..b", "0-0", longest.as_str()] {
        drop(sessions.hold(&go_on(name), None).unwrap());
        let hold = sessions.hold(&fresh(), None).unwrap();
        hold.started(&id(name)).unwrap();
    }
    assert_eq!(std::fs::read_dir(store.path()).unwrap().count(), 1);
    let files = std::fs::read_dir(store.path().join("interlocking-sessions")).unwrap();
    assert_eq!(files.count(), 7 * 2, "a lock and a place each, and nothing temporary");

    let precious = store.path().join("precious");
    std::fs::write(&precious, "kept").unwrap();
    std::os::unix::fs::symlink(&precious, store.path().join("interlocking-sessions/link.lock")).unwrap();
    assert!(matches!(sessions.hold(&go_on("link"), None), Err(SessionError::Unreadable { .. })));
    assert_eq!(std::fs::read(&precious).unwrap(), b"kept");

    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::rename(store.path().join("interlocking-sessions"), store.path().join("moved")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), store.path().join("interlocking-sessions")).unwrap();
    let refused = sessions.hold(&go_on("s"), None).unwrap_err().to_string();
    assert!(refused.ends_with("interlocking-sessions is a link, which may lead anywhere: remove it"), "{refused}");
    let hold = sessions.hold(&fresh(), None).unwrap();
    assert!(matches!(hold.started(&id("s")), Err(SessionError::Unreadable { .. })));
    assert!(matches!(sessions.record_workspace(&id("s"), None), Err(SessionError::Unreadable { .. })));
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

/// An agent's program that can write to the store exchanges the directory for a link while it is used: nothing is made where the
/// link leads.
#[cfg(target_os = "linux")]
#[test]
fn a_directory_that_is_exchanged_for_a_link_leads_nowhere() {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use std::sync::atomic::{AtomicBool, Ordering};
    let (store, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let sessions = Sessions::in_directory(store.path());
    sessions.record_workspace(&id("first"), None).unwrap();
    let (directory, link) = (store.path().join("interlocking-sessions"), store.path().join("link"));
    std::os::unix::fs::symlink(elsewhere.path(), &link).unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                renameat_with(CWD, &directory, CWD, &link, RenameFlags::EXCHANGE).unwrap();
            }
        });
        for number in 0..1_000 {
            // Each fails while the link is there.
            let _ = sessions.hold(&go_on(&format!("held-{number}")), None);
            let _ = sessions.record_workspace(&id(&format!("placed-{number}")), None);
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let made: Vec<_> = std::fs::read_dir(elsewhere.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(made.is_empty(), "{made:?}");
}
