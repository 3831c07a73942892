//! Backoff for a provider that limits the rate of requests, is overloaded or cannot be reached.
//!
//! All calls of one agent, by [name](interlocking_agents::Agent::name), in a run and its child runs, and in all runs that share
//! [limits](crate::SharedLimits), go through one gate. When a call fails because of the provider, the gate closes for a while,
//! and all calls wait. Then one call is let through as a probe, while the others wait on. Each call that succeeds allows one more
//! concurrent call than before. So a provider that refuses all calls gets one call per wait, however many branches there are.
//!
//! The time for which the gate closes is random, between zero and a bound that doubles with each consecutive failure (full
//! jitter), but never shorter than the provider asks for. The gate also closes where the run whose call failed gives up: other
//! runs wait. A run that would have to wait longer than its [`Backoff`] ever allows gives up, too, without a call.

pub use crate::limits::backoff::{Backoff, ProviderLimit};
use crate::mutex::Mutex;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::MutexGuard;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// The gates of all agents of a run and its child runs, or of runs that share limits.
pub(crate) struct Gates {
    state: Mutex<State>,
    /// Notified whenever a gate has changed.
    changed: Notify,
}

struct State {
    gates: HashMap<String, Gate>,
    random: u64,
}

/// The backoff of a run and its child runs, and how much of it they have used. Other runs at the same gates have their own.
pub(crate) struct Patience {
    backoff: Backoff,
    spent: Mutex<Spent>,
}

#[derive(Default)]
struct Spent {
    retries: u32,
    waited: Duration,
}

struct Gate {
    closed_until: Option<Instant>,
    /// The error that closed the gate last.
    message: String,
    /// How often the gate has closed since the last successful call.
    failures: u32,
    /// How often the gate has closed. A call from an earlier round, which began before the gate closed last, gives no new
    /// information.
    round: u64,
    /// How many calls of this round are under way. Calls of earlier rounds do not count, as they may succeed and take long.
    inside: u32,
    /// How many calls of this round may be under way.
    window: u32,
}

/// The state of an agent's gate.
#[derive(Debug, PartialEq, Eq)]
enum GateState {
    Open,
    /// Closed until this time.
    Closed(Instant),
    /// Open, but the maximum number of calls is under way.
    Full,
}

/// A call that went through its agent's gate. Its place is free again when this is dropped.
pub(crate) struct Inside<'g> {
    gates: &'g Gates,
    agent: &'g str,
    /// The gate's round when the call went through.
    round: u64,
}

impl Gates {
    /// Open gates. `seed` is for the random waits.
    pub(crate) fn new(seed: Option<u64>) -> Self {
        let random = seed.unwrap_or_else(|| RandomState::new().hash_one(0));
        Self { state: Mutex::new(State { gates: HashMap::new(), random }), changed: Notify::new() }
    }

    /// Waits until the gate of `agent` is open. It may be closed again by the time the caller [enters](Self::enter).
    ///
    /// # Errors
    ///
    /// The gate is closed for longer than the run's backoff allows at all, because of another run's call.
    pub(crate) async fn open(&self, agent: &str, patience: &Patience) -> Result<(), ProviderLimit> {
        loop {
            // Created before the check, so that no change is missed between the two.
            let changed = self.changed.notified();
            let standing = self.state().gate(agent).state();
            match standing {
                GateState::Open => return Ok(()),
                GateState::Full => changed.await,
                GateState::Closed(until) => {
                    let closed = until - Instant::now();
                    if closed > patience.backoff.max_elapsed {
                        let message = self.state().gate(agent).message.clone();
                        return Err(patience.spent.lock().limit(agent, Some(closed), message));
                    }
                    // After the time or a change, whichever comes first, the state is checked again.
                    let _ = tokio::time::timeout_at(until, changed).await;
                }
            }
        }
    }

