//! `adds_to(map)`: a message adds items to a map that runs.

use crate::cut::Cut;
use crate::support::{Log, failed, finished, pass, timed};
use interlocking::prelude::*;
use interlocking::runtime::journal::{Entry, JournalError, Letter, LetterBody};
use interlocking::runtime::{EventKind, Journal, Outcome};
use std::sync::{Arc, Mutex};

/// A job takes so many milliseconds; those of an odd number fail.
#[derive(Graph)]
#[graph(output = u64)]
struct Job {
    #[node(entry, input = u64, goto(exit))]
    work: LogicNode<Work>,
}
/// The work that was done, in order.
type Done = Arc<Mutex<Vec<u64>>>;
logic!(Work(done: Done) for job::work, |takes: u64, cx| {
    pass(takes).await;
    done.lock().unwrap().push(takes);
    if takes % 2 == 1 {
        return Err("odd".into());
    }
    goto!(cx, job::exit, takes)
});

/// Implements the handler of a map of jobs.
macro_rules! jobs {
    ($handler:ident for $node:path, |$children:ident, $cx:ident| $gather:expr) => {
        struct $handler(Done);
        impl MapHandler<$node> for $handler {
            fn graph(&self, _: &Cx<'_, $node>) -> Result<Arc<Job>, NodeError> {
                Ok(Arc::new(Job { work: LogicNode(Work(self.0.clone())) }))
            }
            async fn items(&self, jobs: &Vec<u64>, _: &mut Cx<'_, $node>) -> Result<Vec<Item<Job>>, NodeError> {
                Ok(jobs.iter().copied().map(Item::new).collect())
            }
            async fn gather(&self, _: Vec<u64>, $children: Children<Job>, $cx: &mut Cx<'_, $node>) -> Route<$node> {
                $gather
            }
        }
    };
}

/// The results in the order of the items.
fn told(children: Vec<Child<u64>>) -> String {
    let told = children.into_iter().enumerate().map(|(nth, child)| {
        assert_eq!(child.item, nth);
        let result = child.result.map_or_else(|_| "failed".to_owned(), |takes| takes.to_string());
        if child.number > 1 { format!("{result} ({})", child.number) } else { result }
    });
    told.collect::<Vec<_>>().join(", ")
}

/// A shop that takes orders while it works, opens late, and asks whether it may close.
#[derive(Graph)]
#[graph(output = String)]
struct Shop {
    #[node(entry, input = Vec<u64>, goto(jobs))]
    open: LogicNode<Open>,
    #[node(input = Vec<u64>, map = Job, goto(close))]
    jobs: MapNode<Jobs>,
    #[node(input = String, question = String, answer = bool, goto(exit))]
    close: HumanNode<Close>,
    #[node(on(Vec<u64>), adds_to(jobs))]
    order: EventNode<Order>,
}
logic!(Open for shop::open, |jobs: Vec<u64>, cx| {
    pass(10).await;
    goto!(cx, shop::jobs, jobs)
});
jobs!(Jobs for shop::jobs, |children, cx| goto!(cx, shop::close, told(children.all().await)));
struct Close;
impl HumanHandler<shop::close> for Close {
    async fn ask(&self, told: &String, _: &mut Cx<'_, shop::close>) -> Result<String, NodeError> {
        Ok(told.clone())
    }
    async fn answered(&self, told: String, _: bool, cx: &mut Cx<'_, shop::close>) -> Route<shop::close> {
        goto!(cx, shop::exit, told)
    }
}
struct Order;
impl EventHandler<shop::order> for Order {
    async fn handle(&self, jobs: Vec<u64>, cx: &mut Cx<'_, shop::order>) -> Route<shop::order> {
        pass(1).await;
        cx.add::<shop::jobs>(jobs.into_iter().map(Item::new))
    }
}

/// Two successful jobs are enough.
#[derive(Graph)]
#[graph(output = String)]
struct Contest {
    #[node(entry, input = Vec<u64>, map = Job, quorum = 2, goto(exit))]
    jobs: MapNode<Entries>,
    #[node(on(u64), adds_to(jobs), resume)]
    late: EventNode<Late>,
}
jobs!(Entries for contest::jobs, |children, cx| goto!(cx, contest::exit, told(children.all().await)));
struct Late;
impl EventHandler<contest::late> for Late {
    async fn handle(&self, job: u64, cx: &mut Cx<'_, contest::late>) -> Route<contest::late> {
        match job {
            0 => cx.resume(),
            job => cx.add::<contest::jobs>([Item::new(job)]),
        }
    }
}

