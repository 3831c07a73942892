//! Journals that fail for a while: a journal error is never a node's result. The tree of runs stops, and goes on from there
//! once the journal works again, whatever failures the handlers tolerate.

use crate::support::{Log, finished, pass, timed};
use async_trait::async_trait;
use interlocking::prelude::*;
use interlocking::run_id::RunId;
use interlocking::runtime::journal::{
    Claim, Digest, Encoded, Entry, JournalError, Letter, Posted, Record, RecordedPayload, RunSummary,
};
use interlocking::runtime::{CancelToken, Journal, MemoryJournal, Outcome};
use std::sync::{Arc, Mutex};

#[derive(Graph)]
#[graph(output = u32)]
struct Part {
    #[node(entry, input = u32, goto(exit))]
    make: LogicNode<Make>,
}

/// The work of the nodes, and whether they ignore failures of their journal and go on.
#[derive(Clone, Default)]
struct Shop {
    done: Arc<Mutex<Vec<String>>>,
    tolerates: bool,
}

impl Shop {
    fn does(&self, what: impl Into<String>) {
        self.done.lock().unwrap().push(what.into());
    }

    fn done(&self) -> Vec<String> {
        let mut done = self.done.lock().unwrap().clone();
        done.sort();
        done
    }
}

logic!(Make(shop: Shop) for part::make, |number: u32, cx| {
    pass(u64::from(number) * 10).await;
    shop.does(format!("part {number}"));
    goto!(cx, part::exit, number)
});

#[derive(Graph)]
#[graph(output = Vec<String>)]
struct Whole {
    #[node(entry, input = Vec<u32>, map = Part, goto(deliver))]
    parts: MapNode<Parts>,
    #[node(input = Vec<String>, goto(exit))]
    deliver: LogicNode<Deliver>,
}

held!(Part, Whole);

struct Parts(Shop);
impl MapHandler<whole::parts> for Parts {
    fn graph(&self, _: &Cx<'_, whole::parts>) -> Result<Arc<Part>, NodeError> {
        Ok(Arc::new(Part { make: LogicNode(Make(self.0.clone())) }))
    }
    async fn items(&self, numbers: &Vec<u32>, _: &mut Cx<'_, whole::parts>) -> Result<Vec<Item<Part>>, NodeError> {
        Ok(numbers.iter().copied().map(Item::new).collect())
    }
    /// Tolerates every failure.
    async fn gather(
        &self,
        _: Vec<u32>,
        children: Children<Part>,
        cx: &mut Cx<'_, whole::parts>,
    ) -> Route<whole::parts> {
        let told = children.all().await.into_iter().map(|child| match child.result {
            Ok(number) => number.to_string(),
            Err(error) => format!("failed: {error}"),
        });
        goto!(cx, whole::deliver, told.collect())
    }
}

logic!(Deliver(shop: Shop) for whole::deliver, |parts: Vec<String>, cx| {
    let sent = cx.once("send", async {
        shop.does("delivery");
        Ok(true)
    });
    match sent.await {
        Err(_) if shop.tolerates => goto!(cx, whole::exit, vec!["nobody knows whether it was sent".to_owned()]),
        Err(error) => Err(error),
        Ok(_) => goto!(cx, whole::exit, parts),
    }
});

fn whole(shop: &Shop, journal: &Arc<Faltering>) -> Run<Whole> {
    let graph = Whole { parts: MapNode(Parts(shop.clone())), deliver: LogicNode(Deliver(shop.clone())) };
    timed(graph).with_journal(journal.clone())
}

type Refuses<T> = Mutex<Option<Box<dyn Fn(&T) -> bool + Send>>>;

/// A journal that refuses some records as if it were full, and cannot read some runs, while it is ill.
#[derive(Default)]
pub(crate) struct Faltering {
    inner: MemoryJournal,
    no_room: Refuses<Record>,
    unreadable: Refuses<RunId>,
    /// Whether payloads of children are changed after they were recorded.
    is_doctored: Mutex<bool>,
}

