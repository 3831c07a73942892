//! The keys of steps: `7`, `6.1`, and `6+` in a file that appends to a step.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

/// The key of a step: `N`, or `N.M` for the `M`th step inserted after `N`.
///
/// Ordered by numbers, as steps are done: `6`, `6.1`, `6.2`, `6.10`, `7`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct StepKey {
    step: NonZeroU32,
    // `None` is ordered before any number.
    inserted: Option<NonZeroU32>,
}

/// A text is not the key of a step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key:?} is not a step: write a number from 1 such as `7`, or `7.1` for a step between 7 and 8")]
pub struct KeyError {
    /// The text as given.
    pub key: String,
}

impl StepKey {
    /// Step `N`.
    pub const fn whole(step: NonZeroU32) -> Self {
        Self { step, inserted: None }
    }

    /// The whole step after which this step is inserted; `None` for a whole step.
    pub const fn inserted_after(self) -> Option<Self> {
        match self.inserted {
            Some(_) => Some(Self::whole(self.step)),
            None => None,
        }
    }
}

impl FromStr for StepKey {
    type Err = KeyError;

    fn from_str(key: &str) -> Result<Self, KeyError> {
        let number = |digits: &str| {
            // Refuses `07` and `+7`, which would be other names of step 7.
            let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
            if is_plain { digits.parse().ok() } else { None }
        };
        let refused = || KeyError { key: key.to_owned() };
        let (step, inserted) = match key.split_once('.') {
            None => (key, None),
            Some((step, inserted)) => (step, Some(number(inserted).ok_or_else(refused)?)),
        };
        Ok(Self { step: number(step).ok_or_else(refused)?, inserted })
    }
}

impl TryFrom<String> for StepKey {
    type Error = KeyError;

    fn try_from(key: String) -> Result<Self, KeyError> {
        key.parse()
    }
}

impl From<StepKey> for String {
    fn from(key: StepKey) -> Self {
        key.to_string()
    }
}

impl fmt::Display for StepKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.inserted {
            None => write!(f, "{}", self.step),
            Some(inserted) => write!(f, "{}.{inserted}", self.step),
        }
    }
}

/// What an entry of `steps` does with its step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Edit {
    /// `N` and `N.M`: sets the step's text, replacing an inherited one. Ordered first: if a file has both entries, the text is
    /// replaced, then appended to.
    Set,
    /// `N+` and `N.M+`: appends to the step's text.
    Append,
}

/// Parses the key of an entry of `steps`.
pub(crate) fn parse_entry(key: &str) -> Result<(StepKey, Edit), KeyError> {
    let parsed = match key.strip_suffix('+') {
        Some(step) => step.parse().map(|step| (step, Edit::Append)),
        None => key.parse().map(|step| (step, Edit::Set)),
    };
    parsed.map_err(|_| KeyError { key: key.to_owned() })
}
