//! The journal: one atomic record for each node outcome, written before anything that follows from the outcome.

mod rebuilt;

use crate::support::{Log, Recording, failed, finished, pass, timed};
use askama::Template;
use async_trait::async_trait;
use interlocking::frontier::{Due, Frontier, Input};
use interlocking::graph::Graph as _;
use interlocking::prelude::*;
use interlocking::route::Step;
use interlocking::runtime::journal::account::account;
use interlocking::runtime::journal::{
    Claim, Digest, Encoded, Entry, JournalError, Letter, MemoryRecord, NodeOutcome, Posted, Record, RecordedPayload,
    RunSummary, TokenRecord,
};
use interlocking::runtime::{Event, EventKind, Journal, MemoryJournal, Outcome, Report, StartError};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Notes(Vec<String>);

#[derive(Template)]
#[template(source = "Work on {{ task }}.", ext = "txt")]
struct WorkPrompt<'a> {
    task: &'a str,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Ending(String);

impl From<Exhausted<String>> for Ending {
    fn from(exhausted: Exhausted<String>) -> Self {
        Self(exhausted.input)
    }
}

/// A fork, a latched join that fires twice, an agent, an exhausted route.
#[derive(Graph)]
#[graph(output = Ending)]
struct Project {
    #[node(entry, input = String, fork(work, look))]
    split: ForkNode<Split>,
    #[node(input = String, prompt = WorkPrompt<'_>, output = u32, goto(gate), visits = 2,
        exhausted(exit, cancels(*)), memory(notes: Notes))]
    work: LLMNode<Work>,
    #[node(input = String, goto(gate))]
    look: LogicNode<Look>,
    #[node(join(work: u32, look: bool latched), goto(work), memory(notes: Notes))]
    gate: JoinNode<Gate>,
}

forks!(Split for project::split, |task: String, cx| fork!(cx, (task.clone(), task)));
struct Work;
impl LLMHandler<project::work> for Work {
    async fn before<'a>(&'a self, task: &'a String, _: &mut Cx<'_, project::work>) -> Ask<WorkPrompt<'a>> {
        Ok((WorkPrompt { task }, SessionOp::StartFresh(Slug::new("work")?)))
    }
    async fn after(&self, task: String, reply: Reply<u32>, cx: &mut Cx<'_, project::work>) -> Route<project::work> {
        cx.update_memory(move |notes| notes.0.push(format!("{task} {}", reply.output)));
        cx.committed("main", format!("c0ffee{}", cx.visit()));
        cx.committed("spare", "5eed");
        goto!(cx, project::gate, reply.output)
    }
}
logic!(Look for project::look, |_: String, cx| {
    pass(5).await;
    goto!(cx, project::gate, true)
});
joins!(Gate for project::gate, |(number, _): (u32, bool), cx| goto!(cx, project::work, format!("more than {number}")));

const SCRIPT: &str = "
    [[turn]]
    delay = '10ms'
    contains = ['Work on it.']
    output_json = '7'
    cost = 0.01
    tokens = { input = 100, output = 10 }
    [[turn]]
    delay = '20ms'
    contains = ['Work on more than 7.']
    output_json = '8'
    cost = 0.02
";

fn project() -> Run<Project> {
    let graph = Project { split: ForkNode(Split), work: LLMNode(Work), look: LogicNode(Look), gate: JoinNode(Gate) };
    timed(graph).with_agent("work", Recording::new(SCRIPT)).with_id("demo".parse().unwrap())
}

async fn run_in(journal: Arc<dyn Journal>) -> Report<Ending> {
    project().with_journal(journal).start("it".to_owned()).await.unwrap()
}

fn demo() -> RunId {
    "demo".parse().unwrap()
}

