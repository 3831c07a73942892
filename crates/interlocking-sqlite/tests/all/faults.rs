//! Faults and their errors. Records that were acknowledged before a fault are not lost.

use crate::records::{id, outcome, started, texts};
use interlocking_runtime::journal::{Digest, Entry, Journal, JournalError, Letter, LetterBody, RecordedPayload};
use interlocking_sqlite::{Durability, SqliteJournal};
use rusqlite::Connection;
use std::path::Path;

/// A journal with a run of three records.
async fn journal(place: &Path) {
    let journal = SqliteJournal::open(place).unwrap();
    let run = id("run");
    journal.append(started(&run, "{}")).await.unwrap();
    journal.append(outcome(&run, 1, r#"{"state":1}"#)).await.unwrap();
    journal.append(outcome(&run, 2, r#"{"state":2}"#)).await.unwrap();
}

fn sql(place: &Path, statement: &str) {
    let connection = Connection::open(place.join("journal.db")).unwrap();
    connection.pragma_update(None, "foreign_keys", false).unwrap();
    connection.execute_batch(statement).unwrap();
}

/// The digest of the first outcome's payload.
async fn name(journal: &SqliteJournal) -> Digest {
    let Entry::Outcome(outcome) = &journal.load(&id("run")).await.unwrap()[1].entry else { panic!() };
    let RecordedPayload::Stored(digest) = outcome.tokens[0].payload else { panic!() };
    digest
}

#[tokio::test]
async fn a_full_disk_loses_nothing_and_the_run_goes_on_when_there_is_room() {
    let place = tempfile::tempdir().unwrap();
    let options = SqliteJournal::options().durability(Durability::Relaxed).maximum_bytes(400_000);
    let journal = options.open(place.path()).unwrap();
    let noise = |seed: u64| -> String {
        let words =
            (0..600u64).map(|index| (index + 1).wrapping_mul(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)).to_string());
        format!("\"{}\"", words.collect::<String>())
    };
    let (old, run) = (id("old"), id("run"));
    journal.append(started(&old, "{}")).await.unwrap();
    for sequence in 1..10 {
        journal.append(outcome(&old, sequence, &noise(sequence)[..])).await.unwrap();
    }
    journal.append(started(&run, "{}")).await.unwrap();
    let mut sequence = 1;
    let refused = loop {
        assert!(sequence < 100, "it never became full");
        match journal.append(outcome(&run, sequence, &noise(100 + sequence)[..])).await {
            Ok(()) => sequence += 1,
            Err(refused) => break refused,
        }
    };
    let database = place.path().join("journal.db").display().to_string();
    assert_eq!(refused, JournalError::Full { place: database.clone() });
    let expected = format!(
        "there is no room left for {database}: free some and resume the run; nothing that was recorded is lost"
    );
    assert_eq!(refused.to_string(), expected);
    assert_eq!(texts(&journal, &run).await.len() as u64, sequence - 1);

    journal.remove(&old).await.unwrap();
    journal.append(outcome(&run, sequence, &noise(100 + sequence)[..])).await.unwrap();
    drop(journal);
    let journal = SqliteJournal::open(place.path()).unwrap();
    let texts = texts(&journal, &run).await;
    assert!((1..=sequence).map(|sequence| noise(100 + sequence)).eq(texts.iter().map(|text| text.to_string())));
}

/// No journal writes such times, but another program may have.
#[tokio::test]
async fn times_beyond_all_bounds_are_told_as_far_as_they_go() {
    let place = tempfile::tempdir().unwrap();
    journal(place.path()).await;
    sql(place.path(), "UPDATE run SET started_ms=9223372036854775807; UPDATE record SET at_ms=9");
    let journal = SqliteJournal::open(place.path()).unwrap();
    assert_eq!(journal.runs().await.unwrap()[0].updated_at_ms, u64::MAX / 2);
}

#[tokio::test]
async fn one_record_too_large_for_the_disk_fails_alone() {
    let place = tempfile::tempdir().unwrap();
    let options = SqliteJournal::options().maximum_bytes(200_000);
    let journal = options.open(place.path()).unwrap();
    let (large, small) = (id("large"), id("small"));
    let text: String = (0..200_000u64).map(|index| index.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_string()).collect();
    journal.append(started(&large, "{}")).await.unwrap();
    journal.append(started(&small, "{}")).await.unwrap();
    let text = format!("\"{text}\"");
    let (one, other) =
        tokio::join!(journal.append(outcome(&large, 1, &text[..])), journal.append(outcome(&small, 1, "1")),);
    assert!(matches!(one, Err(JournalError::Full { .. })), "{one:?}");
    other.unwrap();
    journal.append(outcome(&large, 1, "1")).await.unwrap();
}

#[test]
fn a_directory_that_cannot_be_made_is_read_only() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("file"), "in the way").unwrap();
    for path in ["file", "file/below"] {
        let refused = SqliteJournal::open(place.path().join(path)).unwrap_err();
        assert!(matches!(refused, JournalError::ReadOnly { .. }), "{refused}");
        assert!(refused.to_string().contains("choose another directory"), "{refused}");
    }
}

#[tokio::test]
async fn a_database_that_is_none_is_told() {
    let opened = |place: &Path| SqliteJournal::open(place).map(drop).unwrap_err();
    let place = tempfile::tempdir().unwrap();
    journal(place.path()).await;
    let database = place.path().join("journal.db");
    let whole = std::fs::read(&database).unwrap();

    std::fs::write(&database, "Dear diary, ".repeat(1_000)).unwrap();
    let refused = opened(place.path());
    assert!(matches!(&refused, JournalError::Damaged { what, .. } if what.contains("not a database")), "{refused}");

    std::fs::write(&database, "").unwrap();
    let refused = opened(place.path());
    assert!(matches!(&refused, JournalError::Damaged { remedy, .. } if remedy.contains("restore")), "{refused}");

    std::fs::remove_file(&database).unwrap();
    sql(place.path(), "PRAGMA application_id=7; CREATE TABLE theirs(a)");
    let refused = opened(place.path());
    assert!(matches!(&refused, JournalError::Damaged { what, .. } if what.contains("another program")), "{refused}");

    std::fs::write(&database, &whole).unwrap();
    sql(place.path(), "DROP TABLE letter");
    let refused = SqliteJournal::open(place.path()).unwrap().letters(&id("run"), 0).await.unwrap_err();
    assert!(matches!(&refused, JournalError::Damaged { what, .. } if what.contains("no such table")), "{refused}");

    // With the original file, the journal can be read again.
    std::fs::remove_file(&database).unwrap();
    std::fs::write(&database, &whole).unwrap();
    assert_eq!(SqliteJournal::open(place.path()).unwrap().load(&id("run")).await.unwrap().len(), 3);

    std::fs::remove_file(&database).unwrap();
    std::fs::write(place.path().join("journal.db-wal"), "").unwrap();
    let refused = opened(place.path());
    assert!(matches!(&refused, JournalError::Damaged { what, .. } if what.contains("is gone")), "{refused}");
}

#[tokio::test]
async fn a_truncated_database_is_told() {
    let place = tempfile::tempdir().unwrap();
    journal(place.path()).await;
    let database = std::fs::OpenOptions::new().write(true).open(place.path().join("journal.db")).unwrap();
    database.set_len(database.metadata().unwrap().len() / 2048 / 2 * 2048).unwrap();
    let refused = match SqliteJournal::open(place.path()) {
        Err(refused) => refused,
        Ok(journal) => journal.load(&id("run")).await.unwrap_err(),
    };
    assert!(matches!(&refused, JournalError::Damaged { .. }), "{refused}");
    assert!(refused.to_string().contains("malformed; copy the directory, then restore it from a backup"), "{refused}");
}

#[tokio::test]
async fn a_newer_layout_is_left_alone() {
    let place = tempfile::tempdir().unwrap();
    journal(place.path()).await;
    sql(place.path(), "PRAGMA user_version=9");
    let refused = SqliteJournal::open(place.path()).unwrap_err();
    let database = place.path().join("journal.db").display().to_string();
    assert_eq!(refused, JournalError::NewerLayout { place: database, found: 9, known: 1 });
}

#[tokio::test]
async fn damaged_rows_are_told_by_their_place() {
    for (damage, expected) in [
        ("UPDATE record SET more='{' WHERE sequence=0", "record 0 of run `run` cannot be read: EOF"),
        ("UPDATE record SET sha256=x'00' WHERE sequence=1", "record 1 of run `run` cannot be read: Conversion"),
        ("UPDATE record SET place=NULL WHERE sequence=1", "record 1 of run `run` cannot be read: columns are missing"),
        ("UPDATE record SET visit='often' WHERE sequence=1", "record 1 of run `run` cannot be read: "),
        ("DELETE FROM record WHERE sequence=1", "record 1 of run `run` cannot be read: it is gone"),
        ("UPDATE record SET id=id|4294967295 WHERE sequence=2", "record 2 of run `run` cannot be read: it is gone"),
    ] {
        let place = tempfile::tempdir().unwrap();
        journal(place.path()).await;
        sql(place.path(), damage);
        let journal = SqliteJournal::open(place.path()).unwrap();
        let refused = journal.load(&id("run")).await.unwrap_err();
        assert!(
            matches!(&refused, JournalError::Damaged { what, .. } if what.contains(expected)),
            "{damage}: {refused}"
        );
        // Other runs are not affected.
        journal.append(started(&id("other"), "{}")).await.unwrap();
        assert_eq!(journal.load(&id("other")).await.unwrap().len(), 1);
    }
}

/// V3-146: a missing payload is a typed error, when it is fetched and not before.
#[tokio::test]
async fn a_missing_payload_is_told() {
    let place = tempfile::tempdir().unwrap();
    journal(place.path()).await;
    sql(place.path(), "DELETE FROM object WHERE id=3");
    let journal = SqliteJournal::open(place.path()).unwrap();
    let digest = name(&journal).await;
    let refused = journal.fetch(&id("run"), &[digest]).await.unwrap_err();
    let database = place.path().join("journal.db").display().to_string();
    assert_eq!(refused, JournalError::PayloadMissing { place: database, digest, what: "run `run`".to_owned() });
    let problems = journal.check().await.unwrap();
    assert!(problems.iter().any(|problem| problem.contains(&digest.to_string())), "{problems:?}");
    assert!(problems.iter().any(|problem| problem.contains("`name` names a row of `object`")), "{problems:?}");
    // When a later record has the same payload, it is stored again.
    journal.append(outcome(&id("run"), 3, r#"{"state":1}"#)).await.unwrap();
    assert_eq!(&*journal.fetch(&id("run"), &[digest]).await.unwrap()[0], r#"{"state":1}"#);
}

/// V3-146: a payload that was changed is a typed error.
#[tokio::test]
async fn a_changed_payload_is_told() {
    let place = tempfile::tempdir().unwrap();
    journal(place.path()).await;
    sql(place.path(), "UPDATE object SET body=CAST('{\"state\":9}' AS BLOB) WHERE id=3");
    let opened = SqliteJournal::open(place.path()).unwrap();
    let digest = name(&opened).await;
    let refused = opened.fetch(&id("run"), &[digest]).await.unwrap_err();
    let found = "sha256:04f317466776180eedb9f7db5f807a4b649757e9d5a2606138ddd2409ad8b8cf".parse().unwrap();
    let database = place.path().join("journal.db").display().to_string();
    assert_eq!(refused, JournalError::PayloadTampered { place: database, digest, found });
    assert_eq!(opened.check().await.unwrap(), [refused.to_string()]);

    for damage in ["form=1", "base=2", "base=3", "form=2", "body=x'FF'", "body='text'"] {
        let place = tempfile::tempdir().unwrap();
        journal(place.path()).await;
        sql(place.path(), &format!("UPDATE object SET {damage} WHERE id=3"));
        let journal = SqliteJournal::open(place.path()).unwrap();
        let digest = name(&journal).await;
        let refused = journal.fetch(&id("run"), &[digest]).await.unwrap_err();
        assert!(matches!(&refused, JournalError::Damaged { .. }), "{damage}: {refused}");
    }
}

/// Each problem is listed, whatever other problems the same damage causes.
#[tokio::test]
async fn a_check_tells_whatever_was_done_to_the_database() {
    for (damage, expected) in [
        ("DELETE FROM record WHERE sequence=1", "record 1 of run run is gone"),
        ("DELETE FROM record WHERE sequence<2", "records 0 to 1 of run run are gone"),
        ("DELETE FROM record", "all records of run run are gone"),
        ("UPDATE record SET more='{' WHERE sequence=0", "record 0 of run run cannot be read: EOF"),
        ("UPDATE record SET sha256=x'00' WHERE sequence=1", "record 1 of run `run` cannot be read: Conversion"),
        ("UPDATE letter SET body='{' WHERE number=1", "letter 1 to run run cannot be read: EOF"),
        ("UPDATE letter SET body=x'FF' WHERE number=2", "letter 2 to run run cannot be read: "),
        ("DELETE FROM letter WHERE number=1", "letter 1 to run run is gone"),
        ("UPDATE run SET name='../run'", "a run has a name that none can have: \"../run\" is not a run id"),
        ("INSERT INTO lease VALUES('/etc','x','y')", "a run has a name that none can have: \"/etc\" is not a run id"),
        ("UPDATE run SET origin='{}'", "the origin of run run cannot be read: missing field"),
        (
            "CREATE TRIGGER quiet AFTER INSERT ON record BEGIN DELETE FROM record WHERE id=new.id; END",
            "there is the trigger `quiet` on `record`, which no journal has: drop it",
        ),
        ("CREATE TABLE extra(x)", "there is the table `extra`, which no journal has: drop it"),
        ("DROP VIEW runs", "the view `runs` is gone"),
    ] {
        let place = tempfile::tempdir().unwrap();
        journal(place.path()).await;
        let opened = SqliteJournal::open(place.path()).unwrap();
        for _ in 0..2 {
            let letter = Letter { key: None, body: LetterBody::Cancel };
            opened.post(&id("run"), letter).await.unwrap();
        }
        assert_eq!(opened.check().await.unwrap(), [""; 0]);
        drop(opened);
        sql(place.path(), damage);
        let problems = SqliteJournal::open(place.path()).unwrap().check().await.unwrap();
        assert!(problems.iter().any(|problem| problem.starts_with(expected)), "{damage}: {problems:?}");
    }
}
