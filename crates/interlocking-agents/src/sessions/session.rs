//! The context a turn starts from: session ids, slugs and the three session operations.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::drivers::shortened::shorten;

/// What a turn does with the agent's memory of earlier turns (PRG-04).
///
/// Wire form: `{"start_fresh": "write"}`, `{"continue_from": "…"}`, `{"fork_from": {"parent": "…", "slug": "…"}}`.
///
/// The operation decides what the agent knows in a turn: nothing, everything said before in the session, or everything
/// said before without passing on what is said in this turn:
///
/// ```
/// use interlocking_agents::{SessionId, SessionOp, Slug};
///
/// /// The first attempt begins a session, each later one goes on in it.
/// fn attempt(earlier: Option<SessionId>) -> Result<SessionOp, Box<dyn std::error::Error>> {
///     Ok(match earlier {
///         None => SessionOp::StartFresh(Slug::new("write")?),
///         Some(session) => SessionOp::ContinueFrom(session),
///     })
/// }
///
/// /// A question beside the work: the session that works never hears of it.
/// fn aside(parent: SessionId) -> Result<SessionOp, Box<dyn std::error::Error>> {
///     Ok(SessionOp::ForkFrom { parent, slug: Slug::new("aside")? })
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let session = SessionId::new("write-1")?;
/// assert_eq!(attempt(None)?.origin(), None);
/// assert_eq!(attempt(Some(session.clone()))?.origin(), Some(&session));
/// assert_eq!(aside(session.clone())?.origin(), Some(&session));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionOp {
    /// A new session without knowledge of earlier ones; the slug is a hint for its name.
    StartFresh(Slug),
    /// One more turn of an existing session, with all its context.
    ContinueFrom(SessionId),
    /// A new session that starts with everything the parent knows and diverges from there; the parent does not change.
    ForkFrom {
        /// The session whose context the child inherits.
        parent: SessionId,
        /// A hint for the child's name.
        slug: Slug,
    },
}

impl SessionOp {
    /// The session that is continued or forked.
    pub fn origin(&self) -> Option<&SessionId> {
        match self {
            Self::StartFresh(_) => None,
            Self::ContinueFrom(session) | Self::ForkFrom { parent: session, .. } => Some(session),
        }
    }

    /// The operation without its data.
    pub fn kind(&self) -> SessionOpKind {
        match self {
            Self::StartFresh(_) => SessionOpKind::Fresh,
            Self::ContinueFrom(_) => SessionOpKind::Continue,
            Self::ForkFrom { .. } => SessionOpKind::Fork,
        }
    }
}

/// A [`SessionOp`] without its data; what a script's `session = "…"` names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionOpKind {
    /// [`SessionOp::StartFresh`].
    Fresh,
    /// [`SessionOp::ContinueFrom`].
    Continue,
    /// [`SessionOp::ForkFrom`].
    Fork,
}

impl SessionOpKind {
    /// The name in scripts and messages: `fresh`, `continue` or `fork`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Continue => "continue",
            Self::Fork => "fork",
        }
    }
}

impl fmt::Display for SessionOpKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The agent's own name for a session, opaque to all other code (PRG-06).
///
/// 1 to 128 ASCII letters, digits, `.`, `_` and `-`, starting with a letter, a digit or `_`: an id is passed to
/// programs and used in file names, so it can be neither an option nor a path.
///
/// The id is what an agent answered with, and is stored like any text:
///
/// ```
/// use interlocking_agents::SessionId;
///
/// let session: SessionId = serde_json::from_str(r#""01J9-writer.2""#)?;
/// assert_eq!(session.as_str(), "01J9-writer.2");
///
/// // A program would take this for an option.
/// assert!(SessionId::new("--resume").is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(String);

/// A short readable name for a session: a hint that an agent may use when it names the session.
///
/// 1 to 64 lower-case ASCII letters, digits, `_` and `-`, starting with a letter or a digit.
///
/// ```
/// use interlocking_agents::Slug;
///
/// assert_eq!(Slug::new("write_tests")?.as_str(), "write_tests");
/// assert!(Slug::new("Write tests").is_err());
/// # Ok::<(), interlocking_agents::InvalidSlug>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Slug(String);

/// Why a text is not a [`SessionId`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "{text:?} is not a session id: use 1 to 128 ASCII letters, digits, `.`, `_` and `-`, starting with a letter, a digit or `_`"
)]
pub struct InvalidSessionId {
    /// The refused text, or the beginning of a long one.
    pub text: String,
}

/// Why a text is not a [`Slug`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "{text:?} is not a slug: use 1 to 64 lower-case ASCII letters, digits, `_` and `-`, starting with a letter or a digit"
)]
pub struct InvalidSlug {
    /// The refused text, or the beginning of a long one.
    pub text: String,
}

