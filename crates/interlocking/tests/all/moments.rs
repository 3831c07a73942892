//! Runs to which something happens at an awkward moment: a message when the run reaches its exit, the end of the
//! process when the run fails, a slow journal when a person answers or a deadline passes. Found by simulated runs.

use crate::slow::Slow;
use crate::support::{Log, both_ways, failed, finished, pass, timed};
use interlocking::failure::FailureKind;
use interlocking::prelude::*;
use interlocking::runtime::Journal;
use interlocking::runtime::journal::{By, Entry, Letter, LetterBody, Record};
use std::sync::{Arc, Mutex};
use std::time::Duration;

type Diary = Arc<Mutex<Vec<String>>>;

/// A person and a quick node meet in a join; letters are handled in between.
#[derive(Graph)]
#[graph(output = String)]
struct Meeting {
    #[node(entry, input = u32, fork(ask, quick))]
    open: ForkNode<Open>,
    #[node(input = u32, question = u32, answer = u32, goto(gate))]
    ask: HumanNode<Asks>,
    #[node(input = u32, goto(next), spawn(count))]
    quick: LogicNode<Quick>,
    #[node(input = u32, goto(gate))]
    next: LogicNode<Next>,
    #[node(join(ask: u32, next: u32), goto(exit))]
    gate: JoinNode<Gate>,
    #[node(on(String), resume)]
    mail: EventNode<Mail>,
    #[node(input = u32, report = u32, reports_to(exit))]
    count: AdvisoryNode<Count>,
}

/// Returns to itself until it has no visits left.
#[derive(Graph)]
#[graph(output = u32)]
struct Stubborn {
    #[node(entry, input = u32, goto(again, exit), visits = 2)]
    again: LogicNode<Again>,
}

/// The first of three is enough.
#[derive(Graph)]
#[graph(output = String)]
struct Sprint {
    #[node(entry, input = u32, fork(first, second, third), spawn(judge))]
    start: ForkNode<Start>,
    #[node(input = u32, goto(exit, cancels(*)))]
    first: LogicNode<First>,
    #[node(input = u32, goto(exit, cancels(*)))]
    second: LogicNode<Second>,
    #[node(input = u32, goto(exit, cancels(*)))]
    third: LogicNode<Third>,
    #[node(input = u32, report = u32, reports_to(exit))]
    judge: AdvisoryNode<Judge>,
}

/// One sprint, and the same sprint adopted in a second visit.
#[derive(Graph)]
#[graph(output = Vec<String>)]
struct Season {
    #[node(entry, input = u32, map = Sprint, adopt, goto(races, exit), visits = 2)]
    races: MapNode<Races>,
}
held!(Meeting, Stubborn, Sprint, Season);

forks!(Open for meeting::open, |start: u32, cx| fork!(cx, (start, start)));
struct Asks;
impl HumanHandler<meeting::ask> for Asks {
    async fn ask(&self, start: &u32, _: &mut Cx<'_, meeting::ask>) -> Result<u32, NodeError> {
        Ok(*start)
    }
    async fn answered(&self, _: u32, answer: u32, cx: &mut Cx<'_, meeting::ask>) -> Route<meeting::ask> {
        pass(2).await;
        goto!(cx, meeting::gate, answer)
    }
}
logic!(Quick for meeting::quick, |start: u32, cx| {
    cx.spawn::<meeting::count>(start);
    pass(10).await;
    goto!(cx, meeting::next, start)
});
logic!(Next for meeting::next, |start: u32, cx| {
    pass(1).await;
    goto!(cx, meeting::gate, start)
});
joins!(Gate for meeting::gate, |(answer, start): (u32, u32), cx| {
    pass(5).await;
    goto!(cx, meeting::exit, format!("{start} and {answer}"))
});
struct Mail(Diary);
impl EventHandler<meeting::mail> for Mail {
    async fn handle(&self, text: String, cx: &mut Cx<'_, meeting::mail>) -> Route<meeting::mail> {
        if text == "bad news" {
            return Err(text.into());
        }
        self.0.lock().unwrap().push(text);
        pass(20).await;
        cx.resume()
    }
}
struct Count;
impl AdvisoryHandler<meeting::count> for Count {
    async fn advise(&self, start: u32, _: &mut Cx<'_, meeting::count>) -> Result<u32, NodeError> {
        pass(25).await;
        Ok(start)
    }
}
impl Finish for Meeting {
    async fn finish(&self, output: String, reports: Self::Reports) -> Result<String, NodeError> {
        let counted: Vec<_> = reports.count.into_iter().map(|report| (report.visit, report.result.ok())).collect();
        Ok(format!("{output}, {counted:?}"))
    }
}
logic!(Again for stubborn::again, |times: u32, cx| goto!(cx, self, times + 1));

