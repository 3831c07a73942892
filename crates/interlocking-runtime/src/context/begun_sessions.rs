//! Records which session an agent has begun, while its turn is in progress: an interrupted turn continues in that session.

use crate::context::services::UntypedServices;
use crate::journal::{By, Entry, JournalError};
use crate::mutex::Mutex;
use interlocking_agents::{AgentEvent, SessionId};
use tokio::task::JoinHandle;

/// The sessions that an agent begins in one conversation.
pub(crate) struct BegunSessions<'run> {
    untyped: &'run UntypedServices,
    by: By,
    conversation: u32,
    agent: &'run str,
    noted: Mutex<Noted>,
}

#[derive(Default)]
struct Noted {
    last: Option<SessionId>,
    writes: Vec<JoinHandle<Result<(), JournalError>>>,
}

impl<'run> BegunSessions<'run> {
    pub(crate) fn new(untyped: &'run UntypedServices, by: By, conversation: u32, agent: &'run str) -> Self {
        Self { untyped, by, conversation, agent, noted: Mutex::default() }
    }

    /// Notes an event; does not wait.
    pub(crate) fn note(&self, event: &AgentEvent) {
        let (AgentEvent::Started { session }, Some(record_writer)) = (event, &self.untyped.record_writer) else {
            return;
        };
        let mut noted = self.noted.lock();
        if noted.last.as_ref() == Some(session) {
            return;
        }
        noted.last = Some(session.clone());
        let entry = Entry::Session {
            by: self.by.clone(),
            conversation: self.conversation,
            agent: self.agent.to_owned(),
            session: session.clone(),
        };
        // A run that is dropped does not wait for this write. The hold keeps other executors from the run until it is written.
        let Some(hold) = record_writer.hold() else { return };
        let record_writer = record_writer.clone();
        noted.writes.push(tokio::spawn(async move {
            let written = record_writer.write(entry).await;
            drop(hold);
            written
        }));
    }

    /// Waits until all sessions are recorded.
    pub(crate) async fn written(self) -> Result<(), JournalError> {
        let Noted { writes, .. } = self.noted.into_inner();
        for write in writes {
            write.await.unwrap_or_else(|error| Err(JournalError::Storage { reason: error.to_string() }))?;
        }
        Ok(())
    }
}
