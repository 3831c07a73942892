//! Advisory nodes and observers: they run beside the graph, and their reports are delivered at its exit.

use crate::support::{Log, failed, finished, pass, timed};
use interlocking::prelude::*;
use interlocking::runtime::journal::Entry;
use interlocking::runtime::{CancelToken, MemoryJournal};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The graph's output, with the reports from beside the graph.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Story {
    text: String,
    advice: Vec<String>,
    seen: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Seen(Vec<String>);

/// Work, a review that starts advisers, and a witness.
#[derive(Graph)]
#[graph(output = Story)]
struct House {
    #[node(entry, input = Vec<u64>, goto(review))]
    work: LogicNode<Work>,
    #[node(input = Vec<u64>, goto(review, exit), spawn(advise), visits = 4)]
    review: LogicNode<Review>,
    #[node(input = u64, report = String, reports_to(exit), visits = 3)]
    advise: AdvisoryNode<Advise>,
    #[node(observes(work, review), report = Seen, reports_to(exit))]
    witness: ObserverNode<Witness>,
}
held!(House);

impl Finish for House {
    async fn finish(&self, output: Story, reports: interlocking::graph::ReportsOf<Self>) -> Result<Story, NodeError> {
        let advice = reports.advise.into_iter().map(|report| match report.result {
            Ok(advice) => format!("{} {advice}", report.visit),
            Err(failure) => format!("{} {failure}", report.visit),
        });
        let seen = reports.witness.into_iter().flat_map(|report| match report.result {
            Ok(seen) => seen.0,
            Err(failure) => vec![failure.to_string()],
        });
        Ok(Story { text: output.text, advice: advice.collect(), seen: seen.collect() })
    }
}

/// The behaviour of the witness.
type Look = fn() -> Result<(), NodeError>;

/// Custom behaviour: of the witness, and the advice given.
#[derive(Clone, Default)]
struct Ways {
    witness: Option<Look>,
    advised: Arc<Mutex<Vec<u64>>>,
}

logic!(Work for house::work, |advices: Vec<u64>, cx| goto!(cx, house::review, advices));
logic!(Review for house::review, |advices: Vec<u64>, cx| {
    let mut advices = advices;
    pass(10).await;
    match advices.pop() {
        None => goto!(cx, house::exit, Story { text: "done".to_owned(), ..Story::default() }),
        Some(advice) => {
            cx.spawn::<house::advise>(advice);
            goto!(cx, self, advices)
        }
    }
});
struct Advise(Ways);
impl AdvisoryHandler<house::advise> for Advise {
    async fn advise(&self, takes: u64, cx: &mut Cx<'_, house::advise>) -> Result<String, NodeError> {
        pass(takes).await;
        self.0.advised.lock().unwrap().push(takes);
        match takes {
            13 => Err("no luck".into()),
            14 => panic!("no hope"),
            _ => Ok(format!("took {takes} from visit {}", cx.visit())),
        }
    }
}
struct Witness(Ways);
impl ObserverHandler<house::witness> for Witness {
    async fn observe(&self, seen: &Observation, report: &mut Seen) -> Result<(), NodeError> {
        if let Some(way) = self.0.witness {
            way()?;
        }
        let left: Option<Vec<u64>> = seen.sent("review")?;
        report.0.push(format!("{} {} {left:?}", seen.node(), seen.0.visit));
        Ok(())
    }
}

fn house(ways: &Ways) -> Run<House> {
    timed(House {
        work: LogicNode(Work),
        review: LogicNode(Review),
        advise: AdvisoryNode(Advise(ways.clone())),
        witness: ObserverNode(Witness(ways.clone())),
    })
}

const SEEN: [&str; 4] =
    ["work 1 Some([13, 50, 1])", "review 1 Some([13, 50])", "review 2 Some([13])", "review 3 Some([])"];

/// HY-67: advice reaches the output, failures included, although the exit came first.
#[tokio::test(start_paused = true)]
async fn the_exit_waits_for_what_is_advised_and_no_failure_of_it_fails_the_graph() {
    for journal in [Some(Arc::new(MemoryJournal::new())), None] {
        let ways = Ways::default();
        let run = match journal {
            Some(journal) => house(&ways).with_journal(journal),
            None => house(&ways).without_journal(),
        };
        let report = run.start(vec![13, 50, 1]).await.unwrap();
        assert_eq!(report.took.as_millis(), 70, "the longest was started at 20 ms, and the exit reached at 40");
        let output = finished(report);
        assert_eq!(
            output.advice,
            ["1 took 1 from visit 1", "2 took 50 from visit 2", "3 node `advise` (visit 3) failed: no luck"]
        );
        assert_eq!(output.seen[..4], SEEN);
        assert_eq!(output.seen.len(), 5);
    }
}

