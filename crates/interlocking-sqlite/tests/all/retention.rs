//! Removing runs, and the payloads that no run needs any more.

use crate::records::{ended, id, outcome, started, texts};
use interlocking_agents::SessionId;
use interlocking_runtime::journal::{By, Entry, Journal, JournalError, Letter, LetterBody, Origin, Record};
use interlocking_sqlite::{Retention, SqliteJournal};
use rusqlite::Connection;
use std::path::Path;
use std::time::Duration;

/// Writes a run whose state grows, so that its payloads are splices of each other.
async fn run(journal: &SqliteJournal, name: &str, steps: u64, ends: bool) {
    let run = id(name);
    journal.append(started(&run, "{}")).await.unwrap();
    let mut words = format!("{name} begins with what nobody else says, ");
    for step in 1..=steps {
        words.push_str(&format!("and {step} more of {name}, "));
        journal.append(outcome(&run, step, format!("\"{words}\"").as_str())).await.unwrap();
    }
    if ends {
        journal.append(ended(&run, steps + 1)).await.unwrap();
    }
    // Runs are listed by the millisecond in which they began, so two must not begin in the same one.
    tokio::time::sleep(Duration::from_millis(3)).await;
}

fn count(place: &Path, table: &str) -> u64 {
    let connection = Connection::open(place.join("journal.db")).unwrap();
    connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get::<_, i64>(0)).unwrap() as u64
}

async fn names(journal: &SqliteJournal) -> Vec<String> {
    journal.runs().await.unwrap().into_iter().map(|run| run.run.to_string()).collect()
}

#[tokio::test]
async fn removed_runs_leave_no_payload_and_shared_ones_stay() {
    let place = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(place.path()).unwrap();
    run(&journal, "first", 50, true).await;
    // The fork shares a state of the first run. That is based on payloads that the fork's records do not name.
    let fork = id("fork");
    let shared = texts(&journal, &id("first")).await[39].clone();
    journal.append(started(&fork, "{}")).await.unwrap();
    journal.append(outcome(&fork, 1, shared.clone())).await.unwrap();
    assert_eq!(count(place.path(), "object"), 52);

    journal.remove(&id("first")).await.unwrap();
    assert_eq!(texts(&journal, &fork).await, [shared]);
    assert_eq!(count(place.path(), "object"), 42, "the table, the input, the state and the 39 below it");
    assert_eq!(journal.check().await.unwrap(), [""; 0]);

    // New payloads are not based on removed ones.
    run(&journal, "second", 50, true).await;
    journal.remove(&fork).await.unwrap();
    assert_eq!(texts(&journal, &id("second")).await.len(), 50);
    journal.remove(&id("second")).await.unwrap();
    for table in ["run", "record", "object", "name", "letter"] {
        assert_eq!(count(place.path(), table), 0, "{table}");
    }
}

/// Writes the first record of a run that comes from another one.
async fn derived(journal: &SqliteJournal, name: &str, from: Origin) {
    let mut record = started(&id(name), "{}");
    if let Entry::Started { origin, .. } = &mut record.entry {
        *origin = Some(from);
    }
    journal.append(record).await.unwrap();
}

fn child_of(parent: &str) -> Origin {
    let (node, key) = ("map".to_owned(), "0".to_owned());
    Origin::Child { parent: id(parent), node, visit: 1, attempt: 1, key, number: 1 }
}

