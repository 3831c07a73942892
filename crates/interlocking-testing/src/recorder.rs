//! The journal of a run: it observes each outcome, answers questions in place of people, and sends messages from
//! outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use interlocking_core::run_id::RunId;
use interlocking_core::table::NodeKind;
use interlocking_runtime::journal::{
    By, Claim, Digest, Encoded, Entry, Journal, JournalError, Letter, LetterBody, MemoryJournal, Posted, Record,
    RunSummary,
};

use crate::chance::{Chance, Choice, Sort};
use crate::log::Log;
use crate::samples::Samples;

/// After what time a late person answers: everything else in the run is idle by then.
const LATE: Duration = Duration::from_secs(3_600);

pub(crate) struct Recorder {
    pub(crate) kept: Arc<MemoryJournal>,
    pub(crate) samples: Arc<Samples>,
    pub(crate) chance: Chance,
    pub(crate) log: Arc<Log>,
    /// The run that is started.
    pub(crate) root: RunId,
    /// The graph's event nodes that have messages.
    pub(crate) takes_messages: Vec<String>,
    /// How many messages may still be sent.
    pub(crate) messages: AtomicU32,
    /// Whether time is virtual, so that people may answer late.
    pub(crate) is_virtual: bool,
}

impl Recorder {
    fn run(&self, run: &RunId) -> Option<RunId> {
        Some(run.clone()).filter(|run| *run != self.root)
    }

    fn key(&self, run: &RunId, by: &By) -> String {
        self.run(run).map_or_else(|| by.to_string(), |run| format!("{run}/{by}"))
    }

    /// Answers a question to a person, as chosen.
    async fn asked(&self, run: &RunId, by: &By, schema: &str) -> Result<(), JournalError> {
        let graph = self.log.graph_of(self.run(run).as_ref());
        let schema = serde_json::from_str(schema).ok();
        let answers = self.samples.answers(&graph, &by.node, schema.as_ref());
        let mut choices: Vec<_> = answers.iter().map(|(choice, _)| choice.clone()).collect();
        if self.is_virtual {
            let late = |choice: &Choice| Choice { label: format!("late-{}", choice.label), ..choice.clone() };
            choices.extend(answers.iter().map(|(choice, _)| late(choice)));
        }
        choices.push(Choice::plain("nobody", Sort::Fault));
        let family = if self.log.is_ours(&graph) { by.node.clone() } else { format!("{graph}/{}", by.node) };
        let chosen = self.chance.choose(self.key(run, by), &family, choices, true);
        let (is_late, answer) = match answers.get(chosen % answers.len().max(1)) {
            Some((_, sample)) if chosen < 2 * answers.len() => (chosen >= answers.len(), &sample.value),
            _ => return Ok(()),
        };
        if is_late && !self.is_virtual {
            return Ok(());
        }
        let body = LetterBody::Answer { to: by.clone(), answer: answer.to_string().into() };
        let (kept, run, letter) = (self.kept.clone(), run.clone(), Letter { key: None, body });
        if is_late {
            // The run may have ended by then.
            tokio::spawn(async move {
                tokio::time::sleep(LATE).await;
                drop(kept.post(&run, letter).await);
            });
            return Ok(());
        }
        kept.post(&run, letter).await.map(drop)
    }

    /// Sends a message at a point where one may arrive, if one is chosen.
    async fn may_have_a_message(&self, run: &RunId, after: String) -> Result<(), JournalError> {
        if self.takes_messages.is_empty() || self.messages.load(Ordering::Relaxed) == 0 || *run != self.root {
            return Ok(());
        }
        let graph = self.log.graph_of(None);
        let mut choices = vec![Choice::plain("none", Sort::Answer)];
        let mut messages = Vec::new();
        for node in &self.takes_messages {
            for (choice, message) in self.samples.messages(&graph, node) {
                let label = format!("{node}-{}", choice.label);
                choices.push(Choice { label, sort: Sort::Message, shown: choice.shown.clone() });
                messages.push((node.clone(), message.clone()));
            }
        }
        let family = format!("message {}", after.split('.').next().unwrap_or_default());
        let chosen = self.chance.choose(format!("message after {after}"), &family, choices, false);
        let Some((node, value)) = chosen.checked_sub(1).and_then(|chosen| messages.into_iter().nth(chosen)) else {
            return Ok(());
        };
        self.messages.fetch_sub(1, Ordering::Relaxed);
        let body = LetterBody::Message { node, message: value.to_string().into() };
        self.kept.post(run, Letter { key: None, body }).await.map(drop)
    }
}

/// The event nodes of a table.
pub(crate) fn event_nodes(net: &interlocking_core::net::Net) -> impl Iterator<Item = &str> {
    net.table().nodes.iter().filter(|row| row.kind == NodeKind::Event).map(|row| row.name.as_str())
}

#[async_trait]
impl Journal for Recorder {
    fn outlives_its_process(&self) -> bool {
        self.kept.outlives_its_process()
    }

    async fn claim(&self, run: &RunId) -> Result<Claim, JournalError> {
        self.kept.claim(run).await
    }

    async fn append(&self, record: Record) -> Result<(), JournalError> {
        if self.log.is_exceeded() {
            // The run has exceeded its limit without ever waiting. `play` has been notified to abort it.
            std::future::pending::<()>().await;
        }
        let Record { run, entry, .. } = record.clone();
        self.kept.append(record).await?;
        match entry {
            Entry::Outcome(outcome) => {
                if self.log.is_ours(&self.log.graph_of(self.run(&run).as_ref())) {
                    self.log.outcome(&outcome);
                }
                self.may_have_a_message(&run, outcome.by().to_string()).await
            }
            Entry::Asked { by, schema, .. } => {
                let schema = schema.json().map(ToString::to_string).unwrap_or_default();
                self.asked(&run, &by, &schema).await?;
                self.may_have_a_message(&run, format!("{by} asks")).await
            }
            _ => Ok(()),
        }
    }

    async fn load(&self, run: &RunId) -> Result<Vec<Record>, JournalError> {
        self.kept.load(run).await
    }

    async fn fetch(&self, run: &RunId, digests: &[Digest]) -> Result<Vec<Encoded>, JournalError> {
        self.kept.fetch(run, digests).await
    }

    async fn runs(&self) -> Result<Vec<RunSummary>, JournalError> {
        self.kept.runs().await
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
