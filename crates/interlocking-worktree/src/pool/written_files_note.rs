//! The file format of [notes of written files](crate::pool::written_files).
//!
//! | bytes | contents |
//! |---|---|
//! | length of an object id | the tree |
//! | 4, and as many as they say | the configuration that decided how the files were written |
//! | 4 | the number of files |
//! | for each file: 4, 36, an id, 4 and as many as they say | mode, stat data, blob and path |
//!
//! Numbers are big-endian. This is not git's index format because gix asks the system for the number of processors
//! before it reads an index, which takes longer than reading a small one.

use gix::{
    ObjectId,
    bstr::{BStr, ByteSlice as _},
    index::{
        State,
        entry::{Flags, Mode, Stat, stat::Time},
    },
};

use crate::{pool::written_files::Pristine, untrusted};

/// Encodes a note.
pub(crate) fn encode(index: &State, tree: ObjectId, form: &BStr) -> Vec<u8> {
    let mut note = Vec::with_capacity(form.len() + index.entries().len() * 128 + 64);
    note.extend_from_slice(tree.as_slice());
    put(&mut note, form);
    note.extend_from_slice(&length(index.entries().len()));
    for entry in index.entries() {
        note.extend_from_slice(&entry.mode.bits().to_be_bytes());
        note.extend(numbers(&entry.stat).iter().flat_map(|number| number.to_be_bytes()));
        note.extend_from_slice(entry.id.as_slice());
        put(&mut note, entry.path(index));
    }
    note
}

/// The modes that an index made from a tree can have.
const MODES: [Mode; 4] = [Mode::FILE, Mode::FILE_EXECUTABLE, Mode::SYMLINK, Mode::COMMIT];

/// Decodes a note. None if it is truncated, or not of a valid tree.
pub(crate) fn decode(mut note: &[u8], hash: gix::hash::Kind) -> Option<Pristine> {
    let note = &mut note;
    let tree = id(note, hash)?;
    let form = take_text(note)?.into();
    let mut index = State::new(hash);
    for _ in 0..take_number(note)? {
        let mode = Mode::from_bits(take_number(note)?)?;
        let mut stat = [0; 9];
        for number in &mut stat {
            *number = take_number(note)?;
        }
        let id = id(note, hash)?;
        let path = take_text(note)?.as_bstr();
        untrusted::path::check(path, mode == Mode::SYMLINK).ok()?;
        let is_after = index.entries().last().is_none_or(|before| before.path(&index) < path);
        if !is_after || !MODES.contains(&mode) {
            return None;
        }
        index.dangerously_push_entry(stat_of(stat), id, Flags::empty(), mode, path);
    }
    note.is_empty().then_some(Pristine { index, tree, form })
}

fn numbers(stat: &Stat) -> [u32; 9] {
    let Stat { mtime, ctime, dev, ino, uid, gid, size } = *stat;
    [mtime.secs, mtime.nsecs, ctime.secs, ctime.nsecs, dev, ino, uid, gid, size]
}

fn stat_of([m_secs, m_nsecs, c_secs, c_nsecs, dev, ino, uid, gid, size]: [u32; 9]) -> Stat {
    let (mtime, ctime) = (Time { secs: m_secs, nsecs: m_nsecs }, Time { secs: c_secs, nsecs: c_nsecs });
    Stat { mtime, ctime, dev, ino, uid, gid, size }
}

/// An index is never so large that its numbers do not fit.
fn length(length: usize) -> [u8; 4] {
    u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes()
}

fn put(note: &mut Vec<u8>, text: &[u8]) {
    note.extend_from_slice(&length(text.len()));
    note.extend_from_slice(text);
}

fn take<'a>(note: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = note.split_at_checked(length)?;
    *note = rest;
    Some(taken)
}

fn take_number(note: &mut &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(take(note, 4)?.try_into().ok()?))
}

fn take_text<'a>(note: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = take_number(note)?;
    take(note, usize::try_from(length).ok()?)
}

fn id(note: &mut &[u8], hash: gix::hash::Kind) -> Option<ObjectId> {
    ObjectId::try_from(take(note, hash.len_in_bytes())?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_half_of_it_is_not() {
        let hash = gix::hash::Kind::Sha1;
        let tree = ObjectId::empty_tree(hash);
        let mut index = State::new(hash);
        let stat = stat_of([1, 2, 3, 4, 5, 6, 7, 8, u32::MAX]);
        index.dangerously_push_entry(stat, ObjectId::empty_blob(hash), Flags::empty(), Mode::FILE, "a\nb".into());
        index.dangerously_push_entry(Stat::default(), tree, Flags::empty(), Mode::SYMLINK, "c/d".into());
        let note = encode(&index, tree, "core.eol\n".into());
        let read = decode(&note, hash).unwrap();
        assert_eq!((read.tree, read.form.as_bstr()), (tree, "core.eol\n".into()));
        assert_eq!(read.index.entries(), index.entries());
        assert_eq!(read.index.path_backing(), index.path_backing());
        for length in 0..note.len() {
            assert!(decode(&note[..length], hash).is_none(), "{length} bytes of {}", note.len());
        }
        assert!(decode(&[note.as_slice(), b"x"].concat(), hash).is_none());
    }
}
