//! The state of a scripted agent: turns played, session names given, and the history of each session.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::error::AgentErrorKind;
use crate::agent::turn::Reply;
use crate::conversation::decision::Decision;
use crate::sessions::SessionError;
use crate::sessions::session::{SessionId, SessionOp, Slug};

/// One prompt in a session's history, and what the agent answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// The prompt.
    pub prompt: String,
    /// The structured output; none if there was none, or if the turn failed.
    pub output: Option<Value>,
    /// The decisions of a turn that succeeded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Decision>,
    /// The text; none if there was none, or if the turn failed.
    pub text: Option<String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Stage {
    /// How often each turn of the script has been taken. This is not kept across processes: a turn that was interrupted
    /// by the end of a process is to be played again.
    #[serde(skip)]
    pub(super) used: Vec<u32>,
    /// How often each turn of the script has been played to its end.
    finished: Vec<u32>,
    named: HashMap<Slug, u32>,
    histories: HashMap<SessionId, Vec<Exchange>>,
    /// The turn that was played last in each session.
    #[serde(default)]
    last: HashMap<SessionId, Played>,
    /// The turns that another process played last, for the sessions in which this process has not sent a prompt yet.
    #[serde(skip)]
    recalled: HashMap<SessionId, Played>,
}

/// A turn that was taken.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Played {
    /// The turn's index in the script.
    pub(super) turn: usize,
    /// Whether the turn was played to its end.
    pub(super) is_finished: bool,
}

impl Stage {
    pub(super) fn new(turns: usize) -> Self {
        Self { used: vec![0; turns], finished: vec![0; turns], ..Self::default() }
    }

    /// The state at the beginning of another process.
    pub(super) fn for_new_process(self) -> Self {
        Self { used: self.finished.clone(), recalled: self.last.clone(), ..self }
    }

    /// The turn that another process played last in its session for the same prompt: that process ended before it used
    /// the answer, and the prompt is now sent again. It is sent in a new session if the caller had not recorded the
    /// session either. `fits` says whether a turn of the script, by its index, is for the role that is asked now.
    pub(super) fn take_repeated(
        &mut self,
        operation: &SessionOp,
        prompt: &str,
        fits: impl Fn(usize) -> bool,
    ) -> Option<Played> {
        let is_last = |session: &SessionId| {
            self.histories.get(session).and_then(|history| history.last()).is_some_and(|last| last.prompt == prompt)
        };
        let session = match operation {
            SessionOp::ContinueFrom(session) => Some(session).filter(|session| is_last(session)),
            SessionOp::StartFresh(_) | SessionOp::ForkFrom { .. } => {
                let recalled = self.recalled.iter().filter(|(session, played)| is_last(session) && fits(played.turn));
                recalled.map(|(session, _)| session).min()
            }
        };
        let session = session.cloned()?;
        self.recalled.remove(&session)
    }

    /// The number of turns of the script.
    pub(super) fn turns(&self) -> usize {
        self.finished.len()
    }

    /// Records that the turn was played to its end, successfully or not. It is not counted again if it was counted
    /// already.
    pub(super) fn finish(&mut self, session: &SessionId, turn: usize, is_counted: bool) {
        if !is_counted {
            self.finished[turn] += 1;
        }
        self.last.insert(session.clone(), Played { turn, is_finished: true });
    }

    /// Fails if the operation needs a session that does not exist.
    pub(super) fn require(&self, operation: &SessionOp) -> Result<(), AgentErrorKind> {
        let needed = match operation {
            SessionOp::StartFresh(_) => return Ok(()),
            SessionOp::ContinueFrom(session) => session,
            SessionOp::ForkFrom { parent, .. } => parent,
        };
        if self.histories.contains_key(needed) {
            Ok(())
        } else {
            Err(SessionError::Unknown { session: needed.clone() }.into())
        }
    }

    /// The session that the operation leads to, created with its initial history if it is new.
    pub(super) fn open(&mut self, operation: &SessionOp) -> Result<SessionId, AgentErrorKind> {
        let (slug, history) = match operation {
            SessionOp::ContinueFrom(session) => return Ok(session.clone()),
            SessionOp::StartFresh(slug) => (slug, Vec::new()),
            SessionOp::ForkFrom { parent, slug } => (slug, self.histories.get(parent).cloned().unwrap_or_default()),
        };
        let number = self.named.entry(slug.clone()).or_insert(0);
        *number += 1;
        let session = SessionId::new(format!("{slug}-{number}"))
            .map_err(|error| AgentErrorKind::configuration(error.to_string()))?;
        self.histories.insert(session.clone(), history);
        Ok(session)
    }

    pub(super) fn ask(&mut self, session: &SessionId, prompt: &str, turn: usize, is_counted: bool) {
        self.recalled.remove(session);
        self.last.insert(session.clone(), Played { turn, is_finished: is_counted });
        let exchange = Exchange { prompt: prompt.to_owned(), output: None, decisions: Vec::new(), text: None };
        self.histories.entry(session.clone()).or_default().push(exchange);
    }

    pub(super) fn answer(&mut self, session: &SessionId, reply: &Reply) {
        if let Some(last) = self.histories.get_mut(session).and_then(|history| history.last_mut()) {
            last.output = reply.output.clone();
            last.decisions = reply.decisions.clone();
            last.text = reply.text.clone();
        }
    }

    pub(super) fn history(&self, session: &SessionId) -> Option<Vec<Exchange>> {
        self.histories.get(session).cloned()
    }
}
