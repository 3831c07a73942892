//! Where the agents of a wave come together: none begins before all have a worktree (SAW-40).

use std::collections::BTreeSet;
use tokio::sync::watch;

/// Who has a worktree, and who will have none.
#[derive(Debug)]
pub struct Muster(watch::Sender<Present>);

#[derive(Clone, Debug, Default)]
struct Present {
    here: BTreeSet<String>,
    missing: Option<String>,
}

/// An agent of the wave has no worktree.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{agent}` has no worktree, so no agent of its wave begins")]
pub struct Missing {
    /// Its label.
    pub agent: String,
}

impl Default for Muster {
    fn default() -> Self {
        Self(watch::Sender::new(Present::default()))
    }
}

impl Muster {
    /// Notes that an agent has a worktree: it is about to begin, or has ended, maybe in a process before this one.
    pub fn is_here(&self, agent: &str) {
        self.0.send_modify(|present| _ = present.here.insert(agent.to_owned()));
    }

    /// Notes that an agent has failed. If it never had a worktree, nobody who waits begins.
    pub fn has_failed(&self, agent: &str) {
        self.0.send_modify(|present| {
            if !present.here.contains(agent) {
                present.missing.get_or_insert_with(|| agent.to_owned());
            }
        });
    }

    /// Waits until so many agents have a worktree, this one among them.
    ///
    /// # Errors
    ///
    /// `Missing` where one will never have any.
    pub async fn arrive(&self, agent: &str, expected: usize) -> Result<(), Missing> {
        self.is_here(agent);
        let mut watched = self.0.subscribe();
        let decided = watched.wait_for(|present| present.missing.is_some() || present.here.len() >= expected).await;
        // The sender is this value, so it is not gone.
        match decided.ok().and_then(|present| present.missing.clone()) {
            Some(agent) => Err(Missing { agent }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[tokio::test]
    async fn nobody_begins_before_all_are_there() {
        let muster = Arc::new(Muster::default());
        let first = tokio::spawn({
            let muster = muster.clone();
            async move { muster.arrive("a", 3).await }
        });
        assert_eq!(tokio::join!(muster.arrive("b", 2)).0, Ok(()), "a is there");
        tokio::task::yield_now().await;
        assert!(!first.is_finished());
        // One that has ended in a process before.
        muster.is_here("c");
        assert_eq!(first.await.unwrap(), Ok(()));
    }

    #[tokio::test]
    async fn nobody_begins_if_one_never_comes() {
        let muster = Muster::default();
        let (waiting, ()) = tokio::join!(muster.arrive("a", 2), async { muster.has_failed("b") });
        assert_eq!(waiting, Err(Missing { agent: "b".to_owned() }));
        // One that fails at its work had a worktree.
        let muster = Muster::default();
        muster.is_here("b");
        muster.has_failed("b");
        assert_eq!(muster.arrive("a", 2).await, Ok(()));
    }
}
