//! What nodes beside the graph do apart from reporting, which nodes observe it, and how it becomes part of the
//! output.

mod late;
mod race;

use crate::support::{Log, Recording, both_ways, failed, finished, pass, timed};
use interlocking::prelude::*;
use interlocking::runtime::budget::Budgets;
use interlocking::runtime::journal::{Entry, Letter, LetterBody, Record};
use interlocking::runtime::{CancelToken, Journal, MemoryJournal};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Seen(Vec<String>);

/// An adviser that does more than report, and its observer.
#[derive(Graph)]
#[graph(output = Vec<String>)]
struct Counsel {
    #[node(entry, input = bool, goto(wait), spawn(advise))]
    begin: LogicNode<Begin>,
    #[node(input = bool, goto(last))]
    wait: LogicNode<Wait>,
    #[node(input = bool, goto(exit))]
    last: LogicNode<Last>,
    #[node(input = bool, report = String, reports_to(exit))]
    advise: AdvisoryNode<Advise>,
    #[node(on(String), resume)]
    told: EventNode<Told>,
    #[node(observes(advise), report = Seen, reports_to(exit))]
    witness: ObserverNode<Witness>,
}

logic!(Begin for counsel::begin, |commits: bool, cx| {
    cx.spawn::<counsel::advise>(commits);
    goto!(cx, counsel::wait, commits)
});
logic!(Wait for counsel::wait, |commits: bool, cx| {
    pass(1_000).await;
    goto!(cx, counsel::last, commits)
});
logic!(Last for counsel::last, |_: bool, cx| goto!(cx, counsel::exit, Vec::new()));
#[derive(Labels)]
#[labels(node = counsel::advise)]
enum Advised {
    #[label(warn)]
    Hint,
}

struct Advise;
impl AdvisoryHandler<counsel::advise> for Advise {
    async fn advise(&self, commits: bool, cx: &mut Cx<'_, counsel::advise>) -> Result<String, NodeError> {
        pass(5).await;
        if commits {
            cx.committed("desk", "abc");
        }
        cx.label(&Advised::Hint);
        let own = cx.run_id().clone();
        cx.send::<counsel::told>(&own, &"a hint".to_owned())?;
        Ok("advice".to_owned())
    }
}
struct Told(Arc<Mutex<Vec<String>>>);
impl EventHandler<counsel::told> for Told {
    async fn handle(&self, hint: String, cx: &mut Cx<'_, counsel::told>) -> Route<counsel::told> {
        self.0.lock().unwrap().push(hint);
        cx.resume()
    }
}
struct Witness;
impl ObserverHandler<counsel::witness> for Witness {
    async fn observe(&self, seen: &Observation, report: &mut Seen) -> Result<(), NodeError> {
        let said: Option<String> = seen.sent("exit")?;
        report.0.push(format!("{} {} {said:?}", seen.node(), seen.0.visit));
        Ok(())
    }
}
impl Finish for Counsel {
    async fn finish(
        &self,
        mut output: Vec<String>,
        reports: interlocking::graph::ReportsOf<Self>,
    ) -> Result<Vec<String>, NodeError> {
        for report in reports.witness {
            output.extend(report.result?.0);
        }
        Ok(output)
    }
}

fn counsel(told: &Arc<Mutex<Vec<String>>>) -> Run<Counsel> {
    timed(Counsel {
        begin: LogicNode(Begin),
        wait: LogicNode(Wait),
        last: LogicNode(Last),
        advise: AdvisoryNode(Advise),
        told: EventNode(Told(told.clone())),
        witness: ObserverNode(Witness),
    })
}

/// An adviser's commits, messages and labels take effect with its report.
#[tokio::test(start_paused = true)]
async fn what_an_adviser_does_is_recorded_with_its_report() {
    let (told, journal) = (Arc::default(), Arc::new(MemoryJournal::new()));
    finished(counsel(&told).with_journal(journal.clone()).start(true).await.unwrap());
    let records = journal.records(&"run".parse().unwrap());
    let report = records.iter().find(|record| matches!(record.entry, Entry::Report { .. })).unwrap();
    let report = serde_json::to_value(&report.entry).unwrap();
    assert_eq!(report["commits"], serde_json::json!([{ "workspace": "desk", "id": "abc" }]), "{report}");
    assert_eq!(report["label"], serde_json::json!({ "type": "HINT", "severity": "WARN" }));
    assert_eq!(report["posted"][0]["node"], "told");
    assert_eq!(*told.lock().unwrap(), ["a hint"]);
}

