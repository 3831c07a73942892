//! One executor a run.

use crate::records::{id, outcome, started};
use interlocking_runtime::journal::{Journal, JournalError};
use interlocking_sqlite::SqliteJournal;

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
    // The claim goes back in the order in which the journal is asked.
    let again = one.claim(&run).await.unwrap();
    assert!(matches!(other.claim(&run).await, Err(JournalError::Held { .. })));
    drop(again);
    drop(one);
    let taken = other.claim(&run).await.unwrap();
    other.append(outcome(&run, 1, "1")).await.unwrap();
    drop(taken);
}
