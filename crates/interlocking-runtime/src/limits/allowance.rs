//! The allowance that a run and its child runs share: what they may still use, and the gates of their providers.

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

/// What a run may use, together with all runs that have the same allowance or a [child](Self::child) of it.
///
/// [`Run::with_budgets`](crate::Run::with_budgets) creates an allowance for a single run. Create one here for a run that is
/// started inside another one, or for several runs that must stay within one budget.
#[derive(Clone)]
pub struct Allowance {
    common: Arc<Common>,
    depth: u32,
    /// The account of the run that has this allowance, once opened. Only runs that can be resumed have an account.
    account: Arc<OnceLock<Account>>,
}

/// Counts what one run and its children use, as a part of what all runs of the allowance use.
#[derive(Clone)]
pub(crate) struct Account {
    common: Arc<Common>,
    counted: Arc<Mutex<Meter>>,
}

struct Common {
    budgets: Budgets,
    meter: Mutex<Meter>,
    /// By run with an account: which part of `meter` is the run's.
    counted: Mutex<HashMap<RunId, Arc<Mutex<Meter>>>>,
    /// A permit for each concurrent call; absent where their number is not limited.
    slots: Option<Semaphore>,
    patience: Patience,
    /// Limits that other allowances may share.
    limits: SharedLimits,
    /// When the first run began.
    began: OnceLock<Instant>,
    /// Why the runs were stopped, once they were.
    ended: watch::Sender<Option<Stopped>>,
}

/// Why runs that share an allowance were stopped.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Stopped {
    /// A budget is used up.
    #[error("{0}")]
    Budget(BudgetExceeded),
    /// A provider keeps failing.
    #[error("{0}")]
    Provider(ProviderLimit),
}

/// A call of an agent that was admitted.
pub(crate) struct Pass<'t> {
    common: &'t Common,
    account: Option<&'t Account>,
    inside: Inside<'t>,
    _slots: [Option<SemaphorePermit<'t>>; 2],
}

impl Allowance {
    /// An unused allowance. Its wall time begins with the first run that has it.
    pub fn new(budgets: Budgets, backoff: Backoff) -> Self {
        Self::within(budgets, backoff, &SharedLimits::alone(backoff.seed))
    }