/// The first job is enough: the map's handler takes no more, and pauses before it goes on.
#[derive(Graph)]
#[graph(output = String)]
struct Hasty {
    #[node(entry, input = Vec<u64>, map = Job, goto(exit))]
    jobs: MapNode<First>,
    #[node(on(u64), adds_to(jobs))]
    late: EventNode<TooLate>,
}
jobs!(First for hasty::jobs, |children, cx| {
    let mut children = children;
    let first = children.any().await.ok_or("nothing to do")?.result?;
    drop(children);
    pass(20).await;
    goto!(cx, hasty::exit, first.to_string())
});
struct TooLate;
impl EventHandler<hasty::late> for TooLate {
    async fn handle(&self, job: u64, cx: &mut Cx<'_, hasty::late>) -> Route<hasty::late> {
        let item = Item::new(job).with_key("late");
        match job {
            7 => cx.add::<hasty::jobs>([item.with_workspaces(cx.workspaces()?)]),
            _ => cx.add::<hasty::jobs>([item]),
        }
    }
}
/// One person's opinion of a thing.
#[derive(Graph)]
#[graph(output = bool)]
struct Opinion {
    #[node(entry, input = String, question = String, answer = bool, goto(exit))]
    say: HumanNode<Say>,
}
struct Say;
impl HumanHandler<opinion::say> for Say {
    async fn ask(&self, of: &String, _: &mut Cx<'_, opinion::say>) -> Result<String, NodeError> {
        Ok(of.clone())
    }
    async fn answered(&self, _: String, said: bool, cx: &mut Cx<'_, opinion::say>) -> Route<opinion::say> {
        goto!(cx, opinion::exit, said)
    }
}

/// People give their opinions of things, to which more may be added.
#[derive(Graph)]
#[graph(output = usize)]
struct Survey {
    #[node(entry, input = Vec<String>, goto(opinions))]
    open: LogicNode<OpenSurvey>,
    #[node(input = Vec<String>, map = Opinion, goto(exit))]
    opinions: MapNode<Opinions>,
    #[node(on(String), adds_to(opinions))]
    more: EventNode<More>,
}
logic!(OpenSurvey for survey::open, |of: Vec<String>, cx| {
    pass(10).await;
    goto!(cx, survey::opinions, of)
});
struct Opinions;
impl MapHandler<survey::opinions> for Opinions {
    fn graph(&self, _: &Cx<'_, survey::opinions>) -> Result<Arc<Opinion>, NodeError> {
        Ok(Arc::new(Opinion { say: HumanNode(Say) }))
    }
    async fn items(&self, of: &Vec<String>, _: &mut Cx<'_, survey::opinions>) -> Result<Vec<Item<Opinion>>, NodeError> {
        Ok(of.iter().cloned().map(Item::new).collect())
    }
    async fn gather(
        &self,
        _: Vec<String>,
        children: Children<Opinion>,
        cx: &mut Cx<'_, survey::opinions>,
    ) -> Route<survey::opinions> {
        goto!(cx, survey::exit, children.all().await.len())
    }
}
struct More;
impl EventHandler<survey::more> for More {
    async fn handle(&self, of: String, cx: &mut Cx<'_, survey::more>) -> Route<survey::more> {
        pass(1).await;
        cx.add::<survey::opinions>([Item::new(of)])
    }
}
held!(Job, Shop, Contest, Hasty, Opinion, Survey);

fn shop(done: &Done) -> Run<Shop> {
    let jobs = MapNode(Jobs(done.clone()));
    timed(Shop { open: LogicNode(Open), jobs, close: HumanNode(Close), order: EventNode(Order) })
}

async fn send(journal: &Arc<Cut>, after: u64, to: &str, message: &str) {
    pass(after).await;
    let body = LetterBody::Message { node: to.to_owned(), message: message.into() };
    let letter = Letter { key: Some(format!("{after} {message}")), body };
    match journal.post(&RunId::DEFAULT, letter).await {
        Ok(_) | Err(JournalError::AlreadyPosted { .. }) => {}
        Err(error) => panic!("{error}"),
    }
}

/// The question to the person who closes the shop.
#[track_caller]
fn asked(outcome: Outcome<String>) -> String {
    match outcome {
        Outcome::Waiting { questions } => questions[0].question.as_str().unwrap().to_owned(),
        other => panic!("{other:?}"),
    }
}

fn added(log: &Log) -> Vec<(u32, bool)> {
    let added = log.events().into_iter().filter_map(|event| match event.kind {
        EventKind::ItemsAdded { items, refused, .. } => Some((items, refused)),
        _ => None,
    });
    added.collect()
}

