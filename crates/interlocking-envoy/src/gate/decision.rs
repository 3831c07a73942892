//! What a person decides about a variant.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What becomes of a variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Decision {
    /// It is merged to the feature branch; exactly one of a prompt number is.
    Main,
    /// Its worktree is kept and it is marked; it is not merged. Read as `accepted` too.
    Alternative,
    /// Its branch is archived and its worktree removed. Read as `rejected` too.
    Discard,
}

/// A text that is no decision.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no decision: write `main`, `alternative` or `discard`")]
pub struct DecisionError(pub String);

/// What a person answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What becomes of the variant.
    pub decision: Decision,
    /// Why.
    pub reason: String,
    /// What else they think.
    pub thoughts: String,
}

impl Decision {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Main, Self::Alternative, Self::Discard];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Alternative => "alternative",
            Self::Discard => "discard",
        }
    }
}

impl FromStr for Decision {
    type Err = DecisionError;

    fn from_str(text: &str) -> Result<Self, DecisionError> {
        match text {
            "main" => Ok(Self::Main),
            "alternative" | "accepted" => Ok(Self::Alternative),
            "discard" | "rejected" => Ok(Self::Discard),
            _ => Err(DecisionError(text.to_owned())),
        }
    }
}

impl TryFrom<String> for Decision {
    type Error = DecisionError;

    fn try_from(text: String) -> Result<Self, DecisionError> {
        text.parse()
    }
}

impl From<Decision> for String {
    fn from(decision: Decision) -> Self {
        decision.name().to_owned()
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