/// The process may be killed after it has recorded an adviser's outcome after the run's end, and before it has
/// sent the adviser's messages.
#[tokio::test(start_paused = true)]
async fn what_an_adviser_has_sent_after_the_end_arrives_though_its_process_was_killed() {
    let (told, journal) = (Arc::default(), Arc::new(MemoryJournal::new()));
    let [run, other]: [RunId; 2] = ["run", "other"].map(|name| name.parse().unwrap());
    for id in [&run, &other] {
        finished(counsel(&told).with_id(id.clone()).with_journal(journal.clone()).start(false).await.unwrap());
    }
    let kept = Arc::new(MemoryJournal::new());
    let is_report = |record: &Record| matches!(record.entry, Entry::Report { .. });
    let (late, before): (Vec<_>, Vec<_>) = journal.records(&run).into_iter().partition(is_report);
    for (sequence, Record { run, mut entry, .. }) in (0..).zip(before.into_iter().chain(late)) {
        if let Entry::Report { posted, .. } = &mut entry {
            posted.iter_mut().for_each(|message| message.to = other.clone());
        }
        kept.append(Record { run, sequence, entry }).await.unwrap();
    }
    for record in journal.records(&other) {
        kept.append(record).await.unwrap();
    }
    for _ in 0..2 {
        finished(counsel(&told).with_journal(kept.clone()).resume().await.unwrap());
        assert_eq!(kept.letters(&other, 0).await.unwrap().len(), 1, "once");
    }
}

/// Messages need a journal.
#[tokio::test(start_paused = true)]
async fn an_adviser_can_send_nothing_without_a_journal() {
    let (told, log) = (Arc::default(), Log::new());
    finished(counsel(&told).without_journal().with_events(log.sink()).start(true).await.unwrap());
    let lines = log.lines();
    let said = "`told` cannot be sent a message: give the run a journal, by which messages go";
    assert!(lines.contains(said), "{lines}");
    assert!(told.lock().unwrap().is_empty());
}

/// An observer sees an adviser's report, also in a resumed run.
#[tokio::test(start_paused = true)]
async fn an_adviser_can_be_observed() {
    let seen = ["advise 1 Some(\"advice\")"];
    let told = Arc::default();
    assert_eq!(finished(counsel(&told).start(false).await.unwrap()), seen);
    let (journal, cancel) = (Arc::new(MemoryJournal::new()), CancelToken::new());
    let run = counsel(&told).with_journal(journal.clone()).with_cancel(cancel.clone()).start(false);
    let (report, ()) = tokio::join!(run, async {
        pass(500).await;
        cancel.suspend();
    });
    assert_eq!(report.unwrap().outcome, Outcome::Suspended);
    assert_eq!(finished(counsel(&told).with_journal(journal).resume().await.unwrap()), seen);
}

/// Three rounds, and an observer that takes so many milliseconds for the last of them.
#[derive(Graph)]
#[graph(output = Vec<(u32, Option<u32>)>)]
struct Rounds {
    #[node(entry, input = u64, goto(round, exit), visits = 4)]
    round: LogicNode<Round>,
    #[node(observes(round), report = Seen, reports_to(exit))]
    witness: ObserverNode<SlowWitness>,
}
logic!(Round for rounds::round, |takes: u64, cx| match cx.visit() {
    3 => goto!(cx, rounds::exit, Vec::new()),
    _ => goto!(cx, self, takes),
});
struct SlowWitness(u64);
impl ObserverHandler<rounds::witness> for SlowWitness {
    async fn observe(&self, seen: &Observation, _: &mut Seen) -> Result<(), NodeError> {
        if seen.0.visit == 3 {
            pass(self.0).await;
            if self.0 == 13 {
                return Err("no luck".into());
            }
        }
        Ok(())
    }
}
impl Finish for Rounds {
    async fn finish(
        &self,
        _: Vec<(u32, Option<u32>)>,
        reports: interlocking::graph::ReportsOf<Self>,
    ) -> Result<Vec<(u32, Option<u32>)>, NodeError> {
        let reports = reports.witness.into_iter();
        Ok(reports.map(|report| (report.visit, report.result.err().map(|failure| failure.visit))).collect())
    }
}

