//! The routing table: the protocol on one page. What the nodes do is in [`handlers`](crate::handlers).

use crate::handlers::{
    Agents, Append, Arrive, BlockedAgent, BlockedContract, BlockedVerify, Implement, Merge, Muster, Pending, Predict,
    Review, Scout, Suit, Verified, Verify,
};
use crate::prompts::{AgentLaunch, ScoutPrompt};
use crate::protocol::agent::{AgentLetter, Post};
use crate::protocol::path::FilePath;
use crate::protocol::plan::Plan;
use crate::protocol::prediction::Facts;
use crate::protocol::report::CompletionReport;
use crate::protocol::state::{BlockReason, State};
use crate::protocol::suitability::{Failed, Suitability};
use crate::workbench::Workbench;
use interlocking::prelude::*;
use interlocking::worktree::CommitId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a run begins with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// What is to be built.
    pub task: String,
    /// Where the document is to be: `docs/IMPL-NAME.md`.
    pub document: FilePath,
}

/// What the person who approves is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewQuestion {
    /// The document to read. It may be changed, and committed, before it is approved.
    pub document: FilePath,
    /// Whether the task is one for the protocol.
    pub suitability: Suitability,
}

/// What that person says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ReviewAnswer {
    /// The waves may begin.
    Approve {
        /// Whether the caveats are known, where there are any.
        #[serde(default)]
        acknowledge_caveats: bool,
    },
    /// They may not: the run ends.
    Decline {
        /// Why.
        reason: String,
    },
}

/// That the next wave may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Next {
    /// Which, from 1.
    pub wave: u32,
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

/// What a person is asked about a blocked wave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockedQuestion {
    /// Which.
    pub wave: u32,
    /// Why.
    pub reason: BlockReason,
    /// In detail.
    pub problems: Vec<String>,
    /// Where the orchestrator's worktree is, with the document and its reports.
    pub staging: String,
    /// What can be done.
    pub ways: Vec<String>,
}

/// What is to become of agents that failed (SAW-43).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum AgentFailureAnswer {
    /// These agents are sent to work again, from the beginning.
    Rerun {
        /// Their letters.
        agents: Vec<AgentLetter>,
    },
    /// A person has committed what was missing on the branches of these agents.
    Fixed {
        /// Their letters.
        agents: Vec<AgentLetter>,
    },
    /// The wave goes on without these agents.
    Descope {
        /// Their letters.
        agents: Vec<AgentLetter>,
    },
    /// The run ends.
    Stop,
}

/// What is to become of a wave whose plan does not hold (SAW-45).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContractAnswer {
    /// The document was put right, and that is committed on the target branch. Agents whose section has changed work again.
    Revised,
    /// The run ends.
    Stop,
}

/// What is to become of a wave whose gate fails (SAW-33).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VerificationAnswer {
    /// Files were put right in the staging worktree, and are not committed.
    Fixed,
    /// The run ends.
    Stop,
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

/// A wave whose agents have all reported that they are complete, and what is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Executed {
    /// The wave as it was launched.
    pub launch: Launch,
    /// What is on the branch of each agent that has ended.
    pub facts: Vec<(Post, Facts)>,
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

/// What a run came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SawResult {
    /// Every wave is verified, and has landed.
    Complete {
        /// How many there were.
        waves: u32,
        /// The commit that landed last.
        commit: CommitId,
    },
    /// A precondition does not hold: nobody was launched.
    NotSuitable {
        /// Which, and why.
        failed: Vec<Failed>,
    },
    /// The person did not approve.
    Declined {
        /// Why.
        reason: String,
    },
    /// A person has ended the run where a wave was blocked. Nothing of it has landed.
    Stopped {
        /// Which.
        wave: u32,
        /// Why.
        reason: BlockReason,
        /// In detail.
        problems: Vec<String>,
    },
}

/// Where the run is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The state.
    pub state: State,
    /// By label: how often each agent was sent to work, and by which section.
    pub sent: BTreeMap<String, Sent>,
}

/// How an agent was sent to work last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// How often, from 1.
    pub generation: u32,
    /// Its section.
    pub section: String,
}