impl SessionId {
    /// Checks a session id from a backend.
    pub fn new(text: impl Into<String>) -> Result<Self, InvalidSessionId> {
        let text = text.into();
        let starts_well = text.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '_');
        let goes_on_well = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
        if starts_well && goes_on_well && text.len() <= 128 {
            Ok(Self(text))
        } else {
            Err(InvalidSessionId { text: refused(text) })
        }
    }

    /// The id as the backend spells it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Slug {
    /// Checks a slug.
    pub fn new(text: impl Into<String>) -> Result<Self, InvalidSlug> {
        let text = text.into();
        let starts_well = text.starts_with(|first: char| first.is_ascii_lowercase() || first.is_ascii_digit());
        let goes_on_well =
            text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte));
        if starts_well && goes_on_well && text.len() <= 64 {
            Ok(Self(text))
        } else {
            Err(InvalidSlug { text: refused(text) })
        }
    }

    /// A slug for an arbitrary name, such as a node's: in lower case, shortened, and with `-` instead of characters
    /// that are not allowed.
    pub fn of_name(name: &str) -> Self {
        let allowed = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "_-".contains(letter);
        let letters = name.chars().map(|letter| letter.to_ascii_lowercase());
        let letters = letters.map(|letter| if allowed(letter) { letter } else { '-' });
        let text: String = letters.skip_while(|letter| "_-".contains(*letter)).take(64).collect();
        Self(if text.is_empty() { "session".to_owned() } else { text })
    }

    /// The slug of a session that replaces a lost one, for an agent in this role.
    pub(crate) fn for_role(role: Option<&str>) -> Self {
        role.and_then(|role| Self::new(role).ok()).unwrap_or_else(|| Self("anew".to_owned()))
    }

    /// The slug as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The part of a refused text of any length that an error keeps.
fn refused(mut text: String) -> String {
    shorten(&mut text, 256);
    text
}

/// The conversions that session ids and slugs share.
macro_rules! text_newtype {
    ($name:ident, $error:ident) => {
        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = $error;

            fn from_str(text: &str) -> Result<Self, $error> {
                Self::new(text)
            }
        }

        impl TryFrom<String> for $name {
            type Error = $error;

            fn try_from(text: String) -> Result<Self, $error> {
                Self::new(text)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> String {
                name.0
            }
        }
    };
}

text_newtype!(SessionId, InvalidSessionId);
text_newtype!(Slug, InvalidSlug);

#[cfg(test)]
mod tests {
    use super::*;

    /// PRG-06: an id can be neither an option nor a path, whatever a backend or a stored file says.
    #[test]
    fn session_ids_are_refused_where_they_could_escape() {
        for good in ["5e9f1b0c-8f3e-4c7a-9f10-0242ac120002", "write-1", "ses_41x.Z", "_9"] {
            assert_eq!(SessionId::new(good).expect(good).as_str(), good);
        }
        let too_long = "a".repeat(129);
        for bad in ["", "--resume", "../up", ".hidden", "a/b", "a b", "ä", "a\n", "a:b", too_long.as_str()] {
            assert_eq!(SessionId::new(bad), Err(InvalidSessionId { text: bad.to_owned() }));
            let stored = serde_json::to_string(bad).unwrap();
            assert!(serde_json::from_str::<SessionId>(&stored).is_err(), "{bad:?} came in through serde");
        }
    }

    #[test]
    fn a_long_text_that_is_no_id_makes_no_long_error() {
        let words = SessionId::new("a".repeat(3_000_000)).unwrap_err().to_string();
        assert!(words.len() < 500 && words.contains("a… (2999744 more bytes)"), "{words}");
        assert!(Slug::new("a".repeat(3_000_000)).unwrap_err().to_string().len() < 500);
    }

    #[test]
    fn slugs_are_short_lower_case_names() {
        for good in ["write", "write_tests", "round-2", "3rd"] {
            assert_eq!(Slug::new(good).expect(good).to_string(), good);
        }
        let too_long = "a".repeat(65);
        for bad in ["", "Write", "-x", "_x", "a/b", "a.b", too_long.as_str()] {
            assert!(Slug::new(bad).is_err(), "{bad:?}");
        }
        assert_eq!(
            Slug::new("No").unwrap_err().to_string(),
            "\"No\" is not a slug: use 1 to 64 lower-case ASCII letters, digits, `_` and `-`, starting with a letter or a digit"
        );
    }

    #[test]
    fn any_name_has_a_slug() {
        let long = "a".repeat(65);
        for (name, slug) in [
            ("write", "write"),
            ("_Write_Tests2", "write_tests2"),
            ("größe", "gr--e"),
            ("Ω", "session"),
            ("", "session"),
            (long.as_str(), &long[..64]),
        ] {
            assert_eq!(Slug::of_name(name).as_str(), slug);
            assert_eq!(Slug::new(slug), Ok(Slug::of_name(name)));
        }
    }

    #[test]
    fn operations_have_a_stable_wire_form() {
        let parent = SessionId::new("p-1").unwrap();
        let slug = Slug::new("write").unwrap();
        let cases = [
            (SessionOp::StartFresh(slug.clone()), r#"{"start_fresh":"write"}"#),
            (SessionOp::ContinueFrom(parent.clone()), r#"{"continue_from":"p-1"}"#),
            (SessionOp::ForkFrom { parent, slug }, r#"{"fork_from":{"parent":"p-1","slug":"write"}}"#),
        ];
        for (operation, wire) in cases {
            assert_eq!(serde_json::to_string(&operation).unwrap(), wire);
            assert_eq!(serde_json::from_str::<SessionOp>(wire).unwrap(), operation);
        }
    }
}
