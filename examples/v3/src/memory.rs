//! What nodes remember in a run. Each group of nodes has a memory that no other node can see; no agent is ever asked for one.

use crate::types::shared::{MergeEvent, PlannedTest};
use interlocking::prelude::{SessionId, SessionOp, Slug};
use interlocking::worktree::CommitId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What Scaffold remembers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScaffoldMem {
    /// Its session.
    pub session: Option<SessionId>,
}

/// What TDD remembers: shared by `write_tests` and `review`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TddMem {
    /// What the role talks about, whichever session it is in.
    pub conversation_id: Option<String>,
    /// Its last session, and the workspace that it is in.
    pub thread: Option<Thread>,
    /// The criteria whose tests pass.
    pub covered_criteria: BTreeSet<String>,
    /// The tests that are written and do not pass yet.
    pub pending_tests: Vec<PlannedTest>,
}

/// A session, and where it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Thread {
    /// The session.
    pub session: SessionId,
    /// The workspace that it is in.
    pub place: String,
}

/// What Impl remembers: shared by `implement` and `barrier`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImplMem {
    /// What the role talks about, whichever session it is in.
    pub conversation_id: Option<String>,
    /// Its session.
    pub session_id: Option<SessionId>,
    /// The tests that passed last.
    pub passed_tests: Vec<String>,
    /// Each attempt that has not done it.
    pub attempt_history: Vec<AttemptRecord>,
}

/// An attempt that has not done it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttemptRecord {
    /// What was tried.
    pub strategy: String,
    /// `failed: REASON`, or `partial: PROGRESS`.
    pub outcome: String,
}

/// What is known of the parent's branch: shared by `merger` and `rebaser`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Integration {
    /// What siblings have merged while this node was at work.
    pub heard: Vec<MergeEvent>,
    /// Those on which this node's branch does not stand yet.
    pub ahead: Vec<MergeEvent>,
    /// What the last candidate is made on.
    #[serde(default)]
    pub onto: Option<CommitId>,
    /// Why the last candidate could not be made, if it could not.
    pub conflict: Option<String>,
}

/// The session of a turn (CON-19, CON-141): the thread goes on in its own place, and is forked in another; before there is one, `parent` is
/// forked, if there is that.
///
/// # Errors
///
/// Never, of the names that nodes have.
pub fn session_of(
    thread: Option<(&SessionId, &str)>,
    place: &str,
    parent: Option<&SessionId>,
    name: &str,
) -> Result<SessionOp, interlocking::prelude::NodeError> {
    let slug = Slug::new(name)?;
    Ok(match (thread, parent) {
        (Some((session, at)), _) if at == place => SessionOp::ContinueFrom(session.clone()),
        (Some((session, _)), _) | (None, Some(session)) => SessionOp::ForkFrom { parent: session.clone(), slug },
        (None, None) => SessionOp::StartFresh(slug),
    })
}
