//! Routing reads envelopes, not payloads: a run can be followed, described and forked with a store that returns no
//! payloads.

use crate::support::{finished, timed};
use async_trait::async_trait;
use interlocking::prelude::*;
use interlocking::runtime::journal::account::{ExecutionState, account};
use interlocking::runtime::journal::fork::{ForkPoint, fork};
use interlocking::runtime::journal::{
    Claim, Digest, Encoded, Entry, JournalError, Letter, Posted, Record, RecordedPayload, RunSummary,
};
use interlocking::runtime::{Journal, MemoryJournal};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Parcel {
    from: String,
    round: u32,
}

/// A fork with a choice, a latched join, a loop.
#[derive(Graph)]
#[graph(output = Vec<Parcel>)]
struct Depot {
    #[node(entry, input = u32, fork(road, rail | hall.rail))]
    sort: ForkNode<Sort>,
    #[node(input = Parcel, goto(hall), visits = 4)]
    road: LogicNode<Road>,
    #[node(input = Parcel, goto(hall))]
    rail: LogicNode<Rail>,
    #[node(join(road: Parcel from(road), rail: Parcel from(rail, sort) latched), goto(desk))]
    hall: JoinNode<Hall>,
    #[node(input = Vec<Parcel>, goto(road, exit))]
    desk: LogicNode<Desk>,
}

held!(Depot);

fn parcel(from: &str, round: u32) -> Parcel {
    Parcel { from: from.to_owned(), round }
}

forks!(Sort for depot::sort, |_: u32, cx| fork!(cx, (parcel("sort", 1), cx.branch::<depot::rail>(parcel("sort", 1)))));
logic!(Road for depot::road, |got: Parcel, cx| goto!(cx, depot::hall, parcel("road", got.round)));
logic!(Rail for depot::rail, |got: Parcel, cx| goto!(cx, depot::hall, parcel("rail", got.round)));
joins!(Hall for depot::hall, |(road, rail): (Parcel, Parcel), cx| goto!(cx, depot::desk, vec![road, rail]));
logic!(Desk for depot::desk, |parcels: Vec<Parcel>, cx| match cx.visit() {
    3 => goto!(cx, depot::exit, parcels),
    visit => goto!(cx, depot::road, parcel("desk", visit + 1)),
});

fn depot(journal: &Arc<Sealed>) -> Run<Depot> {
    let graph = Depot {
        sort: ForkNode(Sort),
        road: LogicNode(Road),
        rail: LogicNode(Rail),
        hall: JoinNode(Hall),
        desk: LogicNode(Desk),
    };
    timed(graph).with_id(id("depot")).with_journal(journal.clone())
}

fn id(name: &str) -> RunId {
    name.parse().unwrap()
}

/// A journal that replaces every payload by a name, and panics when a payload is requested that is not in `open`.
#[derive(Default)]
struct Sealed {
    inner: MemoryJournal,
    /// The payloads, by the number in their name.
    texts: Mutex<Vec<Encoded>>,
    open: BTreeSet<Digest>,
    asked: Mutex<BTreeSet<Digest>>,
}

impl Sealed {
    /// Replaces the payload by its name.
    fn name(&self, payload: &mut RecordedPayload) {
        if let RecordedPayload::Json(text) = payload {
            let mut texts = self.texts.lock().unwrap();
            let mut bytes = [0; 32];
            bytes[0] = u8::try_from(texts.len()).unwrap();
            texts.push(text.clone());
            *payload = RecordedPayload::Stored(Digest::from_bytes(bytes));
        }
    }

    fn text(&self, digest: &Digest) -> Encoded {
        self.texts.lock().unwrap()[usize::from(digest.as_bytes()[0])].clone()
    }

    fn records(&self) -> Vec<Record> {
        self.inner.records(&id("depot"))
    }

    /// A journal with the first `count` records that returns the payloads in `open`.
    async fn cut(&self, count: usize, open: BTreeSet<Digest>) -> Arc<Self> {
        let texts = Mutex::new(self.texts.lock().unwrap().clone());
        let cut = Self { inner: MemoryJournal::new(), texts, open, asked: Mutex::default() };
        for record in self.records().into_iter().take(count) {
            cut.inner.append(record).await.unwrap();
        }
        Arc::new(cut)
    }
}

#[async_trait]
impl Journal for Sealed {
    fn outlives_its_process(&self) -> bool {
        false
    }

    async fn append(&self, mut record: Record) -> Result<(), JournalError> {
        match &mut record.entry {
            Entry::Started { input, .. } => self.name(input),
            Entry::Outcome(outcome) => outcome.tokens.iter_mut().for_each(|token| self.name(&mut token.payload)),
            Entry::Ended { output, .. } => output.iter_mut().for_each(|output| self.name(output)),
            _ => {}
        }
        self.inner.append(record).await
    }

