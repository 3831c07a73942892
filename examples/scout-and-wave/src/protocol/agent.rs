//! The names of agents, and of what is named after them.

use interlocking::worktree::{BranchName, NameError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// An agent: a capital letter, and a digit from 2 on where a plan has more than 26 agents (CON-112).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", inline, extend("pattern" = r"^[A-Z][2-9]?$"))]
pub struct AgentLetter(String);

/// The error for a text that is not an agent's letter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an agent is a capital letter, with a digit from 2 to 9 where there are more than 26: found {found:?}")]
pub struct NotALetter {
    /// The refused text.
    pub found: String,
}

impl AgentLetter {
    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for AgentLetter {
    type Error = NotALetter;

    fn try_from(found: String) -> Result<Self, NotALetter> {
        match found.as_bytes() {
            [b'A'..=b'Z'] | [b'A'..=b'Z', b'2'..=b'9'] => Ok(Self(found)),
            _ => Err(NotALetter { found }),
        }
    }
}

impl std::str::FromStr for AgentLetter {
    type Err = NotALetter;

    fn from_str(text: &str) -> Result<Self, NotALetter> {
        Self::try_from(text.to_owned())
    }
}

impl From<AgentLetter> for String {
    fn from(letter: AgentLetter) -> Self {
        letter.0
    }
}

impl fmt::Display for AgentLetter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An agent's place in a run: its branch, its worktree and its child run are named after it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Post {
    /// The wave: from 1, or 0 for the types of a new project.
    pub wave: u32,
    /// The agent.
    pub agent: AgentLetter,
}

/// Where an agent works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The name of its worktree in its report.
    pub worktree: String,
    /// The branch on which it commits.
    pub branch: String,
}

impl Post {
    /// `wave1-agent-a`: the name of its branch, and the key of its child run (CON-112).
    pub fn label(&self) -> String {
        format!("wave{}-agent-{}", self.wave, self.agent.as_str().to_ascii_lowercase())
    }

    /// The key of its child run: a different one each time it is sent to work again (CON-156).
    pub fn key(&self, generation: u32) -> String {
        match generation {
            0 | 1 => self.label(),
            again => format!("{}_{again}", self.label()),
        }
    }

    /// The label in a key.
    pub fn label_of(key: &str) -> &str {
        key.split_once('_').map_or(key, |(label, _)| label)
    }

    /// The name of its worktree in its prompt and its report: the run decides where it really is (SAW-70, CON-152). An
    /// agent that is alone in its wave has none of its own (CON-103).
    pub fn worktree(&self, is_alone: bool) -> String {
        if is_alone { "main".to_owned() } else { format!(".claude/worktrees/{}", self.label()) }
    }

    /// Whether its section of the document gives it a worktree of its own.
    pub(crate) fn has_worktree_by(&self, section: &str) -> bool {
        section.contains(&format!("`{}`", self.worktree(false)))
    }

    /// Its branch.
    ///
    /// # Errors
    ///
    /// [`NameError`]: never, since a label is a valid branch name.
    pub fn branch(&self) -> Result<BranchName, NameError> {
        BranchName::new(self.label())
    }
}
