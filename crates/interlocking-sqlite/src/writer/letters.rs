//! Writes letters to runs.

use crate::failure::Trouble;
use crate::writer::Writer;
use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::{JournalError, Letter};
use rusqlite::{OptionalExtension, params};

impl Writer {
    /// Writes a letter, and returns its number.
    pub(crate) fn post(&mut self, run: &RunId, letter: &Letter) -> Result<u64, Trouble> {
        let body = serde_json::to_string(&letter.body).map_err(|error| JournalError::Encoding {
            what: format!("the letter to run `{run}`"),
            reason: error.to_string(),
        })?;
        let id: Option<i64> = self
            .connection
            .prepare_cached("SELECT id FROM run WHERE name=?")?
            .query_row([run.as_str()], |row| row.get(0))
            .optional()?;
        let Some(id) = id else {
            return Err(JournalError::NoRun { run: run.clone(), place: self.directory.place().to_owned() }.into());
        };
        if let Some(key) = &letter.key {
            let mut known = self.connection.prepare_cached("SELECT 1 FROM letter WHERE run=? AND key=?")?;
            if known.exists(params![id, key])? {
                return Err(JournalError::AlreadyPosted { run: run.clone(), key: key.clone() }.into());
            }
        }
        let number: i64 = self
            .connection
            .prepare_cached(
                "INSERT INTO letter(run,number,key,body)\
                 VALUES(?1,(SELECT ifnull(max(number),0)+1 FROM letter WHERE run=?1),?2,?3)RETURNING number",
            )?
            .query_row(params![id, letter.key, body], |row| row.get(0))?;
        Ok(number as u64)
    }
}
