//! The levels at which an agent is confined to its workspace.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How strictly an agent is kept from everything outside its workspace, from the weakest to the strongest. Each level
/// includes the guarantees of the levels before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// The agent has its own directory. Changes that others make elsewhere do not reach it, but nothing is hidden: a
    /// worktree shares the objects of its repository, so `git show` reads what the others commit.
    #[default]
    Worktree,
    /// The agent also has its own repository, with its base commit and nothing else: the agent cannot read the commits of
    /// others with git. An agent that knows the path of their files can still read those.
    Clone,
    /// The kernel also confines the agent, and every process that it starts, to the workspace: the agent can neither
    /// read nor write other files, except its tools and a directory for temporary files.
    Sandbox,
}

impl Isolation {
    /// All levels, the weakest first.
    pub const ALL: [Self; 3] = [Self::Worktree, Self::Clone, Self::Sandbox];

    /// The word for it in a table.
    pub fn word(self) -> &'static str {
        match self {
            Self::Worktree => "worktree",
            Self::Clone => "clone",
            Self::Sandbox => "sandbox",
        }
    }

    /// The level of that word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.word() == word)
    }
}

impl fmt::Display for Isolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
