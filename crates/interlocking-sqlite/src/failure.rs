//! Errors of SQLite and of the file system, as errors of a journal.

use interlocking_runtime::journal::JournalError;
use rusqlite::ErrorCode;
use std::io;

/// Why work on the database failed.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// SQLite failed, and the whole transaction with it.
    Sql(rusqlite::Error),
    /// The journal refuses the request, and has written nothing for it.
    Refused(JournalError),
    /// The stored data is not what a journal wrote.
    Damaged(String),
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<JournalError> for Trouble {
    fn from(error: JournalError) -> Self {
        Self::Refused(error)
    }
}

impl Trouble {
    /// Whether the database is locked by another process. Then each request of the group would fail alone, too.
    pub(crate) fn is_busy(&self) -> bool {
        matches!(self, Self::Sql(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy))
    }
}

const FROM_A_COPY: &str = "copy the directory, then restore it from a backup, or remove what is damaged";

impl Trouble {
    /// The error of the journal at `place`.
    pub(crate) fn at(self, place: &str) -> JournalError {
        match self {
            Self::Refused(error) => error,
            Self::Damaged(what) => {
                JournalError::Damaged { place: place.to_owned(), what, remedy: FROM_A_COPY.to_owned() }
            }
            Self::Sql(error) => of_sqlite(&error, place),
        }
    }
}

fn of_sqlite(error: &rusqlite::Error, place: &str) -> JournalError {
    let place = place.to_owned();
    let damaged = |what: String| JournalError::Damaged { place: place.clone(), what, remedy: FROM_A_COPY.to_owned() };
    let rusqlite::Error::SqliteFailure(code, _) = error else {
        // A column has an unexpected type: another program wrote it.
        return damaged(error.to_string());
    };
    match code.code {
        ErrorCode::DiskFull => JournalError::Full { place },
        ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied => JournalError::ReadOnly {
            place,
            reason: format!("{error}; make it and its directory writable for this user, then resume"),
        },
        // A statement of this crate that SQLite does not understand names a table that is not there.
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown => damaged(error.to_string()),
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => JournalError::Storage {
            reason: format!("another process has been writing to {place} for too long ({error}); try again"),
        },
        _ => JournalError::Storage { reason: format!("{place}: {error}; look at the disk, then resume") },
    }
}

/// An error of the file system at `place`.
pub(crate) fn of_file(error: &io::Error, place: &str) -> JournalError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => JournalError::Full { place: place.to_owned() },
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => JournalError::ReadOnly {
            place: place.to_owned(),
            reason: format!("{error}; make it writable for this user, or choose another directory"),
        },
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => JournalError::ReadOnly {
            place: place.to_owned(),
            reason: format!("a file is where its directory should be ({error}); choose another directory"),
        },
        _ => {
            JournalError::Storage { reason: format!("{place}: {error}; look at the disk, or choose another directory") }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::{Connection, OpenFlags};

    /// Tests often run as root, which ignores file permissions: so the connection itself is opened read-only.
    #[test]
    fn what_may_not_be_written_is_read_only() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("journal.db");
        Connection::open(&path).unwrap().execute_batch("CREATE TABLE t(a)").unwrap();
        let connection = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        let error = connection.execute_batch("INSERT INTO t VALUES(1)").unwrap_err();
        let message = Trouble::from(error).at("the/journal.db").to_string();
        assert_eq!(
            message,
            "the/journal.db cannot be written: attempt to write a readonly database; make it and its directory \
             writable for this user, then resume"
        );
        let error = io::Error::from(io::ErrorKind::ReadOnlyFilesystem);
        assert!(matches!(of_file(&error, "x"), JournalError::ReadOnly { .. }));
        assert!(matches!(of_file(&io::ErrorKind::StorageFull.into(), "x"), JournalError::Full { .. }));
    }
}
