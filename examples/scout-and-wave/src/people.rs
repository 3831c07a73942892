//! Questions to people, their answers, and the result of a run.

use crate::protocol::agent::AgentLetter;
use crate::protocol::state::BlockReason;
use crate::protocol::suitability::{Failed, Suitability};
use crate::quick::QuickStop;
use interlocking::workspaces::FilePath;
use interlocking::worktree::CommitId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The question to the person who approves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewQuestion {
    /// The document to read. It may be changed, and committed, before it is approved.
    pub document: FilePath,
    /// Whether the task is suitable for the protocol.
    pub suitability: Suitability,
    /// The possible answers.
    pub ways: Vec<String>,
}

impl ReviewQuestion {
    /// A question about a document, with the verdict in it.
    pub fn new(document: FilePath, suitability: Suitability) -> Self {
        let approve = match suitability.caveats.is_empty() {
            true => "{\"approve\": {}}: the waves begin",
            false => "{\"approve\": {\"acknowledge_caveats\": true}}: you know the caveats, and the waves begin",
        };
        let others = [
            "{\"replan\": {\"remarks\": \"what is wrong\"}}: the scout plans anew, and the document is written over",
            "{\"decline\": {\"reason\": \"why\"}}: the run ends",
        ];
        let ways = [approve].into_iter().chain(others).map(str::to_owned).collect();
        Self { document, suitability, ways }
    }
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
    /// The task is planned anew, and the document written over.
    Replan {
        /// What was wrong with the plan.
        remarks: String,
    },
    /// They may not: the run ends.
    Decline {
        /// Why.
        reason: String,
    },
}

/// The question to a person about a blocked wave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockedQuestion {
    /// The wave.
    pub wave: u32,
    /// Why.
    pub reason: BlockReason,
    /// In detail.
    pub problems: Vec<String>,
    /// The path of the orchestrator's worktree, with the document and its reports.
    pub staging: String,
    /// The possible answers.
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
    /// A person has committed what was missing on the branches of these agents; of one that is alone in its wave, put it into the staging
    /// worktree.
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

impl AgentFailureAnswer {
    /// The agents that it names.
    pub fn agents(&self) -> &[AgentLetter] {
        match self {
            Self::Rerun { agents } | Self::Fixed { agents } | Self::Descope { agents } => agents,
            Self::Stop => &[],
        }
    }
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
    /// Files were put right in the staging worktree, committed or not.
    Fixed,
    /// The run ends.
    Stop,
}

/// The result of a run.
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
    /// `check`: the verdict; nothing was written.
    Checked {
        /// The verdict.
        suitability: Suitability,
    },
    /// `scout`: the document; no agent was launched.
    Reviewed {
        /// The document's path.
        document: FilePath,
        /// Its verdict.
        suitability: Suitability,
    },
    /// Quick mode: the agents' work is merged, verified, and has landed.
    QuickComplete {
        /// The agents whose work it is.
        agents: Vec<AgentLetter>,
        /// The commit that has landed.
        commit: CommitId,
    },
    /// Quick mode has ended, and nothing has landed.
    QuickStopped {
        /// Why.
        reason: QuickStop,
        /// In detail.
        problems: Vec<String>,
    },
    /// A precondition does not hold: no agent was launched.
    NotSuitable {
        /// The preconditions, each with the reason.
        failed: Vec<Failed>,
    },
    /// The person did not approve.
    Declined {
        /// Why.
        reason: String,
    },
    /// A person has ended the run when a wave was blocked. Nothing of that wave has landed.
    Stopped {
        /// The wave.
        wave: u32,
        /// Why.
        reason: BlockReason,
        /// In detail.
        problems: Vec<String>,
    },
}
