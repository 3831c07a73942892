//! An object's bytes as they are stored: deflated where that is shorter.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use std::borrow::Cow;

/// Shorter bytes gain nothing.
const LEAST: usize = 96;
/// Longer ones would hold up the transaction that writes them, and all runs with it.
const MOST: usize = 64 * 1024;

/// The quickest that counts how often each byte comes.
const LEVEL: u32 = 2;

/// Deflates; kept, because it is large to make.
#[derive(Debug)]
pub(crate) struct Packer {
    compress: Compress,
    packed: Vec<u8>,
}

impl Packer {
    /// One that is ready.
    pub(crate) fn new() -> Self {
        Self { compress: Compress::new(Compression::new(LEVEL), false), packed: Vec::new() }
    }

    /// `bytes` in fewer bytes, if there is a way.
    pub(crate) fn pack(&mut self, bytes: &[u8]) -> Option<&[u8]> {
        if !(LEAST..=MOST).contains(&bytes.len()) {
            return None;
        }
        self.compress.reset();
        // Room for the worst: a stream that is left unfinished cannot be begun again.
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

/// The bytes that were packed. `None` where they were not.
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
