//! A run from its start to its end, with as many executors as it needs.

use crate::agent::SimulatedAgent;
use crate::executor::{ExecutorEnd, execute};
use crate::graph::{Output, Simulated};
use crate::journal::{Fault, FaultyJournal};
use crate::mix::mix;
use crate::places::Places;
use crate::plan::{Cut, HANG_LIMIT, Plan, Surroundings, Way, Weather};
use crate::spending::{killed, spent};
use crate::world::{LogEvent, Logged, World};
use interlocking_core::run_id::RunId;
use interlocking_reference_model::generate::Dice;
use interlocking_runtime::budget::BudgetExceeded;
use interlocking_runtime::journal::{Entry, Journal, Letter, LetterBody, Record, ending};
use interlocking_runtime::{Backoff, Budgets, Outcome, Report, Run, StartError};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// The most executors of one run; a run may wait for people with each of them.
const MAX_EXECUTORS: usize = 300;

/// How often a run is retried at most, and what percentage of failed runs is retried.
const MAX_RETRIES: u32 = 3;
const RETRY_PERCENT: usize = 75;

/// A run and its execution history.
pub(crate) struct History {
    pub(crate) world: Arc<World>,
    pub(crate) journal: Arc<FaultyJournal>,
    pub(crate) root: RunId,
    pub(crate) surroundings: Surroundings,
    pub(crate) way: Way,
    /// Whether the run's cancellation was requested.
    pub(crate) cancelled: bool,
    /// How executors were interrupted.
    pub(crate) cuts: Vec<Cut>,
    /// By executor that ended only to wait for a person: how long the log was then.
    pub(crate) waited: Vec<usize>,
    /// The agent, as the present process knows it.
    agent: Arc<SimulatedAgent>,
    /// Whether any executor had a limit on calls or on provider errors.
    pub(crate) bounded: bool,
    /// By executor that was not interrupted: the budget that it exceeded, if any.
    pub(crate) settled: BTreeMap<u32, Option<BudgetExceeded>>,
    /// The first executor of the present process, which is the last process when the run has ended; `None` if that
    /// process ended before all late records were written.
    pub(crate) lasting: Option<u32>,
    /// By executor: the limit on calls, including those of earlier executors.
    pub(crate) allowed: BTreeMap<u32, u32>,
    /// How often it is to be retried.
    pub(crate) retries: u32,
    /// If it was retried: its first report, and the length of the log at that time.
    pub(crate) first: Option<(Report<Output>, usize)>,
}

/// A run that has ended.
pub(crate) struct Ended {
    pub(crate) history: History,
    pub(crate) report: Report<Output>,
    /// The result of resuming it after its end.
    pub(crate) again: Result<Report<Output>, String>,
}