/// A child of another run than the removed one, and a fork with its child, stay.
#[tokio::test]
async fn a_run_is_removed_with_its_descendants_and_without_its_forks() {
    let place = tempfile::tempdir().unwrap();
    let (journal, other) = (SqliteJournal::open(place.path()).unwrap(), SqliteJournal::open(place.path()).unwrap());
    for name in ["night", "other"] {
        run(&journal, name, 2, true).await;
    }
    for (name, parent) in [("child", "night"), ("grandchild", "child"), ("of-other", "other"), ("of-fork", "fork")] {
        derived(&journal, name, child_of(parent)).await;
    }
    for (name, of) in [("fork", "night"), ("fork-of-child", "child")] {
        derived(&journal, name, Origin::Fork { of: id(of), records: 1 }).await;
    }
    let letter = Letter { key: None, body: LetterBody::Cancel };
    journal.post(&id("grandchild"), letter).await.unwrap();
    for holder in [&journal, &other] {
        let held = holder.claim(&id("grandchild")).await.unwrap();
        let refused = journal.remove(&id("night")).await.unwrap_err();
        assert!(matches!(&refused, JournalError::Held { run, .. } if *run == id("grandchild")), "{refused}");
        assert_eq!(names(&journal).await.len(), 8, "nothing was removed");
        drop(held);
        // A journal does requests in order, so the release comes before this claim.
        drop(holder.claim(&id("other")).await.unwrap());
    }

    journal.remove(&id("night")).await.unwrap();
    let mut left = names(&journal).await;
    left.sort();
    assert_eq!(left, ["fork", "fork-of-child", "of-fork", "of-other", "other"]);
    assert_eq!(count(place.path(), "letter"), 0);
    assert_eq!(journal.check().await.unwrap(), [""; 0]);
}

/// No journal writes such an origin, but another program may have.
#[tokio::test]
async fn a_run_can_be_removed_beside_one_whose_origin_cannot_be_read() {
    let place = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(place.path()).unwrap();
    for name in ["whole", "damaged"] {
        run(&journal, name, 1, true).await;
    }
    let connection = Connection::open(place.path().join("journal.db")).unwrap();
    connection.execute("UPDATE run SET origin='{}' WHERE name='damaged'", []).unwrap();
    drop(connection);
    let all = Retention::new().keep_last(0);
    assert_eq!(journal.would_prune(all.clone()).await.unwrap().runs, ["whole", "damaged"].map(id));
    journal.remove(&id("whole")).await.unwrap();
    assert_eq!(journal.prune(all).await.unwrap().runs, [id("damaged")]);
    assert_eq!(count(place.path(), "run"), 0);
    assert_eq!(count(place.path(), "object"), 0);
}

/// Nobody can name such a run, so it stays.
#[tokio::test]
async fn runs_are_removed_and_listed_beside_one_whose_name_cannot_be_read() {
    let place = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(place.path()).unwrap();
    for name in ["whole", "damaged", "other"] {
        run(&journal, name, 1, true).await;
    }
    let connection = Connection::open(place.path().join("journal.db")).unwrap();
    connection.execute("UPDATE run SET name='../damaged' WHERE name='damaged'", []).unwrap();
    drop(connection);
    assert_eq!(names(&journal).await, ["whole", "other"]);
    journal.remove(&id("whole")).await.unwrap();
    assert_eq!(journal.prune(Retention::new().keep_last(0)).await.unwrap().runs, [id("other")]);
    assert_eq!(count(place.path(), "run"), 1);
    let problems = journal.check().await.unwrap();
    assert!(problems.iter().any(|problem| problem.contains("a name that none can have")), "{problems:?}");
}

