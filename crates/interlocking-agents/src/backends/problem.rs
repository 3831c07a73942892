//! What is wrong with what was said about agents.

use std::fmt;

use thiserror::Error;

/// Why roles cannot be bound as it was said.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RoleBindingsError {
    /// The file cannot be read.
    #[error("{file}: {reason}")]
    Unreadable {
        /// The file.
        file: String,
        /// The system's words.
        reason: String,
    },
    /// What was said cannot be followed.
    #[error("{}", listed(problems))]
    Bad {
        /// Everything that was found wrong; at least one.
        problems: Vec<RoleBindingProblem>,
    },
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleBindingProblem {
    /// Where it was said: `agents.toml:12`, or `--agent critic=claude`.
    pub place: String,
    /// What is wrong with it.
    pub message: String,
}

impl RoleBindingProblem {
    pub(super) fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into() }
    }
}

impl fmt::Display for RoleBindingProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

fn listed(problems: &[RoleBindingProblem]) -> String {
    problems.iter().map(RoleBindingProblem::to_string).collect::<Vec<_>>().join("\n")
}
