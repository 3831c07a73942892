//! Claims: which executor may append to a run.

use crate::failure::Trouble;
use crate::writer::Writer;
use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::JournalError;
use rusqlite::{OptionalExtension, params};

impl Writer {
    /// Makes the caller the run's executor. Refused while another executor, of this or another process, has the claim.
    pub(crate) fn claim(&mut self, run: &RunId, number: u64) -> Result<(), Trouble> {
        if self.claimed.contains_key(run) {
            return Err(self.held(run, self.holder.who.clone()));
        }
        if let Some((holder, who)) = self.lease(run)?
            && holder != self.holder.name
            && self.directory.lives(&holder)
        {
            return Err(self.held(run, who));
        }
        self.connection
            .prepare_cached("INSERT OR REPLACE INTO lease(run,holder,who)VALUES(?,?,?)")?
            .execute(params![run.as_str(), self.holder.name, self.holder.who])?;
        self.known.forget_run(run);
        self.claimed.insert(run.clone(), number);
        Ok(())
    }

    /// Releases a claim, if it was granted.
    pub(crate) fn release(&mut self, run: &RunId, number: u64) -> Result<(), Trouble> {
        if self.claimed.get(run) != Some(&number) {
            return Ok(());
        }
        self.claimed.remove(run);
        self.known.forget_run(run);
        self.connection
            .prepare_cached("DELETE FROM lease WHERE run=? AND holder=?")?
            .execute(params![run.as_str(), self.holder.name])?;
        Ok(())
    }

    /// Fails where another open journal has claimed the run, or has taken it over from this one.
    pub(crate) fn may_append(&self, run: &RunId) -> Result<(), Trouble> {
        match self.lease(run)? {
            Some((holder, _)) if holder == self.holder.name => Ok(()),
            Some((holder, who)) if self.directory.lives(&holder) => Err(self.held(run, who)),
            _ if self.claimed.contains_key(run) => {
                Err(self.held(run, "an executor that took it over from this one".to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// Whether this journal has claimed the run, and no other has taken it over.
    pub(crate) fn holds(&self, run: &RunId) -> Result<bool, Trouble> {
        let is_own = self.lease(run)?.is_some_and(|(holder, _)| holder == self.holder.name);
        Ok(is_own && self.claimed.contains_key(run))
    }

    /// The executor of the run, if there is one.
    pub(crate) fn executor(&self, run: &RunId) -> Result<Option<String>, Trouble> {
        Ok(match self.lease(run)? {
            Some((holder, who)) if holder == self.holder.name => self.claimed.contains_key(run).then_some(who),
            Some((holder, who)) => self.directory.lives(&holder).then_some(who),
            None => None,
        })
    }

    fn lease(&self, run: &RunId) -> Result<Option<(String, String)>, Trouble> {
        let mut statement = self.connection.prepare_cached("SELECT holder,who FROM lease WHERE run=?")?;
        Ok(statement.query_row([run.as_str()], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
    }

    pub(crate) fn held(&self, run: &RunId, holder: String) -> Trouble {
        JournalError::Held { run: run.clone(), holder }.into()
    }
}
