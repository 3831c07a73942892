//! Follows pieces of payloads from one splice to the next, down to a payload that is stored whole.
//!
//! Only the bytes that are asked for are followed, so no payload between is ever made, and each splice is read once.

use crate::payloads::splice::{Origin, Segment};

/// A longer payload cannot have been stored: SQLite's limit is a gigabyte.
pub(crate) const MOST: usize = 1 << 30;
/// A payload is not made of so many pieces: each is a block long, but for what is left of some.
const MOST_PIECES: usize = 1 << 24;

/// A payload that is being put together.
#[derive(Debug)]
pub(crate) struct Assembly {
    bytes: Vec<u8>,
    /// What is still missing, by its place in the object that comes next.
    wanted: Vec<Wanted>,
}

#[derive(Clone, Copy, Debug)]
struct Wanted {
    /// Where it goes.
    to: usize,
    /// Where it stands in the object that comes next.
    from: usize,
    length: usize,
}

impl Assembly {
    /// A payload whose last splice has these segments.
    pub(crate) fn of(segments: &[Segment], literals: &[u8]) -> Option<Self> {
        let length = segments.last().map_or(0, |last| last.at + last.length);
        if length > MOST {
            return None;
        }
        let mut assembly = Self { bytes: vec![0; length], wanted: vec![Wanted { to: 0, from: 0, length }] };
        assembly.splice(segments, literals)?;
        Some(assembly)
    }

    /// Takes what is missing from a splice; what that has of its base is missing still. `None` where the object is
    /// shorter than what is wanted of it, or what is missing lies in more pieces than a splice that was written has.
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

    /// Takes what is missing from a payload that is stored whole.
    pub(crate) fn complete(&mut self, whole: &[u8]) -> Option<()> {
        for Wanted { to, from, length } in std::mem::take(&mut self.wanted) {
            self.bytes[to..to + length].copy_from_slice(whole.get(from..from.checked_add(length)?)?);
        }
        Some(())
    }

    /// The payload.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payloads::splice::Splice;
    use proptest::prelude::*;

    /// The last of `versions`, read from the first and the splices between them.
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
        // Each version has a piece of the one before replaced, or moved.
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
        /// V3-149, of splices: what is read is what was written.
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
