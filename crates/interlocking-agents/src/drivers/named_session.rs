//! Checks the session that an agent's program names.

use crate::agent::error::AgentErrorKind;
use crate::sessions::SessionError;
use crate::sessions::session::{SessionId, SessionOp};

/// The session that `program` has named for a turn. A program that has named its `known` session may name it again.
///
/// # Errors
///
/// The name is not an id, or that of another session: each of them would be held, with an open file, until the turn ends. A
/// session that the turn was to continue, and that the program replaces by another, is
/// [unknown](SessionError::Unknown) to it.
pub(crate) fn checked(
    program: &str,
    name: String,
    operation: &SessionOp,
    known: Option<&SessionId>,
) -> Result<SessionId, AgentErrorKind> {
    let refused = |message: String| AgentErrorKind::Other { message, transient: false };
    let session = SessionId::new(name)
        .map_err(|error| refused(format!("{program} named its session in a way that is not understood: {error}")))?;
    match (operation, known) {
        (SessionOp::ContinueFrom(asked), _) if *asked != session => {
            Err(SessionError::Unknown { session: asked.clone() }.into())
        }
        (_, Some(known)) if *known != session => {
            Err(refused(format!("{program} named another session than before: `{session}`, not `{known}`")))
        }
        _ => Ok(session),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sessions::session::Slug;

    #[test]
    fn a_turn_stays_in_its_session() {
        let id = |text: &str| SessionId::new(text).unwrap();
        let fresh = SessionOp::StartFresh(Slug::new("write").unwrap());
        let checked = |name: &str, operation, known: Option<&str>| {
            super::checked("It", name.to_owned(), operation, known.map(id).as_ref()).map_err(|kind| kind.to_string())
        };
        assert_eq!(checked("a", &fresh, None), Ok(id("a")));
        assert_eq!(checked("a", &fresh, Some("a")), Ok(id("a")));
        assert_eq!(
            checked("b", &fresh, Some("a")),
            Err("It named another session than before: `b`, not `a`".to_owned())
        );
        let go_on = SessionOp::ContinueFrom(id("a"));
        assert_eq!(checked("a", &go_on, None), Ok(id("a")));
        assert_eq!(checked("b", &go_on, None), Err("there is no session `a`".to_owned()));
        assert!(checked("../a", &fresh, None).unwrap_err().starts_with("It named its session in a way that is not"));
    }
}
