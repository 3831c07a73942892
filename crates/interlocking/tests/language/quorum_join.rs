//! Joins with a quorum: they fire when enough values have come, and clear the rest.

use crate::support::{Dropped, Log, both_ways, finished, pass, timed};
use interlocking::prelude::*;
use interlocking::runtime::journal::{Entry, Record};
use interlocking::runtime::{Event, EventKind, Journal, MemoryJournal};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

mod gate;
mod race;
mod rounds;

/// The behaviour of each voter: `anna 10 yes, bert 20 none, carl 30 error`.
type Poll = String;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Count {
    /// The votes that were cast.
    votes: [Option<String>; 3],
    /// The same, read later from the join's input.
    told: [Option<String>; 3],
}

/// Two of three decide. A voter that has no answer, fails or takes too long does not count; anna's answer always does.
#[derive(Graph)]
#[graph(output = Count)]
struct Election {
    #[node(entry, input = Poll, fork(anna, bert, carl))]
    call: ForkNode<Call>,
    #[node(input = Poll, goto(count))]
    anna: LogicNode<Voter>,
    #[node(input = Poll, goto(count), failed(count))]
    bert: LogicNode<Voter>,
    #[node(input = Poll, goto(think), timeout = "1s", timed_out(count.carl))]
    carl: LogicNode<Voter>,
    #[node(input = Poll, goto(count))]
    think: LogicNode<Voter>,
    #[node(join(anna: String, bert: String optional, carl: String from(carl, think) optional),
        quorum = 2, cancels(anna, bert, carl, think), goto(tell))]
    count: JoinNode<Counts>,
    #[node(input = [Option<String>; 3], goto(exit))]
    tell: LogicNode<Tell>,
}

held!(Election);

/// The time that a voter takes, and the result.
fn part<'p>(poll: &'p str, who: &str) -> (u64, &'p str) {
    let own = poll.split(", ").find_map(|part| part.strip_prefix(who)).unwrap_or(" 1 yes");
    let (takes, what) = own.trim().split_once(' ').unwrap();
    (takes.parse().unwrap(), what)
}

forks!(Call for election::call, |poll: Poll, cx| fork!(cx, (poll.clone(), poll.clone(), poll)));
#[derive(Clone, Default)]
struct Voter(Arc<Mutex<BTreeMap<String, Dropped>>>);
impl Voter {
    /// The vote of `who`, if it votes.
    async fn vote(&self, poll: &str, who: &str) -> Result<Option<String>, NodeError> {
        let _guard = self.dropped(who).guard();
        let (takes, what) = part(poll, who);
        pass(takes).await;
        match what {
            "none" => Ok(None),
            "error" => Err("no paper")?,
            vote => Ok(Some(format!("{who}: {vote}"))),
        }
    }

    fn dropped(&self, who: &str) -> Dropped {
        self.0.lock().unwrap().entry(who.to_owned()).or_default().clone()
    }
}
impl LogicHandler<election::anna> for Voter {
    async fn run(&self, poll: Poll, cx: &mut Cx<'_, election::anna>) -> Route<election::anna> {
        let vote = self.vote(&poll, "anna").await?.unwrap_or_default();
        goto!(cx, election::count, vote)
    }
}
impl LogicHandler<election::bert> for Voter {
    async fn run(&self, poll: Poll, cx: &mut Cx<'_, election::bert>) -> Route<election::bert> {
        let vote = self.vote(&poll, "bert").await?;
        goto!(cx, election::count, vote)
    }
}
impl LogicHandler<election::carl> for Voter {
    async fn run(&self, poll: Poll, cx: &mut Cx<'_, election::carl>) -> Route<election::carl> {
        pass(part(&poll, "carl").0).await;
        goto!(cx, election::think, poll)
    }
}
impl LogicHandler<election::think> for Voter {
    async fn run(&self, poll: Poll, cx: &mut Cx<'_, election::think>) -> Route<election::think> {
        let vote = self.vote(&poll, "think").await?;
        goto!(cx, election::count, vote)
    }
}
joins!(Counts for election::count, |(anna, bert, carl): (Option<String>, Option<String>, Option<String>), cx| {
    pass(5).await;
    goto!(cx, election::tell, [anna, bert, carl])
});
logic!(Tell for election::tell, |votes: [Option<String>; 3], cx| {
    let (anna, bert, carl) = cx.input_of::<election::count>().unwrap_or_default();
    goto!(cx, election::exit, Count { votes, told: [anna, bert, carl] })
});

fn election(voter: &Voter) -> Election {
    let voter = || LogicNode(voter.clone());
    Election {
        call: ForkNode(Call),
        anna: voter(),
        bert: voter(),
        carl: voter(),
        think: voter(),
        count: JoinNode(Counts),
        tell: LogicNode(Tell),
    }
}

