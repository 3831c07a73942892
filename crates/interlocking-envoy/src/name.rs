//! Names of protocols, which are also names of files.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A protocol's name: the name of its file, without `.yaml`.
///
/// It consists of letters, digits, `-`, `_` and inner dots, and has at most [`ProtocolName::LONGEST`] bytes. So it cannot lead
/// out of the directory in which it is looked up.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ProtocolName(String);

/// A text is not a valid name of a protocol.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} cannot be a protocol's name: {reason}; write letters, digits, `-` and `_`, such as `debugging`")]
pub struct NameError {
    /// The name as given.
    pub name: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl ProtocolName {
    /// The most bytes that a name may have.
    pub const LONGEST: usize = 100;

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of the protocol's file.
    pub fn file_name(&self) -> String {
        format!("{}.yaml", self.0)
    }
}

impl FromStr for ProtocolName {
    type Err = NameError;

    fn from_str(name: &str) -> Result<Self, NameError> {
        let refused = |reason| Err(NameError { name: name.to_owned(), reason });
        let is_inner = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.');
        match name {
            "" => refused("it is empty"),
            _ if name.len() > Self::LONGEST => refused("it is too long"),
            _ if name.contains(['/', '\\']) => refused("it has a path separator"),
            _ if name.contains("..") => refused("it has `..`"),
            _ if name.starts_with(['.', '-']) || name.ends_with('.') => {
                refused("it begins with a dot or dash, or ends with a dot")
            }
            _ if !name.chars().all(is_inner) => refused("it has a character that is none of these"),
            _ => Ok(Self(name.to_owned())),
        }
    }
}

impl TryFrom<String> for ProtocolName {
    type Error = NameError;

    fn try_from(name: String) -> Result<Self, NameError> {
        name.parse()
    }
}

impl From<ProtocolName> for String {
    fn from(name: ProtocolName) -> Self {
        name.0
    }
}

impl fmt::Display for ProtocolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