/// The run of an orchestrator.
#[derive(Graph)]
#[graph(output = SawResult)]
pub struct ScoutAndWave {
    /// Reads the project, and returns a plan. It may not write.
    #[node(entry, input = Request, prompt = ScoutPrompt<'_>, output = Plan, workspace = "scout", read_only, goto(suit),
        memory(run: Progress), timeout = "60m")]
    pub(crate) scout: LLMNode<Scout>,

    /// Judges the plan by itself and by the project, and writes the document.
    #[node(input = Plan, workspace = "staging", goto(review, exit), memory(run: Progress))]
    pub(crate) suit: LogicNode<Suit>,

    /// Asks a person, who may change the document first.
    #[node(input = ReviewQuestion, question = ReviewQuestion, answer = ReviewAnswer, goto(pending, exit),
        memory(run: Progress))]
    pub(crate) review: HumanNode<Review>,

    /// Checks the next wave by the document on the target branch, and freezes its contracts.
    #[node(input = Next, workspace = "staging", goto(agents, blocked_contract), visits = 78, memory(run: Progress))]
    pub(crate) pending: LogicNode<Pending>,

    /// The agents of a wave, side by side.
    #[node(input = Launch, map = Agent, adopt, workspace = "staging", goto(predict, blocked_agent, blocked_contract),
        memory(run: Progress))]
    pub(crate) agents: MapNode<Agents>,

    /// Holds reports against what is there, before anything is merged.
    #[node(input = Executed, workspace = "staging", goto(merge, blocked_agent, blocked_contract), memory(run: Progress))]
    pub(crate) predict: LogicNode<Predict>,

    /// Merges the branches on the staging branch, and takes the worktrees away.
    #[node(input = Executed, workspace = "staging", goto(append, blocked_contract), memory(run: Progress))]
    pub(crate) merge: LogicNode<Merge>,

    /// Adds the lines of append-only files.
    #[node(input = Merged, workspace = "staging", goto(verify), memory(run: Progress))]
    pub(crate) append: LogicNode<Append>,

    /// Runs the gate on the whole project.
    #[node(input = Merged, goto(verified, blocked_verify), memory(run: Progress))]
    pub(crate) verify: LogicNode<Verify>,

    /// Lands the wave.
    #[node(input = Merged, workspace = "staging", goto(pending, exit), memory(run: Progress))]
    pub(crate) verified: LogicNode<Verified>,

    /// Agents did not complete their work, or not as they say.
    #[node(input = Blocked, question = BlockedQuestion, answer = AgentFailureAnswer, goto(blocked_agent, agents, predict, exit),
        visits = 9, attempts = 9, memory(run: Progress))]
    pub(crate) blocked_agent: HumanNode<BlockedAgent>,

    /// The plan does not hold: contracts, or who owns what.
    #[node(input = Blocked, question = BlockedQuestion, answer = ContractAnswer, goto(pending, exit), visits = 9,
        memory(run: Progress))]
    pub(crate) blocked_contract: HumanNode<BlockedContract>,

    /// The gate fails.
    #[node(input = Blocked, question = BlockedQuestion, answer = VerificationAnswer, goto(verify, exit), visits = 9,
        memory(run: Progress))]
    pub(crate) blocked_verify: HumanNode<BlockedVerify>,
}

/// The run of one agent.
#[derive(Graph)]
#[graph(output = Done)]
pub struct Agent {
    /// Has its worktree made, and waits until all agents of the wave have theirs.
    #[node(entry, input = Assignment, workspace = "tree", goto(implement))]
    pub(crate) arrive: LogicNode<Arrive>,

    /// Works, commits, and reports.
    #[node(input = Assignment, prompt = AgentLaunch<'_>, output = CompletionReport, agent = "agent", workspace = "tree",
        goto(exit), timeout = "60m")]
    pub(crate) implement: LLMNode<Implement>,
}

impl ScoutAndWave {
    /// The graph with handlers that work on `workbench`.
    pub fn new(workbench: &Arc<Workbench>) -> Self {
        Self {
            scout: LLMNode(Scout),
            suit: LogicNode(Suit),
            review: HumanNode(Review),
            pending: LogicNode(Pending),
            agents: MapNode(Agents::default()),
            predict: LogicNode(Predict),
            merge: LogicNode(Merge),
            append: LogicNode(Append),
            verify: LogicNode(Verify(workbench.clone())),
            verified: LogicNode(Verified),
            blocked_agent: HumanNode(BlockedAgent),
            blocked_contract: HumanNode(BlockedContract),
            blocked_verify: HumanNode(BlockedVerify),
        }
    }
}

impl Agent {
    /// The graph of the agents that come together at `muster`.
    pub(crate) fn new(muster: &Arc<Muster>) -> Self {
        Self { arrive: LogicNode(Arrive(muster.clone())), implement: LLMNode(Implement(muster.clone())) }
    }
}
