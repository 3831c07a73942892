//! The name of one run.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// The name of one run. It is part of branch names, directories and commit trailers, so it is a word that is safe in
/// all of them.
///
/// One to 64 lower-case letters, digits and inner hyphens. Not to be confused with the id of an agent's conversation.
///
/// ```
/// use interlocking_core::run_id::RunId;
///
/// let night: RunId = "night-7".parse()?;
/// assert_eq!(format!("runs/{night}"), "runs/night-7");
///
/// // It is a directory and a branch: nothing that leads elsewhere is one.
/// assert!(RunId::new("../night").is_err());
/// # Ok::<(), interlocking_core::run_id::RunIdError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunId(Cow<'static, str>);

/// Why a text is not a [`RunId`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunIdError {
    text: String,
    reason: &'static str,
}

impl RunId {
    /// `run`: the default name.
    pub const DEFAULT: Self = Self(Cow::Borrowed("run"));
    /// The most characters a run's name may have.
    pub const MAX_LENGTH: usize = 64;

    /// A run's name.
    ///
    /// # Errors
    ///
    /// [`RunIdError`] where the text is not such a word.
    pub fn new(text: impl Into<String>) -> Result<Self, RunIdError> {
        let text = text.into();
        let refuse = |text, reason| Err(RunIdError { text, reason });
        if text.is_empty() || text.len() > Self::MAX_LENGTH {
            return refuse(text, "it must have 1 to 64 characters");
        }
        if !text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-') {
            return refuse(text, "only lower-case letters, digits and hyphens are allowed");
        }
        if text.starts_with('-') || text.ends_with('-') {
            return refuse(text, "a hyphen may stand only inside");
        }
        Ok(Self(Cow::Owned(text)))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for RunId {
    type Err = RunIdError;

    fn from_str(text: &str) -> Result<Self, RunIdError> {
        Self::new(text)
    }
}

impl TryFrom<String> for RunId {
    type Error = RunIdError;

    fn try_from(text: String) -> Result<Self, RunIdError> {
        Self::new(text)
    }
}

impl From<RunId> for String {
    fn from(id: RunId) -> Self {
        id.0.into_owned()
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for RunIdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not a run id: {}", self.text, self.reason)
    }
}

impl std::error::Error for RunIdError {}
