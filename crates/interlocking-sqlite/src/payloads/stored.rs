//! Reads payloads from the tables `object` and `name`, and checks their bytes against their digests.

use crate::failure::Trouble;
use crate::payloads::chain::{Assembly, MOST};
use crate::payloads::digest::{digest_of, head_of};
use crate::payloads::packed::unpack;
use crate::payloads::parts::Manifest;
use crate::payloads::splice::Splice;
use interlocking_runtime::journal::{Digest, Encoded, JournalError};
use rusqlite::{Connection, OptionalExtension};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// A bit of the column `form`: the object's bytes are compressed.
pub(crate) const DEFLATED: i64 = 1;
/// A bit of the column `form`: the object is the manifest of a payload in parts.
pub(crate) const MANIFEST: i64 = 2;

/// A payload's object, and the length of its chain of splices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    /// The object's id.
    pub(crate) id: i64,
    /// The number of splices in the chain.
    pub(crate) depth: u32,
    /// The total size of those splices, in bytes.
    pub(crate) cost: usize,
}

/// A payload that may serve as the base of a later, similar one.
#[derive(Clone, Debug)]
pub(crate) struct Base {
    pub(crate) standing: Standing,
    pub(crate) text: Encoded,
}

/// The ids of the objects whose digests start with the same bytes as `digest`.
pub(crate) fn named(connection: &Connection, digest: &Digest) -> Result<Vec<i64>, Trouble> {
    let mut statement = connection.prepare_cached("SELECT object FROM name WHERE head=?")?;
    let ids = statement.query_map([head_of(digest)], |row| row.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// Reads a payload by its digest. `what` says in errors who names the payload. `reads` counts the objects that are read, a chain
/// as one.
pub(crate) fn fetch(
    connection: &Connection,
    digest: &Digest,
    place: &str,
    what: &str,
    reads: &AtomicU64,
) -> Result<Base, Trouble> {
    let (mut changed, mut is_broken) = (None, false);
    for id in named(connection, digest)? {
        match read(connection, id, reads)? {
            Found::Whole(object) => match object.text(connection, reads)? {
                Some(text) => {
                    let found = digest_of(&text);
                    if found == *digest {
                        return Ok(Base { standing: object.standing, text });
                    }
                    changed = Some(found);
                }
                None => is_broken = true,
            },
            Found::Broken => is_broken = true,
            Found::Missing => {}
        }
    }
    let (place, digest) = (place.to_owned(), *digest);
    match changed {
        Some(found) => Err(JournalError::PayloadTampered { place, digest, found }.into()),
        None if is_broken => {
            Err(Trouble::Damaged(format!("the object of payload {digest}, which {what} names, was changed")))
        }
        None => Err(JournalError::PayloadMissing { place, digest, what: what.to_owned() }.into()),
    }
}

/// The manifest of a payload that is stored in parts; `None` for other payloads.
pub(crate) fn manifest(
    connection: &Connection,
    digest: &Digest,
    reads: &AtomicU64,
) -> Result<Option<Manifest>, Trouble> {
    for id in named(connection, digest)? {
        if let Found::Whole(object) = read(connection, id, reads)?
            && object.is_manifest
            && let Ok(manifest) = serde_json::from_slice(&object.bytes)
        {
            return Ok(Some(manifest));
        }
    }
    Ok(None)
}

/// The result of reading an object by its id.
pub(crate) enum Found {
    /// The object.
    Whole(Object),
    /// The object, or one that it is based on, cannot be decoded.
    Broken,
    /// The object, or one that it is based on, is missing.
    Missing,
}

/// An object, rebuilt from its splices.
pub(crate) struct Object {
    pub(crate) standing: Standing,
    pub(crate) is_manifest: bool,
    pub(crate) bytes: Vec<u8>,
}

impl Object {
    /// The digests of the parts, where this is a manifest; otherwise empty.
    pub(crate) fn parts(&self) -> Vec<Digest> {
        let manifest = self.is_manifest.then(|| serde_json::from_slice::<Manifest>(&self.bytes));
        let manifest = manifest.and_then(Result::ok);
        manifest.into_iter().flat_map(|manifest| manifest.parts).map(|joint| joint.part.sha256).collect()
    }

    /// The payload's text; of a manifest, the joined text of its parts. `None` where the bytes are not valid.
    pub(crate) fn text(&self, connection: &Connection, reads: &AtomicU64) -> Result<Option<Encoded>, Trouble> {
        if !self.is_manifest {
            return Ok(std::str::from_utf8(&self.bytes).ok().map(Encoded::from));
        }
        let Ok(manifest) = serde_json::from_slice::<Manifest>(&self.bytes) else { return Ok(None) };
        let (mut texts, mut length) = (HashMap::new(), 0);
        for joint in &manifest.parts {
            if texts.contains_key(&joint.part.sha256) {
                continue;
            }
            for id in named(connection, &joint.part.sha256)? {
                if let Found::Whole(Self { is_manifest: false, bytes, .. }) = read(connection, id, reads)?
                    && let Ok(text) = String::from_utf8(bytes)
                    && digest_of(&text) == joint.part.sha256
                {
                    // Apart from the braces around them, distinct parts are together no longer than the payload.
                    if length > 2 * MOST {
                        return Ok(None);
                    }
                    length += text.len();
                    texts.insert(joint.part.sha256, Encoded::from(text));
                }
            }
        }
        Ok(manifest.join(MOST, |digest| texts.get(digest).cloned()).map(Encoded::from))
    }
}

/// Reads an object: first the splices of its chain, each once, then the object at the end, which is stored whole.
pub(crate) fn read(connection: &Connection, id: i64, reads: &AtomicU64) -> Result<Found, Trouble> {
    reads.fetch_add(1, Ordering::Relaxed);
    let mut statement = connection.prepare_cached("SELECT base,form,body FROM object WHERE id=?")?;
    let (mut at, mut depth, mut cost, mut is_manifest) = (id, 0, 0, false);
    let mut assembly: Option<Assembly> = None;
    loop {
        let row = statement.query_row([at], |row| {
            let body = row.get_ref(2)?.as_blob()?.to_vec();
            Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, i64>(1)?, body))
        });
        let Some((base, form, body)) = row.optional()? else { return Ok(Found::Missing) };
        let Some(body) = unpack(Cow::Borrowed(&body), form & DEFLATED != 0) else { return Ok(Found::Broken) };
        if depth == 0 {
            is_manifest = form & MANIFEST != 0;
        }
        match base {
            None => {
                let bytes = match assembly {
                    None => body.into_owned(),
                    Some(mut assembly) => match assembly.complete(&body) {
                        Some(()) => assembly.into_bytes(),
                        None => return Ok(Found::Broken),
                    },
                };
                let standing = Standing { id, depth, cost };
                return Ok(Found::Whole(Object { standing, is_manifest, bytes }));
            }
            // A base is older than the objects that are based on it, so its id is lower. This rules out cycles.
            Some(base) if base < at => {
                let Some((segments, literals)) = Splice::decode(&body) else { return Ok(Found::Broken) };
                let done = match &mut assembly {
                    None => Assembly::of(&segments, literals).map(|begun| assembly = Some(begun)),
                    Some(assembly) => assembly.splice(&segments, literals),
                };
                if done.is_none() {
                    return Ok(Found::Broken);
                }
                (at, depth, cost) = (base, depth + 1, cost + body.len());
            }
            Some(_) => return Ok(Found::Broken),
        }
    }
}

/// Whether an object is the manifest of a payload in parts.
pub(crate) fn is_manifest(connection: &Connection, id: i64) -> Result<bool, Trouble> {
    let mut statement = connection.prepare_cached("SELECT form FROM object WHERE id=?")?;
    Ok(statement.query_row([id], |row| row.get::<_, i64>(0)).optional()?.is_some_and(|form| form & MANIFEST != 0))
}
