//! Object ids.

use std::{fmt, str::FromStr};

/// The id of a commit: forty hexadecimal digits.
///
/// An id does not prove that the commit is in a repository; every operation checks that.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CommitId(gix::ObjectId);

/// The id of a file's contents.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlobId(gix::ObjectId);

/// A text is not an object id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not an object id: give all forty hexadecimal digits")]
pub struct ObjectIdError {
    /// The text as given.
    pub text: String,
}

macro_rules! object_id {
    ($name:ident) => {
        impl $name {
            pub(crate) fn from_git(id: impl Into<gix::ObjectId>) -> Self {
                Self(id.into())
            }

            pub(crate) fn git(self) -> gix::ObjectId {
                self.0
            }
        }

        impl FromStr for $name {
            type Err = ObjectIdError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                gix::ObjectId::from_hex(text.as_bytes()).map(Self).map_err(|_| ObjectIdError { text: text.to_owned() })
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, "{}", self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, "{}({})", stringify!($name), self.0)
            }
        }
    };
}

object_id!(CommitId);
object_id!(BlobId);

/// Serialized as text.
#[cfg(feature = "serde")]
impl serde::Serialize for CommitId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for CommitId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl CommitId {
    /// The first ten digits, for messages to people.
    #[must_use]
    pub fn short(&self) -> String {
        let mut text = self.0.to_string();
        text.truncate(10);
        text
    }
}

/// The commit of a branch in a message to people: "at" the commit, or `otherwise`.
pub(crate) fn at(commit: Option<CommitId>, otherwise: &str) -> String {
    commit.map_or_else(|| otherwise.to_owned(), |commit| format!("at {commit}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        BranchName, CommitError, DeleteBranchError, FastForwardError, ImportError, MoveBranchError, SwitchError,
    };

    #[test]
    fn a_branch_that_moved_is_said_to_be_at_a_commit_or_gone() {
        let (seen, now) = ("0123456789abcdef0123456789abcdef01234567", "76543210fedcba9876543210fedcba9876543210");
        let branch = BranchName::new("one").unwrap();
        let expected: CommitId = seen.parse().unwrap();
        for (found, word) in [(Some(now.parse().unwrap()), format!("at {now}")), (None, "gone".to_owned())] {
            let branch = || branch.clone();
            for message in [
                FastForwardError::Moved { branch: branch(), expected, found }.to_string(),
                DeleteBranchError::Moved { branch: branch(), expected, found }.to_string(),
                MoveBranchError::Moved { branch: branch(), expected, found }.to_string(),
                SwitchError::Moved { expected, found }.to_string(),
                CommitError::Moved { expected: Some(expected), found }.to_string(),
                ImportError::Moved { branch: branch(), expected: Some(expected), found }.to_string(),
            ] {
                assert!(message.contains(&format!("expected at {seen}, found {word}")), "{message}");
            }
        }
        let new = ImportError::Moved { branch, expected: None, found: Some(expected) };
        assert_eq!(new.to_string(), format!("one moved: expected absent, found at {seen}; look at it again"));
    }

    #[test]
    fn a_commit_id_is_all_forty_digits() {
        let text = "0123456789abcdef0123456789abcdef01234567";
        let id: CommitId = text.parse().unwrap();
        assert_eq!(id.to_string(), text);
        assert_eq!(id.short(), "0123456789");
        for wrong in ["", "0123456", "HEAD", "zz23456789abcdef0123456789abcdef01234567"] {
            assert_eq!(wrong.parse::<CommitId>(), Err(ObjectIdError { text: wrong.to_owned() }));
        }
    }
}
