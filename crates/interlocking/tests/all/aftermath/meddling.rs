//! Events while a record is written: an answer that comes while its question is being recorded, a message to a sibling.

use super::*;

#[tokio::test(start_paused = true)]
async fn an_answer_that_comes_while_the_question_is_being_recorded_is_one() {
    let (diary, journal) = (Diary::default(), Arc::new(Meddling { inner: MemoryJournal::new(), answers: true }));
    let run = bureau(&diary, &journal).with_wait_for_people().start(1);
    let report = tokio::time::timeout(std::time::Duration::from_secs(1), run).await.expect("it was answered");
    assert_eq!(finished(report.unwrap()).rounds, 1);
}

/// A journal that records the start of the listening child slowly, and answers each question that it has recorded.
struct Meddling {
    inner: MemoryJournal,
    answers: bool,
}

#[async_trait]
impl Journal for Meddling {
    fn outlives_its_process(&self) -> bool {
        false
    }

    async fn append(&self, record: Record) -> Result<(), JournalError> {
        if matches!(&record.entry, Entry::Started { input, .. } if *input == RecordedPayload::from("false")) {
            pass(20).await;
        }
        let asked = matches!(&record.entry, Entry::Asked { .. });
        self.inner.append(record).await?;
        if asked && self.answers {
            self.inner.post(&id("bureau"), answer(1, "true")).await?;
            pass(20).await;
        }
        Ok(())
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

#[tokio::test(start_paused = true)]
async fn a_run_is_a_sibling_when_it_can_be_written_to() {
    let journal = Arc::new(Meddling { inner: MemoryJournal::new(), answers: false });
    let run = timed(Pair { both: MapNode(Both) }).with_journal(journal.clone());
    assert_eq!(finished(run.start(2).await.unwrap()), [true, true]);
}