/// The votes, and when the run was over; the same with a journal and without.
async fn elected(poll: &str) -> (String, u64) {
    let mut all = Vec::new();
    for (recorded, run) in both_ways(|| election(&Voter::default())).into_iter().enumerate() {
        let report = run.start(poll.to_owned()).await.unwrap();
        let took = report.took.as_millis();
        let Count { votes, told } = finished(report);
        if recorded == 0 {
            assert_eq!(told, votes, "what did not come is not told either");
        }
        all.push((votes.map(Option::unwrap_or_default).join("|"), took));
    }
    assert_eq!(all[0], all[1]);
    all.remove(0)
}

#[tokio::test(start_paused = true)]
async fn the_join_fires_when_enough_have_a_value() {
    for (poll, votes, took) in [
        ("anna 10 yes, bert 20 no, carl 500 yes", "anna: yes|bert: no|", 25),
        ("anna 500 yes, bert 20 no, carl 10 late, think 1 yes", "|bert: no|think: yes", 25),
        // A token without a value fills its slot, and the others decide.
        ("anna 10 yes, bert 20 none, carl 30 late, think 10 no", "anna: yes||think: no", 45),
        // A failure or a timeout fills the voter's slot without a value.
        ("anna 10 yes, bert 20 error, carl 30 late, think 10 no", "anna: yes||think: no", 45),
        // The quorum is out of reach: with the last slot the join fires with the values it has.
        ("anna 10 yes, bert 20 error, carl 5000 late", "anna: yes||", 1_005),
        ("anna 10 yes, bert 20 none, carl 30 late, think 1 none", "anna: yes||", 36),
        // All at the same moment: the first ones count.
        ("anna 10 yes, bert 10 no, carl 9 yes, think 1 yes", "anna: yes|bert: no|", 15),
    ] {
        assert_eq!(elected(poll).await, (votes.to_owned(), took), "{poll}");
    }
}

/// Cleared nodes are stopped at once, before the join has run.
#[tokio::test(start_paused = true)]
async fn what_is_cleared_is_stopped() {
    let (voter, log) = (Voter::default(), Log::new());
    let run = timed(election(&voter)).with_events(log.sink());
    finished(run.start("anna 10 yes, bert 20 no, carl 1 late, think 500 yes".to_owned()).await.unwrap());
    assert_eq!(log.line("cancelled think 1.1"), "20 cancelled think 1.1");
    assert_eq!(log.line("started count 1.1"), "20 started count 1.1");
    assert!(voter.dropped("think").happened());
    let lines = log.lines();
    assert_eq!(lines.matches("cancelled").count(), 1, "{lines}");
}

/// The records of a run of this poll.
async fn records(poll: &str) -> (Vec<Record>, Count) {
    let journal = Arc::new(MemoryJournal::new());
    let report = timed(election(&Voter::default())).with_journal(journal.clone()).start(poll.to_owned()).await.unwrap();
    (journal.load(&report.run).await.unwrap(), finished(report))
}

/// A run that is resumed after any record makes the same decision: the voters that had answered when the quorum was reached have
/// voted, and those that were stopped then are not asked again.
#[tokio::test(start_paused = true)]
async fn a_resumed_run_decides_alike() {
    for poll in [
        "anna 10 yes, bert 20 no, carl 1 late, think 500 yes",
        "anna 10 yes, bert 20 none, carl 30 late, think 10 no",
        "anna 10 yes, bert 20 error, carl 5000 late",
    ] {
        let (records, expected) = records(poll).await;
        let decided = records.iter().position(|record| outcome_of(record) == Some("count")).unwrap();
        for count in 1..=records.len() {
            let journal = Arc::new(MemoryJournal::new());
            for record in &records[..count] {
                journal.append(record.clone()).await.unwrap();
            }
            let (run, log) = (records[0].run.clone(), Log::new());
            let resumed = timed(election(&Voter::default())).with_journal(journal).with_events(log.sink()).with_id(run);
            let found = finished(resumed.resume().await.unwrap());
            assert_eq!(found, expected, "{poll}, resumed after {count} of {} records", records.len());
            let voters = ["anna", "bert", "carl", "think"];
            let asked = started(&log.events(), &voters);
            assert!(count < decided || asked.is_empty(), "{poll}, after {count}: {asked:?}");
        }
    }
}

/// The node of an outcome record.
fn outcome_of(record: &Record) -> Option<&str> {
    if let Entry::Outcome(outcome) = &record.entry { Some(&outcome.node) } else { None }
}

fn started(events: &[Event], nodes: &[&str]) -> Vec<String> {
    let started = events.iter().filter(|event| matches!(event.kind, EventKind::NodeStarted(_)));
    let names = started.filter_map(|event| event.kind.node()).map(|node| node.node.to_string());
    names.filter(|name| nodes.contains(&name.as_str())).collect()
}
