//! The layout of the database. `docs/book/src/journal.md` explains it for other clients.

use crate::failure::Trouble;
use interlocking_runtime::journal::JournalError;
use rusqlite::Connection;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The layout that this program writes, in the database's `user_version`.
pub(crate) const LAYOUT: u32 = 1;

/// Marks the file as a journal, in the database's `application_id`: the letters `ILKJ`.
const APPLICATION: u32 = 0x494C_4B4A;

/// The id of a record's row has the run in its upper 32 bits and the sequence in its lower 32 bits: so the records of a run are
/// adjacent, and need no index. See [`record_id`].
///
/// SQLite stores this text in the file verbatim, so it is short. `docs/book/src/journal.md` explains it.
///
/// Pages are 2 KiB: a transition changes four of them, and each is written to the log as a whole.
const SCHEMA: &str = "
PRAGMA page_size=2048;
BEGIN;
PRAGMA application_id=1229736778;
PRAGMA user_version=1;
CREATE TABLE journal(sweeps INTEGER NOT NULL);
INSERT INTO journal VALUES(0);
CREATE TABLE run(id INTEGER PRIMARY KEY,name TEXT NOT NULL UNIQUE,graph TEXT,origin TEXT,started_ms INTEGER NOT NULL);
CREATE TABLE record(id INTEGER PRIMARY KEY,run INTEGER REFERENCES run AS(id>>32),sequence INTEGER AS(id&4294967295),\
at_ms INTEGER NOT NULL,entry TEXT,node TEXT,visit INTEGER,attempt INTEGER,alternative INTEGER,took_ms INTEGER,\
place TEXT,sha256 BLOB,more TEXT);
CREATE TABLE object(id INTEGER PRIMARY KEY,base INTEGER REFERENCES object,form INTEGER NOT NULL,body BLOB NOT NULL);
CREATE TABLE name(head INTEGER NOT NULL,object INTEGER NOT NULL REFERENCES object,PRIMARY KEY(head,object))WITHOUT ROWID;
CREATE TABLE letter(run INTEGER NOT NULL REFERENCES run,number INTEGER NOT NULL,key TEXT,body TEXT NOT NULL,\
PRIMARY KEY(run,number))WITHOUT ROWID;
CREATE TABLE lease(run TEXT PRIMARY KEY,holder TEXT NOT NULL,who TEXT NOT NULL)WITHOUT ROWID;
CREATE VIEW runs AS SELECT r.name AS run,r.graph,r.origin,l.sequence+1 AS records,\
strftime('%Y-%m-%d %H:%M:%f',r.started_ms/1000.0,'unixepoch')AS started,\
strftime('%Y-%m-%d %H:%M:%f',(r.started_ms+l.at_ms)/1000.0,'unixepoch')AS updated,\
(SELECT iif(e.entry IN('finished','failed','cancelled'),e.entry,NULL)FROM record e WHERE e.id BETWEEN r.id<<32 AND r.id<<32|4294967295 \
AND ifnull(e.entry,'outcome')NOT IN('report','session','once','spent')ORDER BY e.id DESC LIMIT 1)AS ended,\
(SELECT who FROM lease WHERE lease.run=r.name)AS claimed_by \
FROM run r JOIN record l ON l.id=(SELECT max(id)FROM record WHERE id BETWEEN r.id<<32 AND r.id<<32|4294967295);
CREATE VIEW transitions AS SELECT r.name AS run,t.sequence,\
strftime('%Y-%m-%d %H:%M:%f',(r.started_ms+t.at_ms)/1000.0,'unixepoch')AS at,\
ifnull(t.entry,'outcome')AS entry,t.node,t.visit,t.attempt,t.alternative,t.took_ms,t.place,'sha256:'||lower(hex(t.sha256))AS payload,t.more \
FROM record t JOIN run r ON r.id=t.id>>32;
COMMIT;
";

/// The column `entry` of the record that says whether run `r` has ended: its last one, not counting addenda, which may follow the
/// end.
pub(crate) const STATE: &str = "(SELECT entry FROM record WHERE id BETWEEN r.id<<32 AND r.id<<32|4294967295 \
AND ifnull(entry,'outcome') NOT IN('report','session','once','spent') ORDER BY id DESC LIMIT 1)";

/// The id of a record of the run `run`.
pub(crate) fn record_id(run: i64, sequence: u64) -> i64 {
    run << 32 | (sequence & 0xFFFF_FFFF) as i64
}

/// The lowest and the highest id that a record of the run `run` can have.
pub(crate) fn record_ids(run: i64) -> (i64, i64) {
    (record_id(run, 0), record_id(run, u64::MAX))
}

/// Creates the schema in an empty database.
pub(crate) fn create(connection: &Connection) -> Result<(), Trouble> {
    Ok(connection.execute_batch(SCHEMA)?)
}

/// Whether a file has a journal's mark in the header of its database, where SQLite keeps the `application_id`.
pub(crate) fn is_marked(database: &Path) -> bool {
    let mut header = [0; 72];
    let read = File::open(database).and_then(|mut file| file.read_exact(&mut header));
    read.is_ok() && header[68..] == APPLICATION.to_be_bytes()
}

/// Checks that the database is a journal that this program can write.
pub(crate) fn examine(connection: &Connection, place: &str) -> Result<(), Trouble> {
    let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, u32>(0));
    let damaged = |what: &str, remedy: &str| {
        let (place, what, remedy) = (place.to_owned(), what.to_owned(), remedy.to_owned());
        Trouble::from(JournalError::Damaged { place, what, remedy })
    };
    match pragma("application_id")? {
        APPLICATION => {}
        0 => {
            return Err(damaged(
                "it has nothing of a journal in it",
                "restore it from a copy, or choose another directory",
            ));
        }
        _ => return Err(damaged("it is another program's database", "choose another directory")),
    }
    let found = pragma("user_version")?;
    if found > LAYOUT {
        return Err(JournalError::NewerLayout { place: place.to_owned(), found, known: LAYOUT }.into());
    }
    Ok(())
}
