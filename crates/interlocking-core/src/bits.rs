//! A set of small integers: places or nodes of one net.

use std::hash::{Hash, Hasher};

/// A fixed-size set of indices below the capacity it was made with. A capacity of up to 64 needs no allocation.
#[derive(Clone, Debug, Eq, PartialOrd, Ord)]
pub struct Bits {
    first: u64,
    rest: Box<[u64]>,
}

// Written by hand because most sets have only the first word: the derived impls would call `memcmp` for the rest, and
// hash the length too.
impl PartialEq for Bits {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.first == other.first && self.rest.iter().eq(&other.rest)
    }
}

impl Hash for Bits {
    #[inline]
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.words().for_each(|word| hasher.write_u64(word));
    }
}

impl Bits {
    /// The empty set over indices below `capacity`.
    pub fn new(capacity: usize) -> Self {
        Self { first: 0, rest: vec![0; capacity.div_ceil(64).saturating_sub(1)].into() }
    }

    #[inline]
    fn word(&self, index: usize) -> u64 {
        if index < 64 { self.first } else { self.rest[(index >> 6) - 1] }
    }

    #[inline]
    fn word_mut(&mut self, index: usize) -> &mut u64 {
        if index < 64 { &mut self.first } else { &mut self.rest[(index >> 6) - 1] }
    }

    fn words(&self) -> impl Iterator<Item = u64> + '_ {
        std::iter::once(self.first).chain(self.rest.iter().copied())
    }

    /// Each word with the corresponding word of `other`.
    fn pairs<'b>(&'b mut self, other: &'b Self) -> impl Iterator<Item = (&'b mut u64, u64)> {
        std::iter::once(&mut self.first).chain(&mut self.rest).zip(other.words())
    }

    /// Whether `index` is a member.
    #[inline]
    pub fn contains(&self, index: usize) -> bool {
        self.word(index) & (1 << (index & 63)) != 0
    }

    /// Adds `index`. Returns whether it was not a member.
    #[inline]
    pub fn insert(&mut self, index: usize) -> bool {
        let word = self.word_mut(index);
        let bit = 1 << (index & 63);
        let added = *word & bit == 0;
        *word |= bit;
        added
    }

    /// Removes `index`. Returns whether it was a member.
    #[inline]
    pub fn remove(&mut self, index: usize) -> bool {
        let word = self.word_mut(index);
        let bit = 1 << (index & 63);
        let removed = *word & bit != 0;
        *word &= !bit;
        removed
    }

    /// Removes every member of `other`.
    pub fn subtract(&mut self, other: &Self) {
        for (word, gone) in self.pairs(other) {
            *word &= !gone;
        }
    }

    /// Removes every member that is not in `other`.
    pub fn intersect(&mut self, other: &Self) {
        for (word, kept) in self.pairs(other) {
            *word &= kept;
        }
    }

    /// Adds every member of `other`. Returns whether one of them was not a member.
    pub fn unite(&mut self, other: &Self) -> bool {
        let mut added = false;
        for (word, more) in self.pairs(other) {
            added |= more & !*word != 0;
            *word |= more;
        }
        added
    }

    /// Whether the two have a member in common.
    pub fn intersects(&self, other: &Self) -> bool {
        self.words().zip(other.words()).any(|(word, other)| word & other != 0)
    }

    /// Whether every member of this set is in `other`.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.words().zip(other.words()).all(|(word, other)| word & !other == 0)
    }

    /// Removes all members.
    pub fn clear(&mut self) {
        self.first = 0;
        self.rest.fill(0);
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.words().all(|word| word == 0)
    }

    /// The members in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words().enumerate().flat_map(|(at, word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                (rest != 0).then(|| {
                    let bit = rest.trailing_zeros() as usize;
                    rest &= rest - 1;
                    at * 64 + bit
                })
            })
        })
    }
}
