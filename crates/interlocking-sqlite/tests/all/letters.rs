//! Letters to runs.

use crate::records::{ended, id, started};
use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::{By, Journal, JournalError, Letter, LetterBody};
use interlocking_sqlite::{Retention, SqliteJournal};
use std::sync::Arc;
use std::time::Duration;

fn message(text: &str) -> Letter {
    Letter { key: None, body: LetterBody::Message { node: "write".to_owned(), message: text.into() } }
}

#[tokio::test]
async fn letters_are_numbered_and_kept_and_a_key_counts_once() {
    let place = tempfile::tempdir().unwrap();
    let (run, other) = (id("asked"), id("other"));
    {
        let journal = SqliteJournal::open(place.path()).unwrap();
        let refused = journal.post(&run, message("1")).await.unwrap_err();
        assert!(
            matches!(&refused, JournalError::NoRun { place: told, .. } if told.ends_with("journal.db")),
            "{refused}"
        );
        for run in [&run, &other] {
            journal.append(started(run, "{}")).await.unwrap();
        }
        let to = By { node: "write".to_owned(), visit: 1, attempt: 1 };
        let answer = Letter {
            key: Some("answer to write.1.1".to_owned()),
            body: LetterBody::Answer { to, answer: "\"yes\"".into() },
        };
        assert_eq!(journal.post(&run, message("1")).await, Ok(1));
        assert_eq!(journal.post(&run, answer.clone()).await, Ok(2));
        let again = journal.post(&run, answer.clone()).await.unwrap_err();
        let key = answer.key.clone().unwrap();
        assert_eq!(again, JournalError::AlreadyPosted { run: run.clone(), key });
        assert_eq!(journal.post(&other, answer).await, Ok(1), "a key is unique in its run");
    }
    let journal = SqliteJournal::open(place.path()).unwrap();
    assert_eq!(journal.post(&run, message("2")).await, Ok(3));
    let letters = journal.letters(&run, 1).await.unwrap();
    assert_eq!(letters.iter().map(|posted| posted.number).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(letters[1].letter, message("2"));
    assert_eq!(journal.next_letter(&run, 0).await.unwrap().letter, message("1"));
}

/// A later run with the name of a removed run sends its own messages.
#[tokio::test]
async fn a_message_of_a_removed_run_has_no_key() {
    let place = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(place.path()).unwrap();
    let (hub, order, other, elsewhere) = (id("hub"), id("order-1"), id("order-10"), id("elsewhere"));
    let keyed = |run: &RunId| Letter { key: Some(format!("message 0 of tell.1.1 of run {run}")), ..message("1") };
    let is_known = |posted| matches!(posted, Err(JournalError::AlreadyPosted { .. }));
    for run in [&hub, &order, &other] {
        journal.append(started(run, "{}")).await.unwrap();
    }
    for run in [&order, &other, &elsewhere] {
        assert_eq!(keyed(run).sender(), Some(run.as_str()));
        journal.post(&hub, keyed(run)).await.unwrap();
        assert!(is_known(journal.post(&hub, keyed(run)).await));
    }
    journal.remove(&order).await.unwrap();
    assert_eq!(journal.post(&hub, keyed(&order)).await, Ok(4));
    assert!(is_known(journal.post(&hub, keyed(&other)).await));
    journal.append(ended(&other, 1)).await.unwrap();
    let pruned = journal.prune(Retention::new().keep_last(0)).await.unwrap();
    assert_eq!(pruned.runs, std::slice::from_ref(&other));
    assert_eq!(journal.post(&hub, keyed(&other)).await, Ok(5));
    assert!(is_known(journal.post(&hub, keyed(&elsewhere)).await), "its sender was not removed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_waits_is_woken_by_the_first_letter_to_its_run() {
    let place = tempfile::tempdir().unwrap();
    let journal = Arc::new(SqliteJournal::open(place.path()).unwrap());
    let mut waiting = Vec::new();
    for number in 0..20 {
        let run = id(&format!("run-{number}"));
        journal.append(started(&run, "{}")).await.unwrap();
        let journal = Arc::clone(&journal);
        waiting.push((run.clone(), tokio::spawn(async move { journal.next_letter(&run, 0).await.unwrap() })));
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(waiting.iter().all(|(_, task)| !task.is_finished()));
    for (run, task) in waiting {
        journal.post(&run, message(&format!("\"{run}\""))).await.unwrap();
        assert_eq!(task.await.unwrap().letter, message(&format!("\"{run}\"")));
    }
}
