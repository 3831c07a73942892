//! Plays one run from its start to its end.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use interlocking_core::failure::{Failure, FailureKind};
use interlocking_core::graph::Graph;
use interlocking_core::net::Net;
use interlocking_core::run_id::RunId;
use interlocking_runtime::clock::TokioClock;
use interlocking_runtime::journal::{By, MemoryJournal};
use interlocking_runtime::run::Injected;
use interlocking_runtime::{Outcome, StartError};

use crate::chance::{Chance, Choice, Point, Sort};
use crate::choices::Choices;
use crate::log::{Log, Seen};
use crate::messages;
use crate::player::Player;
use crate::recorder::{Recorder, event_nodes};
use crate::route::Routes;
use crate::samples::Samples;
use crate::settings::Settings;
use crate::trial::Trial;

/// The suffix of the family in which it is chosen whether a node fails.
pub(crate) const ENDS: &str = " ends";

/// How a trial ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// At its exit.
    Finished,
    /// A node failed.
    Failed(Box<Failure>),
    /// It was waiting only for answers of people, and no answer came.
    Unanswered,
    /// It was aborted because it exceeded its time or its number of node executions.
    CutOff,
    /// Any other outcome: the outcome's [name](Outcome::name).
    Other(&'static str),
    /// It did not start.
    NotStarted(StartError),
}

/// One run that was tried.
pub(crate) struct Played {
    pub(crate) points: Vec<Point>,
    pub(crate) seen: Seen,
    pub(crate) ending: Ending,
}

impl Ending {
    /// Whether the ending is an error of the graph or its handlers, whatever agents and people do: a panic, a step that
    /// is not in the table, a run that is aborted or does not start.
    pub fn is_broken(&self) -> bool {
        match self {
            Self::Failed(failure) => matches!(
                failure.kind,
                FailureKind::Panic | FailureKind::Unsound(_) | FailureKind::Journal | FailureKind::Configuration
            ),
            Self::CutOff | Self::NotStarted(_) => true,
            Self::Finished | Self::Unanswered | Self::Other(_) => false,
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finished => f.write_str("finished"),
            Self::Failed(failure) => write!(f, "{failure}"),
            Self::Unanswered => f.write_str("waits for people, and nobody answers"),
            Self::CutOff => f.write_str("given up: it took too long"),
            Self::Other(name) => f.write_str(name),
            Self::NotStarted(error) => write!(f, "not started: {error}"),
        }
    }
}

/// Plays one run with these choices, on a runtime of its own.
///
/// # Panics
///
/// Inside another runtime, and where the system has no means for one.
#[expect(clippy::expect_used, reason = "shared with tests: what is wrong shall end them")]
pub(crate) fn play<G: Graph>(
    settings: &Settings<G>,
    routes: &Arc<Routes>,
    samples: &Arc<Samples>,
    choices: Choices,
) -> Played {
    assert!(
        tokio::runtime::Handle::try_current().is_err(),
        "the enumerator runs each trial on a runtime of its own: call it from a plain `#[test]`, not from a `#[tokio::test]`"
    );
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().start_paused(settings.is_virtual).build();
    let runtime = runtime.expect("a runtime of one thread");
    let chance = Chance::new(choices);
    let log = Arc::new(Log::new(G::net(), routes.clone(), settings.executions));
    let ending = runtime.block_on(run(settings, samples, &chance, &log));
    // Background tasks that the run left behind must not delay the next run.
    runtime.shutdown_timeout(Duration::from_secs(10));
    Played { points: chance.points(), seen: log.seen(), ending }
}