/// An observer's report, also a failed or a late one, says how many outcomes the observer was shown.
#[tokio::test(start_paused = true)]
async fn an_observers_report_says_at_which_outcome_it_is() {
    for (takes, failed_at) in [(1, None), (13, Some(3)), (10_000, Some(3))] {
        let run = timed(Rounds { round: LogicNode(Round), witness: ObserverNode(SlowWitness(takes)) });
        let run = run.with_report_deadline(Duration::from_millis(100));
        assert_eq!(finished(run.start(0).await.unwrap()), [(3, failed_at)], "{takes} ms");
    }
}

/// A value that cannot be written if it is 15.
#[derive(Debug, PartialEq, Deserialize)]
struct Sum(u64);

impl Serialize for Sum {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        assert_ne!(self.0, 15, "no words");
        self.0.serialize(serializer)
    }
}

/// A graph whose output takes a long time to make, fails, or cannot be written.
#[derive(Graph)]
#[graph(output = Sum)]
struct Ending {
    #[node(entry, input = u64, goto(exit))]
    work: LogicNode<Work>,
    #[node(observes(work), report = Seen, reports_to(exit))]
    witness: ObserverNode<Blank>,
}
logic!(Work for ending::work, |takes: u64, cx| goto!(cx, ending::exit, Sum(takes)));
struct Blank;
impl ObserverHandler<ending::witness> for Blank {
    async fn observe(&self, _: &Observation, _: &mut Seen) -> Result<(), NodeError> {
        Ok(())
    }
}
impl Finish for Ending {
    async fn finish(&self, Sum(takes): Sum, _: interlocking::graph::ReportsOf<Self>) -> Result<Sum, NodeError> {
        pass(takes).await;
        if takes == 13 {
            panic!("no hope");
        }
        Ok(Sum(if takes == 14 { 15 } else { takes }))
    }
}

fn ending(journal: &Arc<MemoryJournal>) -> Run<Ending> {
    timed(Ending { work: LogicNode(Work), witness: ObserverNode(Blank) }).with_journal(journal.clone())
}

fn last(journal: &MemoryJournal) -> Entry {
    journal.records(&"run".parse().unwrap()).pop().unwrap().entry
}

#[tokio::test(start_paused = true)]
async fn a_panic_while_the_output_is_made_ends_the_run() {
    let journal = Arc::new(MemoryJournal::new());
    let failure = failed(ending(&journal).start(13).await.unwrap());
    assert_eq!((failure.node.as_str(), &failure.kind), ("exit", &FailureKind::Panic), "{failure}");
    assert!(failure.message.contains("no hope"), "{failure}");
    assert!(matches!(last(&journal), Entry::Ended { failure: Some(_), .. }), "{:?}", last(&journal));
}

#[tokio::test(start_paused = true)]
async fn a_panic_while_the_output_is_written_ends_the_run() {
    let failure = failed(ending(&Arc::default()).start(14).await.unwrap());
    assert!(failure.message.contains("it panics: ") && failure.message.contains("no words"), "{failure}");
}

#[tokio::test(start_paused = true)]
async fn what_stops_a_run_stops_it_while_its_output_is_made() {
    let (journal, cancel) = (Arc::new(MemoryJournal::new()), CancelToken::new());
    let run = ending(&journal).with_cancel(cancel.clone()).start(10_000);
    let (report, ()) = tokio::join!(run, async {
        pass(50).await;
        cancel.cancel();
    });
    let report = report.unwrap();
    assert_eq!((report.outcome, report.took.as_millis()), (Outcome::Cancelled, 50));
    assert!(matches!(last(&journal), Entry::Ended { cancelled: true, .. }));

    let journal = Arc::new(MemoryJournal::new());
    let (report, _) = tokio::join!(ending(&journal).start(10_000), async {
        pass(50).await;
        journal.post(&"run".parse().unwrap(), Letter { key: None, body: LetterBody::Cancel }).await
    });
    let report = report.unwrap();
    assert_eq!((report.outcome, report.took.as_millis()), (Outcome::Cancelled, 50));

    let journal = Arc::new(MemoryJournal::new());
    let limit = Budgets::unlimited().with_wall_time(Duration::from_millis(50));
    let report = ending(&journal).with_budgets(limit).start(100).await.unwrap();
    assert!(!matches!(report.outcome, Outcome::Finished(_)), "{:?}", report.outcome);
    assert_eq!(report.took.as_millis(), 50);
    let report = ending(&journal).resume().await.unwrap();
    assert_eq!(finished(report), Sum(100), "it goes on from its exit");
}