    /// Goes through the gate of `agent`, if it is open.
    pub(crate) fn enter<'g>(&'g self, agent: &'g str) -> Option<Inside<'g>> {
        let mut state = self.state();
        let gate = state.gate(agent);
        (gate.state() == GateState::Open).then(|| {
            gate.inside += 1;
            Inside { gates: self, agent, round: gate.round }
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl Patience {
    pub(crate) fn new(backoff: Backoff) -> Self {
        Self { backoff, spent: Mutex::default() }
    }

    pub(crate) fn backoff(&self) -> Backoff {
        self.backoff
    }
}

impl Spent {
    /// The error that ends the run: its backoff is used up.
    fn limit(&self, agent: &str, retry_after: Option<Duration>, message: String) -> ProviderLimit {
        let Self { retries, waited } = *self;
        ProviderLimit { agent: agent.to_owned(), retries, waited, retry_after, message }
    }
}

impl State {
    fn gate(&mut self, agent: &str) -> &mut Gate {
        self.gates.entry(agent.to_owned()).or_insert_with(|| Gate {
            closed_until: None,
            message: String::new(),
            failures: 0,
            round: 0,
            inside: 0,
            window: u32::MAX,
        })
    }

    /// A random duration from zero to `bound`.
    fn jitter(&mut self, bound: Duration) -> Duration {
        // SplitMix64: the numbers need not be unpredictable.
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        // A float holds 53 bits exactly.
        bound.mul_f64((mixed >> 11) as f64 / (1_u64 << 53) as f64)
    }
}

impl Gate {
    fn state(&self) -> GateState {
        match self.closed_until {
            Some(until) if until > Instant::now() => GateState::Closed(until),
            _ if self.inside < self.window => GateState::Open,
            _ => GateState::Full,
        }
    }
}

impl Inside<'_> {
    /// The call succeeded: one more concurrent call is allowed.
    pub(crate) fn succeeded(self) {
        let mut state = self.gates.state();
        let gate = state.gate(self.agent);
        if gate.round == self.round {
            gate.failures = 0;
            gate.window = gate.window.saturating_add(1);
        }
    }

    /// The call failed because of the provider: the gate closes, unless the end of the wait is beyond the range of the clock.
    ///
    /// # Errors
    ///
    /// The backoff of the run that made the call does not allow one more wait, or not such a long one.
    pub(crate) fn failed(
        self,
        patience: &Patience,
        retry_after: Option<Duration>,
        message: String,
    ) -> Result<(), ProviderLimit> {
        let backoff = &patience.backoff;
        let mut spent = patience.spent.lock();
        let mut guard = self.gates.state();
        let state = &mut *guard;
        let gate = state.gate(self.agent);
        let now = Instant::now();
        let closed_until = gate.closed_until.filter(|until| *until > now);
        let news = gate.round == self.round;
        let failures = gate.failures + 1;
        let delay = match news {
            true => state.jitter(backoff.bound(failures)).max(retry_after.unwrap_or_default()),
            // The call began before the gate closed, so its failure is not new, but the provider may ask for a longer wait.
            false => retry_after.unwrap_or_default(),
        };
        let closed = closed_until.map_or(Duration::ZERO, |until| until - now);
        let Some(until) = now.checked_add(delay.max(closed)) else {
            return Err(spent.limit(self.agent, retry_after, message));
        };
        let gate = state.gate(self.agent);
        (gate.closed_until, gate.message) = (Some(until), message.clone());
        if news {
            (gate.failures, gate.round) = (failures, gate.round + 1);
            (gate.inside, gate.window) = (0, 1);
        }
        // Time for which the gate is closed anyway is not counted twice.
        let waited = spent.waited.saturating_add(delay.saturating_sub(closed));
        let retries = spent.retries.saturating_add(u32::from(news));
        if retries > backoff.retries || waited > backoff.max_elapsed {
            return Err(spent.limit(self.agent, retry_after, message));
        }
        (spent.retries, spent.waited) = (retries, waited);
        tracing::debug!(agent = self.agent, retries, ?delay, "the provider is to be left alone");
        Ok(())
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        let mut state = self.gates.state();
        let gate = state.gate(self.agent);
        if gate.round == self.round {
            gate.inside -= 1;
        }
        drop(state);
        self.gates.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn gates() -> Gates {
        Gates::new(Some(1))
    }

    fn patience() -> Patience {
        Patience::new(Backoff::default())
    }

    async fn entered<'g>(gates: &'g Gates) -> Inside<'g> {
        gates.open("a", &Patience::new(Backoff::default().with_max_elapsed(Duration::MAX))).await.unwrap();
        gates.enter("a").unwrap()
    }

    fn fail(inside: Inside<'_>, patience: &Patience, retry_after: Option<Duration>) {
        inside.failed(patience, retry_after, "429".to_owned()).unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn one_is_let_through_after_a_wait_and_each_success_lets_one_more() {
        let gates = gates();
        fail(entered(&gates).await, &patience(), Some(10 * SECOND));
        assert!(gates.enter("a").is_none(), "closed");
        assert!(gates.enter("b").is_some(), "the gate of another");
        let start = Instant::now();
        let probe = entered(&gates).await;
        assert_eq!(start.elapsed(), 10 * SECOND);
        assert!(gates.enter("a").is_none(), "while the first is under way");
        probe.succeeded();
        let (one, _two) = (gates.enter("a").unwrap(), gates.enter("a").unwrap());
        assert!(gates.enter("a").is_none());
        one.succeeded();
        assert!(gates.enter("a").is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_first_call_that_is_interrupted_leaves_its_place_to_the_next() {
        let gates = gates();
        fail(entered(&gates).await, &patience(), Some(SECOND));
        let probe = entered(&gates).await;
        let start = Instant::now();
        let patience = patience();
        let (opened, ()) = tokio::join!(gates.open("a", &patience), async {
            tokio::time::sleep(SECOND).await;
            drop(probe);
        });
        opened.unwrap();
        assert_eq!(start.elapsed(), SECOND);
    }

    /// Calls that began before the gate closed neither delay the probe after it, nor count as new failures.
    #[tokio::test(start_paused = true)]
    async fn calls_from_before_the_gate_closed_tell_nothing_but_how_long_to_wait() {
        let gates = gates();
        let [first, good, bad, worse, long] = [
            entered(&gates).await,
            entered(&gates).await,
            entered(&gates).await,
            entered(&gates).await,
            entered(&gates).await,
        ];
        let (start, patience) = (Instant::now(), patience());
        fail(first, &patience, None);
        good.succeeded();
        fail(bad, &patience, None);
        assert!(gates.enter("a").is_none(), "still closed");
        fail(worse, &patience, Some(30 * SECOND));
        let probe = entered(&gates).await;
        assert_eq!(start.elapsed(), 30 * SECOND);
        assert!(gates.enter("a").is_none(), "one, for nobody has succeeded since");
        let spent = patience.spent.lock();
        assert_eq!((spent.retries, spent.waited), (1, 30 * SECOND), "one wait");
        drop(spent);
        drop(long);
        assert!(gates.enter("a").is_none(), "and it is not that one's place");
        probe.succeeded();
        assert!(gates.enter("a").is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn waits_grow_to_their_bound_and_start_anew_after_a_success() {
        let backoff = Backoff { initial: SECOND, max_delay: 20 * SECOND, ..Backoff::default() };
        let bounds: Vec<_> = [1, 2, 3, 4, 5, 6, 7, 1_000].map(|failures| backoff.bound(failures).as_secs()).into();
        assert_eq!(bounds, [1, 2, 4, 8, 16, 20, 20, 20]);
        let (gates, patience) = (Gates::new(Some(3)), Patience::new(backoff));
        for _ in 0..9 {
            fail(entered(&gates).await, &patience, None);
        }
        assert_eq!(gates.state().gate("a").failures, 9);
        entered(&gates).await.succeeded();
        assert_eq!(gates.state().gate("a").failures, 0);
    }

    #[test]
    fn jitter_is_full_and_even() {
        let gates = gates();
        let mut state = gates.state();
        let drawn: Vec<_> = (0..10_000).map(|_| state.jitter(SECOND).as_secs_f64()).collect();
        assert!(drawn.iter().all(|wait| (0.0..=1.0).contains(wait)));
        let mean = drawn.iter().sum::<f64>() / 10_000.0;
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
        assert!(drawn.iter().any(|wait| *wait < 0.01) && drawn.iter().any(|wait| *wait > 0.99));
    }

    #[tokio::test(start_paused = true)]
    async fn what_cannot_be_waited_for_is_a_limit() {
        let gates = gates();
        for forever in [Duration::MAX, 3_601 * SECOND] {
            let limit = entered(&gates).await.failed(&patience(), Some(forever), "429".to_owned()).unwrap_err();
            assert_eq!((limit.retries, limit.retry_after), (0, Some(forever)));
        }
        let endless = Patience::new(Backoff { max_elapsed: Duration::MAX, ..Backoff::default() });
        let failed = entered(&gates).await.failed(&endless, Some(Duration::MAX), "429".to_owned());
        assert!(failed.is_err(), "no clock goes so far");
    }

    /// Each run has its own backoff, but the gate is closed for all.
    #[tokio::test(start_paused = true)]
    async fn one_run_gives_up_and_the_gate_is_closed_for_the_others() {
        let gates = gates();
        let hasty = Patience::new(Backoff::default().with_retries(0));
        let limit = entered(&gates).await.failed(&hasty, Some(10 * SECOND), "429".to_owned()).unwrap_err();
        assert_eq!((limit.retries, limit.retry_after), (0, Some(10 * SECOND)));
        assert!(gates.enter("a").is_none(), "closed");
        let start = Instant::now();
        entered(&gates).await.succeeded();
        assert_eq!(start.elapsed(), 10 * SECOND);
        // Calls that were under way when the gate closed are no new failures, but the provider may ask for a longer wait.
        let (one, other) = (entered(&gates).await, entered(&gates).await);
        one.failed(&hasty, Some(SECOND), "429".to_owned()).unwrap_err();
        let patient = patience();
        fail(other, &patient, Some(2 * SECOND));
        let waits = |patience: &Patience| {
            let spent = patience.spent.lock();
            (spent.retries, spent.waited)
        };
        assert_eq!(waits(&patient), (0, SECOND));
        let start = Instant::now();
        entered(&gates).await.succeeded();
        assert_eq!(start.elapsed(), 2 * SECOND);
    }

    /// A run finds out without a call that a wait is longer than its backoff allows.
    #[tokio::test(start_paused = true)]
    async fn whoever_cannot_wait_for_so_long_gives_up_at_the_gate() {
        let gates = gates();
        entered(&gates).await.failed(&patience(), Some(7_200 * SECOND), "quota".to_owned()).unwrap_err();
        tokio::time::sleep(1_800 * SECOND).await;
        let limit = gates.open("a", &patience()).await.unwrap_err();
        assert_eq!((limit.retry_after, limit.message.as_str()), (Some(5_400 * SECOND), "quota"));
        // A wait of exactly the allowed hour is not too long.
        tokio::time::sleep(1_800 * SECOND).await;
        gates.open("a", &patience()).await.unwrap();
    }
}
