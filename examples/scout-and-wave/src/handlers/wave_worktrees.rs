//! The worktrees of a wave: none of its agents begins before all have one (SAW-40).

use std::collections::BTreeSet;
use tokio::sync::watch;

/// Which agents of a wave have a worktree, and whether one will never have one.
#[derive(Debug)]
pub struct WaveWorktrees(watch::Sender<Known>);

#[derive(Clone, Debug, Default)]
struct Known {
    made: BTreeSet<String>,
    missing: Option<String>,
}

/// An agent of the wave has no worktree.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{agent}` has no worktree, so no agent of its wave begins")]
pub struct MissingWorktree {
    /// Its label.
    pub agent: String,
}

impl Default for WaveWorktrees {
    fn default() -> Self {
        Self(watch::Sender::new(Known::default()))
    }
}

impl WaveWorktrees {
    /// Records that an agent has a worktree: it is about to begin, or has ended, maybe in an earlier process.
    pub fn note_made(&self, agent: &str) {
        self.0.send_modify(|known| _ = known.made.insert(agent.to_owned()));
    }

    /// Records that an agent has failed. If it never had a worktree, no waiting agent begins.
    pub fn note_failure(&self, agent: &str) {
        self.0.send_modify(|known| {
            if !known.made.contains(agent) {
                known.missing.get_or_insert_with(|| agent.to_owned());
            }
        });
    }

    /// Waits until `expected` agents have a worktree, this agent included.
    ///
    /// # Errors
    ///
    /// `MissingWorktree` if an agent will never have one.
    pub async fn wait_for_all(&self, agent: &str, expected: usize) -> Result<(), MissingWorktree> {
        self.note_made(agent);
        let mut watched = self.0.subscribe();
        let decided = watched.wait_for(|known| known.missing.is_some() || known.made.len() >= expected).await;
        // The sender is this value, so it still exists.
        match decided.ok().and_then(|known| known.missing.clone()) {
            Some(agent) => Err(MissingWorktree { agent }),
            None => Ok(()),
        }
    }
}
