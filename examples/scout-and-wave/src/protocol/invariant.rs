//! The protocol's invariants, and the consequence for a run if one is broken (SAW-80 to SAW-85).

use interlocking::failure::{Failure, FailureKind};
use serde::{Deserialize, Serialize};
use std::fmt;

/// An invariant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Invariant {
    /// No two agents of a wave own one file.
    I1,
    /// Every interface between agents is in the document before they begin.
    I2,
    /// A wave begins when the previous wave is merged and verified.
    I3,
    /// The document is the only record, and only the orchestrator writes it.
    I4,
    /// An agent commits before it reports.
    I5,
}

impl Invariant {
    /// The consequence if it is broken.
    pub fn effect(self) -> &'static str {
        match self {
            Self::I1 => "the merge conflicts, or one agent's work undoes another's",
            Self::I2 => "interfaces drift apart, and what is integrated does not fit",
            Self::I3 => "what failed in one wave surfaces late, in the next",
            Self::I4 => "later work relies on information that is out of date",
            Self::I5 => "there is nothing on the branch to merge, and files have to be copied by hand",
        }
    }
}

/// An invariant that is broken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(deny_unknown_fields)]
#[error("{invariant} is broken: {what}; so {}", invariant.effect())]
pub struct Violation {
    /// The invariant.
    pub invariant: Invariant,
    /// What broke it.
    pub what: String,
}

/// The beginnings of what an agent's failure says if it has answered, and its answer is no report.
const NO_REPORT: [&str; 3] =
    ["the output is still invalid", "the output fits its schema", "the agent gave no decision"];

/// Why there is no report of a failed agent. An agent that answered with something else than a report has not reported: its text
/// does not count (SAW-79, SAW-83).
pub fn unreported(failure: &Failure) -> String {
    let said = failure.message.trim();
    match failure.kind {
        FailureKind::Agent if NO_REPORT.iter().any(|begins| said.starts_with(begins)) => {
            let what = format!("its output is not a completion report, and is not written to the document ({said})");
            Violation { invariant: Invariant::I4, what }.to_string()
        }
        _ => failure.to_string(),
    }
}

impl fmt::Display for Invariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}
