//! The language of a task's files, and how files in it are analysed.

use crate::types::{CratePath, StackSpec};
use interlocking::code_intelligence::ServerProgram;
use std::path::Path;

/// A language in which agents' claims can be checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Read as syntax; a language server answers what the text leaves open.
    Rust,
    /// Only a language server finds the functions and calls. What it cannot find is in [`Unchecked`](crate::types::Unchecked).
    Python,
}

impl Language {
    /// The language of a file, by its name.
    pub fn of(path: &CratePath) -> Option<Self> {
        match Path::new(path.as_str()).extension()?.to_str()? {
            "rs" => Some(Self::Rust),
            "py" => Some(Self::Python),
            _ => None,
        }
    }

    /// The language of a task's implementation. A task in an unsupported language is refused when a run begins.
    pub fn of_task(spec: &StackSpec) -> Self {
        Self::of(&spec.impl_path).unwrap_or(Self::Rust)
    }

    /// The server to ask: the one that the task names, or the language's usual server if the task names Rust's, which is the
    /// default.
    pub fn server(self, named: &Path) -> ServerProgram {
        match self {
            Self::Rust => ServerProgram::rust_analyzer().at(named),
            Self::Python if named == Path::new(RUST_ANALYZER) => ServerProgram::pyright("pyright-langserver"),
            Self::Python => ServerProgram::pyright(named),
        }
    }

    /// A comment line.
    pub fn comment(self, text: &str) -> String {
        match self {
            Self::Rust => format!("//! {text}\n"),
            Self::Python => format!("# {text}\n"),
        }
    }
}

/// The name with which a task switches the language server off.
pub const NO_SERVER: &str = "none";

/// The language server of a task that names none.
pub const RUST_ANALYZER: &str = "rust-analyzer";
