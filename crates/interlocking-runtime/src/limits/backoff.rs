//! How long runs put up with a provider that fails.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// How often, and for how long, a run and its child runs put up with a provider that fails.
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
    /// The bound of the first wait; 1 s.
    pub initial: Duration,
    /// The bound of every wait, but for one that the provider asks for; 60 s.
    pub max_delay: Duration,
    /// How often gates may close, together; 1,000. With 0 the first error of a provider ends the run.
    pub retries: u32,
    /// For how long gates may be closed, together; 1 h.
    pub max_elapsed: Duration,
    /// Where the random numbers begin: for tests that shall repeat themselves. Different each time when absent.
    pub seed: Option<u64>,
}

/// A provider ended a run: it went on failing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderLimit {
    /// The agent's name.
    pub agent: String,
    /// How often gates had closed, those of other agents included.
    pub retries: u32,
    /// For how long they had been closed, together.
    pub waited: Duration,
    /// How long the provider said to wait, if it did: there is no use in resuming the run earlier.
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
    /// The same with another bound of the first wait.
    #[must_use]
    pub fn with_initial(self, initial: Duration) -> Self {
        Self { initial, ..self }
    }

    /// The same with another bound of every wait.
    #[must_use]
    pub fn with_max_delay(self, max_delay: Duration) -> Self {
        Self { max_delay, ..self }
    }

    /// The same with gates that may close so often, together.
    #[must_use]
    pub fn with_retries(self, retries: u32) -> Self {
        Self { retries, ..self }
    }

    /// The same with gates that may be closed for so long, together.
    #[must_use]
    pub fn with_max_elapsed(self, max_elapsed: Duration) -> Self {
        Self { max_elapsed, ..self }
    }

    /// The same with random numbers that begin at `seed`.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed: Some(seed), ..self }
    }

    /// The bound of the wait after so many failures in a row, at least one.
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
