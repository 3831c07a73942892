//! A journal that breaks as planned, and that posts people's answers to questions.

use crate::world::{LogEvent, World};
use crate::{
    mix::{mix, mix_text},
    numbers::answer,
};
use async_trait::async_trait;
use interlocking_core::run_id::RunId;
use interlocking_reference_model::generate::Dice;
use interlocking_runtime::journal::{
    By, Claim, Digest, Encoded, Entry, Journal, JournalError, Letter, LetterBody, MemoryJournal, NodeOutcome, Posted,
    Record, RecordedPayload, RunSummary,
};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::AbortHandle;

/// The SHA-256 of `null`.
const NULL: &str = "sha256:74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b";

/// How the journal breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It refuses the record, and all later records.
    Refuses,
    /// It refuses this many records, and takes later ones, like a disk that is full for a moment.
    RefusesAWhile(u32),
    /// The process ends before the record is written.
    EndsBefore,
    /// The process ends after the record is written, before the write is acknowledged.
    EndsAfter,
}

/// A journal in memory with faults.
pub(crate) struct FaultyJournal {
    pub(crate) kept: MemoryJournal,
    world: Arc<World>,
    root: RunId,
    /// Whether payloads are returned by digest.
    by_name: bool,
    /// The most milliseconds that writing a record takes.
    slow: u64,
    state: Mutex<State>,
    /// Notified when the process ends.
    pub(crate) ended: Notify,
    /// Notified when an answer was posted.
    pub(crate) answered: Notify,
    itself: std::sync::Weak<Self>,
}

#[derive(Default)]
struct State {
    /// How many more records the journal takes before it breaks, and how it breaks.
    fault: Option<(u64, Fault)>,
    refuses: bool,
    /// How many records it has refused since the fault was set.
    refused: u32,
    /// Whether the present executor has begun to write, and whether it has left. Before and after, records come from
    /// tasks that an earlier executor left behind.
    is_at_work: bool,
    has_left: bool,
    /// Whether it has refused a record of the present executor after that had begun to write.
    has_refused: bool,
    /// Questions that are not answered yet.
    open: BTreeMap<(RunId, By), ()>,
    tasks: Vec<AbortHandle>,
    texts: HashMap<Digest, Encoded>,
}

impl FaultyJournal {
    pub(crate) fn new(world: Arc<World>, root: RunId, by_name: bool, slow: u64) -> Arc<Self> {
        Arc::new_cyclic(|itself| Self {
            kept: MemoryJournal::new(),
            world,
            root,
            by_name,
            slow,
            state: Mutex::default(),
            ended: Notify::new(),
            answered: Notify::new(),
            itself: itself.clone(),
        })
    }

    /// Sets the fault for a new executor: the journal works until it has taken that many more records.
    pub(crate) fn set_fault(&self, fault: Option<(u64, Fault)>) {
        let mut state = self.lock();
        (state.fault, state.refuses, state.refused) = (fault, false, 0);
        (state.is_at_work, state.has_left, state.has_refused) = (false, false, false);
    }

    /// Marks the present executor as ended or interrupted: later records are late.
    pub(crate) fn executor_leaves(&self) {
        let mut state = self.lock();
        (state.is_at_work, state.has_left) = (false, true);
    }

    /// Lets people answer all open questions. Must be called inside a runtime.
    pub(crate) fn start_answering(&self) {
        let open: Vec<_> = self.lock().open.keys().cloned().collect();
        open.into_iter().for_each(|(run, by)| self.ask(run, by));
    }

    /// Stops all answers.
    pub(crate) fn stop_answering(&self) {
        self.lock().tasks.drain(..).for_each(|task| task.abort());
    }

