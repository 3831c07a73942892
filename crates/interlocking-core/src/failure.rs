//! How a node or a run fails.

use crate::frontier::{Limit, Violation};
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::fmt;

/// The error that a handler returns: anything that `?` takes.
pub type NodeError = Box<dyn Error + Send + Sync + 'static>;

/// Why a run failed: where, what, and the chain of causes.
///
/// A graph whose output is made from a failure (`impl From<Failure> for Output`) can return one to its caller in place
/// of a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The node that failed.
    pub node: String,
    /// Its visit, 1-based; 0 if it was never entered.
    pub visit: u32,
    /// Its attempt within the visit, 1-based; 0 if it was never entered.
    pub attempt: u32,
    /// What sort of failure.
    pub kind: FailureKind,
    /// What happened, in words.
    pub message: String,
    /// What caused it, nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<String>,
}

/// What sort of failure ended a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FailureKind {
    /// The handler returned an error.
    Handler,
    /// The handler panicked.
    Panic,
    /// The node took longer than its `timeout`.
    Timeout {
        /// The limit, in milliseconds.
        limit_ms: u64,
    },
    /// The node was entered more often than its table allows, and no exhausted route is declared.
    Exhausted(Limit),
    /// The agent gave no valid answer.
    Agent,
    /// The run was not given what the node needs.
    Configuration,
    /// The node's workspace could not be opened, was changed though it is read-only, or is not what an agent was
    /// given.
    Workspace,
    /// The journal refused the outcome.
    Journal,
    /// The step broke a rule of runs.
    Unsound(Violation),
}

/// A value that went to a node which may not be entered again, on its way along the exhausted route.
///
/// The target of `exhausted(…)` takes a payload that is `From<Exhausted<Input>>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exhausted<I> {
    /// The node whose bound was reached.
    pub node: &'static str,
    /// The bound.
    pub limit: Limit,
    /// What the node would have got.
    pub input: I,
}

impl Failure {
    /// The messages of `error`'s sources, nearest first.
    pub fn causes_of(error: &(dyn Error + 'static)) -> Vec<String> {
        std::iter::successors(error.source(), |&cause| cause.source()).map(ToString::to_string).collect()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node `{}` ", self.node)?;
        match self.attempt {
            0 | 1 if self.visit <= 1 => {}
            0 | 1 => write!(f, "(visit {}) ", self.visit)?,
            attempt => write!(f, "(visit {}, attempt {attempt}) ", self.visit)?,
        }
        match &self.kind {
            FailureKind::Panic => write!(f, "panicked: {}", self.message)?,
            FailureKind::Timeout { .. } | FailureKind::Exhausted(_) => f.write_str(&self.message)?,
            _ => write!(f, "failed: {}", self.message)?,
        }
        self.causes.iter().try_for_each(|cause| write!(f, "\n  caused by: {cause}"))
    }
}

impl Error for Failure {}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Visits(limit) => write!(f, "visits = {limit}"),
            Self::Attempts(limit) => write!(f, "attempts = {limit}"),
        }
    }
}
