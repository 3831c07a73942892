//! The outcome of a run.

use super::scaffold::ClarificationNeeded;
use super::shared::MergeComplete;
use super::tdd::Reject;
use interlocking::prelude::*;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The outcome of a run (CON-05).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum V3Outcome {
    /// The work is merged.
    Merged(MergeComplete),
    /// The specification has to be clarified first.
    ClarificationNeeded(ClarificationNeeded),
    /// The work was rejected.
    Rejected(Reject),
    /// It cannot go on.
    Stuck(Stuck),
    /// It cannot be done as it is set up.
    Failed(Failed),
}

/// Why a run cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Stuck {
    /// Why.
    pub diagnosis: String,
    /// What a person could do.
    pub recommendation: String,
    /// How often it was tried, by the runtime's count.
    pub attempts: u32,
    /// The loop whose budget is spent, if that is the reason, such as `review → write_tests` (CON-145).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent_loop: Option<String>,
}

/// Why a run has failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Failed {
    /// The node.
    pub node: String,
    /// Why.
    pub reason: String,
}

impl<I> From<Exhausted<I>> for V3Outcome {
    /// A loop's budget is spent, or a node's attempts are.
    fn from(exhausted: Exhausted<I>) -> Self {
        let Exhausted { node, edge, limit, .. } = exhausted;
        let way = format!("{node} → {}", edge.unwrap_or(node));
        Self::Stuck(Stuck {
            diagnosis: format!("{way} was taken as often as the table allows: {limit}"),
            recommendation: "look at what is repeated there, and change the specification".to_owned(),
            attempts: limit.number(),
            spent_loop: Some(way),
        })
    }
}

impl fmt::Display for V3Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Merged(merge) => write!(f, "merged as {}", merge.merge_commit),
            Self::ClarificationNeeded(needed) => {
                write!(f, "needs a clarification: {} (of: {:?})", needed.question, needed.spec_sentence)
            }
            Self::Rejected(rejected) => {
                write!(f, "rejected: {}; missing: {}", rejected.reason, rejected.missing_criteria.join(", "))
            }
            Self::Stuck(stuck) => write!(f, "stuck: {}; {}", stuck.diagnosis, stuck.recommendation),
            Self::Failed(failed) => write!(f, "failed in {}: {}", failed.node, failed.reason),
        }
    }
}