/// Pattern 15: more instances while others run. They come after the others, and equal items are distinguished.
#[tokio::test(start_paused = true)]
async fn a_message_adds_items_to_a_map_that_runs() {
    let (done, journal, log) = (Done::default(), Cut::new(None), Log::new());
    let run = shop(&done).with_journal(journal.clone()).with_events(log.sink());
    let (report, ..) = tokio::join!(
        run.start(vec![20, 40]),
        send(&journal, 15, "order", "[20,6]"),
        send(&journal, 45, "order", "[60]"),
    );
    let report = report.unwrap();
    assert_eq!(report.took.as_millis(), 10 + 96, "46 ms after the shop has opened the last one begins");
    assert_eq!(asked(report.outcome), "20, 40, 20 (2), 6, 60");
    assert_eq!(*done.lock().unwrap(), [6, 20, 20, 40, 60], "as soon as they are added");
    assert_eq!(added(&log), [(2, false), (1, false)]);
    let recorded = journal.entries(|it| if let Entry::Outcome(outcome) = it { outcome.added.clone() } else { None });
    let recorded: Vec<_> = recorded.iter().map(|it| serde_json::to_string(it).unwrap()).collect();
    assert_eq!(
        recorded,
        [
            r#"{"to":{"node":"jobs","visit":1,"attempt":1},"items":[{"entry":{"json":"20"},"key":"20"},{"entry":{"json":"6"},"key":"6"}]}"#,
            r#"{"to":{"node":"jobs","visit":1,"attempt":1},"items":[{"entry":{"json":"60"},"key":"60"}]}"#,
        ]
    );
}

/// The map's input waits until the message is handled, so the items are in time.
#[tokio::test(start_paused = true)]
async fn a_map_that_is_about_to_run_takes_items() {
    let (done, journal, log) = (Done::default(), Cut::new(None), Log::new());
    let run = shop(&done).with_journal(journal.clone()).with_events(log.sink());
    let (report, ()) = tokio::join!(run.start(vec![20]), send(&journal, 5, "order", "[8]"));
    assert_eq!(asked(report.unwrap().outcome), "20, 8");
    assert_eq!(added(&log), [(1, false)]);
}

/// An item that is added just before the last child ends is run; one that is added later is refused.
#[tokio::test(start_paused = true)]
async fn a_map_that_has_come_to_its_end_takes_no_more() {
    let (done, journal, log) = (Done::default(), Cut::new(None), Log::new());
    let run = shop(&done).with_journal(journal.clone()).with_events(log.sink()).with_wait_for_people();
    let (report, ..) = tokio::join!(
        run.start(vec![20]),
        send(&journal, 28, "order", "[30]"),
        send(&journal, 65, "order", "[50,70]"),
        async {
            pass(90).await;
            let by = interlocking::runtime::journal::By { node: "close".to_owned(), visit: 1, attempt: 1 };
            let body = LetterBody::Answer { to: by, answer: "true".into() };
            journal.post(&RunId::DEFAULT, Letter { key: None, body }).await.unwrap();
        }
    );
    assert_eq!(finished(report.unwrap()), "20, 30");
    assert_eq!(added(&log), [(1, false), (2, true)]);
    let refused = journal.entries(|it| match it {
        Entry::Outcome(outcome) if outcome.node == "order" => Some((outcome.visit, outcome.added.is_some())),
        _ => None,
    });
    assert_eq!(refused, [(1, true), (2, false)]);
}

/// Whenever the process ends: items that are recorded as added are run exactly once.
#[tokio::test(start_paused = true)]
async fn a_run_that_is_resumed_after_any_record_has_the_items_that_were_added() {
    let whole = Cut::new(None);
    let run = shop(&Done::default()).with_journal(whole.clone());
    let (report, ()) = tokio::join!(run.start(vec![20, 40]), send(&whole, 15, "order", "[20,6]"));
    let expected = asked(report.unwrap().outcome);
    assert_eq!(expected, "20, 40, 20 (2), 6");
    let records = whole.written().len();
    assert!(records > 12, "{records}");
    for cut in 1..records {
        let (done, journal) = (Done::default(), Cut::new(Some(cut)));
        let run = shop(&done).with_journal(journal.clone());
        let (report, ()) = tokio::join!(run.start(vec![20, 40]), send(&journal, 15, "order", "[20,6]"));
        assert!(matches!(report.unwrap().outcome, Outcome::JournalFailed(_)), "after {cut} records");
        journal.heal();
        let log = Log::new();
        let report = shop(&done).with_journal(journal.clone()).with_events(log.sink()).resume().await.unwrap();
        assert_eq!(asked(report.outcome), expected, "after {cut} records");
        assert_eq!(journal.children(&RunId::DEFAULT).await.unwrap().len(), 4, "after {cut} records");
        let added_items =
            journal.entries(|it| if let Entry::Outcome(outcome) = it { outcome.added.clone() } else { None });
        assert_eq!(added_items.len(), 1, "after {cut} records");
    }
}

