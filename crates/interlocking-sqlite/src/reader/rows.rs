//! Rows of the table `record`.

use crate::envelope::Envelope;
use crate::failure::Trouble;
use crate::schema::record_ids;
use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::Digest;
use rusqlite::{Connection, OptionalExtension, Row};
use std::borrow::Cow;

const COLUMNS: &str = "sequence,entry,node,visit,attempt,alternative,took_ms,place,sha256,more";

/// Calls `take` with each row of a run, in order.
pub(crate) fn of_run(
    connection: &Connection,
    run: &RunId,
    mut take: impl FnMut(u64, Envelope) -> Result<(), Trouble>,
) -> Result<(), Trouble> {
    let mut id = connection.prepare_cached("SELECT id FROM run WHERE name=?")?;
    let Some(id) = id.query_row([run.as_str()], |row| row.get::<_, i64>(0)).optional()? else { return Ok(()) };
    let mut statement =
        connection.prepare_cached(&format!("SELECT {COLUMNS} FROM record WHERE id BETWEEN ? AND ? ORDER BY id"))?;
    let mut rows = statement.query(record_ids(id))?;
    while let Some(row) = rows.next()? {
        let sequence = row.get::<_, i64>(0)? as u64;
        take(sequence, envelope(row).map_err(|error| unreadable(error, run.as_str(), sequence))?)?;
    }
    Ok(())
}

/// Calls `take` with every row in order, and the name of its run; in place of a row that cannot be read, with the error.
pub(crate) fn each(
    connection: &Connection,
    mut take: impl FnMut(&str, u64, Result<Envelope, Trouble>) -> Result<(), Trouble>,
) -> Result<(), Trouble> {
    let text = format!("SELECT {COLUMNS},(SELECT name FROM run WHERE run.id=record.run) FROM record ORDER BY id");
    let mut statement = connection.prepare_cached(&text)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let run: Option<String> = row.get(10)?;
        let (run, sequence) = (run.as_deref().unwrap_or("without a name"), row.get::<_, i64>(0)? as u64);
        take(run, sequence, envelope(row).map_err(|error| unreadable(error, run, sequence)))?;
    }
    Ok(())
}

/// The error for a row that cannot be read: `Damaged` where a column has an unexpected type.
fn unreadable(error: rusqlite::Error, run: &str, sequence: u64) -> Trouble {
    match error {
        rusqlite::Error::SqliteFailure(..) => error.into(),
        other => Trouble::Damaged(format!("record {sequence} of run `{run}` cannot be read: {other}")),
    }
}

fn envelope(row: &Row<'_>) -> Result<Envelope, rusqlite::Error> {
    let entry: Option<String> = row.get(1)?;
    let digest: Option<[u8; 32]> = row.get(8)?;
    let took_ms: Option<i64> = row.get(6)?;
    Ok(Envelope {
        entry: entry.map(Cow::Owned),
        node: row.get(2)?,
        visit: row.get(3)?,
        attempt: row.get(4)?,
        alternative: row.get(5)?,
        took_ms: took_ms.map(|took| took as u64),
        place: row.get(7)?,
        digest: digest.map(Digest::from_bytes),
        more: row.get(9)?,
    })
}
