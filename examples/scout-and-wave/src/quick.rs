//! The payloads of quick mode, and the graph of one of its agents.

use crate::handlers::QuickWork;
use crate::prompts::QuickPrompt;
use crate::protocol::agent::AgentLetter;
use crate::protocol::plan::Command;
use crate::protocol::quick::QuickAgent;
use interlocking::prelude::*;
use interlocking::worktree::CommitId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A valid declaration, to be launched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuickLaunch {
    /// The commit at which all agents begin.
    pub base: CommitId,
    /// The assignment of each agent.
    pub agents: Vec<QuickAssignment>,
    /// Commands that build and test the whole project.
    pub gate: Vec<Command>,
}

/// The assignment of an agent of quick mode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuickAssignment {
    /// The agent.
    pub agent: AgentLetter,
    /// Its files, its task and its verification.
    pub told: QuickAgent,
}

/// What an agent of quick mode says at its end. It is no report: nothing is held against it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuickWord {
    /// What was done, in a sentence.
    pub summary: String,
}

/// The work on an agent's branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuickDone {
    /// The agent.
    pub agent: AgentLetter,
    /// Its summary.
    pub summary: String,
    /// Its last commit, or the commit that was made for it; none if there is no work.
    pub commit: Option<CommitId>,
}

/// What all agents have done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuickExecuted {
    /// The launch.
    pub launch: QuickLaunch,
    /// The work of each, in the order of letters.
    pub done: Vec<QuickDone>,
}

/// What is merged, and not yet verified.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuickMerged {
    /// The agents whose work it contains.
    pub agents: Vec<AgentLetter>,
    /// Commands that build and test the whole project.
    pub gate: Vec<Command>,
    /// The commit of the staging branch.
    pub commit: CommitId,
}

/// Why a run of quick mode ended with nothing landed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum QuickStop {
    /// Quick mode is not suitable for this declaration: no agent was launched.
    Refused,
    /// An agent did not do its work.
    AgentFailure,
    /// Two agents changed the same lines.
    Conflict,
    /// The gate fails on what is merged.
    Verification,
}

/// The run of one agent of quick mode.
#[derive(Graph)]
#[graph(output = QuickDone)]
pub struct QuickWorker {
    /// Works. Its uncommitted work is committed for it.
    #[node(entry, input = QuickAssignment, prompt = QuickPrompt<'_>, output = QuickWord, agent = "agent", workspace = "tree",
        goto(exit), timeout = "60m")]
    pub(crate) work: LLMNode<QuickWork>,
}

impl QuickWorker {
    /// The graph.
    pub(crate) fn new() -> Self {
        Self { work: LLMNode(QuickWork) }
    }
}