/// HY-67: nor does a panic fail the graph. A node that is no adviser is different: beyond its own bound the
/// run fails.
#[tokio::test(start_paused = true)]
async fn a_panic_is_a_report_too() {
    let report = house(&Ways::default()).start(vec![14, 1, 1]).await.unwrap();
    let output = finished(report);
    assert_eq!(output.advice[2], "3 node `advise` (visit 3) panicked: no hope");
    let five = timed(House {
        work: LogicNode(Work),
        review: LogicNode(Review),
        advise: AdvisoryNode(Advise(Ways::default())),
        witness: ObserverNode(Witness(Ways::default())),
    });
    let failure = failed(five.start(vec![1, 1, 1, 1, 1]).await.unwrap());
    assert_eq!(failure.node, "review", "its own bound is another matter: {failure}");
}

/// HY-257, CON-67: the exit does not hang; a later report is an addendum.
#[tokio::test(start_paused = true)]
async fn what_is_late_is_reported_as_late_and_recorded_when_it_comes() {
    let (journal, log) = (Arc::new(MemoryJournal::new()), Log::new());
    let run = house(&Ways::default()).with_journal(journal.clone()).with_events(log.sink());
    let report = run.with_report_deadline(Duration::from_millis(100)).start(vec![1_000, 5]).await.unwrap();
    assert_eq!(report.took.as_millis(), 130);
    let output = finished(report);
    assert_eq!(
        output.advice,
        ["1 took 5 from visit 1", "2 node `advise` (visit 2) was not done 100ms after the run came to its exit"]
    );
    let late = |entry: &Entry| matches!(entry, Entry::Report { by, report: Some(_), .. } if by.visit == 2);
    let records = || journal.records(&"run".parse().unwrap());
    assert!(!records().iter().any(|record| late(&record.entry)));
    pass(2_000).await;
    assert!(late(&records().last().unwrap().entry), "{:?}", records().last());
    assert!(log.lines().contains("late: true"), "{}", log.lines());
}

/// HY-68: whatever the observer does, nothing else changes.
#[tokio::test(start_paused = true)]
async fn a_failing_observer_changes_nothing_but_its_report() {
    let told: [(Look, &str); 2] = [
        (|| Err("cannot look".into()), "node `witness` failed: cannot look"),
        (|| panic!("blind"), "node `witness` panicked: blind"),
    ];
    for (way, words) in told {
        let ways = Ways { witness: Some(way), ..Ways::default() };
        let output = finished(house(&ways).start(vec![1]).await.unwrap());
        assert_eq!((output.text.as_str(), output.seen), ("done", vec![words.to_owned()]));
    }
}

/// Finished advice is not repeated, advice that had begun is, and the observer sees all of it.
#[tokio::test(start_paused = true)]
async fn a_resumed_run_has_its_advisers_and_its_observers_again() {
    let (ways, journal, cancel) = (Ways::default(), Arc::new(MemoryJournal::new()), CancelToken::new());
    let run = house(&ways).with_journal(journal.clone()).with_cancel(cancel.clone()).start(vec![13, 50, 1]);
    let (report, ()) = tokio::join!(run, async {
        pass(25).await;
        cancel.suspend();
    });
    assert_eq!(report.unwrap().outcome, Outcome::Suspended);
    assert_eq!(*ways.advised.lock().unwrap(), [1]);
    let output = finished(house(&ways).with_journal(journal.clone()).resume().await.unwrap());
    assert_eq!(
        output.advice,
        ["1 took 1 from visit 1", "2 took 50 from visit 2", "3 node `advise` (visit 3) failed: no luck"]
    );
    assert_eq!(output.seen[..4], SEEN);
    let mut advised = ways.advised.lock().unwrap().clone();
    advised.sort();
    assert_eq!(advised, [1, 13, 50], "each to its end once");
    let again = finished(house(&ways).with_journal(journal.clone()).resume().await.unwrap());
    assert_eq!((again.advice, &again.seen[..4]), (output.advice, &output.seen[..4]), "the outcome is the same again");
}
