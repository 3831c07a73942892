//! Checks the integrity of the database.

use super::{Reader, rows};
use crate::envelope;
use crate::failure::Trouble;
use crate::schema;
use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::{LetterBody, Origin};
use rusqlite::Connection;
use std::collections::{BTreeSet, HashSet};

impl Reader {
    /// Every problem in the database: failures of SQLite's own checks, dangling references, tables and triggers that no journal
    /// has, invalid names of runs, records that are missing or cannot be read, payloads that do not match their digests, letters
    /// that are missing or cannot be read.
    pub(crate) fn check(&self, connection: &Connection) -> Result<Vec<String>, Trouble> {
        let mut problems = integrity(connection)?;
        problems.extend(unexpected_objects(connection)?);
        problems.extend(runs(connection)?);
        problems.extend(self.records(connection)?);
        problems.extend(letters(connection)?);
        Ok(problems)
    }

    /// Problems of records and their payloads. A missing record leaves a gap in the sequence, except at the end of a run, where
    /// its loss cannot be detected.
    fn records(&self, connection: &Connection) -> Result<Vec<String>, Trouble> {
        let mut problems = Vec::new();
        let mut seen = HashSet::new();
        let mut next: (Option<String>, u64) = (None, 0);
        rows::each(connection, |run, sequence, row| {
            if next.0.as_deref() != Some(run) {
                next = (Some(run.to_owned()), 0);
            }
            match sequence.saturating_sub(next.1) {
                0 => {}
                1 => problems.push(format!("record {} of run {run} is gone", next.1)),
                _ => problems.push(format!("records {} to {} of run {run} are gone", next.1, sequence - 1)),
            }
            next.1 = sequence + 1;
            let what = format!("record {sequence} of run {run}");
            let names = row.and_then(|row| {
                envelope::names(row).map_err(|reason| Trouble::Damaged(format!("{what} cannot be read: {reason}")))
            });
            let unseen = match names {
                Ok(names) => names.into_iter().filter(|digest| seen.insert(*digest)).collect(),
                Err(Trouble::Sql(error)) => return Err(Trouble::Sql(error)),
                Err(Trouble::Damaged(problem)) => {
                    problems.push(problem);
                    Vec::new()
                }
                Err(trouble) => {
                    problems.push(trouble.at(self.directory.place()).to_string());
                    Vec::new()
                }
            };
            for digest in unseen {
                match self.text(connection, &what, &digest) {
                    Ok(_) => {}
                    Err(Trouble::Sql(error)) => return Err(Trouble::Sql(error)),
                    Err(trouble) => problems.push(trouble.at(self.directory.place()).to_string()),
                }
            }
            Ok(())
        })?;
        Ok(problems)
    }
}

/// SQLite's own checks.
fn integrity(connection: &Connection) -> Result<Vec<String>, Trouble> {
    let mut problems = Vec::new();
    let mut statement = connection.prepare("PRAGMA integrity_check")?;
    let found = statement.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    problems.extend(found.into_iter().filter(|found| found != "ok"));
    let mut statement = connection.prepare("PRAGMA foreign_key_check")?;
    let found = statement.query_map([], |row| {
        let (table, parent): (String, String) = (row.get(0)?, row.get(2)?);
        Ok(format!("a row of `{table}` names a row of `{parent}` that is not there"))
    })?;
    problems.extend(found.collect::<Result<Vec<_>, _>>()?);
    Ok(problems)
}

/// Differences between the database's schema and that of a journal. An unexpected trigger, for example, changes what programs
/// write.
fn unexpected_objects(connection: &Connection) -> Result<Vec<String>, Trouble> {
    let objects = |connection: &Connection| -> Result<BTreeSet<(String, String, String)>, Trouble> {
        let all = "SELECT type,name,tbl_name FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
        let mut statement = connection.prepare(all)?;
        let found = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        Ok(found.collect::<Result<_, _>>()?)
    };
    let made = Connection::open_in_memory()?;
    schema::create(&made)?;
    let (expected, found) = (objects(&made)?, objects(connection)?);
    let missing = expected.difference(&found).map(|(kind, name, _)| format!("the {kind} `{name}` is gone"));
    let strange = found.difference(&expected).map(|(kind, name, of)| match kind.as_str() {
        "trigger" | "index" => format!("there is the {kind} `{name}` on `{of}`, which no journal has: drop it"),
        _ => format!("there is the {kind} `{name}`, which no journal has: drop it"),
    });
    Ok(missing.chain(strange).collect())
}

/// Problems of runs: an invalid name, an origin that cannot be read, or no records.
fn runs(connection: &Connection) -> Result<Vec<String>, Trouble> {
    let mut problems = Vec::new();
    let all = "SELECT name,origin,graph IS NOT NULL AND NOT EXISTS\
               (SELECT 1 FROM record WHERE record.id BETWEEN run.id<<32 AND run.id<<32|4294967295) FROM run \
               UNION ALL SELECT run,NULL,0 FROM lease WHERE run NOT IN (SELECT name FROM run)";
    let mut statement = connection.prepare(all)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (name, origin, is_empty): (String, Option<String>, bool) = (row.get(0)?, row.get(1)?, row.get(2)?);
        if let Err(error) = RunId::new(name.clone()) {
            problems.push(format!("a run has a name that none can have: {error}"));
        }
        if let Some(Err(error)) = origin.map(|origin| serde_json::from_str::<Origin>(&origin)) {
            problems.push(format!("the origin of run {name} cannot be read: {error}"));
        }
        if is_empty {
            problems.push(format!("all records of run {name} are gone"));
        }
    }
    Ok(problems)
}

fn letters(connection: &Connection) -> Result<Vec<String>, Trouble> {
    let mut problems = Vec::new();
    let all = "SELECT ifnull((SELECT name FROM run WHERE run.id=letter.run),'without a name'),number,body FROM letter \
               ORDER BY run,number";
    let mut statement = connection.prepare(all)?;
    let mut rows = statement.query([])?;
    let mut next: (Option<String>, i64) = (None, 1);
    while let Some(row) = rows.next()? {
        let (run, number): (String, i64) = (row.get(0)?, row.get(1)?);
        if next.0.as_ref() != Some(&run) {
            next = (Some(run.clone()), 1);
        }
        if number != next.1 {
            problems.push(format!("letter {} to run {run} is gone", next.1));
        }
        next.1 = number.saturating_add(1);
        let body = row.get_ref(2)?.as_str().map_err(|error| error.to_string());
        let read = body.and_then(|body| serde_json::from_str::<LetterBody>(body).map_err(|error| error.to_string()));
        if let Err(reason) = read {
            problems.push(format!("letter {number} to run {run} cannot be read: {reason}"));
        }
    }
    Ok(problems)
}