impl Faltering {
    pub(crate) fn has_no_room(self: Arc<Self>, refuses: impl Fn(&Record) -> bool + Send + 'static) -> Arc<Self> {
        *self.no_room.lock().unwrap() = Some(Box::new(refuses));
        self
    }

    pub(crate) fn is_well_again(&self) {
        *self.no_room.lock().unwrap() = None;
        *self.unreadable.lock().unwrap() = None;
        *self.is_doctored.lock().unwrap() = false;
    }

    /// The runs whose end is recorded.
    async fn ended(&self) -> Vec<RunId> {
        let runs = self.inner.runs().await.unwrap();
        runs.into_iter().filter(|summary| summary.ended.is_some()).map(|summary| summary.run).collect()
    }
}

fn root() -> RunId {
    "run".parse().unwrap()
}

#[async_trait]
impl Journal for Faltering {
    fn outlives_its_process(&self) -> bool {
        false
    }

    async fn claim(&self, run: &RunId) -> Result<Claim, JournalError> {
        self.inner.claim(run).await
    }

    async fn append(&self, record: Record) -> Result<(), JournalError> {
        let is_refused = self.no_room.lock().unwrap().as_ref().is_some_and(|refuses| refuses(&record));
        if is_refused {
            return Err(JournalError::Full { place: "the disk".to_owned() });
        }
        self.inner.append(record).await
    }