/// What the record names cannot be told, so all payloads stay until its run is removed, too.
#[tokio::test]
async fn a_run_can_be_removed_beside_one_whose_record_cannot_be_read() {
    for damage in ["more='{'", "sha256=x'00'"] {
        let place = tempfile::tempdir().unwrap();
        let journal = SqliteJournal::open(place.path()).unwrap();
        for name in ["whole", "another", "damaged"] {
            run(&journal, name, 2, true).await;
        }
        let objects = count(place.path(), "object");
        let connection = Connection::open(place.path().join("journal.db")).unwrap();
        let of_damaged = "sequence=1 AND run=(SELECT id FROM run WHERE name='damaged')";
        assert_eq!(connection.execute(&format!("UPDATE record SET {damage} WHERE {of_damaged}"), []).unwrap(), 1);
        drop(connection);
        journal.remove(&id("whole")).await.unwrap();
        let pruned = journal.prune(Retention::new().keep_last(1)).await.unwrap();
        assert_eq!((pruned.runs, pruned.objects), (vec![id("another")], 0), "{damage}");
        assert_eq!((names(&journal).await, count(place.path(), "object")), (vec!["damaged".to_owned()], objects));
        // A run of a removed one's name is another run.
        run(&journal, "whole", 1, true).await;
        assert_eq!(texts(&journal, &id("whole")).await.len(), 1);
        journal.remove(&id("whole")).await.unwrap();
        journal.remove(&id("damaged")).await.unwrap();
        for table in ["run", "record", "object", "name"] {
            assert_eq!(count(place.path(), table), 0, "{damage}: {table}");
        }
    }
}

#[tokio::test]
async fn another_process_does_not_build_on_what_was_removed() {
    let place = tempfile::tempdir().unwrap();
    let (one, other) = (SqliteJournal::open(place.path()).unwrap(), SqliteJournal::open(place.path()).unwrap());
    run(&one, "gone", 5, true).await;
    run(&one, "stays", 5, false).await;
    other.remove(&id("gone")).await.unwrap();
    // The first journal has cached the payloads of the removed run, and their ids are reused.
    run(&other, "new", 5, true).await;
    run(&one, "gone", 5, true).await;
    one.append(outcome(&id("stays"), 6, "\"and so on\"")).await.unwrap();
    assert_eq!(texts(&one, &id("gone")).await.len(), 5);
    assert_eq!(texts(&other, &id("stays")).await.len(), 6);
    assert_eq!(one.check().await.unwrap(), [""; 0]);
}

#[tokio::test]
async fn pruning_spares_what_is_wanted() {
    let place = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(place.path()).unwrap();
    for (name, ends) in [("a", true), ("b", true), ("c", false), ("d", true), ("e", true)] {
        run(&journal, name, 2, ends).await;
    }
    assert_eq!(journal.prune(Retention::new()).await.unwrap().runs, []);
    let hour = Duration::from_secs(3600);
    assert_eq!(journal.prune(Retention::new().older_than(hour)).await.unwrap().runs, []);

    let held = journal.claim(&id("a")).await.unwrap();
    let pruned = journal.prune(Retention::new().keep_last(1)).await.unwrap();
    assert_eq!(pruned.runs, [id("b"), id("d")], "a is held, c has not ended, e is the last");
    assert!(pruned.objects >= 4);
    assert_eq!(names(&journal).await, ["a", "c", "e"]);
    let with_exceptions = Retention::new().keep_last(0).include_unfinished().except([id("c"), id("none")]);
    assert_eq!(journal.would_prune(with_exceptions).await.unwrap().runs, [id("e")], "a is held");
    let with_claimed = Retention::new().keep_last(1).claimed_by_caller([id("a")]);
    assert_eq!(journal.would_prune(with_claimed.clone()).await.unwrap().runs, [id("a")]);
    let other = SqliteJournal::open(place.path()).unwrap();
    assert_eq!(other.would_prune(with_claimed).await.unwrap().runs, [], "it has not claimed it");
    drop(held);

    tokio::time::sleep(Duration::from_millis(3)).await;
    let pruned = journal.prune(Retention::new().older_than(Duration::ZERO).include_unfinished()).await.unwrap();
    assert_eq!(pruned.runs, [id("a"), id("c"), id("e")]);
    assert_eq!(count(place.path(), "object"), 0);
}

