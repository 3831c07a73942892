//! Answers from only the text of Rust files.

use crate::error::CodeError;
use crate::intelligence::{Call, CodeIntelligence, OutgoingCalls, Position, Provider, Symbol, SymbolKind};
use crate::project_file;
use async_trait::async_trait;
use interlocking_rust_source::{SourceSymbol, Sources, TestFile, symbols};
use std::path::{Path, PathBuf};

/// Answers from the text of a Rust crate: the symbols of a file, and which functions of the implementation its tests call. It
/// follows receivers and macros as far as the text names their types.
#[derive(Clone, Debug)]
pub struct RustSyntax {
    provider: Provider,
    root: PathBuf,
    library: String,
    implementation: PathBuf,
}

impl RustSyntax {
    /// A provider for the crate in the directory `root`, which tests call `library`, with its functions in the file
    /// `implementation`.
    pub fn new(root: impl Into<PathBuf>, library: impl Into<String>, implementation: impl Into<PathBuf>) -> Self {
        let provider = Provider::Syntax { because: None };
        Self { provider, root: root.into(), library: library.into(), implementation: implementation.into() }
    }

    pub(crate) fn answering_for(self, provider: Provider) -> Self {
        Self { provider, ..self }
    }

    fn read(&self, file: &Path) -> Result<String, CodeError> {
        project_file::read(&self.root, file)
    }
}

#[async_trait]
impl CodeIntelligence for RustSyntax {
    fn provider(&self) -> &Provider {
        &self.provider
    }

    async fn document_symbols(&self, file: &Path) -> Result<Vec<Symbol>, CodeError> {
        let text = self.read(file)?;
        Ok(symbols(&file.to_string_lossy(), &text)?.into_iter().map(symbol).collect())
    }

    async fn outgoing_calls(&self, file: &Path, function: &Symbol) -> Result<OutgoingCalls, CodeError> {
        let (implementation, tests) = (self.read(&self.implementation)?, self.read(file)?);
        let (path, tests_path) = (self.implementation.to_string_lossy(), file.to_string_lossy());
        let defined = symbols(&path, &implementation)?;
        let sources = Sources {
            library: &self.library,
            implementation: (&path, &implementation),
            tests: (&tests_path, &tests),
            prefix: "",
        };
        let read = TestFile::read(sources)?;
        let line = function.position.line as usize;
        let Some(test) =
            read.tests.iter().find(|test| function.lines.contains(&number(test.line)) || test.line == line)
        else {
            let unclear = vec![format!(
                "`{}` is not a test, and the syntax alone does not show what other functions call",
                function.name
            )];
            return Ok(OutgoingCalls { calls: Vec::new(), unclear });
        };
        let calls = TestFile::called(test).map(|name| Call {
            name: name.rsplit("::").next().unwrap_or(name).to_owned(),
            at: function.position,
            file: self.implementation.clone(),
            definition: defined.iter().find(|it| it.name == name).map_or(Position { line: 1, column: 1 }, position),
        });
        let unclear = TestFile::perhaps_called(test).map(|(name, why)| format!("whether `{name}` is called: {why}"));
        Ok(OutgoingCalls { calls: calls.collect(), unclear: unclear.collect() })
    }

    /// Always `None`: only a compiler knows types.
    async fn hover(&self, _: &Path, _: Position) -> Result<Option<String>, CodeError> {
        Ok(None)
    }

    /// Does nothing: files are read anew for each question.
    async fn files_changed(&self, _: &[PathBuf]) -> Result<(), CodeError> {
        Ok(())
    }
}

pub(crate) fn symbol(found: SourceSymbol) -> Symbol {
    let kind = if found.is_type { SymbolKind::Type } else { SymbolKind::Function };
    let lines = number(*found.lines.start())..=number(*found.lines.end());
    Symbol { position: position(&found), name: found.name, kind, lines }
}

fn position(found: &SourceSymbol) -> Position {
    Position { line: number(found.line), column: number(found.column) }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
