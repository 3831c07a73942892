//! A run from its beginning to its end, with as many executors as it takes.

use crate::agent::Simulant;
use crate::executor::{Came, execute};
use crate::graph::{Output, Simulated};
use crate::journal::{Fault, Harsh};
use crate::mix::mix;
use crate::places::Places;
use crate::plan::{Cut, FOREVER, Plan, Surroundings, Way, Weather};
use crate::spending::{killed, spent};
use crate::world::{Logged, What, World};
use interlocking_core::run_id::RunId;
use interlocking_reference_model::generate::Dice;
use interlocking_runtime::budget::BudgetExceeded;
use interlocking_runtime::journal::{Entry, Journal, Letter, LetterBody, Record, ending};
use interlocking_runtime::{Backoff, Budgets, Outcome, Report, Run, StartError};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// The most executors of one run; it waits for people with each, at times.
const EXECUTORS: usize = 300;

/// How often a run is retried at most, and how many in a hundred that have failed are.
const RETRIES: u32 = 3;
const RETRIED: usize = 75;

/// A run, and all that is known of it.
pub(crate) struct History {
    pub(crate) world: Arc<World>,
    pub(crate) journal: Arc<Harsh>,
    pub(crate) root: RunId,
    pub(crate) surroundings: Surroundings,
    pub(crate) way: Way,
    /// Whether somebody has asked for the run's end.
    pub(crate) cancelled: bool,
    /// How executors were interrupted.
    pub(crate) cuts: Vec<Cut>,
    /// How often it waited for a person and nobody else.
    pub(crate) waits: u32,
    /// The agent, as the present process knows it.
    agent: Arc<Simulant>,
    /// Whether any executor might make only so many calls, or put up with so many errors.
    pub(crate) bounded: bool,
    /// By executor that came to an end of its own: how it had been bounded, if it was.
    pub(crate) settled: BTreeMap<u32, Option<BudgetExceeded>>,
    /// The first executor of the process that runs, which is the last one when the run has ended; `None` where that has ended
    /// before all came that was late.
    pub(crate) lasting: Option<u32>,
    /// By executor: how many calls there might be, those of earlier ones included.
    pub(crate) allowed: BTreeMap<u32, u32>,
    /// How often somebody wants it retried.
    pub(crate) retries: u32,
    /// What it had come to when it failed first, and how much of the log there was then, if it was retried.
    pub(crate) first: Option<(Report<Output>, usize)>,
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
pub(crate) fn run(world: &Arc<World>, weather: Weather, way: Way) -> Result<Ended, String> {
    let mut dice = Dice::new(mix(&[world.seed, 0xf0]));
    let surroundings = Surroundings::new(&mut dice, weather);
    let root: RunId = "r".parse().map_err(|error| format!("{error}"))?;
    let mut history = History {
        world: world.clone(),
        journal: Harsh::new(world.clone(), root.clone(), surroundings.by_name, surroundings.slow),
        root,
        surroundings,
        way,
        cancelled: false,
        cuts: Vec::new(),
        waits: 0,
        agent: Simulant::new(world.clone()),
        bounded: false,
        settled: BTreeMap::new(),
        lasting: None,
        allowed: BTreeMap::new(),
        retries: 0,
        first: None,
    };
    let mut runtime = runtime();
    let mut posted = 0;
    let mut is_same_process = false;
    for _ in 0..EXECUTORS {
        let plan = Plan::new(&mut dice, weather, history.cuts.len());
        history.cancelled |= plan.cancels.is_some();
        history.bounded |= matches!(plan.cut, Some(Cut::Calls(_) | Cut::Patience(_)));
        if !is_same_process {
            // A new process: what the last one had spawned is gone.
            runtime = self::runtime();
            history.agent = Simulant::new(world.clone());
            history.lasting = Some(world.executor() + 1);
        }
        if let Some(Cut::Calls(more)) = plan.cut {
            let made = runtime.block_on(history.calls());
            history.allowed.insert(history.world.executor() + 1, made + more);
        }
        let came = runtime.block_on(execute(&history, &plan, &mut posted))?;
        let report = history.note(&plan, came)?;
        // Once it is noted how this one was interrupted: what a process has left hanging that ended is gone with it.
        is_same_process = match history.cuts.last() {
            Some(Cut::Dropped) => true,
            // Whoever had no room for a moment may go on, or come back.
            Some(Cut::Journal(Fault::RefusesAWhile(_))) => dice.percent(50),
            _ => false,
        };
        if let Some(report) = report {
            if history.wants_retry(&report.outcome) {
                // By whoever had run it, or by somebody else.
                is_same_process = mix(&[world.seed, 0x5a3e, history.retries.into()]).is_multiple_of(2);
                history.first.get_or_insert_with(|| (report, world.logged().len()));
                if mix(&[world.seed, 0x401d, history.retries.into()]).is_multiple_of(3) {
                    runtime.block_on(history.wish_too_late());
                }
                continue;
            }
            if !runtime.block_on(outlives_what_is_late(&history)) {
                world.log(What::Harness("its process ends with what is late".to_owned()));
                runtime = self::runtime();
                history.agent = Simulant::new(world.clone());
                history.lasting = None;
            }
            let again = runtime.block_on(recall(&history));
            return Ok(Ended { history, report, again });
        }
    }
    Err(format!("it came to no end with {EXECUTORS} executors"))
}

impl History {
    /// The run, with all that it has in every executor.
    pub(crate) fn prepared(&self) -> Run<Simulated<0>> {
        let mut budgets = Budgets::unlimited();
        budgets.concurrency = self.surroundings.concurrency;
        budgets.calls = self.allowed.get(&self.world.executor()).copied();
        let run = Run::new(Simulated::<0> { world: self.world.clone() }).with_id(self.root.clone());
        let run = match self.way.is_recorded {
            true => run.with_journal(self.journal.clone()),
            false => run.without_journal(),
        };
        run.with_agent_for_others(self.agent.clone())
            .with_workspaces(Arc::new(Places))
            .with_nudges(self.world.nudges())
            .with_budgets(budgets)
            .with_backoff(self.backoff())
    }

