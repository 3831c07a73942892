//! A delta: a payload as pieces of another payload and new bytes.
//!
//! A state to which an entry was added, or in which a counter changed, consists almost only of such pieces. Common bytes at both
//! ends are found by comparing. Between the ends, common blocks are found by their hash, so that a counter before a growing list
//! costs little.

/// The length of the blocks that are compared between the ends, in bytes. Shorter common pieces there are not found.
const BLOCK: usize = 32;

/// How to make a payload from another payload, its base.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Splice {
    steps: Vec<Step>,
    /// All literal bytes, concatenated. Those that no step uses follow the last step.
    literals: Vec<u8>,
}

/// Appends the next `literal` literal bytes, then `length` bytes of the base from offset `from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    literal: usize,
    from: usize,
    length: usize,
}

/// Where bytes of a payload come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// The offset in the payload.
    pub(crate) at: usize,
    pub(crate) length: usize,
    /// The offset in the literals or in the base.
    pub(crate) from: Origin,
}

/// See [`Segment::from`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// An offset in the literals.
    Literal(usize),
    /// An offset in the base.
    Base(usize),
}

impl Splice {
    /// The splice that makes `target` from `base`.
    pub(crate) fn between(base: &[u8], target: &[u8]) -> Self {
        let before = common_prefix(base, target);
        let after = common_suffix(&base[before..], &target[before..]);
        let mut splice = Self::default();
        let mut pending = 0;
        splice.copy(&mut pending, 0, before);
        let (old, new) = (&base[before..base.len() - after], &target[before..target.len() - after]);
        let mut done = 0;
        for (at, from, length) in blocks_in_common(old, new) {
            splice.literals.extend_from_slice(&new[done..at]);
            pending += at - done;
            splice.copy(&mut pending, before + from, length);
            done = at + length;
        }
        splice.literals.extend_from_slice(&new[done..]);
        pending += new.len() - done;
        splice.copy(&mut pending, base.len() - after, after);
        splice
    }

    fn copy(&mut self, pending: &mut usize, from: usize, length: usize) {
        if length > 0 {
            self.steps.push(Step { literal: std::mem::take(pending), from, length });
        }
    }

    /// The encoded form: the number of steps, the steps, the literals.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.literals.len() + 8 * self.steps.len() + 4);
        put(&mut bytes, self.steps.len());
        let mut expected = 0usize;
        for step in &self.steps {
            put(&mut bytes, step.literal);
            let ahead = step.from as i64 - expected as i64;
            put(&mut bytes, ((ahead << 1) ^ (ahead >> 63)) as usize);
            put(&mut bytes, step.length);
            expected = step.from + step.length;
        }
        bytes.extend_from_slice(&self.literals);
        bytes
    }

    /// Decodes what [`encode`](Self::encode) wrote, into segments that say where each byte of the payload comes from, and the
    /// literals. `None` where the bytes are not a splice.
    pub(crate) fn decode(mut bytes: &[u8]) -> Option<(Vec<Segment>, &[u8])> {
        let count = take(&mut bytes)?;
        let mut segments = Vec::with_capacity(2 * count.min(bytes.len() / 3) + 1);
        let (mut at, mut literal, mut expected) = (0usize, 0usize, 0usize);
        let mut push = |length: usize, from: Origin| {
            if length > 0 {
                segments.push(Segment { at, length, from });
            }
            at = at.checked_add(length)?;
            Some(())
        };
        for _ in 0..count {
            let fresh = take(&mut bytes)?;
            push(fresh, Origin::Literal(literal))?;
            literal = literal.checked_add(fresh)?;
            let ahead = take(&mut bytes)? as i64;
            let from = usize::try_from((expected as i64).checked_add((ahead >> 1) ^ -(ahead & 1))?).ok()?;
            let length = take(&mut bytes)?;
            push(length, Origin::Base(from))?;
            expected = from.checked_add(length)?;
        }
        let rest = bytes.len().checked_sub(literal)?;
        push(rest, Origin::Literal(literal))?;
        Some((segments, bytes))
    }
}

