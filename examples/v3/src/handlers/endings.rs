//! Ends of runs whose agent is stuck.

use crate::checks::Violation;
use crate::types::outcome::{Stuck, V3Outcome};
use interlocking::agents::{AgentError, AgentErrorKind};
use interlocking::prelude::NodeError;

/// The end of a node whose agent makes no decision, despite all reminders (V3-136). Other errors of the agent are not part of the
/// protocol.
pub(crate) fn undecided(error: AgentError, attempts: u32) -> Result<V3Outcome, NodeError> {
    match *error.kind {
        AgentErrorKind::Idle { .. } | AgentErrorKind::NoDecision { .. } => Ok(V3Outcome::Stuck(Stuck {
            diagnosis: error.to_string(),
            recommendation: "look at what the agent is doing, or give it more time".to_owned(),
            attempts,
            spent_loop: None,
        })),
        _ => Err(error.into()),
    }
}

/// The end of a node whose agent's answers stay wrong.
pub(crate) fn still_wrong(node: &str, violations: &[Violation], attempts: u32) -> V3Outcome {
    let said = violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    V3Outcome::Stuck(Stuck {
        diagnosis: format!("what `{node}` answers does not hold: {said}"),
        recommendation: "look at its last answer, and change the specification".to_owned(),
        attempts,
        spent_loop: Some(own_loop(node)),
    })
}

/// The loop from a node to itself, as `Stuck` names it.
pub(crate) fn own_loop(node: &str) -> String {
    format!("{node} → {node}")
}