forks!(Start for sprint::start, |lane: u32, cx| {
    cx.spawn::<sprint::judge>(lane);
    fork!(cx, (lane, lane, lane))
});
logic!(First for sprint::first, |_: u32, cx| {
    pass(10).await;
    goto!(cx, sprint::exit, "first".to_owned())
});
logic!(Second for sprint::second, |_: u32, cx| {
    pass(10).await;
    goto!(cx, sprint::exit, "second".to_owned())
});
logic!(Third for sprint::third, |_: u32, cx| {
    pass(11).await;
    goto!(cx, sprint::exit, "third".to_owned())
});
struct Judge;
impl AdvisoryHandler<sprint::judge> for Judge {
    async fn advise(&self, lane: u32, _: &mut Cx<'_, sprint::judge>) -> Result<u32, NodeError> {
        pass(25).await;
        Ok(lane)
    }
}
impl Finish for Sprint {
    async fn finish(&self, output: String, reports: Self::Reports) -> Result<String, NodeError> {
        Ok(format!("{output}, {} judged", reports.judge.len()))
    }
}

fn sprint() -> Sprint {
    Sprint {
        start: ForkNode(Start),
        first: LogicNode(First),
        second: LogicNode(Second),
        third: LogicNode(Third),
        judge: AdvisoryNode(Judge),
    }
}

struct Races;
impl MapHandler<season::races> for Races {
    fn graph(&self, _: &Cx<'_, season::races>) -> Result<Arc<Sprint>, NodeError> {
        Ok(Arc::new(sprint()))
    }
    async fn items(&self, lane: &u32, _: &mut Cx<'_, season::races>) -> Result<Vec<Item<Sprint>>, NodeError> {
        Ok(vec![Item::new(*lane)])
    }
    async fn gather(
        &self,
        lane: u32,
        children: Children<Sprint>,
        cx: &mut Cx<'_, season::races>,
    ) -> Route<season::races> {
        let told = children.all().await.into_iter().map(|child| match child.result {
            Ok(sprint) => sprint,
            Err(failure) => failure.to_string(),
        });
        let told = told.collect();
        if cx.visit() == 1 { goto!(cx, self, lane) } else { goto!(cx, season::exit, told) }
    }
}

fn meeting(diary: &Diary, journal: &Arc<Slow>) -> Run<Meeting> {
    let graph = Meeting {
        open: ForkNode(Open),
        ask: HumanNode(Asks),
        quick: LogicNode(Quick),
        next: LogicNode(Next),
        gate: JoinNode(Gate),
        mail: EventNode(Mail(diary.clone())),
        count: AdvisoryNode(Count),
    };
    timed(graph).with_journal(journal.clone())
}

fn answer(answer: u32) -> Letter {
    let to = By { node: "ask".to_owned(), visit: 1, attempt: 1 };
    Letter { key: None, body: LetterBody::Answer { to, answer: answer.to_string().into() } }
}

fn message(text: &str) -> Letter {
    let message = serde_json::to_string(text).unwrap().into();
    Letter { key: None, body: LetterBody::Message { node: "mail".to_owned(), message } }
}

fn run() -> RunId {
    "run".parse().unwrap()
}

