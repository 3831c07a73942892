//! The routing table: the protocol on one page. What the nodes do is in [`handlers`](crate::handlers).

pub use crate::people::{
    AgentFailureAnswer, BlockedQuestion, ContractAnswer, ReviewAnswer, ReviewQuestion, SawResult, VerificationAnswer,
};

use crate::handlers::{
    Agents, Append, Architect, BlockedAgent, BlockedContract, BlockedVerify, Check, Command, Implement, Merge, Pending,
    Predict, Quick, QuickCheck, QuickMerge, Recover, Review, Scout, Solo, SoloFailed, Suit, Verified, Verify,
    WaitForWorktrees, WaveWorktrees,
};
use crate::prompts::{AgentLaunch, ArchitectPrompt, ScoutPrompt};
use crate::protocol::agent::{AgentLetter, Post};
use crate::protocol::bootstrap::BootstrapPlan;
use crate::protocol::invariant::unreported;
use crate::protocol::plan::Plan;
use crate::protocol::prediction::Facts;
use crate::protocol::quick::QuickPlan;
use crate::protocol::report::CompletionReport;
use crate::protocol::state::{BlockReason, State};
use crate::quick::{QuickExecuted, QuickLaunch, QuickMerged, QuickWorker};
use crate::request::{Brief, Proposal, Request};
use crate::workbench::Workbench;
use interlocking::prelude::*;
use interlocking::workspaces::FilePath;
use interlocking::worktree::CommitId;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A document that waits for a person's approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    /// The question.
    pub question: ReviewQuestion,
    /// The scout's brief; the next scout gets the same, with the person's remarks.
    pub brief: Brief,
    /// The wave that begins with approval: 0 for a project without code that an architect has planned.
    pub first_wave: u32,
}

/// The request that the next wave begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Next {
    /// The wave: from 1, or 0 for the types of a new project.
    pub wave: u32,
    /// What its agents have done, if it was launched before: agents that are done need not work again (SAW-45).
    pub executed: Option<Executed>,
}

impl Next {
    /// A wave that was not launched before.
    pub fn wave(wave: u32) -> Self {
        Self { wave, executed: None }
    }
}

/// A wave that is launched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// The wave.
    pub wave: u32,
    /// The commit that all of its agents begin at.
    pub base: CommitId,
    /// The hash of the contracts, which are frozen from here on.
    pub contracts_hash: String,
    /// The assignment of each agent.
    pub assignments: Vec<Assignment>,
    /// The agents that do not work, as the wave goes on without them by a person's decision.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub descoped: BTreeSet<AgentLetter>,
}

impl Launch {
    /// The assignment of an agent that is alone, so that it works in the staging worktree. None if the wave has several
    /// agents, or if the section of the only one gives it a worktree of its own: others were there before, and what it
    /// has done then counts.
    pub fn only(&self) -> Option<&Assignment> {
        match &self.assignments[..] {
            [only] if !only.post.has_worktree_by(&only.section) => Some(only),
            _ => None,
        }
    }

    /// The assignments of the agents that work.
    pub fn working(&self) -> impl Iterator<Item = &Assignment> {
        self.assignments.iter().filter(|assignment| !self.descoped.contains(&assignment.post.agent))
    }
}

/// The assignment of one agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    /// The agent and its wave.
    pub post: Post,
    /// How often it was sent to work, from 1: it is sent again if a person wants that, or if its section has changed (CON-156).
    pub generation: u32,
    /// How many agents the wave has: none begins before all have a worktree.
    pub wave_size: usize,
    /// The commit that its worktree has to begin at.
    pub base: CommitId,
    /// The document.
    pub document: FilePath,
    /// Its section of the document when the wave was launched (CON-102).
    pub section: String,
    /// Its work in a worktree at another base: its commits are picked, and it does not work again (CON-100).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Done>,
}

/// A wave that cannot go on without a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blocked {
    /// The wave.
    pub wave: u32,
    /// Why.
    pub reason: BlockReason,
    /// In detail.
    pub problems: Vec<String>,
    /// The wave as it was launched, and what its agents have done; none before the launch.
    pub executed: Option<Executed>,
    /// The merge on the staging branch, if the gate fails.
    pub merged: Option<Merged>,
}

/// The failure of the only agent of a wave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SoloFailure {
    /// Why it has no report.
    pub why: String,
}

impl From<Failure> for SoloFailure {
    fn from(failure: Failure) -> Self {
        Self { why: unreported(&failure) }
    }
}

/// What an agent has done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    /// The agent and its wave.
    pub post: Post,
    /// Its report.
    pub report: CompletionReport,
    /// The state of its branch and its worktree.
    pub facts: Facts,
}

