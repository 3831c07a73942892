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

/// A document that waits for a person's word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    /// What is asked.
    pub question: ReviewQuestion,
    /// What its scout was told; another one is told the same, and what the person says.
    pub brief: Brief,
    /// The wave that begins with approval: of a project without code, the one that an architect has planned, it is 0.
    pub first_wave: u32,
}

/// That the next wave may begin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Next {
    /// Which, from 1.
    pub wave: u32,
    /// What its agents have done, where it was launched before: who is done need not work again (SAW-45).
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
    /// Which.
    pub wave: u32,
    /// The commit that all of its agents begin at.
    pub base: CommitId,
    /// The hash of the contracts, which are frozen from here on.
    pub contracts_hash: String,
    /// What each agent is to do.
    pub assignments: Vec<Assignment>,
}

impl Launch {
    /// What its only agent is to do; none if it has several.
    pub fn only(&self) -> Option<&Assignment> {
        match &self.assignments[..] {
            [only] => Some(only),
            _ => None,
        }
    }
}

/// What one agent is to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    /// Who it is.
    pub post: Post,
    /// How often it is sent to work, from 1: again where a person wants that, or its section has changed (CON-156).
    pub generation: u32,
    /// How many agents the wave has: none begins before all have a worktree.
    pub wave_size: usize,
    /// The commit that its worktree has to begin at.
    pub base: CommitId,
    /// The document.
    pub document: FilePath,
    /// Its section of the document, as it was written there when the wave was launched (CON-102).
    pub section: String,
    /// What it has done in a worktree at another base: its commits are picked, and it does not work again (CON-100).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Done>,
}

/// That a wave cannot go on without a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blocked {
    /// Which.
    pub wave: u32,
    /// Why.
    pub reason: BlockReason,
    /// In detail.
    pub problems: Vec<String>,
    /// The wave as it was launched, and what its agents have done; none before the launch.
    pub executed: Option<Executed>,
    /// What is merged on the staging branch, where the gate fails.
    pub merged: Option<Merged>,
}

/// That the only agent of a wave has failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SoloFailure {
    /// Why there is no report of it.
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
    /// Who it is.
    pub post: Post,
    /// What it says.
    pub report: CompletionReport,
    /// What is there.
    pub facts: Facts,
}

/// A wave whose agents have ended, and what is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Executed {
    /// The wave as it was launched.
    pub launch: Launch,
    /// What is on the branch of each agent that has ended.
    pub facts: Vec<(Post, Facts)>,
    /// The agents that the wave goes on without, as a person has said.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub descoped: BTreeSet<AgentLetter>,
}

/// A wave that is merged on the staging branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Merged {
    /// Which.
    pub wave: u32,
    /// Whose work it is.
    pub agents: Vec<AgentLetter>,
    /// The hash of the contracts that it was made by.
    pub contracts_hash: String,
    /// The commit of the staging branch.
    pub commit: CommitId,
}

/// Where the run is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The state.
    pub state: State,
    /// The wave that it is about; none before the first.
    #[serde(default)]
    pub wave: Option<u32>,
    /// By label: how often each agent was sent to work, and by which section.
    pub sent: BTreeMap<String, Sent>,
}

