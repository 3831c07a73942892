//! In which language a task's files are, and what that means for how they are looked at.

use crate::types::{CratePath, StackSpec};
use interlocking::code_intelligence::ServerProgram;
use std::path::Path;

/// A language whose files can be held against what agents say of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Read as syntax; a language server tells what the text does not.
    Rust,
    /// A language server alone tells which functions there are and what is called. What it cannot tell is in
    /// [`Unchecked`](crate::types::Unchecked).
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

    /// The language of a task's implementation. One in another language is refused where a run begins.
    pub fn of_task(spec: &StackSpec) -> Self {
        Self::of(&spec.impl_path).unwrap_or(Self::Rust)
    }

    /// The server that is asked: the one that the task names, or the language's usual one where it names that of Rust, as it does by
    /// default.
    pub fn server(self, named: &Path) -> ServerProgram {
        match self {
            Self::Rust => ServerProgram::rust_analyzer().at(named),
            Self::Python if named == Path::new(RUST_ANALYZER) => ServerProgram::pyright("pyright-langserver"),
            Self::Python => ServerProgram::pyright(named),
        }
    }

    /// A line that is only for people.
    pub fn comment(self, text: &str) -> String {
        match self {
            Self::Rust => format!("//! {text}\n"),
            Self::Python => format!("# {text}\n"),
        }
    }
}

/// What a task names where it wants no language server.
pub const NO_SERVER: &str = "none";

/// The language server where a task does not say another.
pub const RUST_ANALYZER: &str = "rust-analyzer";
