//! Removes runs.

use crate::envelope;
use crate::failure::Trouble;
use crate::retention::{Pruned, Retention};
use crate::schema::{STATE, record_ids};
use crate::writer::Writer;
use crate::writer::append::now_ms;
use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::{JournalError, Origin};
use rusqlite::OptionalExtension;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// What retention needs to know of a run.
struct Aged {
    id: i64,
    run: RunId,
    updated_ms: i64,
    ended: bool,
}

/// A run with all its descendants.
struct Family {
    /// The members, the topmost run first.
    members: Vec<Aged>,
    /// When the latest record of any member was written.
    updated_ms: i64,
    /// Whether the topmost run has ended. Then it does not need its child runs any more.
    ended: bool,
}

/// A child run.
struct Child {
    /// The id of its row.
    id: i64,
    run: RunId,
    parent: RunId,
}

/// The families of runs, sorted by their latest record, the oldest first. A child whose parent is missing starts a family.
fn families(runs: Vec<Aged>, children: Vec<Child>) -> Vec<Family> {
    let parents: HashMap<RunId, RunId> = children.into_iter().map(|child| (child.run, child.parent)).collect();
    let present: HashSet<RunId> = runs.iter().map(|run| run.run.clone()).collect();
    let head = |run: &RunId| {
        let mut head = run;
        // The bound stops a cycle of parents, which only another program could have written.
        for _ in 0..present.len() {
            match parents.get(head).filter(|parent| present.contains(parent)) {
                Some(parent) => head = parent,
                None => break,
            }
        }
        head.clone()
    };
    let mut by_head: HashMap<RunId, Family> = HashMap::new();
    for run in runs {
        let head = head(&run.run);
        let is_head = head == run.run;
        let family = by_head.entry(head).or_insert(Family { members: Vec::new(), updated_ms: i64::MIN, ended: false });
        family.updated_ms = family.updated_ms.max(run.updated_ms);
        if is_head {
            family.ended = run.ended;
            family.members.insert(0, run);
        } else {
            family.members.push(run);
        }
    }
    let mut families: Vec<Family> = by_head.into_values().collect();
    families.sort_by_key(|family| (family.updated_ms, family.members.first().map(|run| run.id)));
    families
}

impl Writer {
    /// Removes a run with all its descendants. Forks of them stay.
    pub(crate) fn remove(&mut self, run: &RunId) -> Result<(), Trouble> {
        if let Some(who) = self.executor(run)? {
            return Err(self.held(run, who));
        }
        let id = self
            .connection
            .prepare_cached("SELECT id FROM run WHERE name=?")?
            .query_row([run.as_str()], |row| row.get(0))
            .optional()?;
        let Some(id) = id else {
            return Err(JournalError::NoRun { run: run.clone(), place: self.directory.place().to_owned() }.into());
        };
        let descendants = self.descendants(run)?;
        for Child { run, .. } in &descendants {
            if let Some(who) = self.executor(run)? {
                return Err(self.held(run, who));
            }
        }
        self.delete(id)?;
        for Child { id, .. } in &descendants {
            self.delete(*id)?;
        }
        self.forget_senders(&std::iter::once(run).chain(descendants.iter().map(|child| &child.run)).collect())?;
        self.sweep().map(|_| ())
    }

    /// The child runs of a run, their child runs and so on.
    fn descendants(&self, run: &RunId) -> Result<Vec<Child>, Trouble> {
        let mut below: HashMap<RunId, Vec<Child>> = HashMap::new();
        for child in self.children()? {
            below.entry(child.parent.clone()).or_default().push(child);
        }
        let mut descendants = below.remove(run).unwrap_or_default();
        let mut next = 0;
        while let Some(Child { run, .. }) = descendants.get(next) {
            // Removed, so that no run is visited twice, even if the journal is damaged.
            let children = below.remove(run).unwrap_or_default();
            descendants.extend(children);
            next += 1;
        }
        Ok(descendants)
    }

    /// Removes the runs that `retention` selects.
    pub(crate) fn prune(&mut self, retention: &Retention) -> Result<Pruned, Trouble> {
        let selected = self.select(retention)?;
        for Aged { id, .. } in &selected {
            self.delete(*id)?;
        }
        if selected.is_empty() {
            return Ok(Pruned::default());
        }
        self.forget_senders(&selected.iter().map(|aged| &aged.run).collect())?;
        let objects = self.sweep()?;
        Ok(Pruned { runs: selected.into_iter().map(|run| run.run).collect(), objects })
    }

    /// The runs that `prune` would remove. Nothing is removed, so objects are not counted.
    pub(crate) fn would_prune(&mut self, retention: &Retention) -> Result<Pruned, Trouble> {
        let selected = self.select(retention)?;
        Ok(Pruned { runs: selected.into_iter().map(|run| run.run).collect(), objects: 0 })
    }

