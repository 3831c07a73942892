//! What a run and its child runs share: what they may still use, and the gates of their providers.

use crate::cancel::CancelToken;
use crate::limits::budget::{BudgetExceeded, Budgets, Meter};
use crate::limits::provider::{Backoff, Inside, Patience, ProviderLimit};
use crate::limits::shared::SharedLimits;
use crate::mutex::Mutex;
use interlocking_agents::{AgentError, AgentErrorKind, Usage};
use interlocking_core::run_id::RunId;
use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, MutexGuard, OnceLock};
use std::time::Duration;
use thiserror::Error;
use tokio::sync::{Semaphore, SemaphorePermit, watch};
use tokio::time::Instant;

/// What a run may use, together with every run that was given the same allowance or a [child](Self::child) of it.
///
/// [`Run::with_budgets`](crate::Run::with_budgets) makes one for a run alone. Make one here for a run that is started inside
/// another, or for several runs that shall stay within one budget.
#[derive(Clone)]
pub struct Allowance {
    common: Arc<Common>,
    depth: u32,
    /// That of the run which was started with it, once that may be resumed with it.
    account: Arc<OnceLock<Account>>,
}

/// What is counted of one run and its children: a part of what all use together.
#[derive(Clone)]
pub(crate) struct Account {
    common: Arc<Common>,
    counted: Arc<Mutex<Meter>>,
}

struct Common {
    budgets: Budgets,
    meter: Mutex<Meter>,
    /// By run that may be resumed: what of it is in the meter.
    counted: Mutex<HashMap<RunId, Arc<Mutex<Meter>>>>,
    /// One for each call that may be under way; absent where any number may.
    tracks: Option<Semaphore>,
    patience: Patience,
    /// What others may share, too.
    limits: SharedLimits,
    /// When the first run began.
    began: OnceLock<Instant>,
    /// What ended it all, once something has.
    ended: watch::Sender<Option<Stopped>>,
}

/// Runs that share an allowance may not go on: it is used up.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Stopped {
    /// A budget is used up.
    #[error("{0}")]
    Budget(BudgetExceeded),
    /// A provider goes on failing.
    #[error("{0}")]
    Provider(ProviderLimit),
}

/// A call of an agent that was admitted.
pub(crate) struct Pass<'t> {
    common: &'t Common,
    account: Option<&'t Account>,
    inside: Inside<'t>,
    _tracks: [Option<SemaphorePermit<'t>>; 2],
}

impl Allowance {
    /// An allowance of which nothing has been used. Its time begins with the first run that has it.
    pub fn new(budgets: Budgets, backoff: Backoff) -> Self {
        Self::within(budgets, backoff, &SharedLimits::alone(backoff.seed))
    }

    /// The same within limits that other allowances share, with their own budgets and their own patience.
    pub fn within(budgets: Budgets, backoff: Backoff, limits: &SharedLimits) -> Self {
        let common = Common {
            tracks: budgets.concurrency.map(tracks),
            budgets,
            meter: Mutex::default(),
            counted: Mutex::default(),
            patience: Patience::new(backoff),
            limits: limits.clone(),
            began: OnceLock::new(),
            ended: watch::Sender::new(None),
        };
        Self { common: Arc::new(common), depth: 0, account: Arc::default() }
    }

    /// The same allowance, for a run inside one that has this.
    ///
    /// # Errors
    ///
    /// Runs may not be nested so deep. That ends all that share the allowance: return the error from the handler.
    pub fn child(&self) -> Result<Self, Stopped> {
        let depth = self.depth.saturating_add(1);
        match self.common.budgets.depth {
            Some(limit) if depth > limit => {
                Err(self.common.end(Stopped::Budget(BudgetExceeded::Depth { limit, used: depth })))
            }
            _ => Ok(Self { common: self.common.clone(), depth, account: self.account.clone() }),
        }
    }

    /// The same allowance, for a run of which nothing is known yet.
    pub(crate) fn of_a_run(&self) -> Self {
        Self { common: self.common.clone(), depth: self.depth, account: Arc::default() }
    }

    /// What is counted of `run`, whose allowance this is, and of its children, whoever executes them with the same allowance.
    /// A run that begins has used nothing, whatever another of its name has.
    pub(crate) fn account(&self, run: &RunId, begins: bool) -> &Account {
        self.account.get_or_init(|| {
            if begins {
                self.common.counted.lock().remove(run);
            }
            self.account_of(run)
        })
    }

    /// What is counted of any run that has the same allowance.
    pub(crate) fn account_of(&self, run: &RunId) -> Account {
        let counted = self.common.counted.lock().entry(run.clone()).or_default().clone();
        Account { common: self.common.clone(), counted }
    }

    /// What may be used in all.
    pub fn budgets(&self) -> Budgets {
        self.common.budgets
    }

    /// What is put up with from providers.
    pub fn backoff(&self) -> Backoff {
        self.common.patience.backoff()
    }

    /// An unused one with these budgets and this patience, within the limits that this shares with others.
    pub(crate) fn replaced(&self, budgets: Budgets, backoff: Backoff) -> Self {
        match self.common.limits.is_shared() {
            true => Self::within(budgets, backoff, &self.common.limits),
            false => Self::new(budgets, backoff),
        }
    }

    /// What ended the runs that share this, if something has, with what is used up by now.
    pub fn stopped(&self) -> Option<Stopped> {
        let stopped = self.common.ended.borrow().clone()?;
        Some(match stopped {
            Stopped::Budget(used_up) => Stopped::Budget(self.common.meter().brought_up_to_date(used_up)),
            limit @ Stopped::Provider(_) => limit,
        })
    }

