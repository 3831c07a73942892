//! The directory of a journal: the database, and a lock file for each process that has it open.
//!
//! ```text
//! journal.db        the database, with `-wal` and `-shm` beside it while it is open
//! lock              held while a journal is being opened, so that only one process at a time does so
//! holders/*.lock    one for each open journal, locked until that journal is closed or its process ends
//! ```

use crate::connection;
use crate::failure::{Trouble, of_file};
use crate::private;
use crate::schema;
use interlocking_runtime::journal::JournalError;
use rusqlite::Connection;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// The names of the journal's own files.
const OWN: [&str; 6] = ["journal.db", "journal.db-wal", "journal.db-shm", "journal.db.new", "lock", "holders"];

/// The directory of a journal.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    path: Arc<Path>,
    place: Arc<str>,
}

/// The lock file of an open journal. The operating system releases the lock when the process ends, even after a crash.
#[derive(Debug)]
pub(crate) struct Holder {
    /// The file's name without `.lock`. A name is never reused.
    pub(crate) name: String,
    /// The process and the machine, for messages.
    pub(crate) who: String,
    path: PathBuf,
    _locked: File,
}

impl Directory {
    /// Opens the directory at `path`, creates the journal in it if there is none, and creates this process's lock file. A directory
    /// with another program's database is not changed.
    pub(crate) fn open(path: &Path) -> Result<(Self, Holder), JournalError> {
        let directory = Self { path: path.into(), place: path.join("journal.db").display().to_string().into() };
        let refused = |error: io::Error| of_file(&error, directory.place());
        if directory.database().exists() && !schema::is_marked(&directory.database()) {
            connection::open(&directory.database(), directory.place())
                .map_err(|trouble| trouble.at(directory.place()))?;
        }
        directory.restrict_to_owner().map_err(refused)?;
        let lock = private::file_options().create(true).append(true).open(path.join("lock")).map_err(refused)?;
        lock.lock().map_err(refused)?;
        directory.create().map_err(|trouble| trouble.at(directory.place()))?;
        directory.remove_stale();
        let holder = directory.create_lock_file().map_err(refused)?;
        Ok((directory, holder))
    }

    /// Creates the directory, and restricts it and the journal's files to the owner. A directory that also contains other files
    /// keeps its permissions, as it is not the journal's alone.
    fn restrict_to_owner(&self) -> io::Result<()> {
        private::make_directory(&self.path)?;
        let entries: Vec<_> = fs::read_dir(&*self.path)?.collect::<io::Result<_>>()?;
        // A command line adds a `.gitignore`.
        let is_own = |name: &str| OWN.contains(&name) || name == ".gitignore";
        let only_own = entries.iter().all(|entry| entry.file_name().to_str().is_some_and(is_own));
        private::make_restricted_directory(&self.path.join("holders"))?;
        let restricted = OWN.iter().try_for_each(|name| private::restrict_to_owner(&self.path.join(name)));
        let restricted =
            restricted.and_then(|()| if only_own { private::restrict_to_owner(&self.path) } else { Ok(()) });
        if let Err(error) = restricted {
            // The files belong to another user, who gave this user access.
            tracing::warn!(%error, directory = %self.path.display(), "the journal's permissions cannot be restricted");
        }
        Ok(())
    }

    /// The database's path, for messages.
    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    /// The database's path.
    pub(crate) fn database(&self) -> PathBuf {
        self.path.join("journal.db")
    }

    /// Creates the database, if there is none. It gets its name only when it is complete, so that an empty file is recognized as
    /// damaged.
    fn create(&self) -> Result<(), Trouble> {
        let database = self.database();
        if database.exists() {
            return Ok(());
        }
        if self.path.join("journal.db-wal").exists() {
            return Err(Trouble::Damaged("the database is gone, though its log is there".to_owned()));
        }
        let new = self.path.join("journal.db.new");
        let fail = |error: io::Error| Trouble::Refused(of_file(&error, &self.place));
        match fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(fail(error)),
            _ => {}
        }
        // SQLite gives the files that it creates beside a database the mode of the database.
        private::create_file(&new).map_err(fail)?;
        let connection = Connection::open(&new)?;
        schema::create(&connection)?;
        // Set before another process can open the database: SQLite does not wait for other connections when it changes this.
        connection::write_ahead(&connection, &self.place)?;
        connection.close().map_err(|(_, error)| error)?;
        fs::rename(new, database).map_err(fail)?;
        // Synced, so that a loss of power does not lose the names of the new files in these directories.
        #[cfg(unix)]
        for directory in [Some(&*self.path), self.path.parent().filter(|parent| !parent.as_os_str().is_empty())] {
            let Some(directory) = directory else { continue };
            File::open(directory).and_then(|directory| directory.sync_all()).map_err(fail)?;
        }
        Ok(())
    }

    /// Whether the journal with the lock file `name` is still open. True where that cannot be found out.
    pub(crate) fn lives(&self, name: &str) -> bool {
        match File::open(self.holder(name)) {
            // A shared lock: with an exclusive one, two processes that look at once would take each other for the holder.
            Ok(file) => match file.try_lock_shared() {
                Ok(()) => false,
                Err(TryLockError::WouldBlock) => true,
                Err(TryLockError::Error(error)) => unknown(name, &error),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => unknown(name, &error),
        }
    }

    /// The path of the lock file `name`.
    fn holder(&self, name: &str) -> PathBuf {
        self.path.join("holders").join(format!("{name}.lock"))
    }

    /// Removes the lock files of processes that have ended. No process is between creating its file and locking it, as the
    /// directory's lock is held.
    fn remove_stale(&self) {
        for entry in fs::read_dir(self.path.join("holders")).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if let Some(name) = name.to_str().and_then(|name| name.strip_suffix(".lock"))
                && !self.lives(name)
                && let Err(error) = fs::remove_file(entry.path())
            {
                tracing::debug!(%error, file = %entry.path().display(), "a dead holder's file stays");
            }
        }
    }

    /// Creates this process's lock file, and locks it.
    fn create_lock_file(&self) -> io::Result<Holder> {
        static OPENED: AtomicU64 = AtomicU64::new(0);
        let process = std::process::id();
        let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        let name = format!("{process}-{nanos:x}-{}", OPENED.fetch_add(1, Ordering::Relaxed));
        let path = self.holder(&name);
        let file = private::file_options().create_new(true).append(true).open(&path)?;
        file.lock()?;
        Ok(Holder { name, who: format!("process {process} on {}", machine()), path, _locked: file })
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::debug!(%error, file = %self.path.display(), "the holder's file stays");
        }
    }
}

/// A holder whose lock cannot be examined is taken to be alive.
fn unknown(name: &str, error: &io::Error) -> bool {
    tracing::warn!(%error, name, "cannot determine whether a holder is alive, so it is taken to be");
    true
}

#[cfg(unix)]
fn machine() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
fn machine() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_else(|_| "this machine".to_owned())
}
