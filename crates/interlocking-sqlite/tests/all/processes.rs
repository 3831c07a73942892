//! Several processes on one directory. The other processes run this test binary, with a task in their environment.

use crate::records::{ended, id, outcome, started, texts};
use interlocking_runtime::journal::{Journal, JournalError, Letter, LetterBody};
use interlocking_sqlite::SqliteJournal;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const TASK: &str = "INTERLOCKING_TEST_TASK";
const PLACE: &str = "INTERLOCKING_TEST_PLACE";

/// Starts this test binary with a task, and waits until it prints that it has begun.
fn start(task: &str, place: &Path) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "processes::a_process_of_its_own", "--nocapture"])
        .envs([(TASK, task), (PLACE, place.to_str().unwrap())])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("at it") {
        line.clear();
        assert!(lines.read_line(&mut line).unwrap() > 0, "it ended without a word");
    }
    std::thread::spawn(move || lines.read_to_end(&mut Vec::new()));
    child
}

/// Does the task of one of the other processes. Without a task, it does nothing.
#[tokio::test]
async fn a_process_of_its_own() {
    let Ok(task) = std::env::var(TASK) else { return };
    let journal = SqliteJournal::open(std::env::var_os(PLACE).unwrap()).unwrap();
    match task.split_once(' ').unwrap() {
        ("hold", run) => {
            let _claim = journal.claim(&id(run)).await.unwrap();
            journal.append(started(&id(run), "{}")).await.unwrap();
            println!("\nat it");
            tokio::time::sleep(Duration::from_secs(600)).await;
        }
        ("work", run) => {
            println!("\nat it");
            work(&journal, run).await;
        }
        ("post", run) => {
            println!("\nat it");
            tokio::time::sleep(Duration::from_millis(300)).await;
            journal.post(&id(run), Letter { key: None, body: LetterBody::Cancel }).await.unwrap();
        }
        (other, _) => panic!("{other}"),
    }
}

async fn work(journal: &SqliteJournal, run: &str) {
    let run = id(run);
    let claim = journal.claim(&run).await.unwrap();
    journal.append(started(&run, "{}")).await.unwrap();
    for sequence in 1..=100 {
        let state = format!("{{\"run\":\"{run}\",\"words\":\"{}\"}}", "word ".repeat(sequence as usize));
        journal.append(outcome(&run, sequence, &state[..])).await.unwrap();
    }
    journal.append(ended(&run, 101)).await.unwrap();
    drop(claim);
}

#[tokio::test]
async fn a_claim_ends_with_its_process_however_that_ends() {
    let place = tempfile::tempdir().unwrap();
    let mut holder = start("hold killed", place.path());
    let journal = SqliteJournal::open(place.path()).unwrap();
    let run = id("killed");
    let refused = journal.claim(&run).await.unwrap_err();
    assert!(refused.to_string().contains(&format!("process {} on ", holder.id())), "{refused}");
    assert!(matches!(journal.append(outcome(&run, 1, "1")).await, Err(JournalError::Held { .. })));
    assert!(matches!(journal.remove(&run).await, Err(JournalError::Held { .. })));
    assert!(journal.runs().await.unwrap()[0].holder.is_some());

    holder.kill().unwrap();
    holder.wait().unwrap();
    assert_eq!(journal.runs().await.unwrap()[0].holder, None);
    let _claim = journal.claim(&run).await.unwrap();
    journal.append(outcome(&run, 1, "1")).await.unwrap();
    drop(SqliteJournal::open(place.path()).unwrap());
    let holders = std::fs::read_dir(place.path().join("holders")).unwrap().count();
    assert_eq!(holders, 1, "the dead one's file is cleared away by the next that opens the journal");
}

/// When the lock file of a run's executor is lost, another executor can claim the run. The first one can then no longer write.
#[tokio::test]
async fn who_lost_a_claim_cannot_write() {
    let place = tempfile::tempdir().unwrap();
    let run = id("lost");
    let first = SqliteJournal::open(place.path()).unwrap();
    let claim = first.claim(&run).await.unwrap();
    first.append(started(&run, "{}")).await.unwrap();
    // As if a user had cleaned up the directory: other processes then take the holder for dead.
    for entry in std::fs::read_dir(place.path().join("holders")).unwrap() {
        std::fs::remove_file(entry.unwrap().path()).unwrap();
    }
    let second = SqliteJournal::open(place.path()).unwrap();
    let taken = second.claim(&run).await.unwrap();
    assert!(matches!(first.append(outcome(&run, 1, "1")).await, Err(JournalError::Held { .. })));
    second.append(outcome(&run, 1, "2")).await.unwrap();
    drop(taken);
    drop(second);
    let refused = first.append(outcome(&run, 2, "3")).await.unwrap_err();
    assert!(refused.to_string().contains("an executor that took it over from this one"), "{refused}");
    drop(claim);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_and_journals_write_at_once() {
    let place = tempfile::tempdir().unwrap();
    let mut others: Vec<_> = (0..3).map(|number| start(&format!("work other-{number}"), place.path())).collect();
    let mine = (0..3).map(|number| {
        let journal = SqliteJournal::open(place.path()).unwrap();
        tokio::spawn(async move { work(&journal, &format!("mine-{number}")).await })
    });
    for task in mine.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    for other in &mut others {
        assert!(other.wait().unwrap().success());
    }
    let journal = SqliteJournal::open(place.path()).unwrap();
    let runs = journal.runs().await.unwrap();
    assert_eq!(runs.len(), 6);
    for run in runs {
        assert_eq!((run.records, run.ended.as_deref(), run.holder), (102, Some("finished"), None));
        assert!(texts(&journal, &run.run).await[99].contains(run.run.as_str()));
    }
    assert_eq!(journal.check().await.unwrap(), [""; 0]);
}

/// A process that opens a journal while another process creates it waits, and finds it ready.
#[test]
fn a_new_journal_is_opened_by_many_at_once() {
    for _ in 0..20 {
        let place = tempfile::tempdir().unwrap();
        let open = || drop(SqliteJournal::open(place.path()).unwrap());
        std::thread::scope(|scope| {
            (0..6).for_each(|_| _ = scope.spawn(open));
        });
    }
}

#[tokio::test]
async fn a_letter_from_another_process_is_seen_soon() {
    let place = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(place.path()).unwrap();
    let run = id("far");
    journal.append(started(&run, "{}")).await.unwrap();
    let mut other = start("post far", place.path());
    let began = Instant::now();
    let posted = journal.next_letter(&run, 0).await.unwrap();
    assert_eq!((posted.number, posted.letter.body), (1, LetterBody::Cancel));
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    assert!(other.wait().unwrap().success());
}
