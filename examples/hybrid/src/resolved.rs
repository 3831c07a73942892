//! Facts about a commit's code, whatever an agent says: from a language server, started once a run, when it is first needed.

use crate::language::{Language, NO_SERVER};
use crate::types::StackSpec;
use crate::verdicts::ServerAnswers;
use crate::workbench::WorkError;
use interlocking::code_intelligence::{
    CodeError, CodeIntelligence, LanguageServer, Position, RustSyntax, Symbol, SymbolKind, start_or_syntax,
};
use interlocking::rust_source::{PropertyTest, TestFile, resolve_name};
use interlocking::worktree::{CommitId, GitError, Repository, RepositoryPath};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use tokio::sync::{MappedMutexGuard, Mutex, MutexGuard};

/// A language server's answers about properties.
#[derive(Debug, Default)]
pub struct ResolvedCalls {
    /// The source of the answers, with the reason if that is the syntax alone.
    pub provider: String,
    /// By property: the calls of the implementation's functions, each with the function.
    calls: BTreeMap<String, Vec<(Position, String)>>,
}

impl ResolvedCalls {
    /// Whether a property contains a call of a function that runs, as far as its text shows.
    pub fn has_live_call(&self, property: &PropertyTest, function: &str) -> bool {
        self.calls.get(&property.name).into_iter().flatten().any(|(at, called)| {
            let is_live = TestFile::has_live_call(property, at.line as usize, at.column as usize);
            is_live && resolve_name([function].into_iter(), called).is_some()
        })
    }
}

/// The language server of one run.
#[derive(Debug)]
pub struct Resolver {
    server: PathBuf,
    copies: PathBuf,
    project: Mutex<Option<Project>>,
}

/// A copy of the project's files that no agent has access to, and the server that analyses it.
#[derive(Debug)]
struct Project {
    directory: TempDir,
    commit: CommitId,
    code: Box<dyn CodeIntelligence>,
}

impl Resolver {
    /// A resolver with this server, a path or a name that is looked for in `PATH`. The copy of the project's files is in
    /// `copies`, which is removed with the run.
    pub fn new(server: PathBuf, copies: PathBuf) -> Self {
        Self { server, copies, project: Mutex::new(None) }
    }

    /// A commit's files. The next commit's files cannot be requested until the returned value is dropped.
    ///
    /// # Errors
    ///
    /// [`WorkError`] if the project's files cannot be copied.
    pub async fn at(
        &self,
        repository: &Repository,
        commit: CommitId,
        (spec, library): (&StackSpec, &str),
    ) -> Result<ProjectAt<'_>, WorkError> {
        let mut project = self.project.lock().await;
        match &mut *project {
            Some(project) => project.advance(repository, commit).await?,
            empty => {
                std::fs::create_dir_all(&self.copies).map_err(WorkError::Copy)?;
                let directory = tempfile::tempdir_in(&self.copies).map_err(WorkError::Copy)?;
                copy(repository, directory.path(), repository.files(commit)?, commit).await?;
                let language = Language::of_task(spec);
                let server = language.server(&self.server);
                let code: Box<dyn CodeIntelligence> = match language {
                    Language::Rust => {
                        let syntax = RustSyntax::new(directory.path(), library, spec.impl_path.as_str());
                        match self.server == Path::new(NO_SERVER) {
                            true => Box::new(syntax),
                            false => start_or_syntax(server, directory.path(), syntax).await,
                        }
                    }
                    Language::Python => {
                        let started = LanguageServer::start(server, directory.path()).await;
                        Box::new(started.map_err(WorkError::NoServer)?)
                    }
                };
                *empty = Some(Project { directory, commit, code });
            }
        }
        MutexGuard::try_map(project, Option::as_mut).map(ProjectAt).map_err(|_| WorkError::Stopped)
    }
}

/// The files of one commit, and their analyser. If the server cannot answer, the provider's name says so.
pub struct ProjectAt<'a>(MappedMutexGuard<'a, Project>);

impl ProjectAt<'_> {
    /// The source of the answers.
    pub fn provider(&self) -> String {
        self.0.code.provider().to_string()
    }

    /// The functions and types of the implementation file.
    ///
    /// # Errors
    ///
    /// [`WorkError`] if the server cannot be asked.
    pub async fn symbols(&self, spec: &StackSpec) -> Result<Vec<Symbol>, WorkError> {
        self.0.code.document_symbols(Path::new(spec.impl_path.as_str())).await.map_err(WorkError::Code)
    }

    /// The functions of the implementation that these properties of the test file call. A property that the file lacks, or has
    /// more than once, is left out.
    ///
    /// # Errors
    ///
    /// [`WorkError`] if the server cannot be asked.
    pub async fn server_answers<'n>(
        &self,
        spec: &StackSpec,
        properties: impl Iterator<Item = &'n str>,
    ) -> Result<ServerAnswers, WorkError> {
        self.0.called_by(spec, properties).await.map_err(WorkError::Code)
    }

    /// The calls of the properties of the test file. A property about which the server cannot answer has no calls here.
    pub async fn resolve(&self, spec: &StackSpec, properties: &TestFile) -> ResolvedCalls {
        let (tests, implementation) = (Path::new(spec.test_path.as_str()), Path::new(spec.impl_path.as_str()));
        let (calls, provider) = self.with_provider(self.0.calls(tests, implementation, properties).await);
        ResolvedCalls { provider, calls }
    }

    /// The functions that the implementation file defines, private ones too.
    pub async fn functions(&self, spec: &StackSpec) -> (Vec<String>, String) {
        let (symbols, provider) =
            self.with_provider(self.0.code.document_symbols(Path::new(spec.impl_path.as_str())).await);
        let functions = symbols.into_iter().filter(|symbol| symbol.kind == SymbolKind::Function);
        (functions.map(|symbol| symbol.name).collect(), provider)
    }

    /// What is known of the data types that the implementation file defines, one text each (HY-165).
    pub async fn constraints(&self, spec: &StackSpec) -> (Vec<String>, String) {
        self.with_provider(self.0.constraints(Path::new(spec.impl_path.as_str())).await)
    }

    fn with_provider<T: Default>(&self, answer: Result<T, CodeError>) -> (T, String) {
        let provider = self.0.code.provider();
        match answer {
            Ok(answer) => (answer, provider.to_string()),
            Err(error) => (T::default(), format!("{provider}, but {error}")),
        }
    }
}

