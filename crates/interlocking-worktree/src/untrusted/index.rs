//! The index, decoded entry by entry from its bytes.
//!
//! gix can decode an index too, but says that its users "must validate" the paths. And it trusts extensions: a cached
//! tree of many levels exhausts its stack. Here extensions are not trusted and not even decoded, and an entry that git
//! would not write makes the whole index invalid: see gitformat-index(5).

use std::{path::Path, sync::Arc, time::SystemTime};

use gix::{
    ObjectId,
    bstr::{BStr, ByteSlice as _},
    index::{
        State,
        entry::{Flags, Mode, Stat, stat::Time},
    },
};

use crate::{
    untrusted::{
        Limits, Refused,
        file::{self, Contents, Kind},
        known_index::{self, KnownIndex},
        path,
    },
    values::git_error::GitError,
};

/// The bytes before the first entry.
const HEADER: usize = 12;
/// The bytes of an entry before its flags and its path, with a SHA-1 id.
const NUMBERS: usize = 40;

/// An index, and when its file was written.
pub(crate) struct Found {
    pub(crate) index: Arc<KnownIndex>,
    pub(crate) written: SystemTime,
}

/// Reads an index; none if it does not exist. Every entry was checked.
pub(crate) fn read(git: &gix::Repository, path: &Path) -> Result<Option<Found>, GitError> {
    let (hash, limits) = (git.object_hash(), Limits::of(git));
    let Some(Contents { bytes, modified }) = file::read(path, Kind::Index(limits))? else { return Ok(None) };
    if let Some(index) = known_index::find(path, &bytes, hash, limits) {
        return Ok(Some(Found { index, written: modified }));
    }
    let (state, for_gix) = decode(&bytes, hash, limits).map_err(|problem| refused(path, problem))?;
    let index = Arc::new(KnownIndex::read(bytes, limits, state, for_gix));
    known_index::keep(path, &index);
    Ok(Some(Found { index, written: modified }))
}

/// Checks an index that gix will read by itself, as for the attributes in a merge: that reading it does not take more
/// than it should. The contents of its entries are not checked, because gix only searches for names in it.
pub(crate) fn check_for_gix(git: &gix::Repository) -> Result<(), GitError> {
    let (path, limits) = (git.index_path(), Limits::of(git));
    let Some(contents) = file::read(&path, Kind::Index(limits))? else { return Ok(()) };
    if let Some(known) = known_index::find(&path, &contents.bytes, git.object_hash(), limits) {
        return known.for_gix.clone().map_err(|problem| refused(&path, problem));
    }
    let mut entries =
        Entries::of(&contents.bytes, git.object_hash(), limits).map_err(|problem| refused(&path, problem))?;
    while let Some(entry) = entries.next() {
        entry.map_err(|problem| refused(&path, problem))?;
    }
    entries.check_extensions().map_err(|problem| refused(&path, problem))
}

/// Whether these bytes are a complete index, by the checksum at the end.
pub(crate) fn is_whole(bytes: &[u8], hash: gix::hash::Kind, limits: Limits) -> bool {
    let Some(end) = bytes.len().checked_sub(hash.len_in_bytes()) else { return false };
    let mut hasher = gix::hash::hasher(hash);
    hasher.update(&bytes[..end]);
    hasher.try_finalize().is_ok_and(|sum| sum.as_slice() == &bytes[end..]) && decode(bytes, hash, limits).is_ok()
}

fn refused(path: &Path, problem: String) -> GitError {
    GitError::refused(format!("reading {}", path.display()), Refused::Index { path: path.to_owned(), problem })
}

/// An index, and what would be wrong with it if gix reads it by itself.
type Decoded = (State, Result<(), String>);

/// Decodes all entries, and checks each by itself and in its order.
pub(super) fn decode(bytes: &[u8], hash: gix::hash::Kind, limits: Limits) -> Result<Decoded, String> {
    let mut entries = Entries::of(bytes, hash, limits)?;
    let mut index = State::new(hash);
    let mut previous = None;
    while let Some(entry) = entries.next() {
        let (entry, path) = entry?;
        let name = || format!("the entry {:?}", path.to_str_lossy());
        let mode = match entry.mode {
            0o100_644 => Mode::FILE,
            0o100_755 => Mode::FILE_EXECUTABLE,
            0o120_000 => Mode::SYMLINK,
            0o160_000 => Mode::COMMIT,
            0o40_000 => return Err(format!("{} is a sparse directory, which is not supported", name())),
            mode => return Err(format!("{} has the mode {mode:o}", name())),
        };
        let common = previous.map_or(0, |number: usize| common(index.entry(number).path(&index), path));
        path::check_beyond(path, common, mode == Mode::SYMLINK).map_err(|problem| format!("{}: {problem}", name()))?;
        if entry.id.is_null() && !entry.flags.contains(Flags::INTENT_TO_ADD) {
            return Err(format!("{} has no contents", name()));
        }
        check_order(&index, previous, common, path, &entry).map_err(|problem| format!("{} {problem}", name()))?;
        previous = Some(index.entries().len());
        index.dangerously_push_entry(entry.stat, entry.id, entry.flags, mode, path);
    }
    entries.end()?;
    Ok((index, entries.check_extensions()))
}

