//! Writes each payload once to the tables `object` and `name`.

use crate::failure::Trouble;
use crate::payloads::digest::head_of;
use crate::payloads::packed::Packer;
use crate::payloads::splice::Splice;
use crate::payloads::stored::{Base, DEFLATED, Found, MANIFEST, Standing, named, read};
use interlocking_runtime::journal::Digest;
use rusqlite::{Connection, params};
use std::collections::HashMap;
use std::sync::atomic::AtomicU64;

/// A payload is stored whole, and so starts a new chain, where its chain would have more than this many splices and they would be
/// longer than twice the payload. By then writing it whole costs no more than the chain has saved, and a state that only grows is
/// never written whole again.
const LONG: u32 = 32;
/// The maximum number of payloads whose objects are cached.
const KNOWN: usize = 1 << 16;

/// Writes payloads.
#[derive(Debug)]
pub(crate) struct Objects {
    packer: Packer,
    /// A cache of payloads that are stored.
    known: HashMap<Digest, Standing>,
    /// How many objects were written.
    pub(crate) written: u64,
}

impl Objects {
    pub(crate) fn new() -> Self {
        Self { packer: Packer::new(), known: HashMap::new(), written: 0 }
    }

    /// Clears the cache: its objects may have been rolled back or removed.
    pub(crate) fn forget(&mut self) {
        self.known.clear();
    }

    /// Writes a payload that is not stored yet (V3-147): as a splice of one of `bases` where that is shorter, otherwise whole.
    pub(crate) fn put(
        &mut self,
        connection: &Connection,
        digest: &Digest,
        text: &str,
        bases: &[&Base],
        is_manifest: bool,
    ) -> Result<Standing, Trouble> {
        if let Some(standing) = self.find(connection, digest, text)? {
            return Ok(standing);
        }
        let best = bases.iter().map(|base| (base, Splice::between(base.text.as_bytes(), text.as_bytes()).encode()));
        let best = best.min_by_key(|(_, splice)| splice.len());
        let best = best.filter(|(base, splice)| {
            let is_long = base.standing.depth >= LONG && base.standing.cost + splice.len() > 2 * text.len();
            !is_long && splice.len() * 4 < text.len() * 3
        });
        let (base, body, depth, cost) = match &best {
            Some((base, splice)) => {
                let Standing { id, depth, cost } = base.standing;
                (Some(id), &splice[..], depth + 1, cost + splice.len())
            }
            None => (None, text.as_bytes(), 0, 0),
        };
        let (deflated, body) = match self.packer.pack(body) {
            Some(packed) => (DEFLATED, packed),
            None => (0, body),
        };
        let form = deflated | if is_manifest { MANIFEST } else { 0 };
        connection
            .prepare_cached("INSERT INTO object(base,form,body)VALUES(?,?,?)")?
            .execute(params![base, form, body])?;
        let standing = Standing { id: connection.last_insert_rowid(), depth, cost };
        connection
            .prepare_cached("INSERT INTO name(head,object)VALUES(?,?)")?
            .execute(params![head_of(digest), standing.id])?;
        self.written += 1;
        self.know(digest, standing);
        Ok(standing)
    }

    fn know(&mut self, digest: &Digest, standing: Standing) {
        if self.known.len() >= KNOWN {
            self.known.clear();
        }
        self.known.insert(*digest, standing);
    }

    fn find(&mut self, connection: &Connection, digest: &Digest, text: &str) -> Result<Option<Standing>, Trouble> {
        if let Some(&standing) = self.known.get(digest) {
            return Ok(Some(standing));
        }
        for id in named(connection, digest)? {
            // The bytes are compared, because the table has only the first bytes of each digest.
            if let Found::Whole(object) = read(connection, id, &AtomicU64::new(0))?
                && object.text(connection, &AtomicU64::new(0))?.is_some_and(|found| *found == *text)
            {
                self.know(digest, object.standing);
                return Ok(Some(object.standing));
            }
        }
        Ok(None)
    }
}
