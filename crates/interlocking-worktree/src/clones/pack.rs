//! Writing a pack: many objects in one file, with its index.
//!
//! gix writes packs only from a network stream. This writer stores every object whole, without deltas, because a
//! checkout reads the pack once and later reads are few; <https://git-scm.com/docs/pack-format> has the format.

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::Path,
};

use gix::{
    ObjectId,
    odb::pack::data::{Version, entry::Header, header},
    zlib::{
        Compression, Status,
        stream::deflate::{Compress, FlushCompress},
    },
};

use crate::{
    untrusted::file,
    values::git_error::{Doing as _, GitError},
};

/// The signature of a version 2 index.
const INDEX_SIGNATURE: [u8; 4] = [0xff, b't', b'O', b'c'];
/// Offsets from here on are stored in a second table.
const LARGE_OFFSET: u64 = 0x8000_0000;

/// An object in the pack.
struct Entry {
    id: ObjectId,
    checksum: u32,
    offset: u64,
}

/// A pack that is being written. Git reads it only once its index exists.
pub(crate) struct PackWriter {
    out: BufWriter<File>,
    hasher: gix::hash::Hasher,
    compress: Compress,
    buffer: Vec<u8>,
    entries: Vec<Entry>,
    offset: u64,
    expected: u32,
}

impl PackWriter {
    /// Creates the file of a pack to which `count` objects will be added.
    pub(crate) fn create(file: &Path, count: usize) -> Result<Self, GitError> {
        let doing = || format!("writing {}", file.display());
        let expected = u32::try_from(count).map_err(|_| GitError::new(doing(), "too many objects for one pack"))?;
        let mut writer = Self {
            out: BufWriter::with_capacity(256 * 1024, file::create_new(file).doing(doing)?),
            hasher: gix::hash::hasher(gix::hash::Kind::Sha1),
            compress: Compress::new(Compression::BEST_SPEED),
            buffer: Vec::new(),
            entries: Vec::with_capacity(count),
            offset: 0,
            expected,
        };
        writer.put(&header::encode(Version::V2, expected)).doing(doing)?;
        Ok(writer)
    }

    pub(crate) fn add(&mut self, id: ObjectId, kind: gix::objs::Kind, data: &[u8]) -> Result<(), GitError> {
        let doing = || format!("packing {id}");
        let header = match kind {
            gix::objs::Kind::Blob => Header::Blob,
            gix::objs::Kind::Tree => Header::Tree,
            gix::objs::Kind::Commit => Header::Commit,
            gix::objs::Kind::Tag => Header::Tag,
        };
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        header.write_to(data.len() as u64, &mut buffer).doing(doing)?;
        deflate(&mut self.compress, data, &mut buffer).doing(doing)?;
        self.entries.push(Entry { id, checksum: crc32fast::hash(&buffer), offset: self.offset });
        let put = self.put(&buffer).doing(doing);
        self.buffer = buffer;
        put
    }

    /// Completes the pack and writes its index.
    pub(crate) fn finish(mut self, index: &Path) -> Result<(), GitError> {
        let doing = || format!("writing {}", index.display());
        debug_assert_eq!(self.entries.len(), self.expected as usize, "the header says how many there are");
        let pack_hash = self.hasher.try_finalize().doing(doing)?;
        self.out.write_all(pack_hash.as_slice()).doing(doing)?;
        self.out.flush().doing(doing)?;
        self.entries.sort_unstable_by_key(|entry| entry.id);
        let mut bytes = encode_index(&self.entries);
        bytes.extend_from_slice(pack_hash.as_slice());
        let mut hasher = gix::hash::hasher(gix::hash::Kind::Sha1);
        hasher.update(&bytes);
        bytes.extend_from_slice(hasher.try_finalize().doing(doing)?.as_slice());
        file::write_anew(index, bytes).doing(doing)
    }

    fn put(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.hasher.update(bytes);
        self.offset += bytes.len() as u64;
        self.out.write_all(bytes)
    }
}

/// The index without the two hashes at its end; `entries` are ordered by id.
fn encode_index(entries: &[Entry]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(1072 + entries.len() * 28);
    bytes.extend_from_slice(&INDEX_SIGNATURE);
    bytes.extend_from_slice(&2u32.to_be_bytes());
    // For each first byte, how many ids begin with it or a lower one.
    let mut begun = 0;
    for first in 0..=u8::MAX {
        begun += entries[begun..].iter().take_while(|entry| entry.id.first_byte() == first).count();
        bytes.extend_from_slice(&(begun as u32).to_be_bytes());
    }
    for entry in entries {
        bytes.extend_from_slice(entry.id.as_slice());
    }
    for entry in entries {
        bytes.extend_from_slice(&entry.checksum.to_be_bytes());
    }
    let mut large = Vec::new();
    for entry in entries {
        let offset = match u32::try_from(entry.offset) {
            Ok(offset) if entry.offset < LARGE_OFFSET => offset,
            _ => {
                large.push(entry.offset);
                LARGE_OFFSET as u32 | (large.len() - 1) as u32
            }
        };
        bytes.extend_from_slice(&offset.to_be_bytes());
    }
    for offset in large {
        bytes.extend_from_slice(&offset.to_be_bytes());
    }
    bytes
}

fn deflate(compress: &mut Compress, data: &[u8], out: &mut Vec<u8>) -> gix::Result<()> {
    compress.reset();
    let mut written = out.len();
    // Usually enough even for data that does not compress.
    out.resize(written + data.len() + data.len() / 1000 + 64, 0);
    loop {
        let (read_before, written_before) = (compress.total_in(), compress.total_out());
        let input = &data[read_before as usize..];
        let status = compress.compress(input, &mut out[written..], FlushCompress::Finish)?;
        written += (compress.total_out() - written_before) as usize;
        if status == Status::StreamEnd {
            out.truncate(written);
            return Ok(());
        }
        out.resize(written + data.len() / 2 + 64, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_of_more_than_31_bits_stands_in_the_second_table() {
        let entry = |byte: u8, offset| Entry { id: ObjectId::from_bytes_or_panic(&[byte; 20]), checksum: 7, offset };
        let bytes = encode_index(&[entry(0, 12), entry(3, LARGE_OFFSET), entry(3, LARGE_OFFSET + 9)]);
        let tables = 8 + 256 * 4;
        let offsets = tables + 3 * 20 + 3 * 4;
        let word = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!([word(8), word(8 + 2 * 4), word(8 + 3 * 4), word(8 + 255 * 4)], [1, 1, 3, 3]);
        assert_eq!([word(offsets), word(offsets + 4), word(offsets + 8)], [12, 0x8000_0000, 0x8000_0001]);
        assert_eq!(bytes[offsets + 12..], [LARGE_OFFSET.to_be_bytes(), (LARGE_OFFSET + 9).to_be_bytes()].concat());
    }

    #[test]
    fn what_does_not_get_smaller_is_packed_too() {
        let mut state = 1u64;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        })
        .take(300_000)
        .collect();
        let mut compress = Compress::new(Compression::BEST_SPEED);
        for data in [&noise[..], b"", b"short"] {
            let mut out = b"before".to_vec();
            deflate(&mut compress, data, &mut out).unwrap();
            let mut inflate = gix::zlib::Decompress::new();
            let mut back = vec![0; data.len() + 1];
            let status = inflate.decompress(&out[6..], &mut back, gix::zlib::FlushDecompress::Finish).unwrap();
            assert_eq!(status, Status::StreamEnd);
            assert_eq!(&back[..data.len()], data);
        }
    }
}