/// Checks that an entry may follow those in `index`. Its path has the first `common` bytes in common with the previous
/// entry's.
fn check_order(
    index: &State,
    previous: Option<usize>,
    common: usize,
    path: &BStr,
    entry: &Entry,
) -> Result<(), &'static str> {
    let stage = |flags: Flags| flags & Flags::STAGE_MASK;
    let previous = previous.map(|number| (number, &index.entries()[number]));
    let Some((count, before)) = previous.map(|(number, entry)| (number + 1, entry)) else { return Ok(()) };
    let before_path = before.path(index);
    match before_path[common..].cmp(&path[common..]) {
        std::cmp::Ordering::Greater => return Err("is not in order"),
        std::cmp::Ordering::Equal if stage(before.flags).bits() >= stage(entry.flags).bits() => {
            return Err("is there twice");
        }
        std::cmp::Ordering::Equal if stage(before.flags).is_empty() => return Err("is merged and not merged"),
        _ => {}
    }
    // A file cannot also be a directory, except in an unresolved merge.
    if !stage(entry.flags).is_empty() {
        return Ok(());
    }
    // Directories in common with the previous entry were checked with it.
    for end in path[common..].find_iter(b"/") {
        let directory = path[..common + end].as_bstr();
        let found = index.entries()[..count]
            .binary_search_by(|entry| entry.path(index).cmp(directory).then_with(|| stage(entry.flags).bits().cmp(&0)));
        if found.is_ok() {
            return Err("lies below a file");
        }
    }
    Ok(())
}

/// The length of the common prefix of two paths.
fn common(one: &BStr, other: &BStr) -> usize {
    one.iter().zip(other.iter()).take_while(|(one, other)| one == other).count()
}

/// An entry without its path.
struct Entry {
    stat: Stat,
    mode: u32,
    id: ObjectId,
    flags: Flags,
}

/// The entries of an index, one after the other.
struct Entries<'a> {
    bytes: &'a [u8],
    at: usize,
    left: u32,
    version: u32,
    hash: gix::hash::Kind,
    /// The path of the last entry; in version 4 the next path shares its beginning.
    path: Vec<u8>,
    /// How many bytes the remaining paths may have together.
    room: u64,
}

impl<'a> Entries<'a> {
    fn of(bytes: &'a [u8], hash: gix::hash::Kind, limits: Limits) -> Result<Self, String> {
        let header =
            bytes.get(..HEADER).filter(|header| header.starts_with(b"DIRC")).ok_or("it does not begin as one")?;
        let number = |at: usize| u32::from_be_bytes(header[at..at + 4].try_into().unwrap_or_default());
        let (version, left) = (number(4), number(8));
        if !(2..=4).contains(&version) {
            return Err(format!("it has the version {version}, not 2, 3 or 4"));
        }
        Ok(Self { bytes, at: HEADER, left, version, hash, path: Vec::new(), room: limits.index })
    }

    /// Not an iterator: each path is valid until the next call.
    fn next(&mut self) -> Option<Result<(Entry, &BStr), String>> {
        self.left = self.left.checked_sub(1)?;
        Some(match self.one() {
            Some(Ok(entry)) => Ok((entry, self.path.as_bstr())),
            Some(Err(problem)) => Err(problem),
            None => Err("it is cut short".to_owned()),
        })
    }