held!(Counsel, Rounds, Ending, Minutes);

/// An agent is asked, then there are three rounds of a second each; an observer takes notes of everything.
#[derive(Graph)]
#[graph(output = Vec<String>)]
struct Minutes {
    #[node(entry, input = (), prompt = Opening, output = bool, goto(round))]
    open: LLMNode<Open>,
    #[node(input = (), goto(round, exit), visits = 3)]
    round: LogicNode<RoundTable>,
    #[node(observes(open, round), report = Seen, reports_to(exit))]
    clerk: ObserverNode<Clerk>,
}
#[derive(askama::Template)]
#[template(source = "Open.", ext = "txt")]
struct Opening;
struct Open;
impl LLMHandler<minutes::open> for Open {
    async fn before<'a>(&'a self, (): &'a (), _: &mut Cx<'_, minutes::open>) -> Ask<Opening> {
        Ok((Opening, SessionOp::StartFresh(Slug::new("open")?)))
    }
    async fn after(&self, (): (), _: Reply<bool>, cx: &mut Cx<'_, minutes::open>) -> Route<minutes::open> {
        goto!(cx, minutes::round, ())
    }
}
logic!(RoundTable for minutes::round, |(): (), cx| {
    pass(1_000).await;
    if cx.visit() < 3 { goto!(cx, self, ()) } else { goto!(cx, minutes::exit, Vec::new()) }
});
struct Clerk;
impl ObserverHandler<minutes::clerk> for Clerk {
    async fn observe(&self, seen: &Observation, report: &mut Seen) -> Result<(), NodeError> {
        pass(900).await;
        let calls = seen.0.calls.iter().map(|call| call.usage.calls).sum::<u32>();
        report.0.push(format!("{} {}: {calls} calls", seen.node(), seen.0.visit));
        Ok(())
    }
}
impl Finish for Minutes {
    async fn finish(
        &self,
        _: Vec<String>,
        reports: interlocking::graph::ReportsOf<Self>,
    ) -> Result<Vec<String>, NodeError> {
        let seen = reports.clerk.into_iter().map(|report| report.result.map(|seen| seen.0));
        Ok(seen.collect::<Result<Vec<_>, _>>()?.concat())
    }
}

fn minutes() -> Minutes {
    Minutes { open: LLMNode(Open), round: LogicNode(RoundTable), clerk: ObserverNode(Clerk) }
}

/// An observer sees the agent calls of an outcome, whether the run is recorded or not.
#[tokio::test(start_paused = true)]
async fn an_observer_sees_the_calls_of_agents_with_and_without_a_journal() {
    for run in both_ways(minutes) {
        let agent = Recording::new("[[turn]]\noutput_json = 'true'\n");
        let seen = finished(run.with_agent("open", agent).start(()).await.unwrap());
        assert_eq!(seen, ["open 1: 1 calls", "round 1: 0 calls", "round 2: 0 calls", "round 3: 0 calls"]);
    }
}

/// An observer is shown outcomes while a node works, whether the run is recorded or not.
#[tokio::test(start_paused = true)]
async fn an_observer_goes_on_while_a_node_works_with_and_without_a_journal() {
    for run in both_ways(minutes) {
        let agent = Recording::new("[[turn]]\noutput_json = 'true'\n");
        let report = run.with_agent("open", agent).start(()).await.unwrap();
        assert_eq!(report.took.as_millis(), 3_900, "only the last round is noted after the exit");
    }
}
