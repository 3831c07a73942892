//! Quick mode: two or three agents on files of their own, without a document, contracts or reports (SAW-91 to SAW-94).

use super::agent::AgentLetter;
use super::plan::Command;
use interlocking::workspaces::FilePath;
use serde::{Deserialize, Serialize};

/// The ownership of files, declared by a person before any agent is launched: quick mode guarantees only that the sets are
/// disjoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuickPlan {
    /// The agents, called A, B and C in this order.
    pub agents: Vec<QuickAgent>,
    /// Commands that build and test the whole project, each as a list of words. They run on the merge.
    pub gate: Vec<Command>,
}

/// The assignment of an agent: three fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuickAgent {
    /// The files that it alone touches.
    pub files: Vec<FilePath>,
    /// What to do.
    pub task: String,
    /// Commands that check its own files, each as a list of words.
    pub verification: Vec<Command>,
}

/// Why quick mode is not suitable for a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuickProblem {
    /// There are not two or three agents.
    #[error("quick mode is for 2 or 3 agents, and there are {found}")]
    AgentCount {
        /// How many there are.
        found: usize,
    },
    /// Two agents own one file.
    #[error("agents {one} and {other} both own `{file}`: give it to one of them")]
    Overlap {
        /// An agent.
        one: AgentLetter,
        /// Another one.
        other: AgentLetter,
        /// The file.
        file: FilePath,
    },
    /// An agent owns nothing.
    #[error("agent {agent} owns no file: give it some, or take it out")]
    NoFiles {
        /// The agent.
        agent: AgentLetter,
    },
    /// An agent has no task.
    #[error("agent {agent} has no task: write what it has to do")]
    NoTask {
        /// The agent.
        agent: AgentLetter,
    },
    /// There is no gate for the merge.
    #[error("there is no gate: name the commands that build and test the whole project")]
    NoGate,
}

/// How many agents there may be.
const AGENTS: std::ops::RangeInclusive<usize> = 2..=3;

impl QuickPlan {
    /// The agents with their letters; those beyond Z are left out.
    pub fn lettered(&self) -> impl Iterator<Item = (AgentLetter, &QuickAgent)> {
        ('A'..='Z').filter_map(|letter| letter.to_string().parse().ok()).zip(&self.agents)
    }

    /// Everything that rules it out (SAW-91, SAW-93).
    pub fn problems(&self) -> Vec<QuickProblem> {
        let mut problems = Vec::new();
        if !AGENTS.contains(&self.agents.len()) {
            problems.push(QuickProblem::AgentCount { found: self.agents.len() });
        }
        for (index, (agent, QuickAgent { files, task, .. })) in self.lettered().enumerate() {
            if files.is_empty() {
                problems.push(QuickProblem::NoFiles { agent: agent.clone() });
            }
            if task.trim().is_empty() {
                problems.push(QuickProblem::NoTask { agent: agent.clone() });
            }
            for (one, before) in self.lettered().take(index) {
                let shared = before.files.iter().filter(|file| files.contains(file));
                problems.extend(shared.map(|file| {
                    let (one, other) = (one.clone(), agent.clone());
                    QuickProblem::Overlap { one, other, file: file.clone() }
                }));
            }
        }
        if self.gate.is_empty() {
            problems.push(QuickProblem::NoGate);
        }
        problems
    }
}

/// The name of an agent's branch, and the key of its child run: `quick-agent-a`.
pub fn label(agent: &AgentLetter) -> String {
    format!("quick-agent-{}", agent.as_str().to_ascii_lowercase())
}