/// Rule 13: a message after the exit is dropped, also a message that came before the exit and had to wait.
#[tokio::test(start_paused = true)]
async fn a_message_that_waits_as_its_run_comes_to_the_exit_is_dropped() {
    let (diary, journal) = (Diary::default(), Slow::new(|_| 0));
    let letters = async {
        pass(1).await;
        journal.post(&run(), answer(7)).await.unwrap();
        // While `gate` runs: the message has to wait for it.
        journal.gate.notified().await;
        pass(2).await;
        journal.post(&run(), message("too late")).await.unwrap();
    };
    let (report, ()) = tokio::join!(meeting(&diary, &journal).with_wait_for_people().start(1), letters);
    assert_eq!(finished(report.unwrap()), "1 and 7, [(1, Some(1))]");
    assert_eq!(*diary.lock().unwrap(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_run_that_a_bound_has_ended_fails_also_where_its_process_ended_first() {
    let journal = Slow::new(|_| 0);
    let stubborn = |journal: &Arc<Slow>| timed(Stubborn { again: LogicNode(Again) }).with_journal(journal.clone());
    let failure = failed(stubborn(&journal).start(1).await.unwrap());
    assert!(matches!(failure.kind, FailureKind::Exhausted(_)));
    let records = journal.kept.records(&run());
    let [.., Record { entry: Entry::Ended { .. }, .. }] = &records[..] else { panic!("{records:?}") };
    let cut = Slow::new(|_| 0);
    for record in &records[..records.len() - 1] {
        cut.append(record.clone()).await.unwrap();
    }
    for _ in 0..2 {
        let again = tokio::time::timeout(Duration::from_secs(1), stubborn(&cut).resume()).await;
        assert_eq!(failed(again.expect("it does not hang").unwrap()), failure);
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_does_not_wait_for_a_person_whose_answer_is_being_recorded() {
    let (diary, journal) =
        (Diary::default(), Slow::new(|entry| 20 * u64::from(matches!(entry, Entry::Answered { .. }))));
    let outcome = meeting(&diary, &journal).start(1).await.unwrap().outcome;
    assert!(matches!(&outcome, Outcome::Waiting { questions } if questions.len() == 1), "{outcome:?}");
    journal.post(&run(), answer(7)).await.unwrap();
    let report = meeting(&diary, &journal).resume().await.unwrap();
    assert_eq!(finished(report), "1 and 7, [(1, Some(1))]");
}

#[tokio::test(start_paused = true)]
async fn a_report_that_is_being_recorded_at_the_deadline_is_not_lost() {
    let (diary, journal) = (Diary::default(), Slow::new(|entry| 20 * u64::from(matches!(entry, Entry::Report { .. }))));
    let letters = async {
        pass(1).await;
        journal.post(&run(), answer(7)).await.unwrap();
    };
    let running = meeting(&diary, &journal).with_report_deadline(Duration::from_millis(20)).with_wait_for_people();
    let (report, ()) = tokio::join!(running.start(1), letters);
    // At the exit, after 16 ms, the count is still running; it ends after 25 ms, and is recorded after 45.
    assert_eq!(finished(report.unwrap()), "1 and 7, [(1, Some(1))]");
}

/// Work that a message has delayed starts as soon as the message is handled, without waiting for outcomes held back
/// meanwhile.
#[tokio::test(start_paused = true)]
async fn what_was_held_while_a_message_was_handled_holds_up_nobody() {
    let (diary, log) = (Diary::default(), Log::new());
    let journal = Slow::new(|entry| {
        let is_held = matches!(entry, Entry::Outcome(outcome) if outcome.node == "ask");
        20 * u64::from(is_held)
    });
    let letters = async {
        pass(5).await;
        journal.post(&run(), message("a word")).await.unwrap();
        journal.post(&run(), answer(7)).await.unwrap();
    };
    let running = meeting(&diary, &journal).with_events(log.sink()).with_wait_for_people().start(1);
    let (report, ()) = tokio::join!(running, letters);
    assert_eq!(finished(report.unwrap()), "1 and 7, [(1, Some(1))]");
    assert_eq!(*diary.lock().unwrap(), ["a word"]);
    assert_eq!(log.line("finished mail 1.1"), "30 finished mail 1.1 to  after 20");
    assert_eq!(log.line("started next 1.1"), "30 started next 1.1");
    // Absorbed after that, although it had ended before.
    let lines = log.lines();
    assert!(lines.find("started next 1.1") < lines.find("finished ask 1.1"), "{lines}");
    assert_eq!(log.line("started gate 1.1"), "50 started gate 1.1");
}

/// Two branches end together with the one that reaches the exit or after it, one by one, and their outcomes are not
/// absorbed.
#[test]
fn a_run_waits_for_its_reports_though_what_it_has_stopped_comes_down_meanwhile() {
    let (sender, receiver) = std::sync::mpsc::channel();
    // On a thread of its own: a driver that never yields lets no timer fire, not even the test's.
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        for way in 0..2 {
            let report = runtime.block_on(async {
                let [recorded, unrecorded] = both_ways(sprint);
                if way == 0 { recorded.start(1).await } else { unrecorded.start(1).await }
            });
            sender.send(finished(report.unwrap())).unwrap();
        }
    });
    for _ in 0..2 {
        let output = receiver.recv_timeout(Duration::from_secs(60)).expect("the run comes to its end");
        assert_eq!(output, "first, 1 judged");
    }
}

/// Work that goes on after a child's end delays the release of the child's run, but not the child's result.
#[tokio::test(start_paused = true)]
async fn a_child_is_asked_again_while_its_addendum_is_still_to_come() {
    let journal = Slow::new(|_| 0);
    let season = Season { races: MapNode(Races) };
    let running = timed(season).with_journal(journal.clone()).with_report_deadline(Duration::ZERO);
    let report = running.start(1).await.unwrap();
    assert_eq!(report.took.as_millis(), 10, "the second visit does not wait for the judge");
    assert_eq!(finished(report), ["first, 1 judged"]);
    assert_eq!(journal.children(&run()).await.unwrap().len(), 1, "the second visit takes over the child of the first");
}

/// A failed event node has no outcome in the journal, but its entry counts.
#[tokio::test(start_paused = true)]
async fn a_run_that_a_message_has_ended_tells_of_the_same_visits_again() {
    let (diary, journal) = (Diary::default(), Slow::new(|_| 0));
    let letters = async {
        pass(50).await;
        journal.post(&run(), message("bad news")).await.unwrap();
    };
    let (report, ()) = tokio::join!(meeting(&diary, &journal).with_wait_for_people().start(1), letters);
    let report = report.unwrap();
    let again = meeting(&diary, &journal).resume().await.unwrap();
    assert_eq!(again.visits, report.visits);
    assert!(report.visits.contains(&("mail", 1)), "{:?}", report.visits);
    assert_eq!(failed(again), failed(report));
}
