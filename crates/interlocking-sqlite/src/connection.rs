//! Connections to the database.

use crate::failure::Trouble;
use crate::schema;
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
    write_ahead(&connection)?;
    // In pages of 2 KiB: 4 MiB of log between checkpoints, which sync twice. SQLite's default is as much, with larger pages.
    connection.pragma_update(None, "wal_autocheckpoint", 2048)?;
    connection.pragma_update(None, "cache_size", -8192)?;
    // To enforce foreign keys, SQLite would scan a whole table for each row that is deleted. `check` finds violations instead.
    connection.pragma_update(None, "foreign_keys", false)?;
    Ok(connection)
}

/// Makes SQLite write changes to a log first, so that readers and the writer do not wait for each other. The setting is stored in
/// the database.
pub(crate) fn write_ahead(connection: &Connection) -> Result<(), Trouble> {
    Ok(connection.pragma_update(None, "journal_mode", "WAL")?)
}