/// The report of an advisory node after the deadline is recorded after the run's end (HY-257), and so are its sessions and
/// effects.
#[tokio::test]
async fn a_run_that_has_ended_has_ended_whatever_comes_later() {
    let place = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(place.path()).unwrap();
    run(&journal, "late", 2, true).await;
    let by = By { node: "write".to_owned(), visit: 1, attempt: 1 };
    let report = Entry::Report {
        by: by.clone(),
        report: Some("1".into()),
        failure: None,
        memory: None,
        calls: Vec::new(),
        posted: Vec::new(),
        label: None,
        commits: Vec::new(),
    };
    let session = Entry::Session {
        by: by.clone(),
        conversation: 1,
        agent: "writer".to_owned(),
        session: SessionId::new("s").unwrap(),
    };
    let once = Entry::Once { by: by.clone(), name: "mail".to_owned(), value: "1".into() };
    let spent = Entry::Spent { by, calls: Vec::new() };
    let connection = Connection::open(place.path().join("journal.db")).unwrap();
    for (sequence, entry) in (4..).zip([session, once, spent, report]) {
        let what = format!("{entry:?}");
        journal.append(Record { run: id("late"), sequence, entry }).await.unwrap();
        let runs = journal.runs().await.unwrap();
        assert_eq!((runs[0].records, runs[0].ended.as_deref()), (sequence + 1, Some("finished")), "{what}");
        let shown: Option<String> = connection.query_row("SELECT ended FROM runs", [], |row| row.get(0)).unwrap();
        assert_eq!(shown.as_deref(), Some("finished"), "{what}");
    }
    assert_eq!(journal.prune(Retention::new().keep_last(0)).await.unwrap().runs, [id("late")]);
}

/// Only the records of a child run have its result, so they are kept as long as its parent may read it.
#[tokio::test]
async fn child_runs_stay_and_go_with_their_parent() {
    let place = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(place.path()).unwrap();
    let child = async |name: &str, parent: &str| {
        derived(&journal, name, child_of(parent)).await;
        journal.append(ended(&id(name), 1)).await.unwrap();
        tokio::time::sleep(Duration::from_millis(3)).await;
    };
    run(&journal, "open", 1, false).await;
    child("of-open", "open").await;
    run(&journal, "ended", 1, true).await;
    child("of-ended", "ended").await;
    child("of-that", "of-ended").await;
    child("orphan", "gone").await;
    let all = Retention::new().keep_last(0);
    let would = journal.would_prune(all.clone()).await.unwrap();
    assert_eq!(would.runs, ["ended", "of-ended", "of-that", "orphan"].map(id), "`open` may ask for its child");
    assert_eq!(names(&journal).await.len(), 6, "nothing was removed");
    let kept = journal.would_prune(Retention::new().keep_last(2).include_unfinished()).await.unwrap();
    assert_eq!(kept.runs, ["open", "of-open"].map(id), "of three families two are kept");
    let held = journal.claim(&id("of-that")).await.unwrap();
    assert_eq!(journal.prune(all.clone()).await.unwrap().runs, ["orphan"].map(id));
    drop(held);
    assert_eq!(journal.prune(all).await.unwrap().runs, ["ended", "of-ended", "of-that"].map(id));
    assert_eq!(names(&journal).await, ["open", "of-open"]);
}

#[tokio::test]
async fn a_clock_that_went_back_stops_nobody_but_removal_by_age() {
    let place = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(place.path()).unwrap();
    run(&journal, "future", 2, false).await;
    // Moves the run's start an hour ahead, which is as if the clock had gone back since then.
    let later = Connection::open(place.path().join("journal.db")).unwrap();
    later.execute("UPDATE run SET started_ms=started_ms+3600000", []).unwrap();
    drop(later);
    journal.append(outcome(&id("future"), 3, "3")).await.unwrap();
    let summary = journal.runs().await.unwrap().remove(0);
    assert!(summary.updated_at_ms >= summary.started_at_ms);
    let refused = journal.prune(Retention::new().older_than(Duration::ZERO)).await.unwrap_err();
    assert!(matches!(refused, JournalError::ClockBehind { .. }), "{refused}");
    let kept = journal.prune(Retention::new().keep_last(0).include_unfinished()).await.unwrap();
    assert_eq!(kept.runs, [id("future")]);
}
