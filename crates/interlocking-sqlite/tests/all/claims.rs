//! Claims: each run has at most one executor.

use crate::records::{id, outcome, started};
use interlocking_runtime::journal::{Journal, JournalError};
use interlocking_sqlite::SqliteJournal;
use rusqlite::Connection;
use std::time::{Duration, Instant};

#[tokio::test]
async fn a_run_has_one_executor_in_one_process_and_in_several() {
    let place = tempfile::tempdir().unwrap();
    let (one, other) = (SqliteJournal::open(place.path()).unwrap(), SqliteJournal::open(place.path()).unwrap());
    let run = id("held");
    let claim = one.claim(&run).await.unwrap();
    one.append(started(&run, "{}")).await.unwrap();
    for journal in [&one, &other] {
        let refused = journal.claim(&run).await.unwrap_err().to_string();
        let process = std::process::id();
        assert!(refused.starts_with(&format!("run `held` is being executed by process {process} on ")), "{refused}");
    }
    assert!(matches!(other.append(outcome(&run, 1, "1")).await, Err(JournalError::Held { .. })));
    assert!(matches!(other.remove(&run).await, Err(JournalError::Held { .. })));
    assert!(other.runs().await.unwrap()[0].holder.is_some());

    drop(claim);
    // A journal does requests in order, so the release comes before this claim.
    let again = one.claim(&run).await.unwrap();
    assert!(matches!(other.claim(&run).await, Err(JournalError::Held { .. })));
    drop(again);
    drop(one);
    let taken = other.claim(&run).await.unwrap();
    other.append(outcome(&run, 1, "1")).await.unwrap();
    drop(taken);
}

/// A caller that stops waiting for a claim does not hold it.
#[tokio::test]
async fn a_claim_that_nobody_waited_for_is_given_back() {
    let place = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(place.path()).unwrap();
    let run = id("left");
    for _ in 0..20 {
        let claim = journal.claim(&run);
        tokio::select! {
            biased;
            () = std::future::ready(()) => {}
            _ = claim => unreachable!("the other was ready"),
        }
        let mut claim = Box::pin(journal.claim(&run));
        // The future is polled once and dropped, before or after the claim is granted.
        let asked = futures_util::poll!(&mut claim);
        drop((asked, claim));
        drop(journal.claim(&run).await.unwrap());
    }
    // A refused request does not release the claim.
    let claim = journal.claim(&run).await.unwrap();
    assert!(journal.claim(&run).await.is_err());
    assert!(journal.claim(&run).await.is_err());
    drop(claim);
}

/// A release that fails because the journal cannot be written is retried until it succeeds.
#[tokio::test]
async fn a_release_that_cannot_be_written_is_written_later() {
    let place = tempfile::tempdir().unwrap();
    let (one, other) = (SqliteJournal::open(place.path()).unwrap(), SqliteJournal::open(place.path()).unwrap());
    let sql = |statement| Connection::open(place.path().join("journal.db")).unwrap().execute_batch(statement).unwrap();
    let (run, next) = (id("kept"), id("next"));
    let claims = (one.claim(&run).await.unwrap(), one.claim(&next).await.unwrap());
    sql("CREATE TRIGGER refuse BEFORE DELETE ON lease BEGIN SELECT RAISE(ABORT,''); END");
    drop(claims);
    for journal in [&one, &other] {
        assert!(matches!(journal.claim(&run).await, Err(JournalError::Held { .. })));
    }
    sql("DROP TRIGGER refuse");
    // It is retried before the next request …
    drop(one.claim(&run).await.unwrap());
    // … and also without one.
    sql("CREATE TRIGGER refuse BEFORE DELETE ON lease BEGIN SELECT RAISE(ABORT,''); END");
    drop(one.claim(&id("last")).await.unwrap());
    assert!(matches!(one.claim(&id("last")).await, Err(JournalError::Held { .. })));
    sql("DROP TRIGGER refuse");
    let asked = Instant::now();
    while let Err(refused) = other.claim(&id("last")).await {
        assert!(asked.elapsed() < Duration::from_secs(60), "{refused}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    drop(other.claim(&next).await.unwrap());
}