    async fn load(&self, run: &RunId) -> Result<Vec<Record>, JournalError> {
        let is_unreadable = self.unreadable.lock().unwrap().as_ref().is_some_and(|refuses| refuses(run));
        if is_unreadable {
            return Err(JournalError::Storage { reason: "the disk does not answer".to_owned() });
        }
        let mut records = self.inner.load(run).await?;
        if *self.is_doctored.lock().unwrap()
            && *run != root()
            && let Some(Record { entry: Entry::Started { input, .. }, .. }) = records.first_mut()
        {
            *input = RecordedPayload::from("\"no number\"");
        }
        Ok(records)
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

const ALL: [&str; 4] = ["delivery", "part 1", "part 2", "part 3"];

/// Runs until the journal fails, and resumes once it works again; gives the work of the nodes up to the failure.
async fn falters(shop: &Shop, journal: &Arc<Faltering>) -> Vec<String> {
    let log = Log::new();
    let report = whole(shop, journal).with_events(log.sink()).start(vec![1, 2, 3]).await.unwrap();
    assert_eq!(report.outcome.name(), "journal_failed", "{:?}", report.outcome);
    assert!(!journal.ended().await.contains(&root()), "it can be resumed");
    assert!(log.lines().contains("ended journal_failed"), "{}", log.lines());
    assert!(!log.lines().contains(" failed "), "no node has failed: {}", log.lines());
    let done = shop.done();
    journal.is_well_again();
    let report = whole(shop, journal).resume().await.unwrap();
    assert_eq!(finished(report), ["1", "2", "3"]);
    done
}

/// A child whose outcome, start or end cannot be recorded has not failed, whatever its parent tolerates.
#[tokio::test(start_paused = true)]
async fn a_childs_record_that_is_refused_is_no_result_of_the_child() {
    for (refused, again) in [("outcome", vec!["part 1"]), ("started", vec![]), ("ended", vec![])] {
        let shop = Shop::default();
        let journal = Arc::<Faltering>::default().has_no_room(move |record| {
            let entry = match record.entry {
                Entry::Outcome(_) => "outcome",
                Entry::Started { .. } => "started",
                Entry::Ended { .. } => "ended",
                _ => "",
            };
            record.run != root() && entry == refused
        });
        falters(&shop, &journal).await;
        // Work that was done and not recorded is repeated, and nothing else.
        let mut expected: Vec<_> = ALL.into_iter().chain(again).collect();
        expected.sort_unstable();
        assert_eq!(shop.done(), expected, "{refused}");
        assert_eq!(journal.ended().await.len(), 4, "{refused}");
    }
}

/// If a result of `once` cannot be recorded, its node does not fail, nor does the run go on without the result.
#[tokio::test(start_paused = true)]
async fn an_effect_that_cannot_be_recorded_is_no_failure_of_its_node() {
    for tolerates in [false, true] {
        let shop = Shop { tolerates, ..Shop::default() };
        let journal = Arc::<Faltering>::default().has_no_room(|record| matches!(record.entry, Entry::Once { .. }));
        let before = falters(&shop, &journal).await;
        assert_eq!(before, ALL);
        assert_eq!(
            shop.done(),
            ["delivery", "delivery", "part 1", "part 2", "part 3"],
            "there is no record of the first"
        );
    }
}

/// After an outcome or an end that was not recorded, nothing more of the run is recorded.
#[tokio::test(start_paused = true)]
async fn nothing_is_recorded_of_a_run_after_its_journal_has_failed() {
    for refused in 1..=4 {
        let shop = Shop::default();
        // Only this record is refused: the journal would accept the next one.
        let refuses = Mutex::new(true);
        let journal = Arc::<Faltering>::default().has_no_room(move |record| {
            record.run == root() && record.sequence == refused && std::mem::take(&mut *refuses.lock().unwrap())
        });
        falters(&shop, &journal).await;
        // Only the effect whose record was refused is repeated.
        let mut expected = ALL.to_vec();
        expected.extend((refused == 2).then_some("delivery"));
        expected.sort_unstable();
        assert_eq!(shop.done(), expected, "{refused}");
    }
}

/// Once the journal has refused a record of one child, no other child begins, although its records would be accepted.
#[tokio::test(start_paused = true)]
async fn no_child_begins_when_the_journal_has_failed_its_sibling() {
    let shop = Shop::default();
    let refuses = Mutex::new(true);
    let journal = Arc::<Faltering>::default()
        .has_no_room(move |record| record.run != root() && std::mem::take(&mut *refuses.lock().unwrap()));
    let report = whole(&shop, &journal).start(vec![1, 2, 3]).await.unwrap();
    assert_eq!(report.outcome.name(), "journal_failed", "{:?}", report.outcome);
    let runs: Vec<RunId> = journal.runs().await.unwrap().into_iter().map(|summary| summary.run).collect();
    assert_eq!(runs, [root()]);
    assert_eq!(finished(whole(&shop, &journal).resume().await.unwrap()), ["1", "2", "3"]);
    assert_eq!(shop.done(), ALL);
}

/// A child that cannot be read back, or whose records cannot be parsed, has not failed.
#[tokio::test(start_paused = true)]
async fn a_child_that_cannot_be_read_back_is_no_result() {
    for doctored in [false, true] {
        let (shop, journal) = (Shop::default(), Arc::<Faltering>::default());
        let cancel = CancelToken::new();
        let (run, stop) = (whole(&shop, &journal).with_cancel(cancel.clone()).start(vec![1, 2, 3]), async {
            pass(15).await;
            cancel.suspend();
        });
        let (report, ()) = tokio::join!(run, stop);
        assert_eq!(report.unwrap().outcome, Outcome::Suspended);
        *journal.is_doctored.lock().unwrap() = doctored;
        if !doctored {
            // The earlier usage is read first.
            let read = Mutex::new(Vec::new());
            *journal.unreadable.lock().unwrap() = Some(Box::new(move |run| {
                let mut read = read.lock().unwrap();
                let is_refused = read.contains(run) && *run != root();
                read.push(run.clone());
                is_refused
            }));
        }
        let report = whole(&shop, &journal).resume().await.unwrap();
        assert_eq!(report.outcome.name(), "journal_failed", "{:?}", report.outcome);
        journal.is_well_again();
        assert_eq!(finished(whole(&shop, &journal).resume().await.unwrap()), ["1", "2", "3"]);
        assert_eq!(shop.done(), ALL, "{doctored}");
    }
}
