//! The policy for a turn whose session is lost.

use serde::{Deserialize, Serialize};

use crate::agent::error::{AgentError, AgentErrorKind};
use crate::sessions::SessionError;
use crate::sessions::session::SessionId;

/// What to do with a turn whose session is lost: the session was to be continued or forked, but the agent [does not
/// know it](SessionError::Unknown).
///
/// Programs keep sessions in files, which a user may have deleted; providers keep them for some days.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LostSession {
    /// The turn fails. This is the default: a prompt such as "now do the same for the tests" means something else, or
    /// nothing, in a session without the earlier turns.
    #[default]
    Fail,
    /// The turn runs with its own prompt in a fresh session without the earlier context, and [reports
    /// that](crate::AgentEvent::SessionLost). For prompts that are complete by themselves.
    StartFresh,
}

impl LostSession {
    /// The lost session, if the error is that a session is lost.
    pub(crate) fn found_in(error: &AgentError) -> Option<&SessionId> {
        match &*error.kind {
            AgentErrorKind::Session(SessionError::Unknown { session }) => Some(session),
            _ => None,
        }
    }
}