/// How an agent was sent to work last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// How often, from 1; 0 where it was another run that did.
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
    /// Goes by what the run is for.
    #[node(entry, input = Request, goto(check, scout, architect, pending, recover, quick_check), memory(run: Progress))]
    pub(crate) command: LogicNode<Command>,

    /// Finds out what a run whose journal is lost has left of a wave.
    #[node(input = RunId, workspace = "staging", goto(pending, predict, exit), memory(run: Progress))]
    pub(crate) recover: LogicNode<Recover>,

    /// Reads the project, and returns a plan, of which nothing but the verdict is used. It may not write.
    #[node(input = Brief, prompt = ScoutPrompt<'_>, output = Plan, agent = "scout", workspace = "scout", read_only,
        goto(exit), memory(run: Progress), timeout = "60m")]
    pub(crate) check: LLMNode<Check>,

    /// Reads the project, and returns a plan. It may not write.
    #[node(input = Brief, prompt = ScoutPrompt<'_>, output = Plan, agent = "scout", workspace = "scout", read_only,
        goto(suit), visits = 3, memory(run: Progress), timeout = "60m")]
    pub(crate) scout: LLMNode<Scout>,

    /// Designs a project of which there is no code. It may not write either.
    #[node(input = Brief, prompt = ArchitectPrompt<'_>, output = BootstrapPlan, agent = "scout", workspace = "scout",
        read_only, goto(suit), visits = 3, memory(run: Progress), timeout = "60m")]
    pub(crate) architect: LLMNode<Architect>,

    /// Judges the plan by itself and by the project, and writes the document.
    #[node(input = Proposal, workspace = "staging", goto(review, exit), memory(run: Progress))]
    pub(crate) suit: LogicNode<Suit>,

    /// Asks a person, who may change the document first.
    #[node(input = Draft, question = ReviewQuestion, answer = ReviewAnswer, goto(pending, scout, architect, exit),
        visits = 9, memory(run: Progress))]
    pub(crate) review: HumanNode<Review>,

    /// Checks the next wave by the document on the target branch, and freezes its contracts.
    #[node(input = Next, workspace = "staging", goto(solo, agents, review, blocked_contract), visits = 78,
        memory(run: Progress))]
    pub(crate) pending: LogicNode<Pending>,

    /// The only agent of a wave. It works on the staging branch itself, on top of the target: there is nothing to merge.
    #[node(input = Launch, prompt = AgentLaunch<'_>, output = CompletionReport, agent = "agent", workspace = "staging",
        goto(predict, blocked_agent, blocked_contract), failed(solo_failed), memory(run: Progress), timeout = "60m")]
    pub(crate) solo: LLMNode<Solo>,

    /// Keeps what that agent has committed, where it has ended without a report.
    #[node(input = SoloFailure, workspace = "staging", goto(blocked_agent), memory(run: Progress))]
    pub(crate) solo_failed: LogicNode<SoloFailed>,

    /// The agents of a wave, side by side.
    #[node(input = Launch, map = Agent, adopt, workspace = "staging", goto(predict, blocked_agent, blocked_contract),
        memory(run: Progress))]
    pub(crate) agents: MapNode<Agents>,

    /// Holds reports against what is there, before anything is merged.
    #[node(input = Executed, workspace = "staging", goto(merge, append, blocked_agent, blocked_contract),
        memory(run: Progress))]
    pub(crate) predict: LogicNode<Predict>,

    /// Merges the branches on the staging branch, and takes the worktrees away.
    #[node(input = Executed, workspace = "staging", goto(append, blocked_contract), memory(run: Progress))]
    pub(crate) merge: LogicNode<Merge>,

    /// Adds the lines of append-only files.
    #[node(input = Merged, workspace = "staging", goto(verify), memory(run: Progress))]
    pub(crate) append: LogicNode<Append>,

    /// Runs the gate on the whole project, with what others have committed on the target branch meanwhile.
    #[node(input = Merged, workspace = "staging", goto(verified, blocked_verify), visits = 156, memory(run: Progress))]
    pub(crate) verify: LogicNode<Verify>,

    /// Lands the wave.
    #[node(input = Merged, workspace = "staging", goto(pending, verify, exit), memory(run: Progress))]
    pub(crate) verified: LogicNode<Verified>,

    /// Agents did not complete their work, or not as they say.
    #[node(input = Blocked, question = BlockedQuestion, answer = AgentFailureAnswer,
        goto(blocked_agent, agents, solo, predict, exit), visits = 9, attempts = 9, memory(run: Progress))]
    pub(crate) blocked_agent: HumanNode<BlockedAgent>,

    /// The plan does not hold: contracts, or who owns what.
    #[node(input = Blocked, question = BlockedQuestion, answer = ContractAnswer, goto(pending, exit), visits = 9,
        memory(run: Progress))]
    pub(crate) blocked_contract: HumanNode<BlockedContract>,

    /// The gate fails.
    #[node(input = Blocked, question = BlockedQuestion, answer = VerificationAnswer, goto(verify, exit), visits = 9,
        memory(run: Progress))]
    pub(crate) blocked_verify: HumanNode<BlockedVerify>,

    /// Whether quick mode is for a declaration of who owns what.
    #[node(input = QuickPlan, workspace = "staging", goto(quick, exit))]
    pub(crate) quick_check: LogicNode<QuickCheck>,

    /// Its agents, side by side.
    #[node(input = QuickLaunch, map = QuickWorker, adopt, workspace = "staging", goto(quick_merge, exit))]
    pub(crate) quick: MapNode<Quick>,

    /// Merges what they did on the staging branch.
    #[node(input = QuickExecuted, workspace = "staging", goto(quick_verify, exit))]
    pub(crate) quick_merge: LogicNode<QuickMerge>,

    /// Runs the gate on the whole project, and lands what passes.
    #[node(input = QuickMerged, workspace = "staging", goto(exit))]
    pub(crate) quick_verify: LogicNode<Verify>,
}

/// The run of one agent.
#[derive(Graph)]
#[graph(output = Done)]
pub struct Agent {
    /// Has its worktree made, and waits until all agents of the wave have theirs. Who is done already brings its commits there.
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
            pending: LogicNode(Pending),
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
    /// The graph of the agents that wait for one another by `worktrees`.
    pub(crate) fn new(worktrees: &Arc<WaveWorktrees>) -> Self {
        Self {
            wait_for_worktrees: LogicNode(WaitForWorktrees(worktrees.clone())),
            implement: LLMNode(Implement(worktrees.clone())),
        }
    }
}
