//! What the time of `timeout` covers, and a process that ends within it.

use crate::support::{finished, pass, timed};
use interlocking::prelude::*;
use interlocking::runtime::{CancelToken, Journal, MemoryJournal};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Each attempt takes so long.
#[derive(Graph)]
#[graph(output = u32)]
struct Trying {
    #[node(entry, input = u64, goto(work, exit), attempts = 3, timeout = "2s", timed_out(late))]
    work: LogicNode<Working>,
    #[node(input = TimedOut, goto(exit))]
    late: LogicNode<TooLate>,
}
logic!(Working for trying::work, |takes: u64, cx| {
    pass(takes).await;
    if cx.is_final_attempt() { goto!(cx, trying::exit, cx.attempt()) } else { goto!(cx, self, takes) }
});
logic!(TooLate for trying::late, |_: TimedOut, cx| goto!(cx, trying::exit, 0));

#[tokio::test(start_paused = true)]
async fn each_attempt_has_the_time_anew() {
    for (takes, output, took) in [(1_500, 3, 4_500), (2_500, 0, 2_000)] {
        let graph = Trying { work: LogicNode(Working), late: LogicNode(TooLate) };
        let report = timed(graph).start(takes).await.unwrap();
        assert_eq!((report.took.as_millis(), finished(report)), (took, output));
    }
}

/// Three steps of two seconds, in a child.
#[derive(Graph)]
#[graph(output = String)]
struct Steps {
    #[node(entry, input = u32, goto(step, exit), attempts = 3)]
    step: LogicNode<Step>,
}
#[derive(Graph)]
#[graph(output = String)]
struct Whole {
    #[node(entry, input = u32, graph = Steps, goto(exit), timeout = "5s", timed_out(late))]
    steps: GraphNode<Steps>,
    #[node(input = TimedOut, goto(exit))]
    late: LogicNode<Late>,
}
logic!(Step for steps::step, |steps: u32, cx| {
    pass(2_000).await;
    if steps > 1 { goto!(cx, self, steps - 1) } else { goto!(cx, steps::exit, "done".to_owned()) }
});
struct Late(CancelToken, Arc<AtomicU32>);
impl LogicHandler<whole::late> for Late {
    async fn run(&self, late: TimedOut, cx: &mut Cx<'_, whole::late>) -> Route<whole::late> {
        if self.1.fetch_add(1, Ordering::SeqCst) == 0 {
            self.0.suspend();
            std::future::pending::<()>().await;
        }
        goto!(cx, whole::exit, late.to_string())
    }
}

fn whole(journal: &Arc<MemoryJournal>, late: &Arc<AtomicU32>) -> (Run<Whole>, CancelToken) {
    let cancel = CancelToken::new();
    let late = LogicNode(Late(cancel.clone(), late.clone()));
    let run = timed(Whole { steps: GraphNode(Steps { step: LogicNode(Step) }), late });
    (run.with_journal(journal.clone()).with_cancel(cancel.clone()), cancel)
}

async fn ends_of_children(journal: &MemoryJournal) -> Vec<Option<String>> {
    journal.children(&RunId::DEFAULT).await.unwrap().into_iter().map(|child| child.ended).collect()
}

const LATE: &str = "node `steps` took longer than its timeout of 5s";

/// The node's time covers its child as a whole. A recorded timeout is not repeated by another process.
#[tokio::test(start_paused = true)]
async fn a_child_counts_as_a_whole_and_a_route_that_is_recorded_stays_taken() {
    let (journal, late) = (Arc::new(MemoryJournal::new()), Arc::<AtomicU32>::default());
    let report = whole(&journal, &late).0.start(3).await.unwrap();
    assert_eq!((report.took.as_millis(), report.outcome), (5_000, Outcome::Suspended), "amid the target of the route");
    let report = whole(&journal, &late).0.resume().await.unwrap();
    assert_eq!((report.took.as_millis(), finished(report).as_str()), (0, LATE));
    assert_eq!(late.load(Ordering::SeqCst), 2);
    assert_eq!(ends_of_children(&journal).await, [Some("cancelled".to_owned())]);
    assert_eq!(finished(whole(&journal, &late).0.resume().await.unwrap()), LATE, "once more");
}

/// The time starts again in another process, and the child goes on where it was.
#[tokio::test(start_paused = true)]
async fn a_node_that_is_interrupted_has_the_time_anew() {
    for (suspended_at, took, output) in [(3_000, 4_000, "done"), (1_000, 5_000, LATE)] {
        let (journal, late) = (Arc::new(MemoryJournal::new()), Arc::new(AtomicU32::new(1)));
        let (run, cancel) = whole(&journal, &late);
        let (report, ()) = tokio::join!(run.start(3), async {
            pass(suspended_at).await;
            cancel.suspend();
        });
        assert_eq!(report.unwrap().outcome, Outcome::Suspended);
        let report = whole(&journal, &late).0.resume().await.unwrap();
        assert_eq!((report.took.as_millis(), finished(report).as_str()), (took, output), "after {suspended_at}");
    }
}

/// The child asks a person.
#[derive(Graph)]
#[graph(output = String)]
struct Asking {
    #[node(entry, input = (), question = String, answer = bool, goto(exit))]
    ask: HumanNode<Ask>,
}
#[derive(Graph)]
#[graph(output = String)]
struct Patient {
    #[node(entry, input = (), graph = Asking, goto(exit), timeout = "60m", timed_out(late))]
    asking: GraphNode<Asking>,
    #[node(input = TimedOut, goto(exit))]
    late: LogicNode<Impatient>,
}
struct Ask;
impl HumanHandler<asking::ask> for Ask {
    async fn ask(&self, (): &(), _: &mut Cx<'_, asking::ask>) -> Result<String, NodeError> {
        Ok("well?".to_owned())
    }
    async fn answered(&self, (): (), good: bool, cx: &mut Cx<'_, asking::ask>) -> Route<asking::ask> {
        goto!(cx, asking::exit, good.to_string())
    }
}
logic!(Impatient for patient::late, |_: TimedOut, cx| goto!(cx, patient::exit, "nobody answered".to_owned()));

held!(Trying, Steps, Whole, Asking, Patient);

/// While a process executes the run, the time passes even if a child waits for a person. Between processes it does not, unlike
/// the time of a human node.
#[tokio::test(start_paused = true)]
async fn a_child_that_waits_for_a_person_uses_up_the_time_in_a_process() {
    let journal = Arc::new(MemoryJournal::new());
    let patient = || {
        let graph = Patient { asking: GraphNode(Asking { ask: HumanNode(Ask) }), late: LogicNode(Impatient) };
        timed(graph).with_journal(journal.clone())
    };
    assert_eq!(patient().start(()).await.unwrap().outcome.name(), "waiting");
    pass(61 * 60_000).await;
    assert_eq!(patient().resume().await.unwrap().outcome.name(), "waiting", "it has all the time again");
    let report = patient().with_wait_for_people().resume().await.unwrap();
    assert_eq!((report.took.as_millis(), finished(report).as_str()), (60 * 60_000, "nobody answered"));
}