    /// The runs that `retention` selects, the oldest first, each with its child runs.
    fn select(&mut self, retention: &Retention) -> Result<Vec<Aged>, Trouble> {
        let Retention { older_than, keep_last, include_unfinished, claimed, excepted } = retention;
        if older_than.is_none() && keep_last.is_none() {
            return Ok(Vec::new());
        }
        let runs = self.aged()?;
        let now = now_ms();
        if let (Some(_), Some(newest)) = (older_than, runs.last())
            && now < newest.updated_ms
        {
            let (now_ms, newest_ms) = (now.max(0) as u64, newest.updated_ms as u64);
            return Err(
                JournalError::ClockBehind { place: self.directory.place().to_owned(), now_ms, newest_ms }.into()
            );
        }
        let families = families(runs, self.children()?);
        let old = families.len().saturating_sub(keep_last.unwrap_or(0));
        let mut selected = Vec::new();
        for Family { members, updated_ms, ended } in families.into_iter().take(old) {
            let age = Duration::from_millis(now.saturating_sub(updated_ms).max(0) as u64);
            if older_than.is_some_and(|limit| age <= limit) || !(ended || *include_unfinished) {
                continue;
            }
            let mut is_kept = false;
            for member in &members {
                is_kept |= excepted.contains(&member.run);
                is_kept |= match claimed.contains(&member.run) {
                    true => !self.holds(&member.run)?,
                    false => self.executor(&member.run)?.is_some(),
                };
            }
            if !is_kept {
                selected.extend(members);
            }
        }
        Ok(selected)
    }

    /// All child runs. A row whose name or origin cannot be read is left out, so that a damaged run can be removed and does not keep
    /// others from being removed.
    fn children(&self) -> Result<Vec<Child>, Trouble> {
        let mut statement = self.connection.prepare("SELECT id,name,origin FROM run WHERE origin IS NOT NULL")?;
        let mut rows = statement.query([])?;
        let mut children = Vec::new();
        while let Some(row) = rows.next()? {
            let (Ok(name), Ok(origin)) = (row.get::<_, String>(1), row.get::<_, String>(2)) else { continue };
            if let Ok(Origin::Child { parent, .. }) = serde_json::from_str::<Origin>(&origin)
                && let Ok(run) = name.parse()
            {
                children.push(Child { id: row.get(0)?, run, parent });
            }
        }
        Ok(children)
    }

    /// All runs whose names can be read, sorted by their latest record, the oldest first.
    fn aged(&self) -> Result<Vec<Aged>, Trouble> {
        let mut statement = self.connection.prepare(&format!(
            "SELECT r.id,r.name,r.started_ms+l.at_ms AS updated,{STATE} FROM run r \
             JOIN record l ON l.id=(SELECT max(id) FROM record WHERE id BETWEEN r.id<<32 AND r.id<<32|4294967295) \
             ORDER BY updated,r.id",
        ))?;
        let mut rows = statement.query([])?;
        let mut runs = Vec::new();
        while let Some(row) = rows.next()? {
            let (name, entry): (String, Option<String>) = (row.get(1)?, row.get(3)?);
            if let Ok(run) = name.parse() {
                let ended = envelope::ending(entry.as_deref()).is_some();
                runs.push(Aged { id: row.get(0)?, run, updated_ms: row.get(2)?, ended });
            }
        }
        Ok(runs)
    }

    fn delete(&self, run: i64) -> Result<(), Trouble> {
        let records = "DELETE FROM record WHERE id BETWEEN ? AND ?";
        self.connection.prepare_cached(records)?.execute(record_ids(run))?;
        for statement in ["DELETE FROM letter WHERE run=?", "DELETE FROM run WHERE id=?"] {
            self.connection.prepare_cached(statement)?.execute([run])?;
        }
        Ok(())
    }

    /// Removes the keys of the messages whose [senders](interlocking_runtime::journal::Letter::sender) are these runs.
    fn forget_senders(&self, removed: &HashSet<&RunId>) -> Result<(), Trouble> {
        let mut messages =
            self.connection.prepare_cached("SELECT run,number,key FROM letter WHERE key GLOB 'message * of run *'")?;
        let mut rows = messages.query([])?;
        let mut theirs: Vec<(i64, i64)> = Vec::new();
        while let Some(row) = rows.next()? {
            let key: String = row.get(2)?;
            let sender = key.rsplit_once(" of run ").and_then(|(_, run)| run.parse().ok());
            if sender.is_some_and(|sender: RunId| removed.contains(&sender)) {
                theirs.push((row.get(0)?, row.get(1)?));
            }
        }
        for letter in theirs {
            self.connection.prepare_cached("UPDATE letter SET key=NULL WHERE run=? AND number=?")?.execute(letter)?;
        }
        Ok(())
    }
}