    fn ask(&self, run: RunId, by: By) {
        let Some(journal) = self.itself.upgrade() else { return };
        let answer = answer(self.world.seed, &run, &by);
        let mut dice = Dice::new(answer);
        let delay = Duration::from_millis(dice.below(3_000) as u64);
        let twice = dice.percent(15);
        let task = tokio::spawn(async move {
            tokio::time::sleep(delay).await;
            for answer in [Some(answer), twice.then_some(answer + 1)].into_iter().flatten() {
                let body = LetterBody::Answer { to: by.clone(), answer: answer.to_string().into() };
                if journal.kept.post(&run, Letter { key: None, body }).await.is_ok() {
                    journal.world.log(LogEvent::Harness(format!("{by} of {run} is answered {answer}")));
                }
            }
            journal.lock().open.remove(&(run, by));
            journal.answered.notify_one();
        });
        self.lock().tasks.push(task.abort_handle());
    }

    async fn keep(&self, record: Record) -> Result<(), JournalError> {
        let asked = match &record.entry {
            Entry::Asked { by, .. } => Some((record.run.clone(), by.clone())),
            _ => None,
        };
        let is_retried = matches!(record.entry, Entry::Retried { .. });
        let (run, sequence) = (record.run.clone(), record.sequence);
        self.kept.append(record).await?;
        if is_retried {
            self.world.retried(&run);
        }
        self.world.log(LogEvent::Kept { run, sequence });
        if let Some((run, by)) = asked {
            self.lock().open.insert((run.clone(), by.clone()), ());
            self.ask(run, by);
        }
        Ok(())
    }

    /// Whether a record is by the present executor, and whether an earlier record of this executor was refused.
    ///
    /// An executor writes first for its root, or for the children that it retries with the root. Until then it waits
    /// for tasks that an earlier executor left behind in the same process.
    fn executor_writes(&self, record: &Record) -> (bool, bool) {
        let mut state = self.lock();
        let is_first = record.run == self.root || matches!(record.entry, Entry::Retried { .. });
        state.is_at_work |= is_first && !state.has_left;
        (state.is_at_work, state.has_refused)
    }

    /// The fault that the next record meets, if any.
    fn fate(&self) -> Option<Fault> {
        let mut state = self.lock();
        if state.refuses {
            return Some(Fault::Refuses);
        }
        let (left, fault) = state.fault.as_mut()?;
        if *left > 0 {
            *left -= 1;
            return None;
        }
        let fault = *fault;
        match fault {
            Fault::RefusesAWhile(many) if state.refused >= many => return None,
            Fault::RefusesAWhile(_) => state.refused += 1,
            _ => state.refuses = true,
        }
        Some(fault)
    }

