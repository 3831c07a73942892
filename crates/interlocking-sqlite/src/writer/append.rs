//! Appends records.

use crate::failure::Trouble;
use crate::payloads::objects::Objects;
use crate::payloads::parts::LARGE;
use crate::payloads::stored::{self, Base};
use crate::prepared::{Named, Prepared, TABLE};
use crate::schema::record_id;
use crate::writer::Writer;
use crate::writer::known::{KnownRun, Position};
use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::{Digest, JournalError};
use rusqlite::{Connection, OptionalExtension, params};
use std::sync::atomic::AtomicU64;
use std::time::{SystemTime, UNIX_EPOCH};

/// How many records back the last payload of a place is searched for, when an executor resumes a run.
const LOOK_BACK: u64 = 256;

impl Writer {
    pub(crate) fn append(&mut self, prepared: &Prepared) -> Result<(), Trouble> {
        let Prepared { run, sequence, row, payloads, started } = prepared;
        let position = self.position(run)?;
        if *sequence != position.records {
            let (run, sequence, present) = (run.clone(), *sequence, position.records);
            return Err(JournalError::OutOfOrder { run, sequence, present }.into());
        }
        for named in payloads.iter().filter(|named| named.text.is_none()) {
            if stored::named(&self.connection, &named.digest)?.is_empty() {
                let (place, digest) = (self.directory.place().to_owned(), named.digest);
                let what = format!("record {sequence} of run `{run}`");
                return Err(JournalError::PayloadMissing { place, digest, what }.into());
            }
        }
        let Self { connection, objects, known, .. } = self;
        let now = now_ms();
        let (id, started_ms) = match position.id {
            Some(id) => (id, position.started_ms),
            None => {
                let (graph, origin) = match started {
                    Some((graph, origin)) => (Some(graph), origin.as_ref().map(serde_json::to_string).transpose()),
                    None => (None, Ok(None)),
                };
                let origin = origin.map_err(|error| JournalError::Encoding {
                    what: format!("the origin of run `{run}`"),
                    reason: error.to_string(),
                })?;
                connection
                    .prepare_cached("INSERT INTO run(name,graph,origin,started_ms)VALUES(?,?,?,?)")?
                    .execute(params![run.as_str(), graph, origin, now])?;
                (connection.last_insert_rowid(), now)
            }
        };
        // Appending never depends on the clock: if it goes back, the time of the previous record is used.
        let at_ms = now.saturating_sub(started_ms).max(position.at_ms);

        let known_run = known.run(run);
        known_run.from_the_start |= position.id.is_none();
        let before = known_run.bytes();
        for (index, named) in payloads.iter().enumerate() {
            let from = if index == 0 { row.node.as_deref() } else { None };
            put(connection, objects, known_run, named, from, (id, position.records))?;
        }
        connection
            .prepare_cached(
                "INSERT INTO record(id,at_ms,entry,node,visit,attempt,alternative,took_ms,place,sha256,more)\
                 VALUES(?,?,?,?,?,?,?,?,?,?,?)",
            )?
            .execute(params![
                record_id(id, *sequence),
                at_ms,
                row.entry,
                row.node,
                row.visit,
                row.attempt,
                row.alternative,
                row.took_ms.map(|took| took as i64),
                row.place,
                row.digest.as_ref().map(Digest::as_bytes),
                row.more,
            ])?;
        known_run.position = Some(Position { id: Some(id), started_ms, records: sequence + 1, at_ms });
        let after = known_run.bytes();
        known.grew(before, after);
        Ok(())
    }

    /// The run's next position, if this process may append to it.
    fn position(&mut self, run: &RunId) -> Result<Position, Trouble> {
        if let Some(position) = self.known.run(run).position {
            return Ok(position);
        }
        self.may_append(run)?;
        let position = self
            .connection
            .prepare_cached(
                "SELECT r.id,r.started_ms,l.sequence+1,l.at_ms FROM run r JOIN record l \
                 ON l.id=(SELECT max(id) FROM record WHERE id BETWEEN r.id<<32 AND r.id<<32|4294967295) WHERE r.name=?",
            )?
            .query_row([run.as_str()], |row| {
                let records: i64 = row.get(2)?;
                let (id, started_ms, at_ms) = (Some(row.get(0)?), row.get(1)?, row.get(3)?);
                Ok(Position { id, started_ms, records: records as u64, at_ms })
            })
            .optional()?
            .unwrap_or(Position { id: None, started_ms: 0, records: 0, at_ms: 0 });
        self.known.run(run).position = Some(position);
        Ok(position)
    }
}

/// Writes one payload of a record; of a large payload, its parts and its manifest.
fn put(
    connection: &Connection,
    objects: &mut Objects,
    known: &mut KnownRun,
    named: &Named,
    from: Option<&str>,
    run: (i64, u64),
) -> Result<(), Trouble> {
    let Some(text) = &named.text else { return Ok(()) };
    if named.place == TABLE {
        return objects.put(connection, &named.digest, text, &[], false).map(|_| ());
    }
    let Some((manifest, parts)) = &named.parts else {
        // A node's output mostly resembles its input, or its previous output.
        let places = [from, Some(&named.place[..])];
        if text.len() < LARGE {
            for place in places.into_iter().flatten() {
                look_up(connection, known, place, run)?;
            }
        }
        let bases: Vec<&Base> = places.into_iter().flatten().filter_map(|place| known.bases.get(place)).collect();
        let bases = match bases[..] {
            [one, other] if one.standing == other.standing => &bases[..1],
            _ => &bases[..],
        };
        let standing = objects.put(connection, &named.digest, text, bases, false)?;
        known.bases.insert(named.place.clone(), Base { standing, text: text.clone() });
        return Ok(());
    };
    let whole = (format!("{} manifest", named.place), &named.digest, manifest.as_str().into(), true);
    let parts =
        parts.iter().map(|part| (format!("{} {}", named.place, part.key), &part.digest, part.text.clone(), false));
    for (key, digest, text, is_manifest) in parts.chain([whole]) {
        let bases: Vec<&Base> = known.bases.get(&key).into_iter().collect();
        let standing = objects.put(connection, digest, &text, &bases, is_manifest)?;
        known.bases.insert(key, Base { standing, text });
    }
    Ok(())
}

/// Reads the last payload of a place, as a base, in a run that the writer has not cached since its first record.
fn look_up(
    connection: &Connection,
    known: &mut KnownRun,
    place: &str,
    (run, records): (i64, u64),
) -> Result<(), Trouble> {
    if known.from_the_start || known.bases.contains_key(place) || !known.looked_up.insert(place.to_owned()) {
        return Ok(());
    }
    let name: Option<[u8; 32]> = connection
        .prepare_cached(
            "SELECT sha256 FROM record WHERE id BETWEEN ? AND ? AND place=? AND sha256 IS NOT NULL \
             ORDER BY id DESC LIMIT 1",
        )?
        .query_row(params![record_id(run, records.saturating_sub(LOOK_BACK)), record_id(run, records), place], |row| {
            row.get(0)
        })
        .optional()?;
    let Some(name) = name else { return Ok(()) };
    match stored::fetch(connection, &Digest::from_bytes(name), "", "", &AtomicU64::new(0)) {
        Ok(base) => {
            known.bases.insert(place.to_owned(), base);
        }
        Err(Trouble::Sql(error)) => return Err(Trouble::Sql(error)),
        // The next payload is then written whole. A reader that needs the earlier one gets the error.
        Err(trouble) => tracing::warn!(?trouble, place, "an earlier payload cannot be read"),
    }
    Ok(())
}

/// The wall clock, in milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}
