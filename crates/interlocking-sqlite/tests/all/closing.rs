//! The files that remain in the directory of a closed journal.

use crate::records::{id, outcome, started};
use interlocking_runtime::journal::Journal;
use interlocking_sqlite::SqliteJournal;
use std::path::Path;
use std::time::Duration;

fn files(place: &Path) -> Vec<String> {
    let names = std::fs::read_dir(place).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

/// SQLite's log is removed when the journal and the last claim are dropped, even if reads and waits have just been abandoned.
#[tokio::test]
async fn a_closed_journal_is_its_database_alone() {
    let place = tempfile::tempdir().unwrap();
    let run = id("run");
    for is_claim_last in [false, true] {
        let journal = SqliteJournal::open(place.path()).unwrap();
        let claim = journal.claim(&run).await.unwrap();
        let at = journal.load(&run).await.unwrap().len() as u64;
        let record = if at == 0 { started(&run, "{}") } else { outcome(&run, at, "1") };
        journal.append(record).await.unwrap();
        let waited = tokio::time::timeout(Duration::from_millis(20), journal.next_letter(&run, 0)).await;
        assert!(waited.is_err(), "nobody has written");
        for _ in 0..8 {
            // The read is started and dropped.
            drop(futures_util::poll!(Box::pin(journal.load(&run))));
        }
        assert!(files(place.path()).contains(&"journal.db-wal".to_owned()), "it is open");
        if is_claim_last {
            drop(journal);
            drop(claim);
        } else {
            drop(claim);
            drop(journal);
        }
        assert_eq!(files(place.path()), ["holders", "journal.db", "lock"], "claim last: {is_claim_last}");
        assert_eq!(files(&place.path().join("holders")), Vec::<String>::new());
    }
}
