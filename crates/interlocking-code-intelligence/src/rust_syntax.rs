//! Answers from only the text of Rust files.

use crate::aside::aside;
use crate::error::{CodeError, Unavailable};
use crate::intelligence::{Call, CodeIntelligence, OutgoingCalls, Position, Provider, Symbol, SymbolKind};
use crate::project_file;
use async_trait::async_trait;
use interlocking_rust_source::{SourceSymbol, Sources, TestFile, symbols};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::Mutex;

/// Answers from the text of a Rust crate: the symbols of a file, and which functions of the implementation its tests call. It
/// follows receivers and macros as far as the text names their types.
#[derive(Clone, Debug)]
pub struct RustSyntax {
    provider: Provider,
    root: PathBuf,
    library: String,
    implementation: PathBuf,
    /// The tests that were read last, so that each is not read again for each question.
    last: Arc<Mutex<Option<Arc<Tests>>>>,
}

/// The tests of a file, as they were read from these texts.
#[derive(Debug)]
struct Tests {
    file: PathBuf,
    text: String,
    implementation: String,
    /// The symbols of the implementation.
    defined: Vec<SourceSymbol>,
    properties: TestFile,
}

impl RustSyntax {
    /// A provider for the crate in the directory `root`, which tests call `library`, with its functions in the file
    /// `implementation`.
    pub fn new(root: impl Into<PathBuf>, library: impl Into<String>, implementation: impl Into<PathBuf>) -> Self {
        let provider = Provider::Syntax { because: None };
        let (root, library, implementation) = (root.into(), library.into(), implementation.into());
        Self { provider, root, library, implementation, last: Arc::default() }
    }

    /// The same provider in place of a language server, for this reason, which its [provider](CodeIntelligence::provider) states. The
    /// reason is also logged as a warning, as facts that the syntax cannot determine are not checked.
    #[must_use]
    pub fn instead_of_server(self, because: Unavailable) -> Self {
        tracing::warn!(%because, "no language server answers, so code is examined by its syntax alone");
        Self { provider: Provider::Syntax { because: Some(because) }, ..self }
    }

    fn read(&self, file: &Path) -> Result<String, CodeError> {
        project_file::read(&self.root, file)
    }

    async fn tests(&self, file: &Path) -> Result<Arc<Tests>, CodeError> {
        let (implementation, text) = (self.read(&self.implementation)?, self.read(file)?);
        let mut last = self.last.lock().await;
        let is_same =
            |tests: &&Arc<Tests>| tests.file == file && tests.text == text && tests.implementation == implementation;
        if let Some(tests) = last.as_ref().filter(is_same) {
            return Ok(tests.clone());
        }
        let (library, path, file) = (self.library.clone(), self.implementation.clone(), file.to_owned());
        let tests = aside(move || {
            let (path, tests_path) = (path.to_string_lossy(), file.to_string_lossy().into_owned());
            let defined = symbols(&path, &implementation)?;
            let properties = TestFile::read(Sources {
                library: &library,
                implementation: (&path, &implementation),
                tests: (&tests_path, &text),
                prefix: "",
            })?;
            Ok(Tests { file, text, implementation, defined, properties })
        });
        Ok(last.insert(Arc::new(tests.await?)).clone())
    }
}

#[async_trait]
impl CodeIntelligence for RustSyntax {
    fn provider(&self) -> &Provider {
        &self.provider
    }

    async fn document_symbols(&self, file: &Path) -> Result<Vec<Symbol>, CodeError> {
        let (text, file) = (self.read(file)?, file.to_owned());
        let symbols = aside(move || symbols(&file.to_string_lossy(), &text)).await?;
        Ok(symbols.into_iter().map(symbol).collect())
    }

    async fn outgoing_calls(&self, file: &Path, function: &Symbol) -> Result<OutgoingCalls, CodeError> {
        let read = self.tests(file).await?;
        let Tests { defined, properties, .. } = &*read;
        let line = function.position.line as usize;
        let Some(test) =
            properties.tests.iter().find(|test| function.lines.contains(&number(test.line)) || test.line == line)
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
