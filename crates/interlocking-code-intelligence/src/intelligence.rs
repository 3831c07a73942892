//! The questions, and what answers them.

use crate::error::{CodeError, Unavailable};
use async_trait::async_trait;
use std::fmt;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// Answers questions about the files of one project. Paths are relative to its root.
#[async_trait]
pub trait CodeIntelligence: Send + Sync + fmt::Debug {
    /// Who answers.
    fn provider(&self) -> &Provider;

    /// The functions and types of a file, in its order; those within others behind them.
    ///
    /// # Errors
    ///
    /// [`CodeError`]: then nothing is known of the file.
    async fn document_symbols(&self, file: &Path) -> Result<Vec<Symbol>, CodeError>;

    /// What a function of a file calls, itself or by way of other functions of the file: calls within the arguments of macros are among
    /// them.
    ///
    /// # Errors
    ///
    /// [`CodeError`]: then nothing is known of the function.
    async fn outgoing_calls(&self, file: &Path, function: &Symbol) -> Result<OutgoingCalls, CodeError>;

    /// What the compiler knows of the name at a position: its type, and what its documentation says. `None` where there is no name, or the
    /// provider cannot tell.
    ///
    /// # Errors
    ///
    /// [`CodeError`]: then nothing is known of the name.
    async fn hover(&self, file: &Path, position: Position) -> Result<Option<String>, CodeError>;

    /// Files were changed on disk since they were last asked about.
    ///
    /// # Errors
    ///
    /// [`CodeError`] where the provider cannot be told.
    async fn files_changed(&self, files: &[PathBuf]) -> Result<(), CodeError>;
}

/// Who answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Provider {
    /// A language server.
    LanguageServer {
        /// What it calls itself.
        name: String,
        /// Its version, if it says one.
        version: Option<String>,
    },
    /// The text of the files alone.
    Syntax {
        /// Why no language server answers; `None` where none was wanted.
        because: Option<Unavailable>,
    },
}

impl fmt::Display for Provider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LanguageServer { name, version: Some(version) } => write!(formatter, "{name} {version}"),
            Self::LanguageServer { name, version: None } => formatter.write_str(name),
            Self::Syntax { because: Some(because) } => write!(formatter, "the syntax alone, because {because}"),
            Self::Syntax { because: None } => formatter.write_str("the syntax alone"),
        }
    }
}

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Counted from 1.
    pub line: u32,
    /// In bytes of UTF-8, counted from 1.
    pub column: u32,
}

/// A function or a type of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name, behind what it is in, within the file: `Stack::push` in Rust, `Stack.push` elsewhere.
    pub name: String,
    /// What it is.
    pub kind: SymbolKind,
    /// Where its name stands.
    pub position: Position,
    /// All of its lines, counted from 1.
    pub lines: RangeInclusive<u32>,
}

/// What a symbol is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// A function or a method.
    Function,
    /// A type: a class, a structure, an enumeration, a trait.
    Type,
}

/// What a function calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutgoingCalls {
    /// The calls that are known, in the order of their places.
    pub calls: Vec<Call>,
    /// What is perhaps called, with the reason why that cannot be told.
    pub unclear: Vec<String>,
}

/// One call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// What is called, as it is written where it is called; of a method without its type.
    pub name: String,
    /// Where it is called.
    pub at: Position,
    /// The file that defines it: relative to the project's root where it is in it.
    pub file: PathBuf,
    /// Where that has its name.
    pub definition: Position,
}
