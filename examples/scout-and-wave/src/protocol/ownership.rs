//! The check of ownership before a wave is launched (SAW-12, SAW-38, SAW-51).

use super::agent::AgentLetter;
use super::invariant::Invariant;
use super::plan::{Addition, AppendOnly, Plan, PlannedAgent, PlannedWave};
use interlocking::workspaces::FilePath;
use serde::{Deserialize, Serialize};

/// The files of one agent, as in the document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentFiles {
    /// The agent.
    pub agent: AgentLetter,
    /// Existing files that it alone changes.
    pub changes: Vec<FilePath>,
    /// Files that it alone creates.
    pub creates: Vec<FilePath>,
    /// Files of other agents that must be there before it begins.
    pub needs: Vec<FilePath>,
}

/// The agents of one wave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wave {
    /// Their files.
    pub agents: Vec<AgentFiles>,
}

/// A mistake in the ownership of files. Nothing is launched before it is corrected in the document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum OwnershipProblem {
    /// Two agents of a wave own one file.
    #[error(
        "I1 is broken: agents {one} and {other} of wave {wave} both own `{file}`; so {}: give it to one of them, or put them into different waves",
        Invariant::I1.effect()
    )]
    Overlap {
        /// The wave.
        wave: u32,
        /// An agent.
        one: AgentLetter,
        /// Another one.
        other: AgentLetter,
        /// The file.
        file: FilePath,
    },
    /// An agent owns a file that is the orchestrator's.
    #[error(
        "agent {agent} of wave {wave} owns `{file}`, which is append-only and so the orchestrator's: take it from one of the lists"
    )]
    Orchestrators {
        /// The wave.
        wave: u32,
        /// The agent.
        agent: AgentLetter,
        /// The file.
        file: FilePath,
    },
    /// An agent needs a file that is not created before it begins.
    #[error(
        "agent {agent} of wave {wave} needs `{file}`, which agent {creator} creates in wave {created_in}: it belongs to a later wave"
    )]
    TooEarly {
        /// The wave of the agent.
        wave: u32,
        /// The agent.
        agent: AgentLetter,
        /// The file.
        file: FilePath,
        /// The agent that creates it.
        creator: AgentLetter,
        /// The wave in which it is created.
        created_in: u32,
    },
    /// Two agents have one letter.
    #[error("there are two agents {agent}: give each a letter of its own")]
    Twice {
        /// The letter.
        agent: AgentLetter,
    },
    /// An agent owns nothing.
    #[error("agent {agent} of wave {wave} owns no file: give it some, or take it out")]
    Idle {
        /// The wave.
        wave: u32,
        /// The agent.
        agent: AgentLetter,
    },
}

impl AgentFiles {
    /// The files that this agent alone may touch.
    pub fn owns(&self) -> impl Iterator<Item = &FilePath> {
        self.changes.iter().chain(&self.creates)
    }
}

impl From<&PlannedAgent> for AgentFiles {
    fn from(planned: &PlannedAgent) -> Self {
        let PlannedAgent { agent, changes, creates, needs, .. } = planned.clone();
        Self { agent, changes, creates, needs }
    }
}

impl From<&PlannedWave> for Wave {
    fn from(planned: &PlannedWave) -> Self {
        Self { agents: planned.agents.iter().map(AgentFiles::from).collect() }
    }
}

/// The waves of a plan.
pub fn waves_of(plan: &Plan) -> Vec<Wave> {
    plan.waves.iter().map(Wave::from).collect()
}

/// All mistakes in the ownership of files; the first wave has the number `first`.
pub fn problems(first: u32, waves: &[Wave], append_only: &[AppendOnly]) -> Vec<OwnershipProblem> {
    let mut problems = Vec::new();
    let numbered =
        || (first..).zip(waves).flat_map(|(number, wave)| wave.agents.iter().map(move |agent| (number, agent)));
    for (index, (wave, files)) in numbered().enumerate() {
        let agent = &files.agent;
        if numbered().take(index).any(|(_, before)| before.agent == *agent) {
            problems.push(OwnershipProblem::Twice { agent: agent.clone() });
        }
        if files.owns().next().is_none() {
            problems.push(OwnershipProblem::Idle { wave, agent: agent.clone() });
        }
        for file in files.owns() {
            let beside = numbered().take(index).filter(|(other, _)| *other == wave);
            for (_, other) in beside.filter(|(_, other)| other.owns().any(|owned| owned == file)) {
                let (one, other) = (other.agent.clone(), agent.clone());
                problems.push(OwnershipProblem::Overlap { wave, one, other, file: file.clone() });
            }
            // An agent that creates it before any line is added has finished with it by then.
            let is_later =
                |addition: &Addition| numbered().any(|(other, adds)| adds.agent == addition.agent && other > wave);
            let is_done = |shared: &AppendOnly| files.creates.contains(file) && shared.additions.iter().all(is_later);
            if append_only.iter().any(|shared| shared.file == *file && !is_done(shared)) {
                let (agent, file) = (agent.clone(), file.clone());
                problems.push(OwnershipProblem::Orchestrators { wave, agent, file });
            }
        }
        for file in &files.needs {
            let creators = numbered().filter(|(created_in, other)| *created_in >= wave && other.creates.contains(file));
            for (created_in, creator) in creators {
                let (agent, creator) = (agent.clone(), creator.agent.clone());
                problems.push(OwnershipProblem::TooEarly { wave, agent, file: file.clone(), creator, created_in });
            }
        }
    }
    problems
}