    fn one(&mut self) -> Option<Result<Entry, String>> {
        let begin = self.at;
        let numbers: &[u8] = self.take(NUMBERS)?;
        let number = |at: usize| u32::from_be_bytes(numbers[4 * at..4 * at + 4].try_into().unwrap_or_default());
        let stat = Stat {
            ctime: Time { secs: number(0), nsecs: number(1) },
            mtime: Time { secs: number(2), nsecs: number(3) },
            dev: number(4),
            ino: number(5),
            uid: number(7),
            gid: number(8),
            size: number(9),
        };
        let mode = number(6);
        let id = ObjectId::try_from(self.take(self.hash.len_in_bytes())?).ok()?;
        let low = u16::from_be_bytes(self.take(2)?.try_into().ok()?);
        // The length in the flags is ignored: the path ends at its NUL byte.
        let mut flags = Flags::from_bits_retain(u32::from(low) & !0xfff);
        if flags.contains(Flags::EXTENDED) {
            if self.version < 3 {
                return Some(Err("an entry has flags that its version has not".to_owned()));
            }
            let high = Flags::from_bits_retain(u32::from(u16::from_be_bytes(self.take(2)?.try_into().ok()?)) << 16);
            if !(Flags::INTENT_TO_ADD | Flags::SKIP_WORKTREE).contains(high) {
                return Some(Err("an entry has flags that git does not know".to_owned()));
            }
            flags |= high;
        }
        if self.version == 4 {
            let strip = self.variable_length()?;
            let kept = self.path.len().checked_sub(strip)?;
            self.path.truncate(kept);
        } else {
            self.path.clear();
        }
        let end = self.bytes.get(self.at..)?.find_byte(0)?;
        let rest = self.bytes.get(self.at..self.at + end)?;
        self.path.extend_from_slice(rest);
        self.at += end + 1;
        if self.version < 4 {
            // At least one NUL byte, and as many as make the entry's length a multiple of eight.
            self.at = begin + (self.at - begin).next_multiple_of(8);
        }
        let Some(room) = self.room.checked_sub(self.path.len() as u64) else {
            return Some(Err(format!("its paths have more than {} bytes in all (`Limits::index`)", self.room)));
        };
        self.room = room;
        Some(Ok(Entry { stat, mode, id, flags }))
    }

    /// Decodes git's variable-length number of bytes to remove from the last path: seven bits per byte, the most
    /// significant first.
    fn variable_length(&mut self) -> Option<usize> {
        let mut value = 0_usize;
        loop {
            let byte = self.take(1)?[0];
            value = value.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
            if byte & 0x80 == 0 {
                return Some(value);
            }
            value = value.checked_add(1)?;
        }
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        Some(taken)
    }

    /// Checks the extensions after the last entry: those that change the meaning of the entries are refused, and all
    /// others ignored.
    fn end(&self) -> Result<(), String> {
        self.extensions(|name, _| match name {
            b"link" => Err("it is split; join it with `git update-index --no-split-index`".to_owned()),
            b"sdir" => Err("it is sparse; make it whole with `git sparse-checkout disable`".to_owned()),
            // Git too ignores unknown extensions whose name begins with a capital letter.
            [first, ..] if first.is_ascii_uppercase() => Ok(()),
            _ => Err(format!("it has an extension {:?}, without which it cannot be understood", name.to_str_lossy())),
        })
    }

    /// Like [`end`](Self::end), for an index that gix will read, which recurses into the extension of cached trees.
    fn check_extensions(&self) -> Result<(), String> {
        self.end()?;
        self.extensions(|name, data| match name {
            b"TREE" => check_cached_trees(data, self.hash),
            _ => Ok(()),
        })
    }

    fn extensions(&self, mut each: impl FnMut(&[u8; 4], &[u8]) -> Result<(), String>) -> Result<(), String> {
        const CUT: &str = "it is cut short";
        let end = self.bytes.len().checked_sub(self.hash.len_in_bytes()).ok_or(CUT)?;
        let mut rest = self.bytes.get(self.at..end).ok_or(CUT)?;
        while let Some((name, after)) = rest.split_first_chunk::<4>() {
            let (length, after) = after.split_first_chunk::<4>().ok_or(CUT)?;
            let (data, after) = after.split_at_checked(u32::from_be_bytes(*length) as usize).ok_or(CUT)?;
            each(name, data)?;
            rest = after;
        }
        if rest.is_empty() { Ok(()) } else { Err(CUT.to_owned()) }
    }
}

/// Checks how deep the cached trees are nested.
fn check_cached_trees(mut data: &[u8], hash: gix::hash::Kind) -> Result<(), String> {
    /// Each directory takes at least two bytes of a path.
    const DEEPEST: usize = path::LONGEST / 2;
    let unreadable = || "its cached trees cannot be read".to_owned();
    // For each open directory, how many subdirectories are still to come.
    let mut open: Vec<usize> = Vec::new();
    while !data.is_empty() {
        let (_, after) = data.split_once_str("\0").ok_or_else(unreadable)?;
        let (numbers, after) = after.split_once_str("\n").ok_or_else(unreadable)?;
        let (entries, trees) = numbers.split_once_str(" ").ok_or_else(unreadable)?;
        let trees = trees.to_str().ok().and_then(|trees| trees.parse().ok()).ok_or_else(unreadable)?;
        let id = if entries.starts_with(b"-") { 0 } else { hash.len_in_bytes() };
        data = after.get(id..).ok_or_else(unreadable)?;
        open.push(trees);
        if open.len() > DEEPEST {
            return Err("its cached trees are too deep".to_owned());
        }
        while let Some(0) = open.last() {
            open.pop();
            if let Some(last) = open.last_mut() {
                *last -= 1;
            }
        }
        if open.is_empty() {
            break;
        }
    }
    Ok(())
}
