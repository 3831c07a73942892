//! Only the user can access a journal's files.
#![cfg(unix)]

use crate::records;
use interlocking_runtime::journal::Journal;
use interlocking_sqlite::SqliteJournal;
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// The modes of a directory and of everything in it, by name.
fn modes(directory: &Path) -> BTreeMap<String, u32> {
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    let mut modes = BTreeMap::from([(".".to_owned(), mode(directory))]);
    for entry in fs::read_dir(directory).unwrap() {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name())).unwrap();
        modes.insert(name.into_string().unwrap(), mode(&path));
        for below in fs::read_dir(&path).into_iter().flatten() {
            modes.insert("holders/*".to_owned(), mode(&below.unwrap().path()));
        }
    }
    modes
}

fn assert_closed(directory: &Path) {
    let modes = modes(directory);
    for name in [".", "holders", "holders/*", "journal.db", "journal.db-wal", "journal.db-shm", "lock"] {
        assert!(modes.contains_key(name), "{name} is not there: {modes:?}");
    }
    for (name, mode) in modes {
        let wanted = if matches!(&*name, "." | "holders") { 0o700 } else { 0o600 };
        assert_eq!(mode, wanted, "{name} is {mode:o}");
    }
}

#[tokio::test]
async fn a_journal_is_made_for_its_user_alone() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join("a/journal");
    let journal = SqliteJournal::open(&directory).unwrap();
    journal.append(records::started(&records::id("run-1"), "{}")).await.unwrap();
    assert_closed(&directory);
    assert_eq!(fs::metadata(place.path().join("a")).unwrap().mode() & 0o777, 0o700);
}

/// Also restricts the files beside an open database, which SQLite leaves behind when the process is killed.
#[tokio::test]
async fn a_journal_that_was_open_to_others_is_closed() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join("journal");
    let before = SqliteJournal::open(&directory).unwrap();
    before.append(records::started(&records::id("run-1"), "{}")).await.unwrap();
    for name in modes(&directory).keys().filter(|name| !name.contains('*')) {
        let path = directory.join(name);
        let mode = if path.is_dir() { 0o755 } else { 0o644 };
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }
    let journal = SqliteJournal::open(&directory).unwrap();
    journal.append(records::started(&records::id("run-2"), "{}")).await.unwrap();
    assert_closed(&directory);
}

/// Other files in the directory may be meant for other users, so its mode is kept. The journal's files are restricted.
#[tokio::test]
async fn a_directory_with_other_things_in_it_keeps_its_mode() {
    let place = tempfile::tempdir().unwrap();
    fs::set_permissions(place.path(), Permissions::from_mode(0o755)).unwrap();
    for name in ["README", ".gitignore"] {
        fs::write(place.path().join(name), "").unwrap();
        fs::set_permissions(place.path().join(name), Permissions::from_mode(0o644)).unwrap();
    }
    for _ in 0..2 {
        let journal = SqliteJournal::open(place.path()).unwrap();
        let modes = modes(place.path());
        assert_eq!((modes["."], modes["journal.db"], modes["holders"]), (0o755, 0o600, 0o700));
        assert_eq!(modes[".gitignore"], 0o644);
        drop(journal);
    }
}

#[tokio::test]
async fn a_directory_with_another_programs_database_is_left_as_it_is() {
    let place = tempfile::tempdir().unwrap();
    let database = place.path().join("journal.db");
    rusqlite::Connection::open(&database).unwrap().execute_batch("PRAGMA application_id=7").unwrap();
    fs::set_permissions(place.path(), Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&database, Permissions::from_mode(0o644)).unwrap();
    SqliteJournal::open(place.path()).unwrap_err();
    let expected = [(".", 0o755), ("journal.db", 0o644)].map(|(name, mode)| (name.to_owned(), mode));
    assert_eq!(modes(place.path()), BTreeMap::from(expected));
}
