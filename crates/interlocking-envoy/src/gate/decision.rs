//! What a person decides about a variant.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What happens to a variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Decision {
    /// The variant is merged to the feature branch. At most one variant of a prompt number is main.
    Main,
    /// The variant is marked and its worktree kept, but it is not merged. Also parsed from `accepted`.
    Alternative,
    /// The variant's branch is archived and its worktree removed. Also parsed from `rejected`.
    Discard,
}

/// A text is not a decision.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no decision: write `main`, `alternative` or `discard`")]
pub struct DecisionError(pub String);

/// A person's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The decision about the variant.
    pub decision: Decision,
    /// The reason for the decision.
    pub reason: String,
    /// Further remarks.
    pub thoughts: String,
}

impl Decision {
    /// All decisions.
    pub const ALL: [Self; 3] = [Self::Main, Self::Alternative, Self::Discard];

    /// The decision's name.
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