/// Runs the graph of the world's seed to its end.
///
/// # Errors
///
/// Why it did not end.
pub(crate) fn run(world: &Arc<World>, weather: Weather, way: Way) -> Result<Ended, String> {
    let mut dice = Dice::new(mix(&[world.seed, 0xf0]));
    let surroundings = Surroundings::new(&mut dice, weather);
    let root: RunId = "r".parse().map_err(|error| format!("{error}"))?;
    let mut history = History {
        world: world.clone(),
        journal: FaultyJournal::new(world.clone(), root.clone(), surroundings.by_name, surroundings.slow),
        root,
        surroundings,
        way,
        cancelled: false,
        cuts: Vec::new(),
        waited: Vec::new(),
        agent: SimulatedAgent::new(world.clone()),
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
    for _ in 0..MAX_EXECUTORS {
        let plan = Plan::new(&mut dice, weather, history.cuts.len());
        history.cancelled |= plan.cancels.is_some();
        history.bounded |= matches!(plan.cut, Some(Cut::Calls(_) | Cut::Patience(_)));
        if !is_same_process {
            // A new process: the tasks of the last process are gone.
            runtime = self::runtime();
            history.agent = SimulatedAgent::new(world.clone());
            history.lasting = Some(world.executor() + 1);
        }
        if let Some(Cut::Calls(more)) = plan.cut {
            let made = runtime.block_on(history.calls());
            history.allowed.insert(history.world.executor() + 1, made + more);
        }
        let (came, stopped) = runtime.block_on(execute(&history, &plan, &mut posted))?;
        let report = history.note(&plan, came, stopped)?;
        // Decided after the interruption is noted. A dropped executor leaves its process running, and one whose journal
        // refused for a while may leave it running. Otherwise the tasks of the process end with the executor.
        is_same_process = match history.cuts.last() {
            Some(Cut::Dropped) => true,
            // After a disk that was full for a moment, the process may live on or restart.
            Some(Cut::Journal(Fault::RefusesAWhile(_))) => dice.percent(50),
            _ => false,
        };
        if let Some(report) = report {
            if history.wants_retry(&report.outcome) {
                // The retry happens in the same process or in a new one.
                is_same_process = mix(&[world.seed, 0x5a3e, history.retries.into()]).is_multiple_of(2);
                history.first.get_or_insert_with(|| (report, world.logged().len()));
                if mix(&[world.seed, 0x401d, history.retries.into()]).is_multiple_of(3) {
                    runtime.block_on(history.cancel_too_late());
                }
                continue;
            }
            if !runtime.block_on(outlives_late_records(&history)) {
                world.log(LogEvent::Harness("its process ends with what is late".to_owned()));
                runtime = self::runtime();
                history.agent = SimulatedAgent::new(world.clone());
                history.lasting = None;
            }
            let again = runtime.block_on(resume_after_end(&history));
            return Ok(Ended { history, report, again });
        }
    }
    Err(format!("it came to no end with {MAX_EXECUTORS} executors"))
}

impl History {
    /// The run with the settings that are the same in every executor.
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

    /// The backoff of the present executor when the provider fails.
    pub(crate) fn backoff(&self) -> Backoff {
        let (initial, max_delay) = (Duration::from_millis(40), Duration::from_millis(300));
        Backoff::default()
            .with_initial(initial)
            .with_max_delay(max_delay)
            .with_seed(mix(&[self.world.seed, self.world.executor().into()]))
    }

    /// How many calls all executors have recorded for the run and its children, plus the number of killed turns.
    pub(crate) async fn calls(&self) -> u32 {
        let runs = self.journal.kept.runs().await.unwrap_or_default();
        let calls = |records: &[Record]| {
            records.iter().map(|record| spent(&record.entry).calls).sum::<u32>() + killed(records).len() as u32
        };
        runs.iter().map(|run| calls(&self.journal.kept.records(&run.run))).sum()
    }

    /// Notes the end of an executor, at which the log had `stopped` lines; returns the report if the run has ended.
    fn note(&mut self, plan: &Plan, came: ExecutorEnd, stopped: usize) -> Result<Option<Report<Output>>, String> {
        let refuses = matches!(plan.cut, Some(Cut::Journal(Fault::Refuses | Fault::RefusesAWhile(_))));
        match came {
            ExecutorEnd::Reported(report)
                if self.was_refused() && !matches!(report.outcome, Outcome::JournalFailed(_)) =>
            {
                return Err(format!("its journal has refused a record, and it comes to {:?}", report.outcome));
            }
            ExecutorEnd::Interrupted => self.cuts.extend(plan.cut),
            ExecutorEnd::NotStarted(StartError::Entry(_)) if refuses => self.cuts.extend(plan.cut),
            ExecutorEnd::NotStarted(error) => {
                return Err(format!("executor {} did not start: {error}", self.world.executor()));
            }
            ExecutorEnd::Reported(report) => match &report.outcome {
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
                    self.waited.push(stopped);
                }
                Outcome::Suspended if plan.cut == Some(Cut::Suspended) => {
                    self.settled.insert(self.world.executor(), None);
                    self.cuts.extend(plan.cut);
                }
                // A refused record does not end the run.
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

    /// Whether a record of the present executor was refused before the run had ended: the executor must then not report
    /// a result of the run.
    fn was_refused(&self) -> bool {
        let executor = self.world.executor();
        let log = self.world.logged();
        let is_refused =
            |it: &Logged| it.executor == executor && matches!(it.what, LogEvent::Refused { left_behind: false, .. });
        let refused = log.iter().position(is_refused);
        let records = self.journal.kept.records(&self.root);
        let end = records.iter().rfind(|it| it.entry.ending().is_some()).filter(|_| ending(&records).is_some());
        let end = end.map(|record| record.sequence);
        let had_ended = |refused: usize| {
            let end_is_kept = |it: &Logged| matches!(&it.what, LogEvent::Kept { run, sequence } if *run == self.root && Some(*sequence) == end);
            log[..refused].iter().any(end_is_kept)
        };
        refused.is_some_and(|refused| !had_ended(refused))
    }

    /// Whether the run has an end in the journal.
    pub(crate) fn has_ended(&self) -> bool {
        ending(&self.journal.kept.records(&self.root)).is_some()
    }

    /// Whether a run with this outcome is to be retried. The decision is the same in both weathers.
    fn wants_retry(&mut self, outcome: &Outcome<Output>) -> bool {
        let mut dice = Dice::new(mix(&[self.world.seed, 0x4e7, self.retries.into()]));
        let wants = self.way.is_recorded && self.retries < MAX_RETRIES && dice.percent(RETRY_PERCENT);
        let wants = wants && matches!(outcome, Outcome::Failed(_));
        self.retries += u32::from(wants);
        wants
    }

    /// Posts a cancellation to a run that has failed: it has no effect once the run is retried.
    async fn cancel_too_late(&self) {
        let letter = Letter { key: None, body: LetterBody::Cancel };
        if self.journal.kept.post(&self.root, letter).await.is_ok() {
            self.world.log(LogEvent::Harness("a cancellation is posted after the run has failed".to_owned()));
        }
    }

    /// Whether the run has failed and has fewer recorded retries than intended. An executor that is stopped while it
    /// retries a run thus retries it again.
    pub(crate) fn is_to_be_retried(&self) -> bool {
        let records = self.journal.kept.records(&self.root);
        let retries = records.iter().filter(|record| matches!(record.entry, Entry::Retried { .. })).count();
        ending(&records) == Some("failed") && (retries as u32) < self.retries
    }
}

/// A runtime with a virtual clock, which advances to the next timer whenever the runtime is idle.
fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime without threads or files")
}

/// Waits for late records; returns whether the process lives on. The process may end with a record that is written
/// after the run's end.
async fn outlives_late_records(history: &History) -> bool {
    tokio::select! {
        () = history.journal.ended.notified() => false,
        () = tokio::time::sleep(Duration::from_secs(60)) => true,
    }
}

/// Resumes a run that has ended.
async fn resume_after_end(history: &History) -> Result<Report<Output>, String> {
    history.world.log(LogEvent::Harness("it is resumed after its end".to_owned()));
    history.journal.set_fault(None);
    let resumed = tokio::time::timeout(HANG_LIMIT, history.prepared().resume()).await;
    let report = resumed.map_err(|_| "it hangs".to_owned())?.map_err(|error| error.to_string())?;
    if history.way.is_recorded && !matches!(report.outcome, Outcome::Failed(_)) {
        match tokio::time::timeout(HANG_LIMIT, history.prepared().retry()).await {
            Err(_) => return Err("it hangs when it is retried".to_owned()),
            Ok(Err(StartError::NotFailed { .. })) => {}
            Ok(other) => return Err(format!("it has not failed, and retried it comes to {other:?}")),
        }
    }
    Ok(report)
}
