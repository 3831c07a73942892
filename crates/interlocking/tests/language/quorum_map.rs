//! `quorum = n` and `quorum = enough` on a map: the map does not wait for all of its children.

use crate::cut::Cut;
use crate::support::{Log, finished, pass, timed};
use interlocking::prelude::*;
use interlocking::runtime::journal::{Entry, ending};
use interlocking::runtime::map::Ended;
use interlocking::runtime::{ChildFailure, EventKind, Journal, MemoryJournal};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex};

/// A voter: after how many milliseconds it votes, and whether it votes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Voter {
    name: String,
    takes: u64,
    fails: bool,
}

fn voter(name: &str, takes: u64) -> Voter {
    Voter { name: name.to_owned(), takes, fails: false }
}

fn ill(name: &str, takes: u64) -> Voter {
    Voter { fails: true, ..voter(name, takes) }
}

/// The voters that have begun, and those that have finished.
#[derive(Clone, Default)]
struct Booth(Arc<Mutex<[Vec<String>; 2]>>);

impl Booth {
    fn begun(&self) -> Vec<String> {
        self.0.lock().unwrap()[0].clone()
    }

    fn done(&self) -> Vec<String> {
        self.0.lock().unwrap()[1].clone()
    }
}

#[derive(Graph)]
#[graph(output = String)]
struct Ballot {
    #[node(entry, input = Voter, goto(exit))]
    vote: LogicNode<Vote>,
}
logic!(Vote(booth: Booth) for ballot::vote, |voter: Voter, cx| {
    booth.0.lock().unwrap()[0].push(voter.name.clone());
    pass(voter.takes).await;
    booth.0.lock().unwrap()[1].push(voter.name.clone());
    if voter.fails {
        return Err("cannot vote".into());
    }
    goto!(cx, ballot::exit, voter.name)
});

/// The results of a map's children, in the order of their items.
fn told(results: impl IntoIterator<Item = Result<String, ChildFailure>>) -> String {
    let told = results.into_iter().map(|result| match result {
        Ok(name) => name,
        Err(ChildFailure::Cancelled) => "cancelled".to_owned(),
        Err(ChildFailure::Failed(_)) => "failed".to_owned(),
        Err(other) => other.to_string(),
    });
    told.collect::<Vec<_>>().join(", ")
}

/// Implements the handler of a map of ballots, whose output describes the results.
macro_rules! ballots {
    ($handler:ident for $node:path, to $exit:path) => {
        #[derive(Clone, Default)]
        struct $handler(Booth);
        impl MapHandler<$node> for $handler {
            fn graph(&self, _: &Cx<'_, $node>) -> Result<Arc<Ballot>, NodeError> {
                Ok(Arc::new(Ballot { vote: LogicNode(Vote(self.0.clone())) }))
            }
            async fn items(&self, voters: &Vec<Voter>, _: &mut Cx<'_, $node>) -> Result<Vec<Item<Ballot>>, NodeError> {
                Ok(voters.iter().map(|voter| Item::new(voter.clone()).with_key(&voter.name)).collect())
            }
            async fn gather(&self, _: Vec<Voter>, children: Children<Ballot>, cx: &mut Cx<'_, $node>) -> Route<$node> {
                let (pending, children) = (children.pending().len(), children.all().await);
                assert_eq!(pending, children.len(), "all have ended, and none is taken");
                assert!(children.is_sorted_by_key(|child| child.item));
                goto!(cx, $exit, told(children.into_iter().map(|child| child.result)))
            }
        }
    };
}

mod again;
mod losers;

/// Two votes, however many voters there are.
#[derive(Graph)]
#[graph(output = String)]
struct Vestry {
    #[node(entry, input = Vec<Voter>, map = Ballot, quorum = 2, goto(exit))]
    votes: MapNode<Votes>,
}
ballots!(Votes for vestry::votes, to vestry::exit);

/// The same, two children at a time.
#[derive(Graph)]
#[graph(output = String)]
struct Queue {
    #[node(entry, input = Vec<Voter>, map = Ballot, quorum = 2, concurrency = 2, depth = 1, goto(exit))]
    votes: MapNode<Queued>,
}
ballots!(Queued for queue::votes, to queue::exit);