/// Each record has an outcome with all effects: route, memory, calls with sessions and costs, commits.
#[tokio::test(start_paused = true)]
async fn each_outcome_is_one_record_with_all_that_it_did() {
    let journal = Arc::new(MemoryJournal::new());
    assert_eq!(finished(run_in(journal.clone()).await), Ending("more than 8".into()));
    let records = journal.records(&demo());
    let Entry::Started { table, input, .. } = &records[0].entry else { panic!("{:?}", records[0]) };
    assert_eq!(&**table, Project::net().table());
    assert_eq!(*input, RecordedPayload::from("\"it\""));
    for (position, record) in (0..).zip(&records) {
        assert_eq!((record.sequence, &record.run), (position, &demo()), "no gap, one run");
    }
    let lines: String = records[1..].iter().map(|r| serde_json::to_string(&r.entry).unwrap() + "\n").collect();
    expect_test::expect![[r#"
        {"entry":"outcome","node":"split","visit":1,"attempt":1,"alternative":0,"tokens":[{"place":"work","payload":{"json":"\"it\""}},{"place":"look","payload":{"json":"\"it\""}}],"took_ms":0}
        {"entry":"session","by":{"node":"work","visit":1,"attempt":1},"agent":"recording","session":"work-1"}
        {"entry":"outcome","node":"look","visit":1,"attempt":1,"alternative":3,"tokens":[{"place":"gate.look","payload":{"json":"true"}}],"took_ms":5}
        {"entry":"outcome","node":"work","visit":1,"attempt":1,"alternative":1,"tokens":[{"place":"gate.work","payload":{"json":"7"}}],"memory":{"group":"notes","value":{"json":"[\"it 7\"]"}},"calls":[{"agent":"recording","role":"work","session":"work-1","usage":{"calls":1,"input_tokens":100,"output_tokens":10,"cost":10000,"unpriced_calls":0}}],"commits":[{"workspace":"main","id":"c0ffee1"},{"workspace":"spare","id":"5eed"}],"took_ms":10}
        {"entry":"outcome","node":"gate","visit":1,"attempt":1,"alternative":4,"tokens":[{"place":"work","payload":{"json":"\"more than 7\""}}],"took_ms":0}
        {"entry":"session","by":{"node":"work","visit":2,"attempt":1},"agent":"recording","session":"work-2"}
        {"entry":"outcome","node":"work","visit":2,"attempt":1,"alternative":1,"tokens":[{"place":"gate.work","payload":{"json":"8"}}],"memory":{"group":"notes","value":{"json":"[\"it 7\",\"more than 7 8\"]"}},"calls":[{"agent":"recording","role":"work","session":"work-2","usage":{"calls":1,"input_tokens":0,"output_tokens":0,"cost":20000,"unpriced_calls":0}}],"commits":[{"workspace":"main","id":"c0ffee2"},{"workspace":"spare","id":"5eed"}],"took_ms":20}
        {"entry":"outcome","node":"gate","visit":2,"attempt":1,"alternative":4,"tokens":[{"place":"work","payload":{"json":"\"more than 8\""}}],"took_ms":0}
        {"entry":"ended","cancelled":false}
    "#]].assert_eq(&lines);
}

/// A reader without the graph sees the run's current memory.
#[tokio::test(start_paused = true)]
async fn an_account_has_what_is_remembered() {
    let journal = Arc::new(MemoryJournal::new());
    run_in(journal.clone()).await;
    let known = account(&*journal, &demo()).await.unwrap().memory;
    assert_eq!(serde_json::to_value(known).unwrap(), serde_json::json!({ "notes": ["it 7", "more than 7 8"] }));
}

#[tokio::test(start_paused = true)]
async fn records_survive_json() {
    let journal = Arc::new(MemoryJournal::new());
    run_in(journal.clone()).await;
    let records = journal.load(&demo()).await.unwrap();
    let json = serde_json::to_string(&records).unwrap();
    assert_eq!(serde_json::from_str::<Vec<Record>>(&json).unwrap(), records);

    let mut failure = Failure::new("work", 2, 1, FailureKind::Timeout { limit_ms: 5 }, "late");
    failure.causes = vec!["clock".into()];
    let ended = Record {
        run: demo(),
        sequence: 3,
        entry: Entry::Ended { failure: Some(failure), cancelled: false, output: None },
    };
    assert_eq!(serde_json::from_str::<Record>(&serde_json::to_string(&ended).unwrap()).unwrap(), ended);
}

/// A slow journal that refuses one record, and notes when each record was appended and which nodes had started by then.
struct Watching {
    inner: MemoryJournal,
    delay: u64,
    refuse: Option<u64>,
    events: Log,
    /// For each record: the nodes that had started and not finished when it was to be appended.
    running: Mutex<Vec<Vec<String>>>,
}

impl Watching {
    fn new(delay: u64, refuse: Option<u64>) -> Arc<Self> {
        let (events, running) = (Log::new(), Mutex::default());
        Arc::new(Self { inner: MemoryJournal::new(), delay, refuse, events, running })
    }

    async fn start(self: &Arc<Self>) -> Result<Report<Ending>, StartError> {
        project().with_journal(self.clone()).with_events(self.events.sink()).start("it".to_owned()).await
    }

    async fn run(self: &Arc<Self>) -> Report<Ending> {
        self.start().await.unwrap()
    }
}

#[async_trait]
impl Journal for Watching {
    fn outlives_its_process(&self) -> bool {
        false
    }

    async fn append(&self, record: Record) -> Result<(), JournalError> {
        self.running.lock().unwrap().push(running(&self.events.events()));
        if self.refuse == Some(record.sequence) {
            return Err(JournalError::Storage { reason: "the disk is full: free some space".into() });
        }
        pass(self.delay).await;
        self.inner.append(record).await
    }

    async fn claim(&self, run: &RunId) -> Result<Claim, JournalError> {
        self.inner.claim(run).await
    }

    async fn load(&self, run: &RunId) -> Result<Vec<Record>, JournalError> {
        self.inner.load(run).await
    }

    async fn fetch(&self, run: &RunId, digests: &[Digest]) -> Result<Vec<Encoded>, JournalError> {
        self.inner.fetch(run, digests).await
    }

    async fn runs(&self) -> Result<Vec<RunSummary>, JournalError> {
        self.inner.runs().await
    }

    async fn post(&self, run: &RunId, letter: Letter) -> Result<u64, JournalError> {
        self.inner.post(run, letter).await
    }

    async fn next_letter(&self, run: &RunId, after: u64) -> Result<Posted, JournalError> {
        self.inner.next_letter(run, after).await
    }

    async fn letters(&self, run: &RunId, after: u64) -> Result<Vec<Posted>, JournalError> {
        self.inner.letters(run, after).await
    }

    async fn remove(&self, run: &RunId) -> Result<(), JournalError> {
        self.inner.remove(run).await
    }
}

/// The nodes that have started and not finished, sorted.
fn running(events: &[Event]) -> Vec<String> {
    let mut running = Vec::new();
    for event in events {
        match &event.kind {
            EventKind::NodeStarted(node) => running.push(node.node.to_string()),
            EventKind::NodeFinished { node, .. } => running.retain(|name| *name != node.node),
            _ => {}
        }
    }
    running.sort();
    running
}

#[tokio::test(start_paused = true)]
async fn no_successor_starts_before_the_record_is_there() {
    let journal = Watching::new(100, None);
    finished(journal.run().await);
    let log = &journal.events;
    // The start itself is recorded, then the outcome of `split`, each in 100 ms.
    assert_eq!(log.line("started split 1.1"), "100 started split 1.1");
    assert_eq!(log.line("started work 1.1"), "200 started work 1.1");
    assert_eq!(log.line("started look 1.1"), "200 started look 1.1");
    // The session of `work`, and two outcomes, at 205 and 300, are recorded one after the other.
    assert_eq!(log.line("started gate 1.1"), "500 started gate 1.1");
    assert_eq!(log.line("started work 2.1"), "600 started work 2.1");
}

/// Why the run's journal failed.
#[track_caller]
fn refusal(report: Report<Ending>) -> String {
    match report.outcome {
        Outcome::JournalFailed(error) => error.to_string(),
        other => panic!("its journal did not fail: {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_record_stops_the_run_and_nothing_follows_from_it() {
    let words = "the journal's storage failed: the disk is full: free some space";
    let journal = Watching::new(0, Some(0));
    assert_eq!(journal.start().await.unwrap_err().to_string(), words);
    assert_eq!(journal.events.lines(), "", "a run that is not recorded does not start");
    for (refused, node, follows) in
        [(1, "split", "started work"), (3, "look", "started gate"), (4, "work", "started gate")]
    {
        let journal = Watching::new(0, Some(refused));
        assert_eq!(refusal(journal.run().await), words);
        let lines = journal.events.lines();
        assert!(!lines.contains(follows), "{lines}");
        assert!(lines.contains(&format!("suspended {node}")), "{lines}");
        assert_eq!(lines.contains("suspended work"), node != "split", "nothing else was running: {lines}");
        assert!(!lines.contains(" failed ") && !lines.contains("cancelled"), "{lines}");
    }
}

/// A run whose end is not in the journal is not reported as finished.
#[tokio::test(start_paused = true)]
async fn an_end_that_cannot_be_recorded_is_none() {
    let whole = Watching::new(0, None);
    finished(whole.run().await);
    let last = whole.inner.records(&demo()).len() as u64 - 1;
    refusal(Watching::new(0, Some(last)).run().await);
}

#[tokio::test(start_paused = true)]
async fn a_run_id_that_the_journal_knows_is_refused() {
    let journal = Arc::new(MemoryJournal::new());
    run_in(journal.clone()).await;
    let before = journal.records(&demo());
    let log = Log::new();
    let again = project().with_journal(journal.clone()).with_events(log.sink()).start("it".to_owned()).await;
    assert_eq!(
        again.unwrap_err().to_string(),
        "run `demo` has 10 records already, so record 0 is not its next: start the run under a new id, or resume it"
    );
    assert!(!log.lines().contains("started split"), "{}", log.lines());
    assert_eq!(journal.records(&demo()), before, "and the record of the first run is as it was");
    let other = project().with_journal(journal.clone()).with_id("demo-2".parse().unwrap());
    finished(other.start("it".to_owned()).await.unwrap());
    assert_eq!(journal.records(&"demo-2".parse().unwrap()).len(), before.len());
}

/// Data that JSON cannot hold: its keys are no text.
type Unstorable = std::collections::BTreeMap<(u8, u8), u8>;

#[derive(Graph)]
#[graph(output = Unstorable)]
struct Grid {
    #[node(entry, input = bool, goto(next), memory = Unstorable)]
    begin: LogicNode<Begin>,
    #[node(input = Unstorable, goto(exit))]
    next: LogicNode<Next>,
}

held!(Project, Grid);

logic!(Begin for grid::begin, |remember: bool, cx| {
    if remember {
        cx.update_memory(|memory| *memory = Unstorable::from([((1, 2), 3)]));
        return goto!(cx, grid::next, Unstorable::new());
    }
    goto!(cx, grid::next, Unstorable::from([((1, 2), 3)]))
});
logic!(Next for grid::next, |grid: Unstorable, cx| goto!(cx, grid::exit, grid));

/// A value that cannot be stored is an error that names its destination; it is never silently lost.
#[tokio::test(start_paused = true)]
async fn a_payload_that_cannot_be_stored_fails_the_run() {
    let grid = || Grid { begin: LogicNode(Begin), next: LogicNode(Next) };
    for (remember, what) in [(false, "the payload for `next`"), (true, "memory `begin`")] {
        let log = Log::new();
        let failure = failed(timed(grid()).with_events(log.sink()).start(remember).await.unwrap());
        assert_eq!((failure.node.as_str(), &failure.kind), ("begin", &FailureKind::Journal));
        assert_eq!(failure.message, format!("{what} cannot be stored: key must be a string"));
        assert!(!log.lines().contains("started next"), "{}", log.lines());
    }
    assert_eq!(finished(timed(grid()).without_journal().start(false).await.unwrap()).len(), 1);
}
