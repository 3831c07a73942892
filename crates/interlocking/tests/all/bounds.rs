//! Visits and attempts: how the runtime counts them, and what happens beyond the bounds.

use crate::support::{Log, both_ways, failed, finished, timed};
use interlocking::failure::Exhausted;
use interlocking::frontier::Limit;
use interlocking::prelude::*;
use serde::{Deserialize, Serialize};

/// What a handler saw: visit, attempt, and whether each is the last.
type Seen = (u32, u32, bool, bool);

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Job {
    /// The number of attempts of each visit.
    attempts: Vec<u32>,
    seen: Vec<Seen>,
}

#[derive(Graph)]
#[graph(output = Vec<Seen>)]
struct Workshop {
    #[node(entry, input = Job, goto(work, inspect), visits = 3, attempts = 3)]
    work: LogicNode<Work>,
    #[node(input = Job, goto(work, exit))]
    inspect: LogicNode<Inspect>,
}

logic!(Work for workshop::work, |job: Job, cx| {
    let mut job = job;
    // This is a copy: changing it does not change the runtime's counts.
    let mut mine = cx.execution();
    (mine.visit, mine.attempt) = (77, 77);
    assert_ne!((mine.visit, mine.attempt), (cx.visit(), cx.attempt()));
    job.seen.push((cx.visit(), cx.attempt(), cx.is_final_visit(), cx.is_final_attempt()));
    match job.attempts[cx.visit() as usize - 1] {
        wanted if wanted > cx.attempt() => goto!(cx, self, job),
        _ => goto!(cx, workshop::inspect, job),
    }
});
logic!(Inspect for workshop::inspect, |job: Job, cx| match job.attempts.len() > cx.visit() as usize {
    true => goto!(cx, workshop::work, job),
    false => goto!(cx, workshop::exit, job.seen),
});

fn workshop() -> Workshop {
    Workshop { work: LogicNode(Work), inspect: LogicNode(Inspect) }
}

fn job(attempts: &[u32]) -> Job {
    Job { attempts: attempts.to_vec(), seen: Vec::new() }
}

#[tokio::test(start_paused = true)]
async fn visits_and_attempts_count_from_one_and_are_the_runtimes() {
    for run in both_ways(workshop) {
        let seen = finished(run.start(job(&[1, 3, 2])).await.unwrap());
        assert_eq!(
            seen,
            [
                (1, 1, false, false),
                (2, 1, false, false),
                (2, 2, false, false),
                (2, 3, false, true),
                (3, 1, true, false),
                (3, 2, true, false),
            ],
            "a new visit starts again at its first attempt"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn the_visit_beyond_the_last_fails_where_no_route_is_declared() {
    for run in both_ways(workshop) {
        let log = Log::new();
        let failure = failed(run.with_events(log.sink()).start(job(&[1, 1, 1, 1])).await.unwrap());
        assert_eq!(failure.kind, FailureKind::Exhausted(Limit::Visits(3)));
        assert_eq!((failure.node.as_str(), failure.visit, failure.attempt), ("work", 4, 1));
        assert_eq!(failure.to_string(), "node `work` (visit 4) may not be entered again: its table says `visits = 3`");
        let lines = log.lines();
        assert!(!lines.contains("started work 4"), "the handler does not run: {lines}");
        assert!(!lines.contains("cancelled"), "nothing was running that could be cancelled: {lines}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_attempt_beyond_the_last_fails_where_no_route_is_declared() {
    for run in both_ways(workshop) {
        let failure = failed(run.start(job(&[1, 9])).await.unwrap());
        assert_eq!(failure.kind, FailureKind::Exhausted(Limit::Attempts(3)));
        assert_eq!((failure.visit, failure.attempt), (2, 4));
        assert_eq!(
            failure.to_string(),
            "node `work` (visit 2, attempt 4) may not be entered again: its table says `attempts = 3`"
        );
    }
}

/// A protocol that gives up properly, at a node of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct GivenUp {
    at: String,
    limit: Limit,
    input: u32,
}

impl From<Exhausted<u32>> for GivenUp {
    fn from(Exhausted { node, limit, input, .. }: Exhausted<u32>) -> Self {
        Self { at: node.to_owned(), limit, input }
    }
}

#[derive(Graph)]
#[graph(output = (GivenUp, GivenUp, u32))]
struct Patient {
    #[node(entry, input = u32, goto(ping))]
    begin: LogicNode<Begin>,
    #[node(input = u32, goto(pong), visits = 2, exhausted(rest))]
    ping: LogicNode<Ping>,
    #[node(input = u32, goto(ping, retry))]
    pong: LogicNode<Pong>,
    #[node(input = u32, goto(retry), attempts = 2, exhausted(rest))]
    retry: LogicNode<Retry>,
    #[node(input = GivenUp, goto(exit), timeout = "1s")]
    rest: LogicNode<Rest>,
}

held!(Workshop, Patient);

logic!(Begin for patient::begin, |number: u32, cx| goto!(cx, patient::ping, number));
logic!(Ping for patient::ping, |number: u32, cx| goto!(cx, patient::pong, number + 1));
logic!(Pong for patient::pong, |number: u32, cx| match number {
    100.. => goto!(cx, patient::retry, number),
    _ => goto!(cx, patient::ping, number),
});
logic!(Retry for patient::retry, |number: u32, cx| goto!(cx, self, number * 2));
logic!(Rest for patient::rest, |given_up: GivenUp, cx| {
    let stored = cx.input_of::<patient::rest>()?;
    goto!(cx, patient::exit, (given_up, stored, cx.visit()))
});

fn patient() -> Patient {
    Patient {
        begin: LogicNode(Begin),
        ping: LogicNode(Ping),
        pong: LogicNode(Pong),
        retry: LogicNode(Retry),
        rest: LogicNode(Rest),
    }
}

#[tokio::test(start_paused = true)]
async fn an_exhausted_route_carries_the_input_and_the_bound() {
    let log = Log::new();
    let (given_up, stored, visit) = finished(timed(patient()).with_events(log.sink()).start(10).await.unwrap());
    assert_eq!(given_up, GivenUp { at: "ping".into(), limit: Limit::Visits(2), input: 12 });
    assert_eq!((visit, stored), (1, given_up), "the route's target was entered with this, so it is its last input");
    assert_eq!(log.line("exhausted ping 3.1"), "0 exhausted ping 3.1");

    let (given_up, ..) = finished(timed(patient()).start(200).await.unwrap());
    assert_eq!(given_up, GivenUp { at: "retry".into(), limit: Limit::Attempts(2), input: 201 * 4 });
}
