//! The name of a project, which is also the name of its package, directory and program.

use std::fmt;
use std::str::FromStr;

/// The name of a project: 1 to 64 lower-case ASCII letters, digits, `-` and `_`, starting with a letter. It names a package and a
/// directory, so it is not a path, a keyword of Rust, or the name of a crate on which the project depends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name(String);

/// Why a text is not a [`Name`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidName {
    /// The text has other characters, is empty or is too long.
    Characters(String),
    /// A package of that name could not be compiled, or could not depend on a crate that it needs.
    Reserved(String),
}

/// Rust's keywords, cargo's directories, and the crates that a project depends on.
const RESERVED: &str = "abstract as askama async await become box break build clap const continue core crate deps do dyn else enum \
    examples extern false final fn for gen if impl in incremental interlocking let loop macro match mod move mut override priv proc_macro pub ref \
    return schemars self serde static std struct super tempfile test tokio trait true try type typeof unsafe unsized use virtual where \
    while yield";

impl Name {
    /// The name of the package.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of the library in Rust: with `_` instead of `-`.
    pub fn in_rust(&self) -> String {
        self.0.replace('-', "_")
    }
}

impl FromStr for Name {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
        let begins = text.starts_with(|first: char| first.is_ascii_lowercase());
        if !begins || text.len() > 64 || !text.bytes().all(allowed) {
            return Err(InvalidName::Characters(text.to_owned()));
        }
        let in_rust = text.replace('-', "_");
        let is_own = in_rust.starts_with("interlocking_");
        match is_own || RESERVED.split_whitespace().any(|word| word == in_rust) {
            true => Err(InvalidName::Reserved(text.to_owned())),
            false => Ok(Self(text.to_owned())),
        }
    }
}

impl fmt::Display for InvalidName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Characters(text) => write!(
                f,
                "{text:?} is no name of a project: use 1 to 64 lower-case ASCII letters, digits, `-` and `_`, starting with a letter"
            ),
            Self::Reserved(text) => {
                write!(f, "a project cannot be called `{text}`: Rust, cargo or a dependency has that name")
            }
        }
    }
}

impl std::error::Error for InvalidName {}

#[cfg(test)]
mod tests {
    use super::{InvalidName, Name};

    #[test]
    fn a_name_is_that_of_a_package_and_no_path() {
        for good in ["newsroom", "best-of-3", "a_b"] {
            assert_eq!(good.parse::<Name>().unwrap().as_str(), good);
        }
        let long = "a".repeat(65);
        for bad in ["", "3rd", "-x", "Newsroom", "../up", "a/b", "a b", "a.b", "größe", &long] {
            assert_eq!(bad.parse::<Name>(), Err(InvalidName::Characters(bad.to_owned())));
        }
        for reserved in ["interlocking", "interlocking-core", "interlocking_cli", "fn", "proc-macro", "test", "tokio"] {
            assert_eq!(reserved.parse::<Name>(), Err(InvalidName::Reserved(reserved.to_owned())));
        }
        assert_eq!("best-of-3".parse::<Name>().unwrap().in_rust(), "best_of_3");
    }
}