async fn run<G: Graph>(settings: &Settings<G>, samples: &Arc<Samples>, chance: &Chance, log: &Arc<Log>) -> Ending {
    let Trial { run, mut entries, kept } = (settings.stage)(chance);
    let entry = match entries.len() {
        1 => 0,
        count => {
            let choices = (1..=count).map(|number| Choice::plain(&format!("entry-{number}"), Sort::Answer));
            chance.choose("entry".to_owned(), "the entry", choices.collect(), true)
        }
    };
    let entry = entries.swap_remove(entry);
    let player = Player::new(samples.clone(), chance.clone(), log.clone());
    let known = |node: &&str| !samples.messages(&G::net().table().graph, node).is_empty();
    let wanted = log.routes.all.iter().filter(|route| known(&route.from.as_str()) && !settings.is_excused(route));
    let recorder = Recorder {
        kept: Arc::new(MemoryJournal::new()),
        samples: samples.clone(),
        chance: chance.clone(),
        log: log.clone(),
        root: RunId::DEFAULT,
        takes_messages: event_nodes(G::net()).filter(known).map(str::to_owned).collect(),
        messages: AtomicU32::new(messages::allowed(G::net(), wanted)),
        is_virtual: settings.is_virtual,
    };
    let failures = FailureInjector { net: G::net(), chance: chance.clone(), log: log.clone() };
    let results = ChildResults { samples: samples.clone(), chance: chance.clone(), log: log.clone() };
    let mut run = run
        .with_injected_failures(move |run, by| failures.choose(run, by))
        .with_child_results(move |run, by| results.choose(run, by))
        .with_id(RunId::DEFAULT)
        .with_agent_for_others(Arc::new(player))
        .with_journal(Arc::new(recorder))
        .with_events(log.clone())
        .with_wait_for_people();
    if settings.is_virtual {
        run = run.with_clock(Arc::new(TokioClock::start()));
    }
    let ending = tokio::select! {
        biased;
        result = run.start(entry) => match result {
            Err(error) => Ending::NotStarted(error),
            Ok(report) => match report.outcome {
                Outcome::Finished(_) => Ending::Finished,
                Outcome::Failed(failure) => Ending::Failed(Box::new(failure)),
                outcome => Ending::Other(outcome.name()),
            },
        },
        () = unanswered(log, settings.is_virtual) => Ending::Unanswered,
        () = log.exceeded.notified() => Ending::CutOff,
        () = tokio::time::sleep(settings.longest) => Ending::CutOff,
    };
    drop(kept);
    ending
}

/// Chooses whether an execution fails, if the table has a route for that failure.
struct FailureInjector {
    net: &'static Net,
    chance: Chance,
    log: Arc<Log>,
}

impl FailureInjector {
    fn choose(&self, run: &RunId, by: &By) -> Option<Injected> {
        let child = Some(run).filter(|run| **run != RunId::DEFAULT);
        // A child graph of another type needs a test of its own.
        if !self.log.is_ours(&self.log.graph_of(child)) {
            return None;
        }
        let row = self.net.node(self.net.node_named(&by.node)?);
        let mut ways = vec![("itself", None)];
        ways.extend(row.failed.map(|_| ("fails", Some(Injected::Failure))));
        ways.extend(row.timed_out.map(|_| ("times-out", Some(Injected::Timeout))));
        let sort = |injected: &Option<Injected>| if injected.is_some() { Sort::Fault } else { Sort::Answer };
        let choices = ways.iter().map(|(label, injected)| Choice::plain(label, sort(injected))).collect();
        let key = child.map_or_else(|| format!("{by}{ENDS}"), |run| format!("{run}/{by}{ENDS}"));
        ways[self.chance.choose(key, &format!("{}{ENDS}", by.node), choices, false)].1
    }
}

/// Chooses the results of the children of graph nodes for which results are given.
struct ChildResults {
    samples: Arc<Samples>,
    chance: Chance,
    log: Arc<Log>,
}

impl ChildResults {
    fn choose(&self, run: &RunId, by: &By) -> Option<String> {
        let child = Some(run).filter(|run| **run != RunId::DEFAULT);
        let graph = self.log.graph_of(child).to_string();
        if !self.samples.given.contains_key(&(graph.clone(), by.node.clone())) {
            return None;
        }
        let (choices, results): (Vec<_>, Vec<_>) = self.samples.answers(&graph, &by.node, None).iter().cloned().unzip();
        let key = child.map_or_else(|| by.to_string(), |run| format!("{run}/{by}"));
        let family = if self.log.is_ours(&graph) { by.node.clone() } else { format!("{graph}/{}", by.node) };
        Some(results[self.chance.choose(key, &family, choices, true)].value.to_string())
    }
}

/// Completes when the run waits for people who will not answer.
async fn unanswered(log: &Log, is_virtual: bool) {
    // Late answers have arrived by then.
    let delay = if is_virtual { Duration::from_secs(24 * 3_600) } else { Duration::from_millis(500) };
    loop {
        log.waits.notified().await;
        let before = log.executions();
        tokio::time::sleep(delay).await;
        if log.executions() == before {
            return;
        }
    }
}