/// A wave whose agents have ended, and the state of their branches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Executed {
    /// The wave as it was launched.
    pub launch: Launch,
    /// The branch and worktree of each agent that has ended.
    pub facts: Vec<(Post, Facts)>,
    /// The agents whose work a person has put right since.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub fixed: BTreeSet<AgentLetter>,
    /// The report of an agent that is alone, if it is not in the document: a person has to look at what the agent left
    /// there first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unwritten: Option<CompletionReport>,
}

impl Executed {
    /// A wave whose agents have just ended.
    pub(crate) fn new(launch: Launch, facts: Vec<(Post, Facts)>) -> Self {
        Self { launch, facts, fixed: BTreeSet::new(), unwritten: None }
    }
}

/// A wave that is merged on the staging branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Merged {
    /// The wave.
    pub wave: u32,
    /// The agents whose work it contains.
    pub agents: Vec<AgentLetter>,
    /// The hash of its contracts.
    pub contracts_hash: String,
    /// The commit of the staging branch.
    pub commit: CommitId,
}

/// The progress of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The state.
    pub state: State,
    /// Its wave; none before the first.
    #[serde(default)]
    pub wave: Option<u32>,
    /// By label: how often each agent was sent to work, and with which section.
    pub sent: BTreeMap<String, Sent>,
}

/// The last time that an agent was sent to work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// How often, from 1; 0 if another run did so.
    pub generation: u32,
    /// Its section.
    pub section: String,
    /// The commit that its worktree begins at.
    pub base: CommitId,
}

/// The run of an orchestrator.
#[derive(Graph)]
#[graph(output = SawResult)]
pub struct ScoutAndWave {
    /// Routes by the run's command.
    #[node(entry, input = Request, goto(check, scout, architect, pending, recover, quick_check), memory(run: Progress))]
    pub(crate) command: LogicNode<Command>,

    /// Finds out what a run whose journal is lost has left of a wave.
    #[node(input = RunId, workspace = "staging", goto(pending, predict, exit), memory(run: Progress))]
    pub(crate) recover: LogicNode<Recover>,

    /// Reads the project, and returns a plan; only the verdict on it is used. It may not write.
    #[node(input = Brief, prompt = ScoutPrompt<'_>, output = Plan, agent = "scout", workspace = "scout", read_only,
        goto(exit), memory(run: Progress), timeout = "60m")]
    pub(crate) check: LLMNode<Check>,

    /// Reads the project, and returns a plan. It may not write.
    #[node(input = Brief, prompt = ScoutPrompt<'_>, output = Plan, agent = "scout", workspace = "scout", read_only,
        goto(suit), visits = 3, memory(run: Progress), timeout = "60m")]
    pub(crate) scout: LLMNode<Scout>,

    /// Designs a project that has no code yet. It may not write either.
    #[node(input = Brief, prompt = ArchitectPrompt<'_>, output = BootstrapPlan, agent = "scout", workspace = "scout",
        read_only, goto(suit), visits = 3, memory(run: Progress), timeout = "60m")]
    pub(crate) architect: LLMNode<Architect>,

    /// Judges the plan, alone and against the project, and writes the document.
    #[node(input = Proposal, workspace = "staging", goto(review, exit), memory(run: Progress))]
    pub(crate) suit: LogicNode<Suit>,

    /// Asks a person, who may change the document first.
    #[node(input = Draft, question = ReviewQuestion, answer = ReviewAnswer, goto(pending, scout, architect, exit),
        visits = 9, memory(run: Progress))]
    pub(crate) review: HumanNode<Review>,

    /// Checks the next wave against the document on the target branch, and freezes its contracts.
    #[node(input = Next, workspace = "staging", goto(solo, agents, review, blocked_contract), visits = 78,
        memory(run: Progress))]
    pub(crate) pending: LogicNode<Pending>,

    /// The only agent of a wave. It works on the staging branch itself, on top of the target: there is nothing to merge.
    #[node(input = Launch, prompt = AgentLaunch<'_>, output = CompletionReport, agent = "agent", workspace = "staging",
        goto(predict, blocked_agent, blocked_contract), failed(solo_failed), memory(run: Progress), timeout = "60m")]
    pub(crate) solo: LLMNode<Solo>,

    /// Keeps that agent's commits if it has ended without a report.
    #[node(input = SoloFailure, workspace = "staging", goto(blocked_agent), memory(run: Progress))]
    pub(crate) solo_failed: LogicNode<SoloFailed>,

    /// The agents of a wave, side by side.
    #[node(input = Launch, map = Agent, adopt, workspace = "staging", goto(predict, blocked_agent, blocked_contract),
        memory(run: Progress))]
    pub(crate) agents: MapNode<Agents>,

    /// Checks reports against the branches, before anything is merged.
    #[node(input = Executed, workspace = "staging", goto(merge, append, blocked_agent, blocked_contract),
        memory(run: Progress))]
    pub(crate) predict: LogicNode<Predict>,

    /// Merges the branches on the staging branch, and removes the worktrees.
    #[node(input = Executed, workspace = "staging", goto(append, blocked_contract), memory(run: Progress))]
    pub(crate) merge: LogicNode<Merge>,

    /// Adds the lines of append-only files.
    #[node(input = Merged, workspace = "staging", goto(verify), memory(run: Progress))]
    pub(crate) append: LogicNode<Append>,

    /// Runs the gate on the whole project, including others' commits on the target branch in the meantime.
    #[node(input = Merged, workspace = "staging", goto(verified, blocked_verify), visits = 156, memory(run: Progress))]
    pub(crate) verify: LogicNode<Verify>,

    /// Lands the wave.
    #[node(input = Merged, workspace = "staging", goto(pending, verify, exit), memory(run: Progress))]
    pub(crate) verified: LogicNode<Verified>,

    /// Asks a person: agents did not complete their work, or their reports are not true.
    #[node(input = Blocked, question = BlockedQuestion, answer = AgentFailureAnswer,
        goto(blocked_agent, agents, solo, predict, exit), visits = 78, attempts = 9, memory(run: Progress))]
    pub(crate) blocked_agent: HumanNode<BlockedAgent>,

    /// Asks a person: the plan does not hold, in its contracts or its ownership of files.
    #[node(input = Blocked, question = BlockedQuestion, answer = ContractAnswer, goto(pending, exit), visits = 78,
        memory(run: Progress))]
    pub(crate) blocked_contract: HumanNode<BlockedContract>,

    /// Asks a person: the gate fails.
    #[node(input = Blocked, question = BlockedQuestion, answer = VerificationAnswer,
        goto(blocked_verify, verify, exit), visits = 78, attempts = 9, memory(run: Progress))]
    pub(crate) blocked_verify: HumanNode<BlockedVerify>,

    /// Checks whether quick mode is suitable for a declaration of ownership.
    #[node(input = QuickPlan, workspace = "staging", goto(quick, exit))]
    pub(crate) quick_check: LogicNode<QuickCheck>,

    /// Its agents, side by side.
    #[node(input = QuickLaunch, map = QuickWorker, adopt, workspace = "staging", goto(quick_merge, exit))]
    pub(crate) quick: MapNode<Quick>,

    /// Merges their work on the staging branch.
    #[node(input = QuickExecuted, workspace = "staging", goto(quick_verify, exit))]
    pub(crate) quick_merge: LogicNode<QuickMerge>,

    /// Runs the gate on the whole project, and lands the merge if it passes.
    #[node(input = QuickMerged, workspace = "staging", goto(exit))]
    pub(crate) quick_verify: LogicNode<Verify>,
}

