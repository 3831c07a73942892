//! The runs that a service executes.

use crate::event::{Broadcast, Event, EventKind, EventSink, Events};
use crate::mutex::Mutex;
use crate::run::outcome::Outcome;
use interlocking_core::run_id::RunId;
use std::collections::HashMap;
use std::fmt::Display;
use std::sync::{Arc, OnceLock};
use tokio::sync::watch;

/// The runs that a service executes, and whether it accepts more.
#[derive(Default)]
pub(super) struct Active {
    runs: Mutex<Runs>,
    /// Notified whenever a run is no longer executed.
    ended: watch::Sender<()>,
}

#[derive(Default)]
struct Runs {
    is_draining: bool,
    active: HashMap<RunId, Arc<ActiveRun>>,
}

/// A run that the service executes. It receives the events of the run and its child runs, and passes them to listeners.
#[derive(Default)]
pub(super) struct ActiveRun {
    run: Option<RunId>,
    listeners: Broadcast,
    stage: watch::Sender<Stage>,
    /// How the run ended or stopped, without its output.
    outcome: OnceLock<Outcome<()>>,
}

/// Whether an active run has begun.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Starting,
    /// The run has begun, and its first record is written.
    Begun,
    /// The run was refused, or had ended before.
    Refused,
}

/// Keeps a run among the active runs until this is dropped.
pub(super) struct Place {
    active: Arc<Active>,
    pub(super) run: RunId,
    pub(super) active_run: Arc<ActiveRun>,
}

/// The result of [`Active::enter`].
pub(super) enum Entered {
    /// The run was added to the active runs.
    Now(Place),
    /// The run was active already.
    Before(Arc<ActiveRun>),
    /// The service accepts no more runs.
    Draining,
}

impl Active {
    pub(super) fn enter(self: &Arc<Self>, run: &RunId) -> Entered {
        let mut runs = self.runs.lock();
        if let Some(active_run) = runs.active.get(run) {
            return Entered::Before(active_run.clone());
        }
        if runs.is_draining {
            return Entered::Draining;
        }
        let active_run = Arc::new(ActiveRun { run: Some(run.clone()), ..ActiveRun::default() });
        runs.active.insert(run.clone(), active_run.clone());
        Entered::Now(Place { active: self.clone(), run: run.clone(), active_run })
    }

    /// Refuses further runs.
    pub(super) fn close(&self) {
        self.runs.lock().is_draining = true;
    }

    pub(super) fn runs(&self) -> Vec<RunId> {
        let mut runs: Vec<_> = self.runs.lock().active.keys().cloned().collect();
        runs.sort();
        runs
    }

    pub(super) fn events(&self, run: &RunId) -> Option<Events> {
        self.runs.lock().active.get(run).map(|active_run| active_run.listeners.subscribe())
    }

    /// Waits until `run` is not active. Returns how it ended or stopped; `None` if it was not active, or did not begin.
    pub(super) async fn ended(&self, run: &RunId) -> Option<Outcome<()>> {
        let active_run = self.runs.lock().active.get(run).cloned()?;
        self.wait_until(|runs| !runs.active.get(run).is_some_and(|now| Arc::ptr_eq(now, &active_run))).await;
        active_run.outcome.get().cloned()
    }

    /// Waits until no run is active.
    pub(super) async fn all_ended(&self) {
        self.wait_until(|runs| runs.active.is_empty()).await;
    }

    async fn wait_until(&self, is_so: impl Fn(&Runs) -> bool) {
        let mut ended = self.ended.subscribe();
        while !is_so(&self.runs.lock()) {
            // The sender lives in `self`, so the channel cannot close while this waits.
            let _ = ended.changed().await;
        }
    }
}

impl ActiveRun {
    /// Waits until the run has begun or was refused; returns whether it has begun.
    pub(super) async fn has_begun(&self) -> bool {
        let mut stage = self.stage.subscribe();
        // The sender lives in `self`, so the channel cannot close while this waits.
        let stage = stage.wait_for(|stage| *stage != Stage::Starting).await;
        stage.is_ok_and(|stage| *stage == Stage::Begun)
    }

    /// Keeps how the run ended or stopped. Logs why it stopped, if it was not asked to.
    pub(super) fn set_outcome(&self, outcome: Outcome<()>) {
        let why: Option<&dyn Display> = match &outcome {
            Outcome::BudgetExhausted(used_up) => Some(used_up),
            Outcome::ProviderLimited(limit) => Some(limit),
            Outcome::JournalFailed(error) => Some(error),
            // The end of a run is in the journal. The service suspends runs when it is drained, and they wait for people here.
            _ => None,
        };
        if let (Some(why), Some(run)) = (why, &self.run) {
            tracing::warn!(%run, outcome = outcome.name(), %why, "the run stopped, and can be resumed");
        }
        let _ = self.outcome.set(outcome);
    }

    /// Sets the stage, unless it was set before.
    fn set_stage(&self, now: Stage) {
        self.stage.send_if_modified(|stage| {
            let starting = *stage == Stage::Starting;
            if starting {
                *stage = now;
            }
            starting
        });
    }
}

impl EventSink for ActiveRun {
    fn emit(&self, event: Event) {
        if matches!(event.kind, EventKind::RunStarted { .. }) && self.run.as_ref() == Some(&event.run) {
            self.set_stage(Stage::Begun);
        }
        self.listeners.emit(event);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.active.runs.lock().active.remove(&self.run);
        self.active_run.set_stage(Stage::Refused);
        // Late work of the run may keep its sink for long.
        self.active_run.listeners.close();
        self.active.ended.send_replace(());
    }
}
