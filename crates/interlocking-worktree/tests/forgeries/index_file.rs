//! Writing an index byte by byte: gitformat-index(5).

use std::{os::unix::fs::MetadataExt as _, path::Path};

/// One entry of an index.
pub(crate) struct Entry {
    pub(crate) path: Vec<u8>,
    pub(crate) mode: u32,
    pub(crate) id: [u8; 20],
    pub(crate) stage: u16,
    /// The stat data of the file, so that the entry seems unchanged.
    pub(crate) stat: [u32; 9],
}

/// Encodes an index that git can read: version 2, with these extensions after the entries.
pub(crate) fn encode(entries: &[Entry], extensions: &[(&[u8; 4], Vec<u8>)]) -> Vec<u8> {
    let mut index = [b"DIRC".as_slice(), &2_u32.to_be_bytes(), &(entries.len() as u32).to_be_bytes()].concat();
    for entry in entries {
        let begin = index.len();
        let [ctime, ctime_nsec, mtime, mtime_nsec, dev, ino, uid, gid, size] = entry.stat;
        for number in [ctime, ctime_nsec, mtime, mtime_nsec, dev, ino, entry.mode, uid, gid, size] {
            index.extend(number.to_be_bytes());
        }
        index.extend(entry.id);
        let flags = entry.stage << 12 | entry.path.len().min(0xfff) as u16;
        index.extend(flags.to_be_bytes());
        index.extend(&entry.path);
        // At least one NUL byte, up to a multiple of eight bytes.
        index.resize(begin + (index.len() - begin) / 8 * 8 + 8, 0);
    }
    for (name, data) in extensions {
        index.extend(*name);
        index.extend((data.len() as u32).to_be_bytes());
        index.extend(data);
    }
    // Git does not verify a checksum of zeros.
    index.extend([0; 20]);
    index
}

/// The stat data with which a file seems to be what an entry says.
pub(crate) fn stat(file: &Path) -> [u32; 9] {
    let Ok(found) = std::fs::symlink_metadata(file) else { return [0; 9] };
    [
        found.ctime() as u32,
        found.ctime_nsec() as u32,
        found.mtime() as u32,
        found.mtime_nsec() as u32,
        found.dev() as u32,
        found.ino() as u32,
        found.uid(),
        found.gid(),
        found.size() as u32,
    ]
}