/// The run of one agent.
#[derive(Graph)]
#[graph(output = Done)]
pub struct Agent {
    /// Makes its worktree, and waits until all agents of the wave have theirs. An agent that is done already has its commits
    /// picked there.
    #[node(entry, input = Assignment, workspace = "tree", goto(implement, exit))]
    pub(crate) wait_for_worktrees: LogicNode<WaitForWorktrees>,

    /// Works, commits, and reports.
    #[node(input = Assignment, prompt = AgentLaunch<'_>, output = CompletionReport, agent = "agent", workspace = "tree",
        goto(exit), timeout = "60m")]
    pub(crate) implement: LLMNode<Implement>,
}

impl ScoutAndWave {
    /// The graph with handlers that work on `workbench`.
    pub fn new(workbench: &Arc<Workbench>) -> Self {
        Self {
            command: LogicNode(Command),
            recover: LogicNode(Recover),
            check: LLMNode(Check(workbench.clone())),
            scout: LLMNode(Scout(workbench.clone())),
            architect: LLMNode(Architect(workbench.clone())),
            suit: LogicNode(Suit(workbench.clone())),
            review: HumanNode(Review),
            pending: LogicNode(Pending(workbench.clone())),
            solo: LLMNode(Solo),
            solo_failed: LogicNode(SoloFailed),
            agents: MapNode(Agents::default()),
            predict: LogicNode(Predict),
            merge: LogicNode(Merge),
            append: LogicNode(Append),
            verify: LogicNode(Verify(workbench.clone())),
            verified: LogicNode(Verified),
            blocked_agent: HumanNode(BlockedAgent),
            blocked_contract: HumanNode(BlockedContract),
            blocked_verify: HumanNode(BlockedVerify),
            quick_check: LogicNode(QuickCheck),
            quick: MapNode(Quick),
            quick_merge: LogicNode(QuickMerge),
            quick_verify: LogicNode(Verify(workbench.clone())),
        }
    }
}

impl Agent {
    /// The graph of agents that wait for one another by `worktrees`.
    pub(crate) fn new(worktrees: &Arc<WaveWorktrees>) -> Self {
        Self {
            wait_for_worktrees: LogicNode(WaitForWorktrees(worktrees.clone())),
            implement: LLMNode(Implement(worktrees.clone())),
        }
    }
}