fn common_prefix(one: &[u8], other: &[u8]) -> usize {
    const STRIDE: usize = 64;
    let whole =
        one.chunks_exact(STRIDE).zip(other.chunks_exact(STRIDE)).take_while(|(one, other)| one == other).count();
    let start = whole * STRIDE;
    start + one[start..].iter().zip(&other[start..]).take_while(|(one, other)| one == other).count()
}

fn common_suffix(one: &[u8], other: &[u8]) -> usize {
    const STRIDE: usize = 64;
    let whole =
        one.rchunks_exact(STRIDE).zip(other.rchunks_exact(STRIDE)).take_while(|(one, other)| one == other).count();
    let (one, other) = (&one[..one.len() - whole * STRIDE], &other[..other.len() - whole * STRIDE]);
    whole * STRIDE + one.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other).count()
}

/// Pieces that `new` and `old` have in common, in the order of `new`: the offset in `new`, the offset in `old`, the length.
fn blocks_in_common(old: &[u8], new: &[u8]) -> Vec<(usize, usize, usize)> {
    let mut found = Vec::new();
    if old.len() < BLOCK || new.len() < BLOCK {
        return found;
    }
    let table = Blocks::of(old);
    let (mut at, mut done) = (0, 0);
    let mut hash = hash_of(&new[..BLOCK]);
    loop {
        match table.find(hash, &new[at..at + BLOCK]) {
            Some(from) => {
                let back = common_suffix(&old[..from], &new[done..at]);
                let ahead = common_prefix(&old[from..], &new[at..]);
                found.push((at - back, from - back, back + ahead));
                at += ahead;
                done = at;
                if at + BLOCK > new.len() {
                    return found;
                }
                hash = hash_of(&new[at..at + BLOCK]);
            }
            None => {
                if at + BLOCK >= new.len() {
                    return found;
                }
                hash = roll(hash, new[at], new[at + BLOCK]);
                at += 1;
            }
        }
    }
}

/// A hash table of the offsets of a text's blocks. Of blocks with the same slot, it has the first.
struct Blocks<'text> {
    text: &'text [u8],
    places: Vec<u32>,
}

const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
/// `FACTOR` to the power of `BLOCK - 1`: the weight of a block's first byte.
const WEIGHT: u64 = {
    let (mut weight, mut step) = (1u64, 1);
    while step < BLOCK {
        weight = weight.wrapping_mul(FACTOR);
        step += 1;
    }
    weight
};

fn hash_of(block: &[u8]) -> u64 {
    block.iter().fold(0, |hash, &byte| hash.wrapping_mul(FACTOR).wrapping_add(u64::from(byte)))
}

fn roll(hash: u64, out: u8, into: u8) -> u64 {
    hash.wrapping_sub(u64::from(out).wrapping_mul(WEIGHT)).wrapping_mul(FACTOR).wrapping_add(u64::from(into))
}

impl<'text> Blocks<'text> {
    fn of(text: &'text [u8]) -> Self {
        let mut blocks = Self { text, places: vec![u32::MAX; (2 * (text.len() / BLOCK)).next_power_of_two()] };
        for (index, block) in text.chunks_exact(BLOCK).enumerate() {
            let slot = blocks.slot(hash_of(block));
            if let (Ok(at), u32::MAX) = (u32::try_from(index * BLOCK), blocks.places[slot]) {
                blocks.places[slot] = at;
            }
        }
        blocks
    }

    fn slot(&self, hash: u64) -> usize {
        // The upper bits depend on every byte.
        (hash.wrapping_mul(FACTOR) >> 32) as usize & (self.places.len() - 1)
    }

    fn find(&self, hash: u64, block: &[u8]) -> Option<usize> {
        let at = self.places[self.slot(hash)];
        let at = (at != u32::MAX).then_some(at as usize)?;
        (self.text[at..at + BLOCK] == *block).then_some(at)
    }
}

/// Appends a variable-length integer (LEB128): seven bits per byte, the lowest first.
fn put(bytes: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads what [`put`] wrote, and advances `bytes` beyond it.
fn take(bytes: &mut &[u8]) -> Option<usize> {
    let mut number = 0usize;
    for shift in (0..usize::BITS).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= usize::from(byte & 0x7F).checked_shl(shift)?;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}
