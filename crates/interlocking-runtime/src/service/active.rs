//! The runs that a service executes.

use crate::event::{Broadcast, Event, EventKind, EventSink, Events};
use crate::mutex::Mutex;
use interlocking_core::run_id::RunId;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::watch;

/// The runs that a service executes, and whether it takes more.
#[derive(Default)]
pub(super) struct Active {
    runs: Mutex<Runs>,
    /// One has ended.
    ended: watch::Sender<()>,
}

#[derive(Default)]
struct Runs {
    is_draining: bool,
    told: HashMap<RunId, Arc<Told>>,
}

/// Whom a run tells what happens in it and in its children.
#[derive(Default)]
pub(super) struct Told {
    run: Option<RunId>,
    listeners: Broadcast,
    stage: watch::Sender<Stage>,
}

/// How far a run has come that is executed here.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Starting,
    /// It is under way, and its first record is written.
    Begun,
    /// It was refused, or had ended before.
    Refused,
}

/// That a run is executed here. It is not any more once this is dropped.
pub(super) struct Place {
    active: Arc<Active>,
    pub(super) run: RunId,
    pub(super) told: Arc<Told>,
}

/// What came of the wish to execute a run.
pub(super) enum Entered {
    Now(Place),
    Before(Arc<Told>),
    Draining,
}

impl Active {
    pub(super) fn enter(self: &Arc<Self>, run: &RunId) -> Entered {
        let mut runs = self.runs.lock();
        if let Some(told) = runs.told.get(run) {
            return Entered::Before(told.clone());
        }
        if runs.is_draining {
            return Entered::Draining;
        }
        let told = Arc::new(Told { run: Some(run.clone()), ..Told::default() });
        runs.told.insert(run.clone(), told.clone());
        Entered::Now(Place { active: self.clone(), run: run.clone(), told })
    }

    /// No more enter.
    pub(super) fn close(&self) {
        self.runs.lock().is_draining = true;
    }

    pub(super) fn runs(&self) -> Vec<RunId> {
        let mut runs: Vec<_> = self.runs.lock().told.keys().cloned().collect();
        runs.sort();
        runs
    }

    pub(super) fn events(&self, run: &RunId) -> Option<Events> {
        self.runs.lock().told.get(run).map(|told| told.listeners.subscribe())
    }

    /// Waits until `run` is not executed here, or none is.
    pub(super) async fn gone(&self, run: Option<&RunId>) {
        let mut ended = self.ended.subscribe();
        let is_gone = || {
            let runs = self.runs.lock();
            run.map_or(runs.told.is_empty(), |run| !runs.told.contains_key(run))
        };
        while !is_gone() {
            // The sender lives in `self`, so the channel cannot close while this waits.
            let _ = ended.changed().await;
        }
    }
}

impl Told {
    /// Waits until the run is under way, or has been refused; whether it is under way.
    pub(super) async fn has_begun(&self) -> bool {
        let mut stage = self.stage.subscribe();
        // The sender lives in `self`, so the channel cannot close while this waits.
        let stage = stage.wait_for(|stage| *stage != Stage::Starting).await;
        stage.is_ok_and(|stage| *stage == Stage::Begun)
    }

    /// The first of these is what counts.
    fn is_at(&self, now: Stage) {
        self.stage.send_if_modified(|stage| {
            let starting = *stage == Stage::Starting;
            if starting {
                *stage = now;
            }
            starting
        });
    }
}

impl EventSink for Told {
    fn emit(&self, event: Event) {
        if matches!(event.kind, EventKind::RunStarted { .. }) && self.run.as_ref() == Some(&event.run) {
            self.is_at(Stage::Begun);
        }
        self.listeners.emit(event);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.active.runs.lock().told.remove(&self.run);
        self.told.is_at(Stage::Refused);
        self.active.ended.send_replace(());
    }
}
