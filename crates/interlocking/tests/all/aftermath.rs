//! What must not be lost or repeated when a run is resumed: everything except its tokens.

mod meddling;

use crate::support::{finished, pass, timed};
use async_trait::async_trait;
use interlocking::prelude::*;
use interlocking::runtime::journal::{
    By, Claim, Digest, Encoded, Entry, JournalError, Letter, LetterBody, Posted, Record, RecordedPayload, RunSummary,
};
use interlocking::runtime::{CancelToken, Journal, MemoryJournal};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex};

/// What all processes of a run have executed.
type Diary = Arc<Mutex<Vec<String>>>;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Seen(Vec<String>);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Tally {
    rounds: u32,
    counted: Vec<u32>,
    seen: Vec<String>,
}

/// A question, an advisory node with a memory, messages, an observer.
#[derive(Graph)]
#[graph(output = Tally)]
struct Bureau {
    #[node(entry, input = u32, goto(ask), spawn(count), visits = 4)]
    begin: LogicNode<Begin>,
    #[node(input = u32, question = String, answer = bool, goto(begin, close))]
    ask: HumanNode<Asks>,
    #[node(input = u32, goto(exit))]
    close: LogicNode<Close>,
    #[node(on(String), resume, goto(begin, cancels(ask)), visits = 4)]
    mail: EventNode<Mail>,
    #[node(input = u32, report = u32, reports_to(exit), memory = u32)]
    count: AdvisoryNode<Count>,
    #[node(observes(begin, mail), report = Seen, reports_to(exit))]
    witness: ObserverNode<Witness>,
}

logic!(Begin for bureau::begin, |round: u32, cx| {
    cx.spawn::<bureau::count>(round);
    goto!(cx, bureau::ask, round)
});
struct Asks(Diary);
impl HumanHandler<bureau::ask> for Asks {
    async fn ask(&self, round: &u32, _: &mut Cx<'_, bureau::ask>) -> Result<String, NodeError> {
        self.0.lock().unwrap().push(format!("asked in round {round}"));
        Ok(format!("{round} rounds: enough?"))
    }
    async fn answered(&self, round: u32, enough: bool, cx: &mut Cx<'_, bureau::ask>) -> Route<bureau::ask> {
        if enough { goto!(cx, bureau::close, round) } else { goto!(cx, bureau::begin, round + 1) }
    }
}
logic!(Close for bureau::close, |rounds: u32, cx| {
    goto!(cx, bureau::exit, Tally { rounds, counted: Vec::new(), seen: Vec::new() })
});
struct Mail(Diary);
impl EventHandler<bureau::mail> for Mail {
    async fn handle(&self, text: String, cx: &mut Cx<'_, bureau::mail>) -> Route<bureau::mail> {
        self.0.lock().unwrap().push(format!("{text} {} after {} restarts", cx.visit(), cx.restarts()));
        pass(10).await;
        match text.as_str() {
            "again" => goto!(cx, bureau::begin, cx.input_of::<bureau::ask>()? + 1),
            _ => cx.resume(),
        }
    }
}
struct Count;
impl AdvisoryHandler<bureau::count> for Count {
    async fn advise(&self, round: u32, cx: &mut Cx<'_, bureau::count>) -> Result<u32, NodeError> {
        pass(if round == SLOW { 30 } else { 1 }).await;
        cx.update_memory(|counted| *counted += 1);
        Ok(cx.memory())
    }
}
struct Witness;
impl ObserverHandler<bureau::witness> for Witness {
    async fn observe(&self, seen: &Observation, report: &mut Seen) -> Result<(), NodeError> {
        report.0.push(format!("{} {}", seen.node(), seen.0.visit));
        Ok(())
    }
}
impl Finish for Bureau {
    async fn finish(&self, mut tally: Tally, reports: Self::Reports) -> Result<Tally, NodeError> {
        tally.counted = reports.count.into_iter().map(|report| report.result).collect::<Result<_, _>>()?;
        tally.seen = reports.witness.into_iter().next().ok_or("nobody saw it")?.result?.0;
        Ok(tally)
    }
}

/// A first round whose count is slow.
const SLOW: u32 = 100;

fn id(name: &str) -> RunId {
    name.parse().unwrap()
}