    /// How the present executor waits when the provider fails.
    pub(crate) fn backoff(&self) -> Backoff {
        let (initial, max_delay) = (Duration::from_millis(40), Duration::from_millis(300));
        Backoff::default()
            .with_initial(initial)
            .with_max_delay(max_delay)
            .with_seed(mix(&[self.world.seed, self.world.executor().into()]))
    }

    /// How many calls all executors have recorded, of the run and of its children, and how many were killed.
    pub(crate) async fn calls(&self) -> u32 {
        let runs = self.journal.kept.runs().await.unwrap_or_default();
        let calls = |records: &[Record]| {
            records.iter().map(|record| spent(&record.entry).calls).sum::<u32>() + killed(records).len() as u32
        };
        runs.iter().map(|run| calls(&self.journal.kept.records(&run.run))).sum()
    }

    /// Notes what an executor came to; the report, if that is the run's end.
    fn note(&mut self, plan: &Plan, came: Came) -> Result<Option<Report<Output>>, String> {
        let refuses = matches!(plan.cut, Some(Cut::Journal(Fault::Refuses | Fault::RefusesAWhile(_))));
        match came {
            Came::To(report) if self.was_refused() && !matches!(report.outcome, Outcome::JournalFailed(_)) => {
                return Err(format!("its journal has refused a record, and it comes to {:?}", report.outcome));
            }
            Came::Nowhere => self.cuts.extend(plan.cut),
            Came::NotStarted(StartError::Entry(_)) if refuses => self.cuts.extend(plan.cut),
            Came::NotStarted(error) => {
                return Err(format!("executor {} did not start: {error}", self.world.executor()));
            }
            Came::To(report) => match &report.outcome {
                Outcome::BudgetExhausted(used_up) if matches!(plan.cut, Some(Cut::Calls(_))) => {
                    self.settled.insert(self.world.executor(), Some(*used_up));
                    self.cuts.extend(plan.cut);
                }
                Outcome::ProviderLimited(_) if matches!(plan.cut, Some(Cut::Patience(_))) => {
                    self.settled.insert(self.world.executor(), None);
                    self.cuts.extend(plan.cut);
                }
                Outcome::Waiting { questions } if questions.is_empty() => {
                    return Err("it waits for people, and nobody is asked anything".to_owned());
                }
                Outcome::Waiting { .. } => {
                    self.settled.insert(self.world.executor(), None);
                    self.waits += 1;
                }
                Outcome::Suspended if plan.cut == Some(Cut::Suspended) => {
                    self.settled.insert(self.world.executor(), None);
                    self.cuts.extend(plan.cut);
                }
                // Whatever the journal refuses ends nothing.
                Outcome::JournalFailed(_) if refuses && !self.has_ended() => self.cuts.extend(plan.cut),
                Outcome::JournalFailed(error) => return Err(format!("its journal fails: {error}")),
                _ => {
                    self.settled.insert(self.world.executor(), None);
                    return Ok(Some(*report));
                }
            },
        }
        Ok(None)
    }