    /// Waits until a call of `agent` may begin.
    pub(crate) async fn admit<'t>(&'t self, agent: &'t str) -> Result<Pass<'t>, Stopped> {
        tokio::select! {
            biased;
            stopped = self.common.stopped() => Err(stopped),
            pass = self.common.admit(agent, self.account.get()) => pass,
        }
    }

    /// How long the run may take.
    pub(crate) fn wall_time(&self) -> Option<Duration> {
        self.common.budgets.wall_time
    }

    /// Waits for `run`, and has `cancel` stop it when it has taken longer than `limit`.
    pub(crate) async fn run_within<T>(
        &self,
        limit: Duration,
        mut run: Pin<&mut (impl Future<Output = T> + Send)>,
        cancel: &CancelToken,
    ) -> T {
        let began = *self.common.began.get_or_init(Instant::now);
        tokio::select! {
            biased;
            outcome = &mut run => return outcome,
            // A limit beyond what clocks can tell is none.
            () = tokio::time::sleep(limit.saturating_sub(began.elapsed())) => {}
        }
        // Whoever asked for the stop before was first.
        if !cancel.is_cancelled() {
            self.common.end(Stopped::Budget(BudgetExceeded::WallTime { limit, used: began.elapsed() }));
            cancel.suspend();
        }
        run.await
    }
}

impl Default for Allowance {
    fn default() -> Self {
        Self::new(Budgets::unlimited(), Backoff::default())
    }
}

/// So many tracks, and at least one.
pub(crate) fn tracks(calls: u32) -> Semaphore {
    let calls = usize::try_from(calls).unwrap_or(usize::MAX);
    Semaphore::new(calls.clamp(1, Semaphore::MAX_PERMITS))
}

/// Waits for a track, where they are counted. Nobody closes them, so this always gives one.
async fn track(tracks: Option<&Semaphore>) -> Option<SemaphorePermit<'_>> {
    tracks?.acquire().await.ok()
}

impl Common {
    async fn admit<'t>(&'t self, agent: &'t str, account: Option<&'t Account>) -> Result<Pass<'t>, Stopped> {
        loop {
            // What is used up is used up, whoever else would have to be waited for.
            let checked = self.meter().check(&self.budgets);
            checked.map_err(|exhausted| self.end(Stopped::Budget(exhausted)))?;
            let gates = self.limits.gates();
            let opened = gates.open(agent, &self.patience).await;
            opened.map_err(|limit| self.end(Stopped::Provider(limit)))?;
            // Its own first: whoever waits for that holds nothing of what others share.
            let tracks = [track(self.tracks.as_ref()).await, track(self.limits.tracks()).await];
            // While this waited for its turn, the gate may have closed: whoever holds a track would hold it in vain.
            let Some(inside) = gates.enter(agent) else { continue };
            let begun = self.meter().begin(&self.budgets);
            begun.map_err(|exhausted| self.end(Stopped::Budget(exhausted)))?;
            account.iter().for_each(|account| account.counted.lock().begin_unlimited());
            return Ok(Pass { common: self, account, inside, _tracks: tracks });
        }
    }

    /// Nothing goes on; gives the reason, which is that of whoever was first.
    fn end(&self, stopped: Stopped) -> Stopped {
        let mut first = stopped.clone();
        self.ended.send_if_modified(|ended| {
            if let Some(ended) = ended {
                first = ended.clone();
                return false;
            }
            *ended = Some(stopped);
            true
        });
        first
    }

    /// Waits for the end.
    async fn stopped(&self) -> Stopped {
        let mut ended = self.ended.subscribe();
        loop {
            if let Some(stopped) = ended.borrow_and_update().clone() {
                return stopped;
            }
            // The sender lives in `self`, so the channel cannot close while this waits.
            let _ = ended.changed().await;
        }
    }

    fn meter(&self) -> MutexGuard<'_, Meter> {
        self.meter.lock()
    }
}

impl Account {
    /// Counts what the run had used before, but for what is counted already.
    pub(crate) fn book(&self, past: &Usage) {
        let mut counted = self.counted.lock();
        let missing = counted.missing_of(past);
        counted.add(&missing);
        self.common.meter().add(&missing);
    }
}

impl Pass<'_> {
    fn count(&self, usage: &Usage) {
        self.common.meter().end(usage);
        self.account.iter().for_each(|account| account.counted.lock().end(usage));
    }

    /// The call has ended. True if it failed for the provider's sake: then it is made again, once it is admitted.
    pub(crate) fn ended(self, outcome: Result<Usage, &AgentError>) -> bool {
        let error = match outcome {
            Ok(usage) => {
                self.count(&usage);
                self.inside.succeeded();
                return false;
            }
            Err(error) => error,
        };
        self.count(&error.usage);
        if !error.kind.is_providers() {
            return false;
        }
        let retry_after = match *error.kind {
            AgentErrorKind::RateLimited { retry_after } => retry_after,
            _ => None,
        };
        if let Err(limit) = self.inside.failed(&self.common.patience, retry_after, error.to_string()) {
            self.common.end(Stopped::Provider(limit));
        }
        true
    }
}

impl fmt::Debug for Allowance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut allowance = f.debug_struct("Allowance");
        allowance
            .field("budgets", &self.common.budgets)
            .field("used", &*self.common.meter())
            .field("depth", &self.depth);
        allowance.finish()
    }
}
