//! Connections to the database.

use crate::failure::Trouble;
use crate::schema;
use interlocking_runtime::journal::JournalError;
use rusqlite::{Connection, OpenFlags};
use std::path::Path;
use std::time::Duration;

/// How long one waits for another process that writes.
const PATIENCE: Duration = Duration::from_secs(20);

/// Opens the existing database at `path`.
pub(crate) fn open(path: &Path, place: &str) -> Result<Connection, Trouble> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    connection.set_prepared_statement_cache_capacity(64);
    schema::examine(&connection, place)?;
    write_ahead(&connection, place)?;
    // In pages of 2 KiB: 4 MiB of log between checkpoints, which sync twice. SQLite's default is as much, with larger pages.
    connection.pragma_update(None, "wal_autocheckpoint", 2048)?;
    connection.pragma_update(None, "cache_size", -8192)?;
    // To enforce foreign keys, SQLite would scan a whole table for each row that is deleted. `check` finds violations instead.
    connection.pragma_update(None, "foreign_keys", false)?;
    Ok(connection)
}

/// Makes SQLite write changes to a log first, so that readers and the writer do not wait for each other. The setting is stored in
/// the database. Where SQLite cannot do that, it reports the mode that it keeps, and no error.
pub(crate) fn write_ahead(connection: &Connection, place: &str) -> Result<(), Trouble> {
    let mode: String = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    if mode == "wal" {
        return Ok(());
    }
    let reason =
        format!("{place} can have no log beside it, as on a network file system: choose a directory on a local one");
    Err(JournalError::Storage { reason }.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_without_a_log_is_refused() {
        let place = tempfile::tempdir().unwrap();
        write_ahead(&Connection::open(place.path().join("journal.db")).unwrap(), "x").unwrap();
        // SQLite keeps no log for it, and reports that as on a file system without shared memory.
        let refused = write_ahead(&Connection::open_in_memory().unwrap(), "the/journal.db").unwrap_err();
        let message = refused.at("the/journal.db").to_string();
        assert!(message.contains("the/journal.db can have no log beside it"), "{message}");
    }
}
