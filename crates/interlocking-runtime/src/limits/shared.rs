//! Limits that runs with separate budgets share: concurrency, and the gates of providers.

use crate::limits::allowance::slots;
use crate::limits::provider::Gates;
use std::fmt;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Limits that runs with separate budgets share: the number of concurrent agent calls, and the [gates](crate::provider) of
/// providers. With a common gate, a provider that refuses calls is probed by a single call of all these runs, however many wait.
///
/// How long a run waits for a provider is set by its own [`Backoff`](crate::Backoff). When a run gives up, the gate stays closed
/// for the other runs: they wait, or also give up, without a call, where their backoff does not allow so long a wait.
#[derive(Clone)]
pub struct SharedLimits(Arc<Limits>);

struct Limits {
    /// Whether several allowances may share these limits.
    is_shared: bool,
    slots: Option<Semaphore>,
    gates: Gates,
}

impl SharedLimits {
    /// Allows at most `concurrency` agent calls at one time in all runs that share this; 0 counts as 1, and `None` is no limit.
    pub fn new(concurrency: Option<u32>) -> Self {
        Self(Arc::new(Limits { is_shared: true, slots: concurrency.map(slots), gates: Gates::new(None) }))
    }

    /// The limits of a single allowance, which has its own limit on concurrency. `seed` is for the random waits.
    pub(crate) fn alone(seed: Option<u64>) -> Self {
        Self(Arc::new(Limits { is_shared: false, slots: None, gates: Gates::new(seed) }))
    }

    pub(crate) fn is_shared(&self) -> bool {
        self.0.is_shared
    }

    pub(crate) fn slots(&self) -> Option<&Semaphore> {
        self.0.slots.as_ref()
    }

    pub(crate) fn gates(&self) -> &Gates {
        &self.0.gates
    }
}

impl fmt::Debug for SharedLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let free = self.slots().map(Semaphore::available_permits);
        f.debug_struct("SharedLimits").field("free", &free).finish_non_exhaustive()
    }
}