/// Added items can complete a quorum; items that are added after the decision are refused.
#[tokio::test(start_paused = true)]
async fn added_items_count_for_a_quorum() {
    for (sent, expected, took) in [
        (vec![(2, "30")], "10, failed, 30", 32),
        (vec![(2, "0"), (4, "50"), (5, "12")], "10, failed, failed, 12", 17),
        (vec![], "failed, failed", 5),
    ] {
        let (done, journal, log) = (Done::default(), Cut::new(None), Log::new());
        let graph = Contest { jobs: MapNode(Entries(done.clone())), late: EventNode(Late) };
        let run = timed(graph).with_journal(journal.clone()).with_events(log.sink());
        let letters = sent.clone();
        let (report, ()) = tokio::join!(run.start(vec![10, 5]), async {
            let mut now = 0;
            for (at, message) in letters {
                send(&journal, at - now, "late", message).await;
                now = at;
            }
        });
        let report = report.unwrap();
        assert_eq!((report.took.as_millis(), finished(report).as_str()), (took, expected), "{sent:?}");
        assert!(added(&log).iter().all(|(_, refused)| !refused));
    }
}

/// A handler that has enough children does not take those that are added later.
#[tokio::test(start_paused = true)]
async fn a_handler_that_goes_on_takes_no_more() {
    let (done, journal, log) = (Done::default(), Cut::new(None), Log::new());
    let hasty = || Hasty { jobs: MapNode(First(done.clone())), late: EventNode(TooLate) };
    let run = timed(hasty()).with_journal(journal.clone()).with_events(log.sink());
    let (report, ..) =
        tokio::join!(run.start(vec![10, 50]), send(&journal, 2, "late", "4"), send(&journal, 15, "late", "6"),);
    assert_eq!(finished(report.unwrap()), "4", "it had begun at 2 ms");
    assert_eq!(added(&log), [(1, false), (1, true)]);
    let journal = Cut::new(None);
    let run = timed(hasty()).with_journal(journal.clone());
    let (report, ()) = tokio::join!(run.start(vec![10]), send(&journal, 2, "late", "7"));
    assert_eq!(
        failed(report.unwrap()).message,
        "an item that is added cannot have workspaces of its own, which no journal can keep: leave them out, and its run's are made from its parent's"
    );
}

/// If all children of a map wait for people, the run waits only once the added child waits too.
#[tokio::test(start_paused = true)]
async fn a_run_does_not_wait_for_people_before_what_was_added_has_begun() {
    for after in [5, 10, 15] {
        let (journal, log) = (Cut::new(None), Log::new());
        let graph = || {
            let (opinions, more) = (MapNode(Opinions), EventNode(More));
            Survey { open: LogicNode(OpenSurvey), opinions, more }
        };
        // A message that comes later needs a process that still executes the run.
        let of = ["tea", "rice"].map(str::to_owned).to_vec();
        let mut run = timed(graph()).with_journal(journal.clone()).with_events(log.sink());
        if after > 10 {
            run = run.with_wait_for_people();
        }
        let begun = async { tokio::time::timeout(std::time::Duration::from_millis(100), run.start(of)).await };
        let (ended, ()) = tokio::join!(begun, send(&journal, after, "more", "\"milk\""));
        assert_eq!(ended.is_ok(), after <= 10, "after {after} ms");
        if let Ok(report) = ended {
            let Outcome::Waiting { questions } = report.unwrap().outcome else { panic!("after {after} ms") };
            let mut questions: Vec<_> = questions.iter().map(|it| it.question.as_str().unwrap().to_owned()).collect();
            questions.sort_unstable();
            assert_eq!(questions, ["milk", "rice", "tea"], "after {after} ms");
        }
        let begun_before_waiting = log.events().into_iter().fold((0, Vec::new()), |(begun, mut seen), event| {
            match event.kind {
                EventKind::Waiting => seen.push(begun),
                EventKind::NodeStarted(node) if node.node == "say" => return (begun + 1, seen),
                _ => {}
            }
            (begun, seen)
        });
        let expected = if after > 10 { vec![2, 3] } else { vec![] };
        assert_eq!(begun_before_waiting, (3, expected), "after {after} ms");
    }
}
