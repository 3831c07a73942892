//! Compresses an object's bytes with deflate where that is shorter.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use std::borrow::Cow;

/// Shorter bytes are not compressed: they would not become shorter.
const LEAST: usize = 96;
/// Longer bytes are not compressed: that would delay the transaction, and with it all runs.
const MOST: usize = 64 * 1024;

/// The fastest level that uses byte frequencies.
const LEVEL: u32 = 2;

/// A compressor. It is reused, because it is large and so slow to create.
#[derive(Debug)]
pub(crate) struct Packer {
    compress: Compress,
    packed: Vec<u8>,
}

impl Packer {
    /// A new compressor.
    pub(crate) fn new() -> Self {
        Self { compress: Compress::new(Compression::new(LEVEL), false), packed: Vec::new() }
    }

    /// The compressed bytes. `None` where they would not be shorter, or `bytes` are too short or too long.
    pub(crate) fn pack(&mut self, bytes: &[u8]) -> Option<&[u8]> {
        if !(LEAST..=MOST).contains(&bytes.len()) {
            return None;
        }
        self.compress.reset();
        // Enough room for incompressible bytes: a stream that is left unfinished cannot be restarted.
        self.packed.resize(bytes.len() + bytes.len() / 4 + 64, 0);
        let done = self.compress.compress(bytes, &mut self.packed, FlushCompress::Finish);
        let length = usize::try_from(self.compress.total_out()).ok()?;
        if !matches!(done, Ok(Status::StreamEnd)) {
            *self = Self::new();
            return None;
        }
        if length < bytes.len() { self.packed.get(..length) } else { None }
    }
}

/// The original bytes. `None` where `bytes` cannot be decompressed.
pub(crate) fn unpack(bytes: Cow<'_, [u8]>, deflated: bool) -> Option<Cow<'_, [u8]>> {
    if !deflated {
        return Some(bytes);
    }
    let mut decompress = Decompress::new(false);
    let mut unpacked = Vec::with_capacity((4 * bytes.len()).min(MOST));
    loop {
        let taken = usize::try_from(decompress.total_in()).ok()?;
        match decompress.decompress_vec(bytes.get(taken..)?, &mut unpacked, FlushDecompress::Finish) {
            Ok(Status::StreamEnd) => return Some(Cow::Owned(unpacked)),
            Ok(_) if unpacked.len() < MOST && unpacked.len() == unpacked.capacity() => {
                unpacked.reserve(unpacked.len().max(64))
            }
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_packed_is_unpacked(seed in proptest::collection::vec(any::<u8>(), 1..300), times in 1usize..400) {
            let bytes: Vec<u8> = seed.iter().copied().cycle().take(seed.len() * times).collect();
            if let Some(packed) = Packer::new().pack(&bytes) {
                prop_assert!(packed.len() < bytes.len());
                prop_assert_eq!(unpack(packed.into(), true).unwrap(), Cow::from(bytes));
            }
        }

        #[test]
        fn no_bytes_make_unpacking_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = unpack(bytes.into(), true);
        }
    }

    #[test]
    fn it_can_be_used_again_and_declines_what_does_not_shrink() {
        let mut packer = Packer::new();
        let text = "the same words, the same words, ".repeat(8);
        let once = packer.pack(text.as_bytes()).unwrap().to_vec();
        assert!(once.len() < 60);
        assert_eq!(packer.pack(text.as_bytes()), Some(&once[..]));
        let noise: Vec<u8> = (0..200u32).map(|index| (index.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        assert_eq!(packer.pack(&noise), None);
    }
}
