//! A run from its beginning to its end, with as many executors as it takes.

use crate::executor::{Came, execute};
use crate::generate::Dice;
use crate::graph::{Output, Simulated};
use crate::journal::{Fault, Harsh};
use crate::numbers::mix;
use crate::plan::{Cut, FOREVER, Plan, Surroundings, Weather};
use crate::world::{What, World};
use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::JournalError;
use interlocking_runtime::{Outcome, Report, Run, StartError};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// The most executors of one run; it waits for people with each, at times.
const EXECUTORS: usize = 300;

/// A run, and all that is known of it.
pub(crate) struct History {
    pub(crate) world: Arc<World>,
    pub(crate) journal: Arc<Harsh>,
    pub(crate) root: RunId,
    pub(crate) surroundings: Surroundings,
    /// Whether somebody has asked for the run's end.
    pub(crate) cancelled: bool,
    /// How executors were cut off.
    pub(crate) cuts: Vec<Cut>,
    /// How often it waited for a person and nobody else.
    pub(crate) waits: u32,
}

/// A run that has ended.
pub(crate) struct Ended {
    pub(crate) history: History,
    pub(crate) report: Report<Output>,
    /// What came of resuming it once more.
    pub(crate) again: Result<Report<Output>, String>,
}

/// Runs the graph of the world's seed to its end.
///
/// # Errors
///
/// Why it came to none.
pub(crate) fn run(world: &Arc<World>, weather: Weather) -> Result<Ended, String> {
    let mut dice = Dice::new(mix(&[world.seed, 0xf0]));
    let surroundings = Surroundings::new(&mut dice, weather);
    let mut history = History {
        world: world.clone(),
        journal: Harsh::new(world.clone(), surroundings.by_name, surroundings.slow),
        root: "r".parse().map_err(|error| format!("{error}"))?,
        surroundings,
        cancelled: false,
        cuts: Vec::new(),
        waits: 0,
    };
    let mut runtime = runtime();
    let mut posted = 0;
    for _ in 0..EXECUTORS {
        let plan = Plan::new(&mut dice, weather, history.cuts.len());
        history.cancelled |= plan.cancels.is_some();
        if history.cuts.last() != Some(&Cut::Dropped) {
            // A new process: what the last one had spawned is gone.
            runtime = self::runtime();
        }
        let came = runtime.block_on(execute(&history, &plan, &mut posted))?;
        if let Some(report) = history.note(&plan, came)? {
            let again = runtime.block_on(recall(&history));
            return Ok(Ended { history, report, again });
        }
    }
    Err(format!("it came to no end with {EXECUTORS} executors"))
}

impl History {
    /// Notes what an executor came to; the report, if that is the run's end.
    fn note(&mut self, plan: &Plan, came: Came) -> Result<Option<Report<Output>>, String> {
        let refuses = plan.cut == Some(Cut::Journal(Fault::Refuses));
        match came {
            Came::Nowhere => self.cuts.extend(plan.cut),
            Came::NotStarted(StartError::Entry(_)) if refuses => self.cuts.extend(plan.cut),
            // What a node was writing when its run was dropped came between.
            Came::NotStarted(StartError::Entry(JournalError::OutOfOrder { .. }))
                if self.cuts.last() == Some(&Cut::Dropped) => {}
            Came::NotStarted(error) => {
                return Err(format!("executor {} did not start: {error}", self.world.executor()));
            }
            Came::To(report) => match &report.outcome {
                Outcome::Waiting { questions } if questions.is_empty() => {
                    return Err("it waits for people, and nobody is asked anything".to_owned());
                }
                Outcome::Waiting { .. } => self.waits += 1,
                Outcome::Suspended if plan.cut == Some(Cut::Suspended) => self.cuts.extend(plan.cut),
                // An end that the journal has refused is none.
                Outcome::Failed(_) if refuses && !self.has_ended() => self.cuts.extend(plan.cut),
                _ => return Ok(Some(*report)),
            },
        }
        Ok(None)
    }

    fn has_ended(&self) -> bool {
        let records = self.journal.kept.records(&self.root);
        records.iter().any(|record| record.entry.ending().is_some())
    }
}

/// A runtime of its own clock, which goes on to the next timer whenever nothing else is left to do.
fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime without threads or files")
}

/// Takes up a run that has ended.
async fn recall(history: &History) -> Result<Report<Output>, String> {
    // What is late may come now.
    tokio::time::sleep(Duration::from_secs(60)).await;
    history.world.log(What::Harness("it is resumed after its end".to_owned()));
    history.journal.set_fault(None);
    let run = Run::new(Simulated::<0> { world: history.world.clone() })
        .with_id(history.root.clone())
        .with_journal(history.journal.clone());
    let resumed = tokio::time::timeout(FOREVER, run.resume()).await;
    resumed.map_err(|_| "it hangs".to_owned())?.map_err(|error| error.to_string())
}
