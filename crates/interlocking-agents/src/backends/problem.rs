//! Problems in the configuration of agents.

use std::fmt;

use interlocking_document::{Problem, Problems, listed, nearest};
use thiserror::Error;

/// Why roles cannot be bound as configured.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RoleBindingsError {
    /// The file cannot be read.
    #[error("{file}: {reason}")]
    Unreadable {
        /// The file.
        file: String,
        /// The error message of the operating system.
        reason: String,
    },
    /// The configuration is invalid.
    #[error("{}", lines(problems))]
    Bad {
        /// All problems that were found; at least one.
        problems: Vec<RoleBindingProblem>,
    },
}

/// One problem in the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleBindingProblem {
    /// Where the problem is: `agents.toml:12:1`, or `--agent critic=claude`.
    pub place: String,
    /// What is wrong with it.
    pub message: String,
}

impl RoleBindingsError {
    pub(super) fn of_document(problems: Problems) -> Self {
        Self::Bad { problems: problems.into_iter().map(RoleBindingProblem::from).collect() }
    }
}

impl RoleBindingProblem {
    pub(super) fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into() }
    }
}

impl From<Problem> for RoleBindingProblem {
    fn from(problem: Problem) -> Self {
        let Problem { place, field, message } = problem;
        Self {
            place: place.to_string(),
            message: field.map_or(String::new(), |field| format!("`{field}`: ")) + &message,
        }
    }
}

impl fmt::Display for RoleBindingProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

fn lines(problems: &[RoleBindingProblem]) -> String {
    problems.iter().map(RoleBindingProblem::to_string).collect::<Vec<_>>().join("\n")
}

/// The message for an unknown name: with the name that was probably meant, or else with all known names.
pub(super) fn no_such<'a>(what: &str, name: &str, of: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match nearest(name, known.iter().copied()) {
        Some(meant) => format!("there is no {what} `{name}`{of}: did you mean `{meant}`?"),
        None if known.len() == 1 => format!("there is no {what} `{name}`{of}, only {}", listed(known)),
        None => format!("there is no {what} `{name}`{of}; there are {}", listed(known)),
    }
}
