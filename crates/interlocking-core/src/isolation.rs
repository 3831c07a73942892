//! How far an agent is kept in its workspace.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How far an agent is kept from everything outside its workspace, from the weakest to the strongest; each level gives
/// what those before it give.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// A directory of its own. What others do elsewhere stays apart from it, and nothing is hidden: a worktree shares the
    /// objects of its repository, so `git show` reads what the others commit.
    #[default]
    Worktree,
    /// A repository of its own besides, with the history up to its base and nothing else: the commits of others cannot
    /// be read with git. Whoever knows the path of their files can still read those.
    Clone,
    /// The kernel besides keeps the agent, and every process that it starts, in the place: it can neither read nor write
    /// what lies elsewhere, but for its tools and a directory for temporary files.
    Sandbox,
}

impl Isolation {
    /// All levels, the weakest first.
    pub const ALL: [Self; 3] = [Self::Worktree, Self::Clone, Self::Sandbox];

    /// As it is spelled in a table.
    pub fn word(self) -> &'static str {
        match self {
            Self::Worktree => "worktree",
            Self::Clone => "clone",
            Self::Sandbox => "sandbox",
        }
    }

    /// The level that is spelled so.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.word() == word)
    }
}

impl fmt::Display for Isolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