    /// An unused allowance within limits that it shares with other allowances, which have their own budgets and backoff.
    pub fn within(budgets: Budgets, backoff: Backoff, limits: &SharedLimits) -> Self {
        let common = Common {
            slots: budgets.concurrency.map(slots),
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

    /// The same allowance, one level deeper, for a run that is started inside a run with this allowance.
    ///
    /// # Errors
    ///
    /// [`Stopped`] where runs may not be nested so deep. This stops all runs that share the allowance: return the error from the
    /// handler.
    pub fn child(&self) -> Result<Self, Stopped> {
        let depth = self.depth.saturating_add(1);
        match self.common.budgets.depth {
            Some(limit) if depth > limit => {
                Err(self.common.end(Stopped::Budget(BudgetExceeded::Depth { limit, used: depth })))
            }
            _ => Ok(Self { common: self.common.clone(), depth, account: self.account.clone() }),
        }
    }

    /// The same allowance, for another run, whose account is not open yet.
    pub(crate) fn of_a_run(&self) -> Self {
        Self { common: self.common.clone(), depth: self.depth, account: Arc::default() }
    }

    /// Opens the account of `run`, whose allowance this is. It continues the account of earlier executions of the run with the
    /// same allowance, unless the run `begins`: then it has used nothing, whatever an earlier run of that name has used.
    pub(crate) fn account(&self, run: &RunId, begins: bool) -> &Account {
        self.account.get_or_init(|| {
            if begins {
                self.common.counted.lock().remove(run);
            }
            self.account_of(run)
        })
    }

    /// The account of any run that has the same allowance.
    pub(crate) fn account_of(&self, run: &RunId) -> Account {
        let counted = self.common.counted.lock().entry(run.clone()).or_default().clone();
        Account { common: self.common.clone(), counted }
    }

    /// The budgets of all runs together.
    pub fn budgets(&self) -> Budgets {
        self.common.budgets
    }

    /// How often and for how long the runs wait for providers that fail.
    pub fn backoff(&self) -> Backoff {
        self.common.patience.backoff()
    }

    /// An unused allowance with these budgets and this backoff, within the same shared limits.
    pub(crate) fn replaced(&self, budgets: Budgets, backoff: Backoff) -> Self {
        match self.common.limits.is_shared() {
            true => Self::within(budgets, backoff, &self.common.limits),
            false => Self::new(budgets, backoff),
        }
    }

    /// Why the runs that share this allowance were stopped, if they were, with what is used up by now.
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

    /// Runs `run`, and suspends it through `cancel` when the wall time exceeds `limit`.
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
            // Tokio caps a limit that is too far in the future.
            () = tokio::time::sleep(limit.saturating_sub(began.elapsed())) => {}
        }
        // If the run was cancelled or suspended before, that is the reason for its stop.
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

/// A semaphore for this many concurrent calls, at least one.
pub(crate) fn slots(calls: u32) -> Semaphore {
    let calls = usize::try_from(calls).unwrap_or(usize::MAX);
    Semaphore::new(calls.clamp(1, Semaphore::MAX_PERMITS))
}

/// Waits for a permit, where there is a limit. The semaphore is never closed, so acquiring does not fail.
async fn slot(slots: Option<&Semaphore>) -> Option<SemaphorePermit<'_>> {
    slots?.acquire().await.ok()
}

impl Common {
    async fn admit<'t>(&'t self, agent: &'t str, account: Option<&'t Account>) -> Result<Pass<'t>, Stopped> {
        loop {
            // A used-up budget is reported at once, without waiting for a gate or a slot.
            let checked = self.meter().check(&self.budgets);
            checked.map_err(|exhausted| self.end(Stopped::Budget(exhausted)))?;
            let gates = self.limits.gates();
            let opened = gates.open(agent, &self.patience).await;
            opened.map_err(|limit| self.end(Stopped::Provider(limit)))?;
            // The allowance's own slot comes first, so that a call that waits for it does not hold a shared slot.
            let slots = [slot(self.slots.as_ref()).await, slot(self.limits.slots()).await];
            // The gate may have closed while this waited for slots. Then the slots are released, and this waits for the gate
            // again.
            let Some(inside) = gates.enter(agent) else { continue };
            let begun = self.meter().begin(&self.budgets);
            begun.map_err(|exhausted| self.end(Stopped::Budget(exhausted)))?;
            account.iter().for_each(|account| account.counted.lock().begin_unlimited());
            return Ok(Pass { common: self, account, inside, _slots: slots });
        }
    }

    /// Stops all runs. Returns the reason, which is the earlier one if they were stopped before. The end of their time replaces
    /// another reason: it also stops executions that could go on until then.
    fn end(&self, stopped: Stopped) -> Stopped {
        let mut reason = stopped.clone();
        self.ended.send_if_modified(|ended| {
            if let Some(earlier) = ended
                && (earlier.is_end_of_time() || !stopped.is_end_of_time())
            {
                reason = earlier.clone();
                return false;
            }
            *ended = Some(stopped);
            true
        });
        reason
    }

    /// Waits until the runs are stopped.
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

impl Stopped {
    /// Whether the runs were suspended because their wall time is used up.
    pub(crate) fn is_end_of_time(&self) -> bool {
        matches!(self, Self::Budget(BudgetExceeded::WallTime { .. }))
    }
}

impl Account {
    /// Counts what the run had used before, except what is counted already.
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

    /// Books the call's end. Returns true if it failed because of the provider: the caller then makes it again, once it is
    /// admitted.
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
        if !error.kind.is_provider_failure() {
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
