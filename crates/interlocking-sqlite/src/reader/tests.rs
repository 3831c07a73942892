//! Tests of the pool of connections, and of looking for letters.

use super::letters::{Awaited, Post, Watched};
use super::*;
use crate::SqliteJournal;
use interlocking_runtime::journal::{Journal, Letter, LetterBody};
use std::path::Path;
use std::sync::Barrier;

fn reader(place: &Path) -> Arc<Reader> {
    let (directory, _) = Directory::open(place).unwrap();
    Arc::new(Reader::new(directory, Arc::default()))
}

/// Writes the first record of a run.
async fn start(journal: &SqliteJournal, run: &RunId) {
    let table = serde_json::from_str(r#"{"graph":"Draft","output":"u32","nodes":[]}"#).unwrap();
    let entry = Entry::Started { table: Box::new(table), input: "1".into(), origin: None, workspaces: Vec::new() };
    journal.append(Record { run: run.clone(), sequence: 0, entry }).await.unwrap();
}

async fn post(journal: &SqliteJournal, run: &RunId) {
    journal.post(run, Letter { key: None, body: LetterBody::Cancel }).await.unwrap();
}

/// Connections are kept, so those that are idle at the end are all that there were at the same time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_reads_at_once_share_a_few_connections() {
    let place = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(place.path()).unwrap();
    let run: RunId = "asked".parse().unwrap();
    start(&journal, &run).await;
    let (reader, letters) = (reader(place.path()), Arc::new(Post::new()));
    let together = Arc::new(Barrier::new(READS));
    let (mut loading, mut waiting) = (Vec::new(), Vec::new());
    for _ in 0..8 * READS {
        let (pool, loaded, together) = (reader.clone(), run.clone(), together.clone());
        let load = move |reader: &Reader, connection: &Connection| {
            // Each load waits until as many are under way as may be.
            together.wait();
            reader.load(connection, &loaded)
        };
        loading.push(tokio::spawn(async move { pool.read(load).await }));
        let (pool, asked, letters) = (reader.clone(), run.clone(), letters.clone());
        waiting.push(tokio::spawn(async move { letters.next(&pool, &asked, 0).await }));
    }
    for load in loading {
        assert_eq!(load.await.unwrap().unwrap().len(), 1);
    }
    post(&journal, &run).await;
    for letter in waiting {
        assert_eq!(letter.await.unwrap().unwrap().number, 1);
    }
    letters.close();
    let connections = reader.connections();
    assert_eq!((connections.lent, connections.idle.len()), (0, READS));
}

#[tokio::test]
async fn a_read_that_waits_for_its_turn_is_refused_when_the_journal_is_closed() {
    let place = tempfile::tempdir().unwrap();
    let reader = reader(place.path());
    let others = reader.permits.clone().acquire_many_owned(READS as u32).await.unwrap();
    let mut read = Box::pin(reader.read(|_, _| Ok(())));
    assert!(futures_util::poll!(&mut read).is_pending());
    reader.close();
    assert_eq!(read.await, Err(closed()));
    drop(others);
}

/// A record of any run, and a letter to a run that nobody waits for, would otherwise wake all runs that wait.
#[tokio::test]
async fn only_letters_that_are_awaited_are_news() {
    let place = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(place.path()).unwrap();
    let [one, other]: [RunId; 2] = ["one", "other"].map(|name| name.parse().unwrap());
    start(&journal, &one).await;
    post(&journal, &one).await;
    let mut watched = Watched::open(&reader(place.path())).unwrap();
    let awaited = |run: &RunId, after| vec![Arc::new(Awaited { run: run.clone(), after })];
    let mut look = |awaited: &[Arc<Awaited>], has_new| watched.has_any(awaited, has_new).unwrap();
    assert!(!look(&awaited(&one, 1), true), "the first letter is known");
    start(&journal, &other).await;
    assert!(!look(&awaited(&one, 1), false), "a record is no letter");
    post(&journal, &other).await;
    assert!(!look(&awaited(&one, 1), false), "a letter to another run");
    assert!(!look(&awaited(&other, 0), false), "nothing was written since the last look");
    assert!(look(&awaited(&other, 0), true), "it is newly awaited, and was there before");
    post(&journal, &one).await;
    assert!(look(&[awaited(&other, 1), awaited(&one, 1)].concat(), false));
}
