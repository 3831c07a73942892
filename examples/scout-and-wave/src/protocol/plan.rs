//! What the scout returns: everything that the document is made of, and that suitability is judged by.

use super::agent::AgentLetter;
use interlocking::toolchain::CommandLine;
use interlocking::workspaces::FilePath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The scout's plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// What is to be built, in a few words.
    pub title: String,
    /// What is to be built and how it is split, in a paragraph.
    pub summary: String,
    /// The number of the first wave: 0 where that makes the types of a project that is begun. No agent is asked for it.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(skip)]
    pub first_wave: u32,
    /// The waves, in their order. All agents of a wave work at the same time, each in a worktree of its own.
    pub waves: Vec<PlannedWave>,
    /// Every interface between agents: what one provides and another calls.
    pub contracts: Vec<Contract>,
    /// Files that several agents would only add lines to. No agent may touch them: the orchestrator adds the lines after a wave is merged.
    #[serde(default)]
    pub append_only: Vec<AppendOnly>,
    /// Commands that build and test the whole project, each as a list of words. They run after each wave.
    pub gate: Vec<Command>,
    /// What has to be found out before the work can be specified; empty if nothing has.
    #[serde(default)]
    pub investigations: Vec<String>,
    /// Interfaces between agents that cannot be written down yet; empty if all can.
    #[serde(default)]
    pub open_interfaces: Vec<String>,
    /// Where the task is a list of findings, such as an audit's: each of them.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// How long things take, in minutes.
    pub estimates: Estimates,
    /// What the person who approves should know although everything holds.
    #[serde(default)]
    pub caveats: Vec<String>,
}

pub(crate) fn one() -> u32 {
    1
}

pub(crate) fn is_one(number: &u32) -> bool {
    *number == 1
}

/// A wave of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlannedWave {
    /// Its agents.
    pub agents: Vec<PlannedAgent>,
}

/// An agent of a plan. From this its prompt's fields are stamped (SAW-66).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlannedAgent {
    /// Its letter; no two agents of a plan have the same.
    pub agent: AgentLetter,
    /// Files that are there, and that this agent alone may change.
    #[serde(default)]
    pub changes: Vec<FilePath>,
    /// Files that are not there, and that this agent alone creates.
    #[serde(default)]
    pub creates: Vec<FilePath>,
    /// Files that other agents create and that must be there when this one begins.
    #[serde(default)]
    pub needs: Vec<FilePath>,
    /// What to implement: what it must do, not how.
    pub task: String,
    /// The tests to write: a name and what it shows, one line each.
    pub tests: Vec<String>,
    /// Commands that check this agent's own files and nothing else, each as a list of words.
    pub verification: Vec<Command>,
    /// How to handle errors, what must stay compatible, what to avoid.
    pub constraints: Vec<String>,
    /// The findings that it takes care of, by id.
    #[serde(default)]
    pub findings: Vec<String>,
    /// How long it takes, in minutes.
    pub minutes: u32,
}

/// An interface between agents, as code: it is frozen when worktrees are made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Contract {
    /// Its name.
    pub name: String,
    /// The exact signatures, as code.
    pub signature: String,
    /// The agent that implements it; absent where the project has it already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provided_by: Option<AgentLetter>,
    /// The agents that call it.
    #[serde(default)]
    pub called_by: Vec<AgentLetter>,
}

/// A file to which lines are added after a merge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AppendOnly {
    /// The file, which is there.
    pub file: FilePath,
    /// What each agent's work needs there.
    pub additions: Vec<Addition>,
}

/// Lines for one agent's work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Addition {
    /// The agent.
    pub agent: AgentLetter,
    /// The lines, for the end of the file.
    pub lines: Vec<String>,
}

/// A finding of an audit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// What it is called in the list.
    pub id: String,
    /// What was found.
    pub what: String,
    /// How far it is taken care of; absent where the scout could not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<FindingClass>,
}

/// How far a finding is taken care of (SAW-08).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum FindingClass {
    /// Nothing is done.
    #[serde(rename = "TO-DO")]
    ToDo,
    /// It is done: no agent gets it.
    #[serde(rename = "DONE")]
    Done,
    /// Something is left.
    #[serde(rename = "PARTIAL")]
    Partial,
}

/// How long things take, in minutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Estimates {
    /// The scout.
    pub scout: u32,
    /// All merges and verifications.
    pub merge: u32,
    /// One agent that does everything, one thing after the other.
    pub sequential: u32,
}

/// A program and its arguments; no shell reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(with = "Vec<String>", inline)]
pub struct Command(pub CommandLine);

impl std::fmt::Display for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl PlannedAgent {
    /// The files that this agent alone may touch.
    pub fn owns(&self) -> impl Iterator<Item = &FilePath> {
        self.changes.iter().chain(&self.creates)
    }
}

impl Plan {
    /// How many agents a wave has.
    pub fn agents_in(&self, wave: u32) -> usize {
        self.agents().filter(|(of, _)| *of == wave).count()
    }

    /// Every agent with its wave.
    pub fn agents(&self) -> impl Iterator<Item = (u32, &PlannedAgent)> {
        (self.first_wave..)
            .zip(&self.waves)
            .flat_map(|(wave, planned)| planned.agents.iter().map(move |agent| (wave, agent)))
    }
}
