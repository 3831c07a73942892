//! Rebuilds a payload from a chain of splices, down to the payload at its end, which is stored whole.
//!
//! Only the bytes that the payload needs are followed through the chain: intermediate payloads are never built, and each splice
//! is read once.

use crate::payloads::splice::{Origin, Segment};

/// The maximum length of a payload: a longer one cannot have been stored, as SQLite's limit is a gigabyte.
pub(crate) const MOST: usize = 1 << 30;
/// The maximum number of pieces of a payload that a journal wrote: most pieces have at least the length of a block.
const MOST_PIECES: usize = 1 << 24;

/// A payload that is being rebuilt.
#[derive(Debug)]
pub(crate) struct Assembly {
    bytes: Vec<u8>,
    /// The pieces that are still missing. They are in the next object of the chain.
    wanted: Vec<Wanted>,
}

#[derive(Clone, Copy, Debug)]
struct Wanted {
    /// The offset in the payload.
    to: usize,
    /// The offset in the next object.
    from: usize,
    length: usize,
}

impl Assembly {
    /// Starts with the first splice of the chain. `None` where the payload would be too long.
    pub(crate) fn of(segments: &[Segment], literals: &[u8]) -> Option<Self> {
        let length = segments.last().map_or(0, |last| last.at + last.length);
        if length > MOST {
            return None;
        }
        let mut assembly = Self { bytes: vec![0; length], wanted: vec![Wanted { to: 0, from: 0, length }] };
        assembly.splice(segments, literals)?;
        Some(assembly)
    }

    /// Fills in the missing pieces that the next splice has as literals. Pieces of the splice's base are still missing after
    /// that. `None` where the object is too short, or has more pieces than a journal writes.
    pub(crate) fn splice(&mut self, segments: &[Segment], literals: &[u8]) -> Option<()> {
        let mut missing = Vec::with_capacity(self.wanted.len() + 1);
        for Wanted { mut to, mut from, mut length } in std::mem::take(&mut self.wanted) {
            let mut index = segments.partition_point(|segment| segment.at + segment.length <= from);
            while length > 0 {
                let segment = segments.get(index)?;
                let skipped = from - segment.at;
                let now = length.min(segment.length - skipped);
                match segment.from {
                    Origin::Literal(at) => {
                        let literal = literals.get(at + skipped..at + skipped + now)?;
                        self.bytes[to..to + now].copy_from_slice(literal);
                    }
                    Origin::Base(_) if missing.len() == MOST_PIECES => return None,
                    Origin::Base(at) => missing.push(Wanted { to, from: at + skipped, length: now }),
                }
                (to, from, length, index) = (to + now, from + now, length - now, index + 1);
            }
        }
        self.wanted = missing;
        Some(())
    }

    /// Fills in all missing pieces from a payload that is stored whole. `None` where that is too short.
    pub(crate) fn complete(&mut self, whole: &[u8]) -> Option<()> {
        for Wanted { to, from, length } in std::mem::take(&mut self.wanted) {
            self.bytes[to..to + length].copy_from_slice(whole.get(from..from.checked_add(length)?)?);
        }
        Some(())
    }

    /// The rebuilt payload.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payloads::splice::Splice;
    use proptest::prelude::*;

    /// The last of `versions`, rebuilt from the first one and the splices between neighbours.
    fn through(versions: &[Vec<u8>]) -> Option<Vec<u8>> {
        let splices: Vec<_> = versions.windows(2).map(|pair| Splice::between(&pair[0], &pair[1]).encode()).collect();
        let mut decoded = splices.iter().rev().map(|bytes| Splice::decode(bytes));
        let (segments, literals) = decoded.next()??;
        let mut assembly = Assembly::of(&segments, literals)?;
        for splice in decoded {
            let (segments, literals) = splice?;
            assembly.splice(&segments, literals)?;
        }
        assembly.complete(&versions[0])?;
        Some(assembly.into_bytes())
    }

    fn versions() -> impl Strategy<Value = Vec<Vec<u8>>> {
        let text = || proptest::collection::vec(prop_oneof![Just(b'a'), Just(b'b'), any::<u8>()], 0..200);
        // Each version replaces or moves a piece of the previous version.
        let edit = (any::<u16>(), any::<u16>(), any::<u16>(), text());
        (text(), proptest::collection::vec(edit, 1..12)).prop_map(|(first, edits)| {
            let mut versions = vec![first];
            for (start, length, to, new) in edits {
                let mut next = versions[versions.len() - 1].clone();
                let start = usize::from(start) % (next.len() + 1);
                let end = (start + usize::from(length) % 100).min(next.len());
                let piece: Vec<_> = next.splice(start..end, new).collect();
                let to = usize::from(to) % (next.len() + 1);
                next.splice(to..to, piece);
                versions.push(next);
            }
            versions
        })
    }

    proptest! {
        /// V3-149, for splices: a payload is read as it was written.
        #[test]
        fn a_chain_of_splices_gives_the_last_payload(versions in versions()) {
            let last = through(&versions);
            prop_assert_eq!(last.as_ref(), versions.last());
        }

        #[test]
        fn no_bytes_make_reading_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64), whole in "[ab]{0,40}") {
            if let Some((segments, literals)) = Splice::decode(&bytes)
                && segments.last().is_none_or(|last| last.at + last.length < 1 << 20)
                && let Some(mut assembly) = Assembly::of(&segments, literals)
            {
                let _ = assembly.complete(whole.as_bytes());
            }
        }
    }

    #[test]
    fn a_counter_before_a_growing_list_costs_little() {
        let state = |steps: u32| {
            let entries: Vec<_> =
                (0..steps).map(|step| format!("{{\"step\":{step},\"note\":\"{}\"}}", step * 7919)).collect();
            format!("{{\"steps\":{steps},\"entries\":[{}]}}", entries.join(","))
        };
        let (base, target) = (state(1_009), state(1_010));
        let bytes = Splice::between(base.as_bytes(), target.as_bytes()).encode();
        assert!(bytes.len() < 60, "{} bytes", bytes.len());
    }
}