/// As many votes as its handler wants.
#[derive(Graph)]
#[graph(output = String)]
struct Jury {
    #[node(entry, input = Vec<Voter>, map = Ballot, quorum = enough, goto(exit))]
    votes: MapNode<Jurors>,
}
ballots!(Jurors for jury::votes, to jury::exit);
/// Enough when the first voter and any other have voted.
impl EnoughHandler<jury::votes> for Jurors {
    async fn enough(&self, ended: &[Ended<String>], cx: &Cx<'_, jury::votes>) -> bool {
        cx.note(told(ended.iter().map(|it| it.clone().unwrap_or(Ok("-".to_owned())))));
        // Other children go on meanwhile.
        pass(1).await;
        matches!(ended, [Some(Ok(_)), others @ ..] if others.iter().any(Option::is_some))
    }
}
held!(Ballot, Vestry, Queue, Jury, again::Terms, losers::Panel, losers::Judge);

fn vestry(booth: &Booth) -> Run<Vestry> {
    timed(Vestry { votes: MapNode(Votes(booth.clone())) })
}

fn jury(booth: &Booth) -> Run<Jury> {
    timed(Jury { votes: MapNode(Jurors(booth.clone())) })
}

/// Patterns 34 and 35.
#[tokio::test(start_paused = true)]
async fn the_rest_is_cancelled_once_so_many_have_succeeded() {
    for recorded in [true, false] {
        let (booth, log) = (Booth::default(), Log::new());
        let voters = vec![voter("slow", 50), voter("one", 20), ill("ill", 5), voter("two", 10), voter("late", 21)];
        let run = vestry(&booth).with_events(log.sink());
        let run = if recorded { run } else { run.without_journal() };
        let report = run.start(voters).await.unwrap();
        assert_eq!(report.took.as_millis(), 20, "nobody waits for the slow");
        assert_eq!(finished(report), "cancelled, one, failed, two, cancelled");
        assert_eq!(booth.done(), ["ill", "two", "one"]);
        let decided: Vec<_> = log.events().into_iter().filter(|it| it.kind.node().is_some()).collect();
        let at = decided.iter().position(|it| matches!(it.kind, EventKind::NodeDecided { .. })).unwrap();
        let EventKind::NodeDecided { reached, succeeded, failed, cancelled, .. } = decided[at].kind else { return };
        assert_eq!((reached, succeeded, failed, cancelled), (true, 2, 1, 2));
        let stopped = decided.iter().filter(|it| matches!(it.kind, EventKind::NodeCancelled(_)));
        assert_eq!(stopped.count(), 2, "of the slow and of the late");
        assert!(!decided[..at].iter().any(|it| matches!(it.kind, EventKind::NodeCancelled(_))), "told before");
    }
}

#[tokio::test(start_paused = true)]
async fn a_quorum_that_is_out_of_reach_ends_the_map() {
    let (booth, log) = (Booth::default(), Log::new());
    let voters = vec![ill("a", 5), voter("b", 40), ill("c", 10), voter("d", 7)];
    let report = vestry(&booth).with_events(log.sink()).start(voters).await.unwrap();
    assert_eq!((report.took.as_millis(), finished(report).as_str()), (40, "failed, b, failed, d"), "both have to");
    let voters = vec![ill("a", 5), voter("b", 40), ill("c", 10), voter("d", 7), ill("e", 8)];
    let report = vestry(&booth).with_events(log.sink()).start(voters).await.unwrap();
    assert_eq!((report.took.as_millis(), finished(report).as_str()), (40, "failed, b, failed, d, failed"));
    let voters = vec![ill("a", 5), voter("b", 40), ill("c", 10)];
    let report = vestry(&booth).with_events(log.sink()).start(voters).await.unwrap();
    assert_eq!((report.took.as_millis(), finished(report).as_str()), (10, "failed, cancelled, failed"));
    let last = log.events().into_iter().rfind(|it| matches!(it.kind, EventKind::NodeDecided { .. }));
    let EventKind::NodeDecided { reached, succeeded, failed, cancelled, .. } = last.unwrap().kind else { return };
    assert_eq!((reached, succeeded, failed, cancelled), (false, 0, 2, 1));
}

#[tokio::test(start_paused = true)]
async fn fewer_items_than_the_quorum_are_not_begun() {
    for (voters, expected) in [(vec![voter("only", 5)], "cancelled"), (Vec::new(), "")] {
        let booth = Booth::default();
        let report = vestry(&booth).start(voters).await.unwrap();
        assert_eq!((report.took.as_millis(), finished(report).as_str()), (0, expected));
        assert!(booth.begun().is_empty());
    }
}