impl Project {
    async fn called_by<'n>(
        &self,
        spec: &StackSpec,
        properties: impl Iterator<Item = &'n str>,
    ) -> Result<ServerAnswers, CodeError> {
        let (tests, implementation) = (Path::new(spec.test_path.as_str()), Path::new(spec.impl_path.as_str()));
        let defined = self.code.document_symbols(implementation).await?;
        let symbols = self.code.document_symbols(tests).await?;
        let mut answers = ServerAnswers { by: self.code.provider().to_string(), calls: BTreeMap::new() };
        for property in properties {
            let is_it = |symbol: &&Symbol| symbol.name.rsplit('.').next() == Some(property);
            let mut found = symbols.iter().filter(is_it);
            let (Some(symbol), None) = (found.next(), found.next()) else { continue };
            let outgoing = self.code.outgoing_calls(tests, symbol).await?.calls;
            let own = outgoing.iter().filter(|call| call.file == implementation);
            let called = own.filter_map(|call| defined.iter().find(|symbol| symbol.position == call.definition));
            answers.calls.insert(property.to_owned(), called.map(|symbol| symbol.name.clone()).collect());
        }
        Ok(answers)
    }

    /// Replaces the files by those of another commit.
    async fn advance(&mut self, repository: &Repository, to: CommitId) -> Result<(), WorkError> {
        let changes = repository.diff(self.commit, to)?;
        let paths: BTreeSet<RepositoryPath> = changes.iter().flat_map(|it| it.touched().cloned()).collect();
        let paths: Vec<_> = paths.into_iter().collect();
        let files: Vec<PathBuf> = paths.iter().map(RepositoryPath::to_path).collect();
        copy(repository, self.directory.path(), paths, to).await?;
        self.commit = to;
        // Without this the server would answer with the files of the previous commit.
        self.code.files_changed(&files).await.map_err(WorkError::Code)
    }

    async fn constraints(&self, file: &Path) -> Result<Vec<String>, CodeError> {
        let unreadable = |source| CodeError::Unreadable { file: file.to_owned(), source };
        let text = tokio::fs::read_to_string(self.directory.path().join(file)).await.map_err(unreadable)?;
        let mut constraints = Vec::new();
        for symbol in self.code.document_symbols(file).await?.iter().filter(|symbol| symbol.kind == SymbolKind::Type) {
            let known = self.code.hover(file, symbol.position).await?;
            // If nothing more is known, the declaration as it is written.
            let known = known.unwrap_or_else(|| declaration(&text, symbol));
            constraints.push(known.trim().to_owned());
        }
        Ok(constraints)
    }

    async fn calls(
        &self,
        tests: &Path,
        implementation: &Path,
        properties: &TestFile,
    ) -> Result<BTreeMap<String, Vec<(Position, String)>>, CodeError> {
        let defined = self.code.document_symbols(implementation).await?;
        let symbols = self.code.document_symbols(tests).await?;
        let mut calls = BTreeMap::new();
        for property in &properties.tests {
            let is_it = |symbol: &&Symbol| symbol.position.line as usize == property.line;
            let Some(symbol) = symbols.iter().find(is_it) else { continue };
            let outgoing = self.code.outgoing_calls(tests, symbol).await?.calls;
            let own = outgoing.iter().filter(|call| call.file == implementation);
            let named = own.filter_map(|call| {
                let symbol = defined.iter().find(|symbol| symbol.position == call.definition)?;
                Some((call.at, symbol.name.clone()))
            });
            calls.insert(property.name.clone(), named.collect());
        }
        Ok(calls)
    }
}

/// The lines of a symbol.
fn declaration(text: &str, symbol: &Symbol) -> String {
    let (first, last) = (*symbol.lines.start() as usize, *symbol.lines.end() as usize);
    let lines: Vec<&str> = text.lines().take(last).skip(first.saturating_sub(1)).collect();
    format!("```rust\n{}\n```", lines.join("\n"))
}

/// Writes files as in a commit; files that the commit lacks are removed.
async fn copy(
    repository: &Repository,
    directory: &Path,
    files: Vec<RepositoryPath>,
    commit: CommitId,
) -> Result<(), WorkError> {
    let (repository, directory) = (repository.clone(), directory.to_owned());
    let copied = tokio::task::spawn_blocking(move || -> Result<(), WorkError> {
        for path in files {
            let place = directory.join(path.to_path());
            let text: Result<_, GitError> = repository.read_file(commit, &path);
            let written = match text? {
                Some(bytes) => {
                    place.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&place, bytes))
                }
                None => fs::remove_file(&place).or_else(|error| match error.kind() {
                    io::ErrorKind::NotFound => Ok(()),
                    _ => Err(error),
                }),
            };
            written.map_err(WorkError::Copy)?;
        }
        Ok(())
    });
    copied.await.unwrap_or(Err(WorkError::Stopped))
}
