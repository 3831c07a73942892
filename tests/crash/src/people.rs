//! The people who answer questions and send messages from outside.

use crate::gazette::{News, Part, Question, Verdict};
use interlocking::prelude::{NodeError, RunId};
use interlocking::runtime::Journal;
use interlocking::runtime::journal::{By, Encoded, Entry, JournalError, Letter, LetterBody, RecordedPayload};
use std::sync::Arc;

/// People with access to a journal.
#[derive(Clone)]
pub struct People(Arc<dyn Journal>);

impl People {
    /// People who write to the runs in `journal`.
    pub fn new(journal: Arc<dyn Journal>) -> Self {
        Self(journal)
    }

    /// Responds to a question in a task of its own.
    pub fn hear(&self, run: RunId, by: By, question: Question) {
        let this = self.clone();
        tokio::spawn(async move {
            if let Err(error) = this.respond(&run, &by, &question).await {
                // No code awaits this task. Without the answer the run would wait for ever.
                std::panic::panic_any(format!("no answer to {by} of {run}: {error}"));
            }
        });
    }

    /// Responds to a question: with messages, an answer, both, or nothing. A repeated response changes
    /// nothing.
    ///
    /// # Errors
    ///
    /// If the journal fails.
    pub async fn respond(&self, run: &RunId, by: &By, question: &Question) -> Result<(), NodeError> {
        match (by.node.as_str(), question.part) {
            ("approve", Part::Root) => {
                if by.visit == 1 {
                    for text in ["one", "two"] {
                        self.message(run, &News::Noise(text.to_owned())).await?;
                    }
                }
                self.answer(run, by, &Verdict { good: false }).await
            }
            ("approve", _) => self.answer(run, by, &Verdict { good: true }).await,
            ("embargo", Part::Root) => self.message(run, &News::Release("from outside".to_owned())).await,
            _ => Ok(()),
        }
    }

    /// Responds to every question in the journal that has no response yet.
    ///
    /// # Errors
    ///
    /// If the journal fails.
    pub async fn catch_up(&self) -> Result<(), NodeError> {
        for summary in self.0.runs().await? {
            for record in self.0.load(&summary.run).await? {
                let Entry::Asked { by, question, .. } = record.entry else { continue };
                let text = match question {
                    RecordedPayload::Json(text) => text,
                    RecordedPayload::Stored(digest) => self.0.fetch(&summary.run, &[digest]).await?.remove(0),
                };
                self.respond(&summary.run, &by, &serde_json::from_str(&text)?).await?;
            }
        }
        Ok(())
    }

    /// Answers a question, once.
    ///
    /// # Errors
    ///
    /// If the journal fails.
    pub async fn answer(&self, run: &RunId, by: &By, verdict: &Verdict) -> Result<(), NodeError> {
        let answer: Encoded = serde_json::to_string(verdict)?.into();
        let body = LetterBody::Answer { to: by.clone(), answer };
        self.post(run, Letter { key: Some(format!("answer to {by}")), body }).await
    }

    async fn message(&self, run: &RunId, news: &News) -> Result<(), NodeError> {
        let message: Encoded = serde_json::to_string(news)?.into();
        let key = Some(format!("message {message}"));
        self.post(run, Letter { key, body: LetterBody::Message { node: "wire".to_owned(), message } }).await
    }

    async fn post(&self, run: &RunId, letter: Letter) -> Result<(), NodeError> {
        match self.0.post(run, letter).await {
            Ok(_) | Err(JournalError::AlreadyPosted { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