/// A child that waits for a place among the concurrent children never begins; a child that would be nested too deep
/// does not succeed.
#[tokio::test(start_paused = true)]
async fn who_has_not_begun_never_does() {
    let booth = Booth::default();
    let journal = Arc::new(MemoryJournal::new());
    let voters: Vec<_> = ["a", "b", "c", "d", "e"].into_iter().zip([20, 20, 30, 5, 5]).collect();
    let voters: Vec<_> = voters.into_iter().map(|(name, takes)| voter(name, takes)).collect();
    let run = timed(Queue { votes: MapNode(Queued(booth.clone())) }).with_journal(journal.clone());
    assert_eq!(finished(run.start(voters).await.unwrap()), "a, b, cancelled, cancelled, cancelled");
    assert!(!booth.begun().contains(&"e".to_owned()), "{:?}", booth.begun());
    assert_eq!(journal.runs().await.unwrap().len(), 1 + booth.begun().len(), "no record tells of the others");
}

/// Patterns 36 and 27.
#[tokio::test(start_paused = true)]
async fn a_handler_says_when_there_is_enough() {
    for recorded in [true, false] {
        let (booth, log) = (Booth::default(), Log::new());
        let voters = vec![voter("first", 30), voter("b", 10), ill("c", 20), voter("d", 90)];
        let run = jury(&booth).with_events(log.sink());
        let run = if recorded { run } else { run.without_journal() };
        let report = run.start(voters).await.unwrap();
        assert_eq!(report.took.as_millis(), 31);
        assert_eq!(finished(report), "first, b, failed, cancelled");
        let notes = log.events().into_iter().filter_map(|it| match it.kind {
            EventKind::Note { text, .. } => Some(text),
            _ => None,
        });
        let notes: Vec<_> = notes.collect();
        assert_eq!(notes, ["-, b, -, -", "-, b, failed, -", "first, b, failed, -"], "after each child's end");
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_never_has_enough_is_given_all() {
    let (booth, log) = (Booth::default(), Log::new());
    let voters = vec![ill("first", 5), voter("b", 10)];
    let report = jury(&booth).with_events(log.sink()).start(voters).await.unwrap();
    assert_eq!(finished(report), "failed, b");
    let is_out_of_reach =
        |kind: &EventKind| matches!(kind, EventKind::NodeDecided { reached: false, cancelled: 0, .. });
    assert!(log.events().iter().any(|it| is_out_of_reach(&it.kind)));
    assert_eq!(finished(jury(&booth).start(Vec::new()).await.unwrap()), "", "nobody is asked of nothing");
}

/// The decision is recorded before the end of any loser, and names the children that had ended.
#[tokio::test(start_paused = true)]
async fn the_decision_is_one_record_before_anything_is_cancelled() {
    let journal = Cut::new(None);
    let voters = vec![voter("slow", 50), voter("one", 20), ill("ill", 5), voter("two", 10)];
    let report = vestry(&Booth::default()).with_journal(journal.clone()).start(voters).await.unwrap();
    assert_eq!(finished(report), "cancelled, one, failed, two");
    let records = journal.written();
    let decided: Vec<_> = records.iter().filter(|it| matches!(it.entry, Entry::Decided { .. })).collect();
    let [record] = decided[..] else { panic!("{decided:?}") };
    let Entry::Decided { by, reached, ended } = &record.entry else { return };
    assert_eq!((by.to_string().as_str(), *reached, ended.len()), ("votes.1.1", true, 3));
    let at = |run: &RunId, end: &str| {
        let is_end = |it: &interlocking::runtime::journal::Record| it.run == *run && it.entry.ending() == Some(end);
        records.iter().position(is_end)
    };
    let decision = records.iter().position(|it| matches!(it.entry, Entry::Decided { .. })).unwrap();
    assert!(at(&ended[0], "finished") < Some(decision) && at(&ended[1], "failed") < Some(decision));
    let children = journal.children(&record.run).await.unwrap();
    let loser = children.iter().find(|child| !ended.contains(&child.run)).unwrap();
    assert!(at(&loser.run, "cancelled") > Some(decision), "{loser:?}");
    assert_eq!(ending(&journal.load(&loser.run).await.unwrap()), Some("cancelled"));
}
