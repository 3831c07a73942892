//! The expected course of one turn of an execution with its agent, call by call.

use crate::asked::Turned;
use crate::calls::{Call, Ended, Prompted, Returned};
use crate::dialogue::{CORRECTIONS, INTERRUPTED_USAGE};
use interlocking_agents::{Nudges, SessionId, SessionOp, Usage};

/// The prompt and the session of a call.
type Asked = (Prompted, SessionOp);

/// The expected course of a turn.
pub(super) struct Turn {
    /// The session that the node asks for, and the session in the journal when the turn began.
    asked: SessionOp,
    recorded: Option<SessionId>,
    /// The next call, if one must follow, and the present call.
    next: Option<Asked>,
    call: Option<Asked>,
    /// The session of the turn.
    pub(super) session: Option<SessionId>,
    /// The correction rounds of the present conversation.
    corrections: u32,
    nudges: u32,
    usage: Usage,
    /// Whether there was an answer, once the turn has ended.
    answered: Option<bool>,
}

impl Turn {
    pub(super) fn new(asked: SessionOp, recorded: Option<SessionId>) -> Self {
        let first = recorded.clone().map_or_else(|| asked.clone(), SessionOp::ContinueFrom);
        let next = Some((Prompted::First, first));
        let (call, session, answered) = (None, None, None);
        Self { asked, recorded, next, call, session, corrections: 0, nudges: 0, usage: Usage::default(), answered }
    }

    pub(super) fn called(&mut self, call: &Call, nudges: &Nudges) -> Result<(), String> {
        self.settle(nudges);
        let found = Some((call.prompted, call.session.clone()));
        if self.next != found {
            return Err(format!("it is called with {found:?} in place of {:?}", self.next));
        }
        if let SessionOp::ContinueFrom(session) = &call.session {
            self.session = Some(session.clone());
        }
        self.call = self.next.take();
        Ok(())
    }

    /// Treats a call without a logged end as silent for too long and dropped.
    fn settle(&mut self, nudges: &Nudges) {
        if self.call.is_some() {
            self.usage += INTERRUPTED_USAGE;
            self.silent(nudges);
        }
    }

    /// Handles a present call that was silent for too long.
    fn silent(&mut self, nudges: &Nudges) {
        let call = self.call.take();
        if nudges.idle.is_none() || self.nudges == nudges.limit {
            self.answered = Some(false);
            return;
        }
        self.nudges += 1;
        // If the agent fell silent before there was a session, the first prompt is sent again.
        self.next = match &self.session {
            Some(session) => Some((Prompted::Reminder, SessionOp::ContinueFrom(session.clone()))),
            None => call,
        };
    }

    pub(super) fn returned(&mut self, returned: &Returned, nudges: &Nudges) -> Result<(), String> {
        let Some(call) = self.call.clone() else { return Err("a call ends that was not made".to_owned()) };
        self.usage += returned.usage;
        let inside = |session: &Option<SessionId>| session.clone().map(SessionOp::ContinueFrom);
        let resumed = self.recorded.clone().map(SessionOp::ContinueFrom);
        match returned.ended {
            Ended::Interrupted => self.silent(nudges),
            Ended::WithoutOutput if self.nudges < nudges.limit => {
                self.nudges += 1;
                self.next = inside(&self.session).map(|op| (Prompted::Reminder, op));
            }
            Ended::WithBadOutput | Ended::WithoutOutput
                if self.corrections < CORRECTIONS && (nudges.limit == 0 || returned.ended == Ended::WithBadOutput) =>
            {
                self.corrections += 1;
                self.next = inside(&self.session).map(|op| (Prompted::Correction, op));
            }
            Ended::Stumbled(_) => self.next = Some((call.0, inside(&self.session).unwrap_or(call.1))),
            // The session of the interrupted turn is lost, so the turn restarts.
            Ended::Unknown if resumed.as_ref() == Some(&call.1) => {
                self.next = Some((Prompted::First, self.asked.clone()));
                (self.recorded, self.session, self.corrections, self.nudges) = (None, None, 0, 0);
            }
            Ended::Well => self.answered = Some(true),
            Ended::WithBadOutput | Ended::WithoutOutput | Ended::Failed | Ended::Unknown => self.answered = Some(false),
        }
        self.call = None;
        Ok(())
    }

    /// Checks that the node got the expected result of the turn.
    pub(super) fn turned(&mut self, turned: &Turned, nudges: &Nudges) -> Result<(), String> {
        self.settle(nudges);
        let rounds = (self.corrections, self.nudges);
        let found = (turned.usage, Some(turned.rounds.is_some()), turned.rounds.unwrap_or(rounds));
        let expected = (self.usage, self.answered, rounds);
        if found == expected { Ok(()) } else { Err(format!("its turn has come to {found:?}, not {expected:?}")) }
    }
}
