//! The memories of nodes in a run. Each group of nodes has a memory that no other node can see; no agent is ever asked for one.

use crate::types::implementation::ImplInput;
use crate::types::merge::MergeRejected;
use crate::types::scaffold::Clarification;
use crate::types::shared::{MergeEvent, PlannedTest};
use crate::types::tdd::{JudgeRefusal, TestsFeedback, WriteTestsInput};
use interlocking::prelude::{SessionId, SessionOp, Slug};
use interlocking::worktree::CommitId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// TDD's memory: shared by `write_tests` and `review`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TddMem {
    /// The role's conversation, whichever session it is in.
    pub conversation_id: Option<String>,
    /// Its last session, and the workspace of that session.
    pub thread: Option<Thread>,
    /// The criteria whose tests pass.
    pub covered_criteria: BTreeSet<String>,
    /// The tests that are written and do not pass yet.
    pub pending_tests: Vec<PlannedTest>,
    /// All tests that were asked for and are written, whether or not they pass.
    #[serde(default)]
    pub written_tests: Vec<PlannedTest>,
    /// What the last review has asked for, until the next review.
    #[serde(default)]
    pub feedback: Option<TestsFeedback>,
    /// Why the parent's judge has refused the work, if a rebase came before the review that was to hear it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judgement: Option<JudgeRefusal>,
}

impl TddMem {
    /// What a review has asked of these tests; none for the tests of a new scaffold. A rebase that comes between the review and the
    /// implementation leads here without the review's words.
    pub fn feedback_on<'a>(&'a self, input: &'a WriteTestsInput) -> Option<&'a TestsFeedback> {
        input.feedback.as_ref().map(|given| self.feedback.as_ref().unwrap_or(given))
    }
}

/// A session, and its workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Thread {
    /// The session.
    pub session: SessionId,
    /// Its workspace.
    pub place: String,
}

/// Impl's memory: shared by `implement` and `barrier`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImplMem {
    /// The role's conversation, whichever session it is in.
    pub conversation_id: Option<String>,
    /// Its session.
    pub session_id: Option<SessionId>,
    /// The tests that passed in the last attempt.
    pub passed_tests: Vec<String>,
    /// Each attempt that did not succeed.
    pub attempt_history: Vec<AttemptRecord>,
    /// The input of the next attempt, until an attempt succeeds or the planner is asked. A rebase that comes before it leads to
    /// the barrier without its words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<ImplInput>,
}

/// An attempt that did not succeed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttemptRecord {
    /// What was tried.
    pub strategy: String,
    /// `failed: REASON`, or `partial: PROGRESS`.
    pub outcome: String,
}

/// The state of the parent's branch, and how this node's work fits it: shared by `scaffold`, `fork`, `merge_queue`, `merger`,
/// `judge` and `rebaser`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Integration {
    /// Scaffold's session.
    pub session: Option<SessionId>,
    /// Whether no fork has taken the last scaffold yet: what a fork has taken before belongs to an earlier one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awaits_fork: bool,
    /// What siblings have merged while this node was at work.
    pub heard: Vec<MergeEvent>,
    /// The merges onto which this node's branch was not rebased yet.
    pub ahead: Vec<MergeEvent>,
    /// The base of the last candidate.
    #[serde(default)]
    pub onto: Option<CommitId>,
    /// Why the last candidate could not be made, if it could not.
    pub conflict: Option<String>,
    /// The conflicts of which the planner has to hear, until there is another scaffold. A question that waits for the planner
    /// already is not replaced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<Clarification>,
    /// Why the last candidate was rejected, until other work is approved. A rebase that comes before the implementer hears it
    /// passes it on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejection: Option<MergeRejected>,
    /// Why the judge has refused it, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<JudgeRefusal>,
}

impl Integration {
    /// Forgets what was said of the last candidate.
    pub fn forget_candidate(&mut self) {
        (self.rejection, self.refusal) = (None, None);
    }
}

/// The session of a turn (CON-19, CON-141): the thread is continued in its own workspace, and forked in another; if there is no
/// thread yet, `parent` is forked, if there is one.
///
/// # Errors
///
/// Never, for the names that nodes have.
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
