//! What runs with budgets of their own share: a machine, and the providers.

use crate::limits::allowance::tracks;
use crate::limits::provider::Gates;
use std::fmt;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// What runs share that have budgets of their own: how many calls of agents are under way at once, and the gates of the providers, so that
/// one who refuses is asked by one call of all these runs, however many wait.
///
/// How long a run puts up with a provider is its own [`Backoff`](crate::Backoff). Where one gives up, the gate is closed for the others all
/// the same: they wait, or give up without a call where they do not put up with so long a wait.
#[derive(Clone)]
pub struct SharedLimits(Arc<Limits>);

struct Limits {
    /// Whether several may share them.
    is_shared: bool,
    tracks: Option<Semaphore>,
    gates: Gates,
}

impl SharedLimits {
    /// So many calls at once, in all runs that share this together, and at least one; any number where there is none.
    pub fn new(concurrency: Option<u32>) -> Self {
        Self(Arc::new(Limits { is_shared: true, tracks: concurrency.map(tracks), gates: Gates::new(None) }))
    }

    /// Those of one allowance, which limits itself.
    pub(crate) fn alone(seed: Option<u64>) -> Self {
        Self(Arc::new(Limits { is_shared: false, tracks: None, gates: Gates::new(seed) }))
    }

    pub(crate) fn is_shared(&self) -> bool {
        self.0.is_shared
    }

    pub(crate) fn tracks(&self) -> Option<&Semaphore> {
        self.0.tracks.as_ref()
    }

    pub(crate) fn gates(&self) -> &Gates {
        &self.0.gates
    }
}

impl fmt::Debug for SharedLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let free = self.tracks().map(Semaphore::available_permits);
        f.debug_struct("SharedLimits").field("free", &free).finish_non_exhaustive()
    }
}
