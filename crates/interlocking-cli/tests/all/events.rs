//! The file of `--events` says what happened, in which run, and when.

use crate::support::Program;
use interlocking::runtime::{Event, EventKind, Journal};
use interlocking_sqlite::SqliteJournal;
use std::fs;

/// The events in the file after a command: those of this command, and of the commands before it.
async fn told(program: &Program, words: &[&str], exit: u8) -> Vec<Event> {
    let file = program.place.path().join("events.jsonl");
    let ran = program.call(&[words, &["--quiet", "--events", file.to_str().unwrap()]].concat()).await;
    assert_eq!(ran.exit, exit, "{ran:?}");
    let text = fs::read_to_string(file).unwrap();
    assert!(text.ends_with('\n'), "{text}");
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

fn ended(event: &Event) -> &str {
    let EventKind::RunEnded { outcome, .. } = &event.kind else { panic!("{event:?}") };
    outcome
}

#[tokio::test]
async fn the_events_in_a_file_can_be_read_by_others() {
    let program = Program::new();
    let waits = told(&program, &["run", "--run-id", "r1", "--input", "\"tides\""], 3).await;
    program.call(&["answer", "r1", r#"{"approved": true}"#]).await;
    let both = told(&program, &["resume", "r1"], 0).await;
    let (before, goes_on) = both.split_at(waits.len());
    assert_eq!(before, waits, "what was there stays");
    for events in [&waits, goes_on] {
        assert!(events.iter().all(|event| event.run.as_str() == "r1"), "{events:?}");
        assert!(events.is_sorted_by_key(|event| event.at_ms), "{events:?}");
        let started = &events[0].kind;
        assert!(
            matches!(started, EventKind::RunStarted { graph, origin: None, .. } if graph == "Review"),
            "{started:?}"
        );
    }
    assert_eq!((ended(&waits[waits.len() - 1]), ended(&goes_on[goes_on.len() - 1])), ("waiting", "finished"));
    let stopped = |events: &[Event]| -> Vec<String> {
        let stopped = events.iter().filter_map(|event| match &event.kind {
            EventKind::NodeSuspended(node) => Some(format!("{} is suspended", node.node)),
            EventKind::NodeCancelled(node) => Some(format!("{} is cancelled", node.node)),
            _ => None,
        });
        stopped.collect()
    };
    assert_eq!(stopped(&waits), ["read is suspended"]);
    assert_eq!(stopped(goes_on), [""; 0]);

    let anew = told(&program, &["run", "--run-id", "r2", "--input", "\"tides\""], 3).await;
    assert!(anew.iter().all(|event| event.run.as_str() == "r2"), "{anew:?}");
    let journal = SqliteJournal::open(program.place.path().join("journal")).unwrap();
    let _claim = journal.claim(&"r2".parse().unwrap()).await.unwrap();
    assert_eq!(told(&program, &["resume", "r2"], 7).await, anew, "a refusal takes nothing away");
}

#[tokio::test]
async fn a_run_that_is_refused_makes_no_file_of_events_and_leaves_the_one_that_is_there() {
    let program = Program::new();
    let before = told(&program, &["run", "--run-id", "r1", "--input", "\"tides\""], 3).await;
    let journal = SqliteJournal::open(program.place.path().join("journal")).unwrap();
    // When the journal is closed, too, its claim has been released, and not only asked to be.
    let mut held = Some((journal.claim(&"r1".parse().unwrap()).await.unwrap(), journal));
    let file = program.place.path().join("other.jsonl");
    let run = ["run", "--run-id", "r1", "--input", "\"tides\""];
    for (words, exit) in [(&["resume", "r1"][..], 7), (&run, 7), (&run, 2)] {
        held = held.filter(|_| exit == 7);
        assert_eq!(told(&program, words, exit).await, before, "{words:?}");
        let ran = program.call(&[words, &["--events", file.to_str().unwrap()]].concat()).await;
        assert_eq!((ran.exit, file.exists()), (exit, false), "{ran:?}");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_run_whose_events_cannot_be_written_says_so_in_its_exit_code() {
    let program = Program::new();
    let run = ["run", "--run-id", "r1", "--input", "\"tides\"", "--quiet", "--events", "/dev/full"];
    let waits = program.call(&run).await;
    assert_eq!((waits.exit, waits.stderr.contains("not every event was written")), (3, true), "{waits:?}");
    program.call(&["answer", "r1", r#"{"approved": true}"#]).await;
    let ended = program.call(&["resume", "r1", "--json", "--events", "/dev/full"]).await;
    assert_eq!((ended.exit, &ended.json()["exit"], &ended.json()["outcome"]), (8, &8.into(), &"finished".into()));
    let error: serde_json::Value = serde_json::from_str(&ended.stderr).unwrap();
    assert_eq!(error["error"]["where"], "/dev/full");
}
