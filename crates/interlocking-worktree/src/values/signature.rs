//! Authors and committers of commits.

use gix::actor::date::Time;

/// The author or committer of a commit. It is never taken from the user's git configuration: callers always pass it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    name: String,
    email: String,
    /// If none, the time at which it is used.
    time: Option<Time>,
}

/// A name or address is not valid in a commit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// The name is empty; git refuses a commit without one.
    #[error("the name of a commit's author or committer is empty")]
    NoName,
    /// It contains `<`, `>` or a control character, with which git separates the fields.
    #[error("{text:?} contains {character:?}, which a commit's author may not contain")]
    Character {
        /// The name or address as given.
        text: String,
        /// The character.
        character: char,
    },
}

impl Signature {
    /// Makes a signature of a name and an electronic mail address. The time is that of each use, in UTC; see
    /// [`Signature::at`].
    pub fn new(name: impl Into<String>, email: impl Into<String>) -> Result<Self, SignatureError> {
        let (name, email) = (name.into().trim().to_owned(), email.into().trim().to_owned());
        for text in [&name, &email] {
            if let Some(character) =
                text.chars().find(|character| character.is_control() || matches!(character, '<' | '>'))
            {
                return Err(SignatureError::Character { text: text.clone(), character });
            }
        }
        if name.is_empty() {
            return Err(SignatureError::NoName);
        }
        Ok(Self { name, email, time: None })
    }

    /// Fixes the time, in seconds since 1970 in UTC, so that equal commits get equal ids.
    #[must_use]
    pub fn at(self, seconds: i64) -> Self {
        Self { time: Some(Time::new(seconds, 0)), ..self }
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The address.
    #[must_use]
    pub fn email(&self) -> &str {
        &self.email
    }

    pub(crate) fn git(&self) -> gix::actor::Signature {
        gix::actor::Signature {
            name: self.name.as_str().into(),
            email: self.email.as_str().into(),
            time: self.time.unwrap_or_else(Time::now_utc),
        }
    }

    /// The signature for moving a reference when no commit is made and the caller gives no signature.
    pub(crate) fn runtime() -> gix::actor::Signature {
        gix::actor::Signature {
            name: "interlocking".into(),
            email: "interlocking@localhost".into(),
            time: Time::now_utc(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_break_a_commit_is_refused() {
        assert_eq!(Signature::new(" ", "a@b"), Err(SignatureError::NoName));
        for (name, email, character) in [("a<b", "", '<'), ("a", "x>y", '>'), ("a\nb", "", '\n')] {
            match Signature::new(name, email) {
                Err(SignatureError::Character { character: found, .. }) => assert_eq!(found, character),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(Signature::new("Ada", "ada@example.org").unwrap().name(), "Ada");
    }
}
