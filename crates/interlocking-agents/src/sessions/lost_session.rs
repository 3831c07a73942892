//! What becomes of a turn whose session is lost.

use serde::{Deserialize, Serialize};

use crate::agent::error::{AgentError, AgentErrorKind};
use crate::sessions::SessionError;
use crate::sessions::session::SessionId;

/// What becomes of a turn whose session is lost: it was to be continued or forked, and the agent
/// [knows nothing of it](SessionError::Unknown).
///
/// Programs keep sessions in files, which somebody may have tidied up; providers keep them for some days.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LostSession {
    /// The turn fails. The default: a prompt that says "now do the same for the tests" means something else, or nothing, to
    /// an agent that was told nothing before.
    #[default]
    Fail,
    /// The turn is run with its own prompt in a fresh session, which knows nothing of what was said, and
    /// [says so](crate::AgentEvent::SessionLost). For prompts that are whole by themselves.
    StartFresh,
}

impl LostSession {
    /// The session that was lost, if it was that.
    pub(crate) fn found_in(error: &AgentError) -> Option<&SessionId> {
        match &*error.kind {
            AgentErrorKind::Session(SessionError::Unknown { session }) => Some(session),
            _ => None,
        }
    }
}
