//! A journal whose appends are points at which the process can die, that can be full, and that notifies people of questions.

use crate::gazette::Question;
use crate::kill_switch::KillSwitch;
use crate::people::People;
use crate::room::WriteLimit;
use async_trait::async_trait;
use interlocking::prelude::RunId;
use interlocking::runtime::Journal;
use interlocking::runtime::journal::{Claim, Digest, Encoded, Entry, JournalError, Letter, Posted, Record, RunSummary};
use std::sync::Arc;

/// The journal, wrapped around another.
pub struct Watched {
    inner: Arc<dyn Journal>,
    kill_switch: KillSwitch,
    write_limit: WriteLimit,
    /// The people who are notified of every question, if they are there.
    people: Option<People>,
}

impl Watched {
    /// Wraps `inner`.
    pub fn new(
        inner: Arc<dyn Journal>,
        kill_switch: KillSwitch,
        write_limit: WriteLimit,
        people: Option<People>,
    ) -> Self {
        Self { inner, kill_switch, write_limit, people }
    }
}

#[async_trait]
impl Journal for Watched {
    fn outlives_its_process(&self) -> bool {
        self.inner.outlives_its_process()
    }

    async fn append(&self, record: Record) -> Result<(), JournalError> {
        let asked = match &record.entry {
            Entry::Asked { by, question, .. } => {
                let question = question.json().and_then(|text| serde_json::from_str(text).ok());
                question.map(|question: Question| (record.run.clone(), by.clone(), question))
            }
            _ => None,
        };
        self.kill_switch.pass();
        self.write_limit.admit()?;
        self.inner.append(record).await?;
        self.kill_switch.pass();
        if let (Some((run, by, question)), Some(people)) = (asked, &self.people) {
            people.hear(run, by, question);
        }
        Ok(())
    }

    async fn post(&self, run: &RunId, letter: Letter) -> Result<u64, JournalError> {
        self.kill_switch.pass();
        self.write_limit.admit()?;
        let number = self.inner.post(run, letter).await?;
        self.kill_switch.pass();
        Ok(number)
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
