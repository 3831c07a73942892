//! The rule for variants of approaches that step 6 of `discovery` states.

use crate::prompt::Variant;
use std::collections::BTreeMap;
use std::fmt;

/// The number of an approach, and its letter if it is one of several alternatives: `1`, `1_A`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ApproachId {
    /// The approach's number.
    pub number: u32,
    /// The approach's letter.
    pub variant: Option<Variant>,
}

/// How the approaches of a number break the rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApproachProblem {
    /// Two approaches have the same id.
    #[error("approach {id} is there twice: give each alternative a letter of its own")]
    Twice {
        /// The id.
        id: ApproachId,
    },
    /// An approach of the number has no letter, and others have one.
    #[error("approach {number} stands alone and has variants too: give all of them letters, or remove the variants")]
    Mixed {
        /// The number.
        number: u32,
    },
    /// The letters do not begin with `A`, or leave some out.
    #[error("the variants of approach {number} lack the letter {missing}: letters begin with A and leave none out")]
    Letters {
        /// The number.
        number: u32,
        /// The first letter that is missing.
        missing: Variant,
    },
    /// The only approach of the number has a letter.
    #[error("approach {number} has one variant only: leave its letter out, or add an alternative")]
    OnlyOne {
        /// The number.
        number: u32,
    },
}

/// Checks the ids of all approaches: a number has either a single approach without a letter, or several variants with letters
/// from `A` on without gaps. Returns at most one problem for each number, ordered by number.
pub fn check_approaches(approaches: impl IntoIterator<Item = ApproachId>) -> Vec<ApproachProblem> {
    let mut numbers: BTreeMap<u32, Vec<Option<Variant>>> = BTreeMap::new();
    for ApproachId { number, variant } in approaches {
        numbers.entry(number).or_default().push(variant);
    }
    let check = |(number, mut variants): (u32, Vec<Option<Variant>>)| {
        variants.sort();
        if let Some(twice) = variants.windows(2).find(|pair| pair[0] == pair[1]) {
            return Some(ApproachProblem::Twice { id: ApproachId { number, variant: twice[0] } });
        }
        // An approach without a letter is sorted first.
        match &variants[..] {
            [None] => None,
            [None, ..] => Some(ApproachProblem::Mixed { number }),
            [Some(Variant::FIRST)] => Some(ApproachProblem::OnlyOne { number }),
            lettered => {
                let letters = std::iter::successors(Some(Variant::FIRST), |letter| letter.next());
                let missing = letters.zip(lettered).find(|(wanted, found)| Some(*wanted) != **found);
                missing.map(|(missing, _)| ApproachProblem::Letters { number, missing })
            }
        }
    };
    numbers.into_iter().filter_map(check).collect()
}

impl fmt::Display for ApproachId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.variant {
            None => write!(f, "{}", self.number),
            Some(variant) => write!(f, "{}_{variant}", self.number),
        }
    }
}
