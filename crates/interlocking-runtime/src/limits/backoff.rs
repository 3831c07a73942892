//! How long runs wait for a provider that fails.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// How often, and for how long, a run and its child runs wait for a provider that fails. The module
/// [`provider`](crate::provider) explains gates.
///
/// ```
/// # use interlocking_runtime::Backoff;
/// # use std::time::Duration;
/// let backoff = Backoff::default().with_max_elapsed(Duration::from_secs(6 * 3600));
/// # assert_eq!(backoff.retries, 1_000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Backoff {
    /// The upper bound of the first wait. Default: 1 s.
    pub initial: Duration,
    /// The upper bound of every wait, except a wait that the provider asks for. Default: 60 s.
    pub max_delay: Duration,
    /// How often gates may close in total. Default: 1,000. With 0, the first error of a provider ends the run.
    pub retries: u32,
    /// How long gates may be closed in total. Default: 1 h.
    pub max_elapsed: Duration,
    /// The seed of the random waits, for reproducible tests. Without a seed, the waits differ each time.
    pub seed: Option<u64>,
}

/// A run stopped because a provider kept failing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProviderLimit {
    /// The agent's name.
    pub agent: String,
    /// How often gates had closed, including those of other agents.
    pub retries: u32,
    /// How long gates had been closed in total.
    pub waited: Duration,
    /// How long the provider said to wait, if it did. Resuming the run earlier is useless.
    pub retry_after: Option<Duration>,
    /// The last error.
    pub message: String,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            initial: Duration::from_secs(1),
            max_delay: Duration::from_secs(60),
            retries: 1_000,
            max_elapsed: Duration::from_secs(3_600),
            seed: None,
        }
    }
}

impl Backoff {
    /// Sets [`initial`](Self::initial).
    #[must_use]
    pub fn with_initial(self, initial: Duration) -> Self {
        Self { initial, ..self }
    }

    /// Sets [`max_delay`](Self::max_delay).
    #[must_use]
    pub fn with_max_delay(self, max_delay: Duration) -> Self {
        Self { max_delay, ..self }
    }

    /// Sets [`retries`](Self::retries).
    #[must_use]
    pub fn with_retries(self, retries: u32) -> Self {
        Self { retries, ..self }
    }

    /// Sets [`max_elapsed`](Self::max_elapsed).
    #[must_use]
    pub fn with_max_elapsed(self, max_elapsed: Duration) -> Self {
        Self { max_elapsed, ..self }
    }

    /// Sets [`seed`](Self::seed).
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed: Some(seed), ..self }
    }

    /// The upper bound of the wait after this many consecutive failures, at least one.
    pub(crate) fn bound(&self, failures: u32) -> Duration {
        let doublings = failures.saturating_sub(1).min(31);
        self.initial.saturating_mul(1 << doublings).min(self.max_delay)
    }
}

impl fmt::Display for ProviderLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { agent, retries, waited, retry_after, message } = self;
        write!(
            f,
            "the provider of agent `{agent}` still fails after {retries} waits of {waited:?} together: {message}"
        )?;
        match retry_after {
            Some(retry_after) => write!(f, "; it says to try again after {retry_after:?}"),
            None => Ok(()),
        }
    }
}
