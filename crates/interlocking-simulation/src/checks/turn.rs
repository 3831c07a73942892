//! One turn of an execution with its agent, call by call, as it must go on.

use crate::asked::Turned;
use crate::calls::{Call, Ended, Prompted, Returned};
use crate::dialogue::{CORRECTIONS, CUT_OFF};
use interlocking_agents::{Nudges, SessionId, SessionOp, Usage};

/// What a call asks, and in which session.
type Asked = (Prompted, SessionOp);

/// A turn of an execution, as it must go on.
pub(super) struct Turn {
    /// What the node asks for, and what the journal knew when it began.
    asked: SessionOp,
    recorded: Option<SessionId>,
    /// The next call, if there is to be one, and the present one.
    next: Option<Asked>,
    call: Option<Asked>,
    /// The session that it is in.
    pub(super) session: Option<SessionId>,
    /// Of the present conversation.
    corrections: u32,
    nudges: u32,
    usage: Usage,
    /// Whether there was an answer, once it has come to its end.
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

    /// A call whose end nobody has heard of was silent for too long, and dropped.
    fn settle(&mut self, nudges: &Nudges) {
        if self.call.is_some() {
            self.usage += CUT_OFF;
            self.silent(nudges);
        }
    }

    /// Its present call has been silent for too long.
    fn silent(&mut self, nudges: &Nudges) {
        let call = self.call.take();
        if nudges.idle.is_none() || self.nudges == nudges.limit {
            self.answered = Some(false);
            return;
        }
        self.nudges += 1;
        // Who fell silent before there was a session is asked again from the beginning.
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
            // It was interrupted in a session that is lost: from the beginning, then.
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

    /// Whether it has come to what its node was told.
    pub(super) fn turned(&mut self, turned: &Turned, nudges: &Nudges) -> Result<(), String> {
        self.settle(nudges);
        let rounds = (self.corrections, self.nudges);
        let found = (turned.usage, Some(turned.rounds.is_some()), turned.rounds.unwrap_or(rounds));
        let expected = (self.usage, self.answered, rounds);
        if found == expected { Ok(()) } else { Err(format!("its turn has come to {found:?}, not {expected:?}")) }
    }
}