    /// Whether the present executor was refused a record of the tree before the run had ended: then it is not to say that anything
    /// came of the run.
    fn was_refused(&self) -> bool {
        let executor = self.world.executor();
        let log = self.world.logged();
        let is_refused =
            |it: &Logged| it.executor == executor && matches!(it.what, What::Refused { left_behind: false, .. });
        let refused = log.iter().position(is_refused);
        let records = self.journal.kept.records(&self.root);
        let end = records.iter().rfind(|it| it.entry.ending().is_some()).filter(|_| ending(&records).is_some());
        let end = end.map(|record| record.sequence);
        let had_ended = |refused: usize| {
            let end_is_kept = |it: &Logged| matches!(&it.what, What::Kept { run, sequence } if *run == self.root && Some(*sequence) == end);
            log[..refused].iter().any(end_is_kept)
        };
        refused.is_some_and(|refused| !had_ended(refused))
    }

    fn has_ended(&self) -> bool {
        ending(&self.journal.kept.records(&self.root)).is_some()
    }

    /// Whether somebody wants the run retried that has come to this. It is the same in every weather.
    fn wants_retry(&mut self, outcome: &Outcome<Output>) -> bool {
        let mut dice = Dice::new(mix(&[self.world.seed, 0x4e7, self.retries.into()]));
        let wants = self.way.is_recorded && self.retries < RETRIES && dice.percent(RETRIED);
        let wants = wants && matches!(outcome, Outcome::Failed(_));
        self.retries += u32::from(wants);
        wants
    }

    /// Somebody wishes that the run ends when it has failed: that is void once it is retried.
    async fn wish_too_late(&self) {
        let letter = Letter { key: None, body: LetterBody::Cancel };
        if self.journal.kept.post(&self.root, letter).await.is_ok() {
            self.world.log(What::Harness("somebody wishes that it ends, which it has".to_owned()));
        }
    }

    /// Whether it has failed, and was not retried as often as somebody wants. Who is stopped when it has begun to retry a run
    /// retries it once more.
    pub(crate) fn is_to_be_retried(&self) -> bool {
        let records = self.journal.kept.records(&self.root);
        let retries = records.iter().filter(|record| matches!(record.entry, Entry::Retried { .. })).count();
        ending(&records) == Some("failed") && (retries as u32) < self.retries
    }
}

/// A runtime of its own clock, which goes on to the next timer whenever nothing else is left to do.
fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime without threads or files")
}

/// Lets come what is late; whether the process lives on. It may end with a record that is written after the run's end.
async fn outlives_what_is_late(history: &History) -> bool {
    tokio::select! {
        () = history.journal.ended.notified() => false,
        () = tokio::time::sleep(Duration::from_secs(60)) => true,
    }
}

/// Resumes a run that has ended.
async fn recall(history: &History) -> Result<Report<Output>, String> {
    history.world.log(What::Harness("it is resumed after its end".to_owned()));
    history.journal.set_fault(None);
    let resumed = tokio::time::timeout(FOREVER, history.prepared().resume()).await;
    let report = resumed.map_err(|_| "it hangs".to_owned())?.map_err(|error| error.to_string())?;
    if history.way.is_recorded && !matches!(report.outcome, Outcome::Failed(_)) {
        match tokio::time::timeout(FOREVER, history.prepared().retry()).await {
            Err(_) => return Err("it hangs when it is retried".to_owned()),
            Ok(Err(StartError::NotFailed { .. })) => {}
            Ok(other) => return Err(format!("it has not failed, and retried it comes to {other:?}")),
        }
    }
    Ok(report)
}