fn bureau(diary: &Diary, journal: &Arc<impl Journal + 'static>) -> Run<Bureau> {
    let graph = Bureau {
        begin: LogicNode(Begin),
        ask: HumanNode(Asks(diary.clone())),
        close: LogicNode(Close),
        mail: EventNode(Mail(diary.clone())),
        count: AdvisoryNode(Count),
        witness: ObserverNode(Witness),
    };
    timed(graph).with_id(id("bureau")).with_journal(journal.clone())
}

fn asked(visit: u32) -> By {
    By { node: "ask".to_owned(), visit, attempt: 1 }
}

fn answer(visit: u32, json: &str) -> Letter {
    Letter { key: None, body: LetterBody::Answer { to: asked(visit), answer: json.into() } }
}

fn message(text: &str) -> Letter {
    let message = serde_json::to_string(text).unwrap().into();
    Letter { key: None, body: LetterBody::Message { node: "mail".to_owned(), message } }
}

/// Resumes the run, and answers its questions: enough the second time, with a message before.
async fn resumed(diary: &Diary, journal: &Arc<MemoryJournal>) -> Tally {
    loop {
        let report = bureau(diary, journal).resume().await.unwrap();
        let Outcome::Waiting { questions } = &report.outcome else { return finished(report) };
        let visit = questions[0].by.visit;
        if visit == 2 {
            // Sent once, by its key, whichever process the run waits in.
            let posted =
                journal.post(&id("bureau"), Letter { key: Some("hello".to_owned()), ..message("hello") }).await;
            assert!(matches!(posted, Ok(_) | Err(JournalError::AlreadyPosted { .. })), "{posted:?}");
        }
        let enough = if visit == 2 { "true" } else { "false" };
        journal.post(&id("bureau"), answer(visit, enough)).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn reports_are_the_same_wherever_the_run_was_taken_up_and_when_it_has_ended() {
    let (diary, journal) = (Diary::default(), Arc::new(MemoryJournal::new()));
    bureau(&diary, &journal).start(1).await.unwrap();
    let tally = resumed(&diary, &journal).await;
    let seen = ["begin 1", "begin 2", "mail 1"].map(str::to_owned).to_vec();
    assert_eq!(tally, Tally { rounds: 2, counted: vec![1, 2], seen });
    assert_eq!(*diary.lock().unwrap(), ["asked in round 1", "asked in round 2", "hello 1 after 0 restarts"]);

    let (records, letters) = (journal.records(&id("bureau")), journal.letters(&id("bureau"), 0).await.unwrap());
    for count in 1..=records.len() {
        let (diary, journal) = (Diary::default(), Arc::new(MemoryJournal::new()));
        let mut taken = 0;
        for record in &records[..count] {
            if let Entry::Answered { letter, .. } | Entry::Received { letter, .. } = &record.entry {
                taken = *letter;
            }
            journal.append(record.clone()).await.unwrap();
        }
        for posted in letters.iter().filter(|posted| posted.number <= taken) {
            journal.post(&id("bureau"), posted.letter.clone()).await.unwrap();
        }
        assert_eq!(resumed(&diary, &journal).await, tally, "after {count} records");
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_node_that_was_interrupted_says_so() {
    let (diary, journal) = (Diary::default(), Arc::new(MemoryJournal::new()));
    bureau(&diary, &journal).start(1).await.unwrap();
    for text in ["hello", "goodbye"] {
        journal.post(&id("bureau"), message(text)).await.unwrap();
    }
    for _ in 0..2 {
        let interrupted =
            tokio::time::timeout(std::time::Duration::from_millis(5), bureau(&diary, &journal).resume()).await;
        interrupted.unwrap_err();
    }
    bureau(&diary, &journal).resume().await.unwrap();
    let handled = diary.lock().unwrap()[1..].to_vec();
    let expected = ["hello 1 after 0 restarts", "hello 1 after 1 restarts", "hello 1 after 2 restarts"];
    assert_eq!(handled, [&expected[..], &["goodbye 2 after 0 restarts"]].concat());
}

#[tokio::test(start_paused = true)]
async fn a_message_that_comes_after_the_exit_is_dropped_also_where_the_run_is_taken_up_there() {
    let (diary, journal, cancel) = (Diary::default(), Arc::new(MemoryJournal::new()), CancelToken::new());
    let run = bureau(&diary, &journal).with_cancel(cancel.clone()).with_wait_for_people().start(SLOW);
    let others = async {
        pass(5).await;
        journal.post(&id("bureau"), answer(1, "true")).await.unwrap();
        pass(5).await;
        journal.post(&id("bureau"), message("too late")).await.unwrap();
        pass(5).await;
        cancel.suspend();
    };
    let (report, ()) = tokio::join!(run, others);
    assert_eq!(report.unwrap().outcome, Outcome::Suspended, "the exit awaits the count");
    let tally = finished(bureau(&diary, &journal).resume().await.unwrap());
    assert_eq!((tally.rounds, tally.counted, tally.seen), (SLOW, vec![1], vec!["begin 1".to_owned()]));
    assert_eq!(*diary.lock().unwrap(), ["asked in round 100"]);
}

#[tokio::test(start_paused = true)]
async fn a_question_that_was_cancelled_is_nobodys_any_more() {
    let (diary, journal) = (Diary::default(), Arc::new(MemoryJournal::new()));
    bureau(&diary, &journal).start(1).await.unwrap();
    journal.post(&id("bureau"), message("again")).await.unwrap();
    let outcome = bureau(&diary, &journal).resume().await.unwrap().outcome;
    let Outcome::Waiting { questions } = outcome else { panic!("{outcome:?}") };
    assert_eq!(questions.iter().map(|question| &question.by).collect::<Vec<_>>(), [&asked(2)]);
}

#[tokio::test(start_paused = true)]
async fn the_first_answer_that_is_one_counts() {
    let (diary, journal) = (Diary::default(), Arc::new(MemoryJournal::new()));
    bureau(&diary, &journal).start(1).await.unwrap();
    for json in [r#""perhaps""#, "1", "nonsense"] {
        journal.post(&id("bureau"), answer(1, json)).await.unwrap();
        let outcome = bureau(&diary, &journal).resume().await.unwrap().outcome;
        let Outcome::Waiting { questions } = outcome else { panic!("{json}: {outcome:?}") };
        assert_eq!(questions[0].by, asked(1));
    }
    for json in ["true", "false"] {
        journal.post(&id("bureau"), answer(1, json)).await.unwrap();
    }
    assert_eq!(finished(bureau(&diary, &journal).resume().await.unwrap()).rounds, 1);
    assert_eq!(*diary.lock().unwrap(), ["asked in round 1"]);
}

/// Two people are asked beside a node that works; the second answer undoes what the first has begun.
#[derive(Graph)]
#[graph(output = String)]
struct Hall {
    #[node(entry, input = (), fork(one, other, work))]
    open: ForkNode<Opens>,
    #[node(input = (), question = String, answer = bool, goto(leave))]
    one: HumanNode<One>,
    #[node(input = (), question = String, answer = bool, goto(both, cancels(one, leave)))]
    other: HumanNode<Other>,
    #[node(input = (), goto(both))]
    work: LogicNode<Work>,
    #[node(join(other: (), work: ()), goto(leave))]
    both: JoinNode<Joins>,
    #[node(input = String, goto(exit, cancels(*)))]
    leave: LogicNode<Leave>,
    #[node(on(()), resume)]
    mail: EventNode<Heard>,
}

forks!(Opens for hall::open, |_: (), cx| fork!(cx, ((), (), ())));
struct One;
impl HumanHandler<hall::one> for One {
    async fn ask(&self, _: &(), _: &mut Cx<'_, hall::one>) -> Result<String, NodeError> {
        Ok("one?".to_owned())
    }
    async fn answered(&self, _: (), _: bool, cx: &mut Cx<'_, hall::one>) -> Route<hall::one> {
        goto!(cx, hall::leave, "one".to_owned())
    }
}
struct Other;
impl HumanHandler<hall::other> for Other {
    async fn ask(&self, _: &(), _: &mut Cx<'_, hall::other>) -> Result<String, NodeError> {
        Ok("other?".to_owned())
    }
    async fn answered(&self, _: (), _: bool, cx: &mut Cx<'_, hall::other>) -> Route<hall::other> {
        goto!(cx, hall::both, ())
    }
}
logic!(Work for hall::work, |_: (), cx| {
    pass(50).await;
    goto!(cx, hall::both, ())
});
joins!(Joins for hall::both, |_: ((), ()), cx| goto!(cx, hall::leave, "both".to_owned()));
logic!(Leave for hall::leave, |who: String, cx| {
    pass(5).await;
    goto!(cx, hall::exit, format!("{who} at visit {}", cx.visit()))
});
struct Heard;
impl EventHandler<hall::mail> for Heard {
    async fn handle(&self, _: (), cx: &mut Cx<'_, hall::mail>) -> Route<hall::mail> {
        cx.resume()
    }
}

/// Both answers come while a message waits or is handled, and are absorbed one after the other once
/// it is handled.
#[tokio::test(start_paused = true)]
async fn what_waits_for_a_message_is_taken_in_as_a_replay_takes_it_in() {
    let journal = Arc::new(MemoryJournal::new());
    let hall = || {
        let (one, other, work, leave) = (HumanNode(One), HumanNode(Other), LogicNode(Work), LogicNode(Leave));
        let (open, both, mail) = (ForkNode(Opens), JoinNode(Joins), EventNode(Heard));
        let graph = Hall { open, one, other, work, both, leave, mail };
        timed(graph).with_id(id("hall")).with_journal(journal.clone())
    };
    let letters = async {
        pass(5).await;
        let message = LetterBody::Message { node: "mail".to_owned(), message: "null".into() };
        journal.post(&id("hall"), Letter { key: None, body: message }).await.unwrap();
        for node in ["one", "other"] {
            let to = By { node: node.to_owned(), visit: 1, attempt: 1 };
            let body = LetterBody::Answer { to, answer: "true".into() };
            journal.post(&id("hall"), Letter { key: None, body }).await.unwrap();
            pass(5).await;
        }
    };
    let (report, ()) = tokio::join!(hall().with_wait_for_people().start(()), letters);
    let said = finished(report.unwrap());
    assert_eq!(finished(hall().resume().await.unwrap()), said);
    let outcomes = journal.records(&id("hall")).into_iter().filter_map(|record| match record.entry {
        Entry::Outcome(outcome) => Some(format!("{} {}", outcome.node, outcome.visit)),
        _ => None,
    });
    let outcomes: Vec<_> = outcomes.collect();
    assert_eq!(outcomes, ["open 1", "work 1", "mail 1", "one 1", "other 1", "both 1", "leave 2"]);
    assert_eq!(said, "both at visit 2");
}

/// Two children, of which one writes to the other.
#[derive(Graph)]
#[graph(output = Vec<bool>)]
struct Pair {
    #[node(entry, input = u32, map = Member, goto(exit))]
    both: MapNode<Both>,
}

#[derive(Graph)]
#[graph(output = bool)]
struct Member {
    #[node(entry, input = bool, goto(listen, exit))]
    talk: LogicNode<Talk>,
    #[node(input = bool, question = String, answer = bool, goto(exit))]
    listen: HumanNode<Listen>,
    #[node(on(bool), goto(exit, cancels(*)))]
    mail: EventNode<Told>,
}
held!(Bureau, Pair, Member, Hall);

struct Both;
impl MapHandler<pair::both> for Both {
    fn graph(&self, _: &Cx<'_, pair::both>) -> Result<Arc<Member>, NodeError> {
        let (talk, listen, mail) = (LogicNode(Talk), HumanNode(Listen), EventNode(Told));
        Ok(Arc::new(Member { talk, listen, mail }))
    }
    async fn items(&self, _: &u32, _: &mut Cx<'_, pair::both>) -> Result<Vec<Item<Member>>, NodeError> {
        Ok(vec![Item::new(true), Item::new(false)])
    }
    async fn gather(&self, _: u32, children: Children<Member>, cx: &mut Cx<'_, pair::both>) -> Route<pair::both> {
        let ended = children.all().await.into_iter().map(|child| child.result);
        goto!(cx, pair::exit, ended.collect::<Result<_, _>>()?)
    }
}
logic!(Talk for member::talk, |talks: bool, cx| {
    if !talks {
        return goto!(cx, member::listen, talks);
    }
    let sibling = loop {
        match cx.siblings().await?.pop() {
            Some(sibling) => break sibling,
            None => pass(1).await,
        }
    };
    cx.send::<member::mail>(&sibling, &true)?;
    goto!(cx, member::exit, talks)
});
struct Listen;
impl HumanHandler<member::listen> for Listen {
    async fn ask(&self, _: &bool, _: &mut Cx<'_, member::listen>) -> Result<String, NodeError> {
        Ok("is anybody there?".to_owned())
    }
    async fn answered(&self, _: bool, answer: bool, cx: &mut Cx<'_, member::listen>) -> Route<member::listen> {
        goto!(cx, member::exit, answer)
    }
}
struct Told;
impl EventHandler<member::mail> for Told {
    async fn handle(&self, told: bool, cx: &mut Cx<'_, member::mail>) -> Route<member::mail> {
        goto!(cx, member::exit, told)
    }
}
