//! The questions, and the types of their answers.

use crate::error::{CodeError, Unavailable};
use async_trait::async_trait;
use std::fmt;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// Answers questions about the files of one project. Paths are relative to its root.
#[async_trait]
pub trait CodeIntelligence: Send + Sync + fmt::Debug {
    /// The provider that answers.
    fn provider(&self) -> &Provider;

    /// The functions and types of a file, in the order of the file; a symbol within another follows it.
    ///
    /// # Errors
    ///
    /// [`CodeError`]: then nothing is known of the file.
    async fn document_symbols(&self, file: &Path) -> Result<Vec<Symbol>, CodeError>;

    /// What a function of a file calls, directly or through other functions of the file. Includes calls in the arguments of
    /// macros.
    ///
    /// # Errors
    ///
    /// [`CodeError`]: then nothing is known of the function.
    async fn outgoing_calls(&self, file: &Path, function: &Symbol) -> Result<OutgoingCalls, CodeError>;

    /// What the compiler knows of the name at a position: its type and its documentation. `None` if there is no name, or the
    /// provider does not know.
    ///
    /// # Errors
    ///
    /// [`CodeError`]: then nothing is known of the name.
    async fn hover(&self, file: &Path, position: Position) -> Result<Option<String>, CodeError>;

    /// Tells the provider that files have changed on disk.
    ///
    /// # Errors
    ///
    /// [`CodeError`] if the provider cannot be told.
    async fn files_changed(&self, files: &[PathBuf]) -> Result<(), CodeError>;
}

/// What answers the questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Provider {
    /// A language server.
    LanguageServer {
        /// The name that the server gives itself.
        name: String,
        /// The server's version, if it states one.
        version: Option<String>,
    },
    /// Only the text of the files.
    Syntax {
        /// Why no language server answers; `None` if none was wanted.
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
    /// The line, counted from 1.
    pub line: u32,
    /// The column in bytes of UTF-8, counted from 1.
    pub column: u32,
}

/// A function or a type of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The symbol's name with the types and modules of the file that contain it: `Stack::push` in Rust, `Stack.push` elsewhere.
    pub name: String,
    /// Whether the symbol is a function or a type.
    pub kind: SymbolKind,
    /// The position of the symbol's name.
    pub position: Position,
    /// The symbol's lines, counted from 1.
    pub lines: RangeInclusive<u32>,
}

/// The kind of a symbol.
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
    /// The known calls, in the order of their positions.
    pub calls: Vec<Call>,
    /// Possible calls, with the reason why they are uncertain.
    pub unclear: Vec<String>,
}

/// One call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The name of the called function as written at the call; a method without its type.
    pub name: String,
    /// The position of the call.
    pub at: Position,
    /// The file that defines the function: relative to the project's root if it is inside the project.
    pub file: PathBuf,
    /// The position of the function's name in its definition.
    pub definition: Position,
}