    async fn fetch(&self, _: &RunId, digests: &[Digest]) -> Result<Vec<Encoded>, JournalError> {
        let sealed: Vec<_> = digests.iter().filter(|digest| !self.open.contains(digest)).collect();
        assert!(
            sealed.is_empty(),
            "nobody may read {:?}",
            sealed.into_iter().map(|it| self.text(it)).collect::<Vec<_>>()
        );
        self.asked.lock().unwrap().extend(digests);
        Ok(digests.iter().map(|digest| self.text(digest)).collect())
    }

    async fn claim(&self, run: &RunId) -> Result<Claim, JournalError> {
        self.inner.claim(run).await
    }

    async fn load(&self, run: &RunId) -> Result<Vec<Record>, JournalError> {
        self.inner.load(run).await
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

/// A run that has ended, in a journal that has returned no payload.
async fn whole() -> Arc<Sealed> {
    let journal = Arc::new(Sealed::default());
    let report = depot(&journal).start(1).await.unwrap();
    assert_eq!(finished(report), [parcel("road", 3), parcel("rail", 1)]);
    let records = journal.records();
    let tokens = records.iter().filter_map(|record| match &record.entry {
        Entry::Outcome(outcome) => Some(&outcome.tokens),
        _ => None,
    });
    assert!(tokens.flatten().all(|token| token.payload.json().is_none()), "{records:#?}");
    journal
}

/// V3-145: forks, joins, loops and the exit are routed by what the records say of places, while the store panics when a
/// payload is requested. The same holds when the run is reconstructed from the records: its state, the route it has taken,
/// the executions under way; and for a fork at any point.
#[tokio::test(start_paused = true)]
async fn routing_works_with_a_store_that_gives_nothing_back() {
    let whole = whole().await;
    let count = whole.records().len();
    let mut stood = Vec::new();
    for count in 1..count {
        let cut = whole.cut(count, BTreeSet::new()).await;
        let account = account(&*cut, &id("depot")).await.unwrap();
        assert_eq!(account.problem, None);
        let executions = account.executions.iter();
        let under_way = executions.filter(|execution| execution.state == ExecutionState::Interrupted);
        let names: Vec<_> = under_way.map(|it| format!("{} {}", it.by.node, it.by.visit)).collect();
        stood.push(names.join(", "));
        let forked = fork(&*cut, &id("depot"), &ForkPoint::End, &id("other")).await.unwrap();
        assert_eq!(forked.records, count as u64);
        assert_eq!(cut.inner.records(&id("other")).len(), count);
    }
    assert_eq!(
        stood,
        [
            "sort 1",
            "road 1, rail 1",
            "rail 1",
            "hall 1",
            "desk 1",
            "road 2",
            "hall 2",
            "desk 2",
            "road 3",
            "hall 3",
            "desk 3",
            ""
        ]
    );
}

/// V3-145: a resumed run loads the payloads that its nodes can still take or ask for: the latest one of each place.
/// Superseded payloads are not read.
#[tokio::test(start_paused = true)]
async fn a_run_that_goes_on_loads_what_its_nodes_may_take_and_no_more() {
    let whole = whole().await;
    let records = whole.records();
    for count in 1..records.len() {
        let (mut latest, mut named) = (BTreeMap::new(), 0);
        for record in &records[..count] {
            match &record.entry {
                Entry::Started { input: RecordedPayload::Stored(digest), .. } => {
                    latest.insert("the entry value", *digest);
                    named += 1;
                }
                Entry::Outcome(outcome) => {
                    for token in &outcome.tokens {
                        let RecordedPayload::Stored(digest) = &token.payload else { panic!("{token:?}") };
                        latest.insert(&token.place, *digest);
                        named += 1;
                    }
                }
                _ => {}
            }
        }
        let open: BTreeSet<_> = latest.into_values().collect();
        assert!(named >= open.len() && (named > open.len()) == (count > 5), "{named} payloads, {} held", open.len());
        let cut = whole.cut(count, open.clone()).await;
        let report = depot(&cut).resume().await.unwrap();
        assert_eq!(finished(report), [parcel("road", 3), parcel("rail", 1)], "after {count} records");
        assert_eq!(*cut.asked.lock().unwrap(), open, "after {count} records");
    }
}

/// So a run that has ended does not depend on the payloads that it had on its way.
#[tokio::test(start_paused = true)]
async fn a_run_that_has_ended_loads_its_output_and_no_more() {
    let whole = whole().await;
    let records = whole.records();
    let tokens = records.iter().filter_map(|record| match &record.entry {
        Entry::Outcome(outcome) => outcome.tokens.iter().find(|token| token.place == "exit"),
        _ => None,
    });
    let [RecordedPayload::Stored(exit)] = tokens.map(|token| token.payload.clone()).collect::<Vec<_>>()[..] else {
        panic!("{records:#?}")
    };
    let cut = whole.cut(records.len(), BTreeSet::from([exit])).await;
    assert_eq!(finished(depot(&cut).resume().await.unwrap()), [parcel("road", 3), parcel("rail", 1)]);
}
