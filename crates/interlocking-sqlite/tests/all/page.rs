//! Checks `docs/book/src/journal.md` against the database.

use crate::records::{id, outcome, started};
use interlocking_runtime::journal::Journal;
use interlocking_sqlite::SqliteJournal;
use rusqlite::Connection;

const PAGE: &str = include_str!("../../../../docs/book/src/journal.md");

/// The code blocks of the page that are marked with this language.
fn blocks(language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    let starts = PAGE.split(&fence[..]).skip(1);
    starts.map(|rest| rest.split("```").next().unwrap()).collect()
}

#[tokio::test]
async fn the_page_shows_what_is_there() {
    let place = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(place.path()).unwrap();
    let run = id("review-7");
    journal.append(started(&run, "{}")).await.unwrap();
    journal.append(outcome(&run, 1, "[1]")).await.unwrap();
    let connection = Connection::open(place.path().join("journal.db")).unwrap();

    // Every query runs, and finds a row.
    let queries = blocks("sql");
    assert_eq!(queries.len(), 3);
    for query in queries {
        assert!(connection.prepare(query).unwrap().exists([]).unwrap(), "{query}");
    }
    let text = |query: &str| -> Vec<String> {
        let mut statement = connection.prepare(query).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    assert_eq!(text("SELECT entry FROM transitions ORDER BY sequence"), ["started", "outcome"]);
    let payload = &text("SELECT payload FROM transitions WHERE sequence=1")[0];
    assert_eq!(&*journal.fetch(&run, &[payload.parse().unwrap()]).await.unwrap()[0], "[1]");

    // The page explains exactly the tables that exist.
    let tables = text("SELECT name FROM sqlite_schema WHERE type='table' AND name NOT LIKE 'sqlite_%' ORDER BY name");
    let section = PAGE.split("## Tables").nth(1).unwrap().split("\n\nThe ").next().unwrap();
    let mut explained: Vec<_> =
        section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    explained.sort_unstable();
    assert_eq!(explained, tables);

    // It names every file.
    for entry in std::fs::read_dir(place.path()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(blocks("text")[0].contains(&name), "{name}");
    }
}