    fn name(&self, payload: &mut RecordedPayload) {
        if let RecordedPayload::Json(text) = payload {
            let digest = digest(text);
            self.lock().texts.insert(digest, text.clone());
            *payload = RecordedPayload::Stored(digest);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The digest of a payload; that of `null` is fixed.
fn digest(text: &str) -> Digest {
    if text == "null" {
        return NULL.parse().expect("a digest");
    }
    let hash = mix_text(text);
    let mut bytes = [0; 32];
    for (nth, chunk) in bytes.chunks_exact_mut(8).enumerate() {
        chunk.copy_from_slice(&mix(&[hash, nth as u64]).to_le_bytes());
    }
    Digest::from_bytes(bytes)
}

/// Sorts by name: the order of starts depends on the wall clock, and differs each time.
fn in_order(mut runs: Vec<RunSummary>) -> Vec<RunSummary> {
    runs.sort_by(|one, other| one.run.cmp(&other.run));
    runs
}

/// The payloads of an entry.
fn payloads(entry: &mut Entry) -> Vec<&mut RecordedPayload> {
    match entry {
        Entry::Started { input: payload, .. }
        | Entry::Once { value: payload, .. }
        | Entry::Answered { answer: payload, .. }
        | Entry::Received { message: payload, .. } => vec![payload],
        Entry::Asked { question, schema, .. } => vec![question, schema],
        Entry::Report { report, memory, posted, .. } => {
            let others = posted.iter_mut().map(|message| &mut message.message);
            report.iter_mut().chain(others).chain(memory.iter_mut().map(|memory| &mut memory.value)).collect()
        }
        Entry::Ended { output, .. } => output.iter_mut().collect(),
        Entry::Outcome(NodeOutcome { tokens, spawned, posted, memory, added, .. }) => {
            let tokens = tokens.iter_mut().chain(spawned).map(|token| &mut token.payload);
            let others = posted.iter_mut().map(|message| &mut message.message);
            let items = added.iter_mut().flat_map(|added| &mut added.items).map(|item| &mut item.entry);
            tokens.chain(others).chain(memory.iter_mut().map(|memory| &mut memory.value)).chain(items).collect()
        }
        Entry::Resumed { .. }
        | Entry::Retried { .. }
        | Entry::Session { .. }
        | Entry::Spent { .. }
        | Entry::Landed { .. }
        | Entry::Decided { .. } => Vec::new(),
        other => panic!("the simulation does not know this entry: {other:?}"),
    }
}

#[async_trait]
impl Journal for FaultyJournal {
    fn outlives_its_process(&self) -> bool {
        self.kept.outlives_its_process()
    }

    async fn claim(&self, run: &RunId) -> Result<Claim, JournalError> {
        self.kept.claim(run).await
    }

    async fn append(&self, record: Record) -> Result<(), JournalError> {
        let (run, sequence) = (record.run.clone(), record.sequence);
        let (is_at_work, has_refused) = self.executor_writes(&record);
        if self.slow > 0 {
            let delay = mix(&[self.world.seed, mix_text(run.as_str()), sequence]) % (self.slow + 1);
            tokio::time::sleep(Duration::from_millis(delay)).await;
        }
        match self.fate() {
            None => {}
            Some(Fault::Refuses | Fault::RefusesAWhile(_)) => {
                let left_behind = !(is_at_work && self.lock().is_at_work);
                self.lock().has_refused |= !left_behind;
                self.world.log(LogEvent::Refused { run, sequence, left_behind });
                return Err(JournalError::Storage { reason: "it was to refuse".to_owned() });
            }
            Some(fault) => {
                if fault == Fault::EndsAfter {
                    // If the record is out of order, because it is by an executor that was dropped, nothing is written.
                    drop(self.keep(record).await);
                }
                self.ended.notify_one();
                std::future::pending::<()>().await;
                unreachable!("nobody is told");
            }
        }
        self.keep(record).await?;
        if has_refused {
            self.world.log(LogEvent::KeptAfterRefusal { run: run.clone(), sequence });
        }
        self.world.log(LogEvent::Acknowledged { run, sequence });
        Ok(())
    }

    async fn load(&self, run: &RunId) -> Result<Vec<Record>, JournalError> {
        let mut records = self.kept.load(run).await?;
        if let Some(lie) = self.world.lie {
            lie(&mut records);
        }
        if self.by_name {
            records.iter_mut().flat_map(|record| payloads(&mut record.entry)).for_each(|payload| self.name(payload));
        }
        Ok(records)
    }

    async fn fetch(&self, run: &RunId, digests: &[Digest]) -> Result<Vec<Encoded>, JournalError> {
        let missing = |digest: &Digest| JournalError::PayloadMissing {
            place: "the journal".to_owned(),
            digest: *digest,
            what: format!("run `{run}`"),
        };
        let state = self.lock();
        digests.iter().map(|digest| state.texts.get(digest).cloned().ok_or_else(|| missing(digest))).collect()
    }

    async fn runs(&self) -> Result<Vec<RunSummary>, JournalError> {
        Ok(in_order(self.kept.runs().await?))
    }

    async fn children(&self, run: &RunId) -> Result<Vec<RunSummary>, JournalError> {
        Ok(in_order(self.kept.children(run).await?))
    }

    async fn post(&self, run: &RunId, letter: Letter) -> Result<u64, JournalError> {
        self.kept.post(run, letter).await
    }

    async fn next_letter(&self, run: &RunId, after: u64) -> Result<Posted, JournalError> {
        self.kept.next_letter(run, after).await
    }

    async fn letters(&self, run: &RunId, after: u64) -> Result<Vec<Posted>, JournalError> {
        self.kept.letters(run, after).await
    }

    async fn remove(&self, run: &RunId) -> Result<(), JournalError> {
        self.kept.remove(run).await
    }
}
