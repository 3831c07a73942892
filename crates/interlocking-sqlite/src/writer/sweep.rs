//! Removes the payloads that no record needs.

use crate::failure::Trouble;
use crate::payloads::digest::head_of;
use crate::payloads::stored::{self, Found};
use crate::reader::rows;
use crate::writer::Writer;
use std::collections::HashSet;
use std::sync::atomic::AtomicU64;

impl Writer {
    /// Removes every object that is not needed: no record names it, it is not a part of a needed payload, and no needed object is
    /// based on it. Reads all records. Removes none if a record or a manifest cannot be read, as nothing says what that needs.
    /// Returns the number of removed objects.
    pub(crate) fn sweep(&mut self) -> Result<u64, Trouble> {
        let removed = match self.sweep_objects() {
            Err(Trouble::Damaged(what)) => {
                tracing::warn!(what, "no payload is removed, as it cannot be told which are needed");
                0
            }
            removed => removed?,
        };
        // This tells other processes that an object or a run may be gone, or that its id may belong to another one.
        self.connection.execute_batch("UPDATE journal SET sweeps=sweeps+1")?;
        self.known.forget();
        self.known.sweeps = None;
        self.objects.forget();
        self.known.version = None;
        Ok(removed)
    }

    /// Everything is read before anything is removed.
    fn sweep_objects(&self) -> Result<u64, Trouble> {
        let heads = self.named_heads()?;
        let mut live = HashSet::new();
        let mut names = self.connection.prepare("SELECT head,object FROM name")?;
        let named: Vec<(i64, i64)> =
            names.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
        let mut parts = HashSet::new();
        for (_, object) in named.iter().filter(|(head, _)| heads.contains(head)) {
            live.insert(*object);
            self.parts(*object, &mut parts)?;
        }
        live.extend(named.iter().filter(|(head, _)| parts.contains(head)).map(|(_, object)| *object));

        // A base is older than the objects that are based on it, so one pass from the newest to the oldest object finds all
        // bases.
        let mut all = self.connection.prepare("SELECT id,base FROM object ORDER BY id DESC")?;
        let mut dead = Vec::new();
        let mut objects = all.query([])?;
        while let Some(row) = objects.next()? {
            let (id, base): (i64, Option<i64>) = (row.get(0)?, row.get(1)?);
            if live.contains(&id) {
                live.extend(base);
            } else {
                dead.push(id);
            }
        }
        drop(objects);
        let dead_ids: HashSet<_> = dead.iter().copied().collect();
        for (head, object) in named.into_iter().filter(|(_, object)| dead_ids.contains(object)) {
            self.connection.prepare_cached("DELETE FROM name WHERE head=? AND object=?")?.execute([head, object])?;
        }
        for id in &dead {
            self.connection.prepare_cached("DELETE FROM object WHERE id=?")?.execute([id])?;
        }
        Ok(dead.len() as u64)
    }

    /// The heads of all digests that records name.
    fn named_heads(&self) -> Result<HashSet<i64>, Trouble> {
        let mut heads = HashSet::new();
        rows::each(&self.connection, |run, sequence, row| {
            let names = crate::envelope::names(row?);
            let names =
                names.map_err(|reason| Trouble::Damaged(format!("record {sequence} of run {run}: {reason}")))?;
            heads.extend(names.iter().map(head_of));
            Ok(())
        })?;
        Ok(heads)
    }

    /// Adds the heads of the parts of a manifest.
    fn parts(&self, object: i64, heads: &mut HashSet<i64>) -> Result<(), Trouble> {
        if stored::is_manifest(&self.connection, object)?
            && let Found::Whole(object) = stored::read(&self.connection, object, &AtomicU64::new(0))?
        {
            heads.extend(object.parts().iter().map(head_of));
        }
        Ok(())
    }
}
